// Show a dynamic slice: the source with a sign for each execution, and who feeds whom.

const data = JSON.parse(byId("data").textContent);
const WHY = { data: "data", control: "decision", call: "call", potential: "potential" };
const MEANINGS = {
  e: "in the slice for what it writes",
  d: "in the slice only because it leads there",
  u: "executed, not in the slice",
};

const HEADINGS = [["line", ""], ["executed", ""], ["in slice", ""], ["which", "which"], ["source", "text"]];

/** The dependences at one end of each event. */
function grouping(end) {
  const groups = new Map();
  for (const one of data.dependences) {
    if (!groups.has(one[end])) groups.set(one[end], []);
    groups.get(one[end]).push(one);
  }
  return groups;
}
/** The sign of each event that has one. */
const signOf = new Map();
const before = grouping("from");
const behind = grouping("to");

function sourceRow(row, file) {
  if (row.number === null) {
    return element("tr", { className: "fold" }, element("th", {}, "…"), element("td", { colSpan: 4 }));
  }
  const style = row.in_slice > 0 ? "needed" : row.executed === null ? "" : "unneeded";
  const made = row.dots.map((dot) => sign({ ...dot, file, line: row.number, of: row.executed, isFolded: row.is_folded }));
  const rest = row.is_folded ? ["…"] : [];
  return element(
    "tr",
    { className: style, "data-line": `${file}:${row.number}` },
    element("th", { scope: "row" }, String(row.number)),
    count(row.executed),
    count(row.in_slice),
    element("td", { className: "which" }, ...besides([...made, ...rest])),
    element("td", { className: "text" }, row.text),
  );
}

function sign(execution) {
  const { mark, event, file, line: number, of, isFolded } = execution;
  const which = `execution ${grouped(execution.execution)} of ${grouped(of)}`;
  const isStart = data.start.includes(event);
  const words = MEANINGS[mark] + (isStart ? "; what the criterion asks about" : "");
  return addSign({ event, file, line: number, which, words }, {
    text: isFolded ? `${grouped(execution.execution)} ${SIGNS[mark]}` : SIGNS[mark],
    className: `${mark}${isStart ? " criterion" : ""}${isFolded ? " number" : ""}`,
    label: `line ${number}, ${which}: ${words}`,
  });
}

/** What an execution depends on, and what depends on it; both are marked in the source. */
function tellSign({ event, file, line: number, which, words }) {
  const [feeding, fed] = [before.get(event) ?? [], behind.get(event) ?? []];
  mark("feeds", feeding.map((one) => one.to));
  mark("fed", fed.map((one) => one.from));
  const list = (heading, all, end) => (all.length === 0 ? [] : [
    heading,
    element("ul", {}, ...shortened(all, 12, (one) => element("li", {}, ...link(one, end)), (more) => element("li", {}, more))),
  ]);
  byId("evidence").replaceChildren(
    `${file}:${number}, ${which}, event ${event}: ${words}.`,
    element("br"),
    ...list("It depends on", feeding, "to"),
    ...list("On it depend", fed, "from"),
  );
}

function mark(style, events) {
  for (const sign of signs.all) sign.button.classList.toggle(style, events.includes(sign.event));
}

/** The first of many, and how many more there are. */
function shortened(all, most, show, rest) {
  const more = all.length - most;
  return [...all.slice(0, most).map(show), ...(more > 0 ? [rest(`and ${grouped(more)} more`)] : [])];
}

/** One end of a dependence, and why it is there. */
function link(dependence, end) {
  const name = dependence.name === "" ? "" : `${dependence.name}, `;
  return [jump(dependence[end]), ` (${name}${WHY[dependence.kind]})`];
}

function jump(event) {
  const text = data.names[event];
  const sign = signOf.get(event);
  if (!sign) return element("code", {}, text);
  const button = element("button", { type: "button", title: `event ${event}` }, text);
  button.addEventListener("click", () => {
    sign.button.scrollIntoView({ block: "center" });
    sign.button.focus({ preventScroll: true });
  });
  return button;
}

function feedingTable() {
  const row = ([event, all]) => {
    const ends = shortened(all, 12, (one) => link(one, "to"), (more) => [more]);
    const parts = ends.flatMap((end, number) => (number > 0 ? [", ", ...end] : end));
    return element("tr", {}, element("th", { scope: "row" }, jump(event)), element("td", {}, ...parts), element("td", {}, element("code", {}, data.texts[event] ?? "")));
  };
  const shown = [...before].slice(0, data.most_listed);
  const headings = ["execution", "depends on", "source"].map((text) => element("th", { scope: "col" }, text));
  byId("table").replaceChildren(element("table", {}, element("thead", {}, element("tr", {}, ...headings)), element("tbody", {}, ...shown.map(row))));
  const more = before.size - shown.length;
  byId("table-note").textContent = (more > 0 ? `${grouped(more)} more executions depend on others. ` : "") + data.dependences_note;
}

byId("title").textContent = data.title;
byId("direction").textContent = data.direction === "forward" ? "Forward slice" : "Dynamic slice";
byId("criterion").textContent = `Criterion: ${data.criterion}`;
byId("verdict").textContent = data.verdict;
byId("command").textContent = data.command_line;
byId("warnings").replaceChildren(...data.warnings.map((sentence) => element("li", {}, sentence)));
byId("listing").replaceChildren(...data.sections.map((part) => sourceTable(part, HEADINGS, sourceRow)));
for (const sign of signs.all) signOf.set(sign.event, sign);
byId("source-note").textContent = data.note;
byId("legend").replaceChildren(
  ...Object.entries(MEANINGS).map(([letter, meaning]) => element("span", {}, element("b", { className: letter }, SIGNS[letter]), ` ${meaning}`)),
  element("span", {}, element("b", { className: "criterion" }, SIGNS.e), " what the criterion asks about"),
  element("span", { className: "onscreen" }, element("b", { className: "feeds" }, SIGNS.e), " the chosen one depends on it"),
  element("span", { className: "onscreen" }, element("b", { className: "fed" }, SIGNS.e), " it depends on the chosen one"),
);
feedingTable();
beginTheme(() => {});
const opening = signs.all.findIndex(({ event }) => data.start.includes(event));
if (opening >= 0) chooseSign(opening);
else enterAt();
