// List the lines that are needed for what is wrong and for nothing that is right; each leads to its place.

function showSuspects(suspects, show) {
  byId("suspects").hidden = suspects === null;
  if (suspects === null) return;
  byId("suspects-none").hidden = suspects.length > 0;
  byId("suspects-list").replaceChildren(...suspects.map((suspect) => element("li", {}, wayTo(suspect, show))));
}

function wayTo({ file, line: number, text }, show) {
  const button = element("button", { type: "button" }, element("b", {}, `${file}:${number}`), " ", element("code", {}, text));
  button.addEventListener("click", () => show(file, number));
  return button;
}

const isSuspect = (file, number) => (data.suspects ?? []).some((suspect) => suspect.file === file && suspect.line === number);

/** The first result about wrong output that needs a line; the first about wrong output if none is named. */
function chapterOf(file, number) {
  const needs = ({ source: { sections } }) => sections.some((part) => part.file === file && part.rows.some((row) => row.number === number && row.needed > 0));
  const at = data.chapters.findIndex((chapter) => chapter.is_wrong && (file === undefined || needs(chapter)));
  return Math.max(at, 0);
}

/** Where the page opens: at the first line that only wrong output needs. */
function opening() {
  const first = data.suspects?.[0];
  return first ? chapterOf(first.file, first.line) : chapterOf();
}

function showPlace(file, number) {
  const at = chapterOf(file, number);
  const radio = document.querySelectorAll("input[name=criterion]")[at];
  if (radio) radio.checked = true;
  showChapter(at);
  const row = [...document.querySelectorAll("#listing tr[data-line]")].find((made) => made.dataset.line === `${file}:${number}`);
  row?.scrollIntoView({ block: "center" });
  (row?.querySelector(".dot.e, .dot.d") ?? row?.querySelector(".dot"))?.focus({ preventScroll: true });
}
