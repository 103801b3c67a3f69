// Show the source of a critical slice, with a sign for each execution.

let source = { chapter: null };

const HEADINGS = [["line", ""], ["executed", ""], ["needed", ""], ["which", "which"], ["source", "text"]];

function showSource(chapter) {
  source = { chapter };
  signs = { all: [], chosen: null };
  const { sections, note } = chapter.source;
  byId("source").hidden = sections.length === 0;
  byId("listing").replaceChildren(...sections.map((part) => sourceTable(part, HEADINGS, line)));
  byId("source-note").textContent = note;
  showLegend();
  const needed = signs.all.filter(({ letter }) => letter === "e");
  enterAt(needed.find(({ button }) => button.closest(".suspect")) ?? needed[0]);
}

function showLegend() {
  const occurring = new Set(signs.all.map(({ letter }) => letter));
  const told = Object.entries(meanings(source.chapter)).filter(([letter]) => occurring.has(letter));
  byId("legend").replaceChildren(...told.map(([letter, meaning]) => element("span", {}, element("b", { className: letter }, SIGNS[letter]), ` ${meaning}`)));
}

function line(row, file) {
  if (row.number === null) {
    return element("tr", { className: "fold" }, element("th", {}, "…"), element("td", { colSpan: 4 }));
  }
  const isInferred = row.marks?.includes("i") || row.runs.some(([letter]) => letter === "i");
  const style = row.needed > 0 ? "needed" : isInferred ? "inferred" : row.executed > 0 ? "unneeded" : "";
  const suspect = isSuspect(file, row.number) ? " suspect" : "";
  return element(
    "tr",
    { className: `${style}${suspect}`, "data-line": `${file}:${row.number}` },
    element("th", { scope: "row" }, String(row.number)),
    count(row.executed),
    count(row.needed),
    element("td", { className: "which" }, ...executions(row, file)),
    element("td", { className: "text" }, row.text),
  );
}

function executions(row, file) {
  const place = { file, line: row.number, of: row.executed };
  if (row.marks !== null) {
    return besides([...row.marks].map((letter, at) => sign({ ...place, letter, first: at + 1, last: at + 1, event: row.events[at] })));
  }
  if (row.runs.length === 0) return [];
  const runs = row.runs.map(([letter, first, last], at) => sign({ ...place, letter, first, last, event: row.events[at] }));
  const more = row.runs.at(-1)[2] < row.executed ? ["…"] : [];
  return [element("div", { className: "folded" }, row.sentence), ...besides([...runs, ...more])];
}

function sign(execution) {
  const { letter, first, last } = execution;
  const isRun = last > first;
  return addSign(execution, {
    text: isRun ? `${grouped(first)}–${grouped(last)} ${SIGNS[letter]}` : SIGNS[letter],
    className: `${letter}${isRun ? " run" : ""}`,
    label: `line ${execution.line}, ${numbers(execution)}: ${meanings(source.chapter)[letter]}`,
  });
}

function numbers({ first, last, of }) {
  return last > first
    ? `executions ${grouped(first)} to ${grouped(last)} of ${grouped(of)}`
    : `execution ${grouped(first)} of ${grouped(of)}`;
}

/** What an execution has done, and what happened without it. */
function tellSign(sign) {
  const { chapter } = source;
  const seen = chapter.source.evidence[sign.event];
  const event = sign.last > sign.first ? `, the first of them event ${sign.event}` : `, event ${sign.event}`;
  const told = `${sign.file}:${sign.line}, ${numbers(sign)}${event}: ${meanings(chapter)[sign.letter]}. `;
  const without = sign.last > sign.first ? "Without the first" : "Without it";
  byId("evidence").replaceChildren(
    told,
    ...did(sign),
    seen ? `${without}: ${OUTCOMES[seen[0]]}: ${seen[1]}` : fate(sign),
  );
}

/** What an execution did with values, if somebody has looked. */
function did(sign) {
  const told = source.chapter.source.values[sign.event];
  if (!told) return [];
  const [text, sources] = told;
  const names = sources.map(([event, line, name]) => `${name || "a value"} from line ${line}, event ${event}`);
  const fed = names.length > 0 ? ` It had ${names.join("; ")}. ` : " ";
  return [element("code", { className: "value" }, text), fed];
}

/** What is known of an execution that nobody needs. */
function fate(sign) {
  if (sign.letter === "i") return inferred(sign.event);
  if (sign.letter === "e" || sign.letter === "d" || sign.letter === "h") return "The search ended before it was tried without it.";
  if (sign.letter === "f") return "Its call ends with it, or it leads the way to such an end.";
  const test = lastTestOf(sign.event);
  return test ? `Test ${grouped(test.number)} left it out, and the failure was still there.` : "It was left out, and the failure was still there.";
}

/** The test that showed of an execution in the dynamic slice that it is not needed. */
function inferred(event) {
  const known = source.chapter.comparison.not_needed.find((one) => one.event === event);
  const test = known?.test ? `Test ${grouped(known.test)} left it out` : "It was left out";
  return `Dependences lead from the failure to it. ${test}, and the failure was still there.`;
}

/** Marks the executions that a test left out; `null` for none. */
function filterSource(isExecuted) {
  for (const sign of signs.all) {
    const out = isExecuted !== null && sign.first === sign.last && isExecuted(sign.event) === false;
    sign.button.classList.toggle("out", out);
  }
}
