// Compare the results of a page with several: lines down, criteria across (Cleve and Zeller, AADEBUG 2000,
// Figure 6). Choosing a column shows its result.

function showCriteria(chapters, choose, first) {
  byId("criteria").hidden = chapters.length < 2;
  if (chapters.length < 2) return;
  const head = element("tr", {}, element("th", { scope: "col" }, "line"), ...chapters.map((chapter, at) => heading(chapter, at, choose, first)));
  const total = (chapter) => element("td", {}, `${grouped(chapter.events.kept)} of ${grouped(chapter.events.omittable)}`);
  byId("criteria-table").replaceChildren(
    element("thead", {}, head),
    ...bodies(lines(chapters), chapters),
    element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, "needed"), ...chapters.map(total))),
  );
}

function heading(chapter, at, choose, first) {
  const radio = element("input", { type: "radio", name: "criterion", checked: at === first });
  radio.addEventListener("change", () => choose(at));
  const decisions = chapter.has_decisions ? ", with decisions" : "";
  const wrong = chapter.is_wrong ? ", which is wrong" : "";
  return element("th", { scope: "col" }, element("label", {}, radio, ` ${chapter.criterion}${decisions}${wrong}`));
}

/** The lines, by file; the files are named if there are several. */
function bodies(all, chapters) {
  const files = [...new Set(all.map(({ file }) => file))];
  const name = (file) => element("tr", { className: "file" }, element("th", { scope: "rowgroup", colSpan: chapters.length + 1 }, file));
  const body = (file) => all.filter((line) => line.file === file).map((line) => compared(line, chapters));
  return files.map((file) => element("tbody", {}, ...(files.length > 1 ? [name(file)] : []), ...body(file)));
}

/** All executed lines of all results, in the order of the source. */
function lines(chapters) {
  const all = new Map();
  for (const part of chapters.flatMap((chapter) => chapter.source.sections)) {
    for (const row of part.rows) if (row.executed > 0) all.set(`${part.file}:${row.number}`, { file: part.file, ...row });
  }
  return [...all.values()].sort((one, other) => one.file.localeCompare(other.file) || one.number - other.number);
}

function compared(line, chapters) {
  const cell = (chapter) => {
    const part = chapter.source.sections.find(({ file, rows }) => file === line.file && rows.some(({ number }) => number === line.number));
    const row = part?.rows.find(({ number }) => number === line.number);
    const signs = row?.marks ? [...row.marks].map((letter) => SIGNS[letter]).join("") : `${row?.needed ?? 0} of ${line.executed}`;
    return element("td", { "aria-label": `${row?.needed ?? 0} of ${line.executed} needed` }, signs);
  };
  const className = isSuspect(line.file, line.number) ? "suspect" : "";
  return element("tr", { className }, element("th", { scope: "row" }, `${line.number}  ${line.text.trim()}`), ...chapters.map(cell));
}

function markCriterion(at) {
  for (const row of byId("criteria-table").rows) {
    [...row.cells].forEach((cell, column) => cell.classList.toggle("chosen", column === at + 1));
  }
}
