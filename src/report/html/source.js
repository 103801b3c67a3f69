// Show the source with a sign for each execution. One sign is in the order of Tab; arrow keys go on.

let source = { chapter: null, dots: [], chosen: null };

function showSource(chapter) {
  source = { chapter, dots: [], chosen: null };
  const { sections, note } = chapter.source;
  byId("source").hidden = sections.length === 0;
  byId("listing").replaceChildren(...sections.map(section));
  byId("source-note").textContent = note;
  showLegend();
  const first = source.dots.find((dot) => dot.button.closest(".suspect") && dot.letter === "e")
    ?? source.dots.find((dot) => dot.button.classList.contains("e")) ?? source.dots[0];
  if (first) first.button.tabIndex = 0;
}

function showLegend() {
  const occurring = new Set(source.dots.map((dot) => dot.letter));
  const told = Object.entries(meanings(source.chapter)).filter(([letter]) => occurring.has(letter));
  byId("legend").replaceChildren(...told.map(([letter, meaning]) => element("span", {}, element("b", { className: letter }, SIGNS[letter]), ` ${meaning}`)));
}

function section(part) {
  const heading = (text, className) => element("th", { scope: "col", className }, text);
  const headings = [["line", ""], ["executed", ""], ["needed", ""], ["which", "which"], ["source", "text"]];
  return element(
    "table",
    { className: "listing" },
    element("caption", {}, `${part.file}: ${part.functions}`),
    element("thead", {}, element("tr", {}, ...headings.map(([text, style]) => heading(text, style)))),
    element("tbody", {}, ...part.rows.map((row) => line(row, part.file))),
  );
}

function line(row, file) {
  if (row.number === null) {
    return element("tr", { className: "fold" }, element("th", {}, "…"), element("td", { colSpan: 4 }));
  }
  const isInferred = row.marks?.includes("i") || row.runs.some(([letter]) => letter === "i");
  const style = row.needed > 0 ? "needed" : isInferred ? "inferred" : row.executed > 0 ? "unneeded" : "";
  const count = (number) => element("td", { className: "count" }, number === null ? "" : grouped(number));
  const suspect = isSuspect(file, row.number) ? " suspect" : "";
  const made = element(
    "tr",
    { className: `${style}${suspect}`, "data-line": `${file}:${row.number}` },
    element("th", { scope: "row" }, String(row.number)),
    count(row.executed),
    count(row.needed),
    element("td", { className: "which" }, ...executions(row, file)),
    element("td", { className: "text" }, row.text),
  );
  return made;
}

function executions(row, file) {
  const place = { file, line: row.number, of: row.executed };
  if (row.marks !== null) {
    const dots = [...row.marks].map((letter, at) => dot({ ...place, letter, first: at + 1, last: at + 1, event: row.events[at] }));
    return dots.length === 0 ? [] : [element("span", { className: "dots" }, ...dots)];
  }
  if (row.runs.length === 0) return [];
  const runs = row.runs.map(([letter, first, last], at) => dot({ ...place, letter, first, last, event: row.events[at] }));
  const more = row.runs.at(-1)[2] < row.executed ? ["…"] : [];
  return [element("div", { className: "folded" }, row.sentence), element("span", { className: "dots" }, ...runs, ...more)];
}

function dot(execution) {
  const { letter, first, last } = execution;
  const isRun = last > first;
  const text = isRun ? `${grouped(first)}–${grouped(last)} ${SIGNS[letter]}` : SIGNS[letter];
  const button = element("button", {
    type: "button",
    className: `dot ${letter}${isRun ? " run" : ""}`,
    tabIndex: -1,
    "aria-label": `line ${execution.line}, ${numbers(execution)}: ${meanings(source.chapter)[letter]}`,
  }, text);
  const made = { ...execution, button };
  const at = source.dots.push(made) - 1;
  button.addEventListener("focus", () => choose(at));
  button.addEventListener("click", () => choose(at));
  button.addEventListener("mouseenter", () => tellEvidence(made));
  button.addEventListener("mouseleave", () => source.chosen !== null && tellEvidence(source.dots[source.chosen]));
  button.addEventListener("keydown", (key) => move(key, at));
  return button;
}

function numbers({ first, last, of }) {
  return last > first
    ? `executions ${grouped(first)} to ${grouped(last)} of ${grouped(of)}`
    : `execution ${grouped(first)} of ${grouped(of)}`;
}

function choose(at) {
  const before = source.chosen;
  if (before !== null) source.dots[before].button.removeAttribute("aria-current");
  source.dots.forEach((dot, other) => { if (dot.button.tabIndex === 0 && other !== at) dot.button.tabIndex = -1; });
  const dot = source.dots[at];
  dot.button.tabIndex = 0;
  dot.button.setAttribute("aria-current", "true");
  source.chosen = at;
  tellEvidence(dot);
}

/** Left and right go to the next sign, up and down to that of the next line with signs. */
function move(key, at) {
  const here = source.dots[at];
  const other = (dot) => dot.line !== here.line || dot.file !== here.file;
  const visible = (dot) => dot && dot.button.offsetParent !== null;
  const ways = {
    ArrowRight: () => source.dots.slice(at + 1).find(visible),
    ArrowLeft: () => source.dots.slice(0, at).findLast(visible),
    ArrowDown: () => source.dots.slice(at).find((dot) => other(dot) && visible(dot)),
    ArrowUp: () => source.dots.slice(0, at).findLast((dot) => other(dot) && visible(dot)),
  };
  const next = ways[key.key]?.();
  if (key.key in ways) key.preventDefault();
  next?.button.focus();
}

function tellEvidence(dot) {
  const { chapter } = source;
  const seen = chapter.source.evidence[dot.event];
  const event = dot.last > dot.first ? `, the first of them event ${dot.event}` : `, event ${dot.event}`;
  const told = `${dot.file}:${dot.line}, ${numbers(dot)}${event}: ${meanings(chapter)[dot.letter]}. `;
  const without = dot.last > dot.first ? "Without the first" : "Without it";
  byId("evidence").replaceChildren(
    told,
    ...did(dot),
    seen ? `${without}: ${OUTCOMES[seen[0]]}: ${seen[1]}` : fate(dot),
  );
}

/** What an execution did with values, if somebody has looked. */
function did(dot) {
  const told = source.chapter.source.values[dot.event];
  if (!told) return [];
  const [text, sources] = told;
  const names = sources.map(([event, line, name]) => `${name || "a value"} from line ${line}, event ${event}`);
  const fed = names.length > 0 ? ` It had ${names.join("; ")}. ` : " ";
  return [element("code", { className: "value" }, text), fed];
}

/** What is known of an execution that nobody needs. */
function fate(dot) {
  if (dot.letter === "i") return inferred(dot.event);
  if (dot.letter === "e" || dot.letter === "d" || dot.letter === "h") return "The search ended before it was tried without it.";
  if (dot.letter === "f") return "Its call ends with it, or it leads the way to such an end.";
  const test = lastTestOf(dot.event);
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
  for (const dot of source.dots) {
    const out = isExecuted !== null && dot.first === dot.last && isExecuted(dot.event) === false;
    dot.button.classList.toggle("out", out);
  }
}
