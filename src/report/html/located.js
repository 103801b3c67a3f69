// Show a located fault: the ranked lines beside the source, and at each execution whose change helps a sign.

const data = JSON.parse(byId("data").textContent);
const MARKS = { right: "◆", undefined: "◈", nearer: "◇", none: "·" };
const HEADINGS = [["rank", ""], ["line", ""], ["executed", ""], ["which", "which"], ["source", "text"]];

function rankedLine({ rank, ties, file, line: number, text, experiments }) {
  const place = ties > 1 ? `${rank}–${rank + ties - 1}` : `${rank}`;
  const button = element("button", { type: "button" }, element("b", {}, `${file}:${number}`), " ", element("code", {}, text));
  button.addEventListener("click", () => goTo(file, number));
  const most = 3;
  const more = experiments.length > most ? [`and ${counted(experiments.length - most, "change")} more`] : [];
  const told = [...experiments.slice(0, most), ...more].map((sentence) => element("li", {}, sentence));
  const list = told.length > 0 ? [element("ul", {}, ...told)] : [];
  return element("li", { className: experiments.length > 0 ? "best" : "" }, element("span", { className: "place" }, place), button, ...list);
}

/** Shows a line, and chooses its first sign. */
function goTo(file, number) {
  const row = [...document.querySelectorAll("#listing tr[data-line]")].find((made) => made.dataset.line === `${file}:${number}`);
  row?.scrollIntoView({ block: "center" });
  (row?.querySelector(".dot.right, .dot.undefined, .dot.nearer") ?? row?.querySelector(".dot"))?.focus({ preventScroll: true });
}

function sourceRow(row, file) {
  if (row.number === null) {
    return element("tr", { className: "fold" }, element("td", {}), element("th", {}, "…"), element("td", { colSpan: 3 }));
  }
  const helps = row.all.length > 0 || row.dots.some((dot) => dot.changes.length > 0);
  const style = helps ? "ranked" : row.executed > 0 ? "" : "unneeded";
  return element(
    "tr",
    { className: style, "data-line": `${file}:${row.number}` },
    count(row.rank),
    element("th", { scope: "row" }, String(row.number)),
    count(row.executed),
    element("td", { className: "which" }, ...signsOf(row, file)),
    element("td", { className: "text" }, row.text),
  );
}

function signsOf(row, file) {
  const place = { file, line: row.number, of: row.executed };
  const all = row.all.length > 0 ? [sign({ ...place, changes: row.all, execution: null })] : [];
  const single = row.dots.map((dot) => sign({ ...place, ...dot, isFolded: row.is_folded }));
  const rest = row.is_folded ? ["…"] : [];
  return besides([...all, ...single, ...rest]);
}

/** The best that comes of some changes. */
function best(changes) {
  const outcomes = changes.map((number) => data.changes[number].outcome);
  return Object.keys(MARKS).find((outcome) => outcomes.includes(outcome)) ?? "none";
}

function sign(execution) {
  const { changes, line: number, of } = execution;
  const outcome = best(changes);
  const isWhole = execution.execution === null;
  const which = isWhole ? "all executions" : `execution ${grouped(execution.execution)} of ${grouped(of)}`;
  const text = isWhole ? `${MARKS[outcome]} all` : execution.isFolded ? `${grouped(execution.execution)} ${MARKS[outcome]}` : MARKS[outcome];
  const none = execution.is_tried ? "no change helps" : "no change of this execution alone was tried";
  const words = {
    right: "a change makes the output right",
    undefined: "a change makes the output right by what lies in undefined memory",
    nearer: "a change brings the output nearer",
    none,
  }[outcome];
  return addSign({ ...execution, which, words }, {
    text,
    className: `${outcome}${isWhole ? " all" : execution.isFolded ? " number" : ""}`,
    label: `line ${number}, ${which}: ${words}`,
  });
}

/** What was changed at an execution, and what the program then printed. */
function tellSign({ file, line: number, which, event, changes, words }) {
  const at = event === undefined ? "" : `, event ${event}`;
  const told = changes.map((number) => data.changes[number]);
  byId("change").replaceChildren(
    `${file}:${number}, ${which}${at}: ${words}.`,
    ...told.map(({ told, effect, outcome, replay }) => element(
      "div", {}, element("b", { className: outcome }, MARKS[outcome]), ` ${told}: ${effect}. Again: `,
      element("code", {}, `stripe replay … ${replay}`),
    )),
  );
  const outputs = [...new Set(told.map(({ output }) => output))].filter((output) => output !== null);
  const heading = (output) => {
    const of = outputs.length > 1 ? told.filter((one) => one.output === output).map((one) => one.told).join("; ") : "";
    return element("p", {}, `Output before (−) and after (+)${of ? `: ${of}` : ""}`);
  };
  byId("difference").replaceChildren(
    ...outputs.flatMap((output) => [heading(output), ...data.outputs[output].streams.flatMap(difference)]),
  );
}

byId("title").textContent = data.title;
byId("verdict").textContent = data.verdict;
byId("command").textContent = data.command_line;
byId("warnings").replaceChildren(...data.warnings.map((sentence) => element("li", {}, sentence)));
byId("ranked").replaceChildren(...data.ranking.map(rankedLine));
byId("more").textContent = data.more > 0 ? `${counted(data.more, "line")} more, see --full.` : "";
byId("listing").replaceChildren(...data.sections.map((part) => sourceTable(part, HEADINGS, sourceRow)));
byId("source-note").textContent = data.note;
byId("legend").replaceChildren(
  ...[["right", "a change of this execution makes the output right"], ["undefined", "one does by what lies in undefined memory"], ["nearer", "one brings it nearer"], ["none", "none helps, or none was tried"]].map(
    ([outcome, meaning]) => element("span", {}, element("b", { className: outcome }, MARKS[outcome]), ` ${meaning}`)),
);
beginTheme(() => {});
const opening = signs.all.findIndex(({ changes }) => best(changes) === "right");
if (opening >= 0) chooseSign(opening);
else enterAt();
