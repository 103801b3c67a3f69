// Show which changes break a program: the changes with their lines, and the tests as columns beside all changes.

const data = JSON.parse(byId("data").textContent);
const TEST_SIGNS = { reproduced: "✘", not_reproduced: "✔", unresolved: "?" };

function guiltyChange({ place, file, commit, without }) {
  const link = element("a", { href: `#file-${file}` }, element("code", {}, place));
  const notes = [commit, without && `without it: ${without}`].filter(Boolean);
  return element("li", {}, link, ...notes.map((note) => element("span", { className: "note" }, note)));
}

function fileDifference(part, at) {
  const rows = part.hunks.flatMap((hunk, number) => [...(number > 0 ? [gap()] : []), ...hunk.map(differenceRow)]);
  const moved = part.moved_from === null ? "" : `, moved from ${part.moved_from}`;
  const table = element(
    "table",
    { className: "diff", id: `file-${at}` },
    element("caption", {}, `${part.path}${moved}`),
    element("tbody", {}, ...rows),
  );
  const note = part.note ? [element("p", { className: "note" }, part.note)] : [];
  return element("div", {}, element("div", { className: "wide", tabIndex: 0 }, table), ...note);
}

const gap = () => element("tr", { className: "gap" }, element("td", { colSpan: 4 }));

/** Colour alone does not tell: there are signs, and words for those who do not see them. */
function differenceRow([kind, old, fresh, text, isLit]) {
  const style = { " ": "same", "-": "gone", "+": "come" }[kind];
  const number = (line) => element("td", { className: "line-number" }, line === null ? "" : String(line));
  const spoken = isLit ? [element("span", { className: "spoken" }, "breaks it: ")] : [];
  return element(
    "tr",
    { className: isLit ? `${style} lit` : style },
    number(old),
    number(fresh),
    element("td", { className: "sign" }, kind === "-" ? "−" : kind),
    element("td", { className: "text" }, ...spoken, text),
  );
}

/** The members of ranges such as [[0, 3], [7, 7]]. */
function members(ranges) {
  const all = new Set();
  for (const [first, last] of ranges) for (let one = first; one <= last; one += 1) all.add(one);
  return all;
}

function testMatrix(matrix) {
  const tests = matrix.tests.map((test) => ({ ...test, asked: members(test.asked), added: members(test.added) }));
  const bodies = matrix.directories.flatMap((directory) => directoryBodies(directory, matrix, tests));
  const table = element(
    "table",
    { className: "tests" },
    element("caption", {}, matrix.title),
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, ""), ...tests.map((test) => testHeading(test, matrix)))),
    ...bodies,
  );
  const note = matrix.note ? [element("p", { className: "note" }, matrix.note)] : [];
  return element("div", {}, element("div", { className: "wide", tabIndex: 0 }, table), ...note);
}

function testHeading(test, matrix) {
  const button = element("button", { type: "button", title: test.why }, String(test.number), element("b", {}, TEST_SIGNS[test.outcome]));
  button.setAttribute("aria-label", `test ${test.number}, ${OUTCOMES[test.outcome]}: ${test.why}`);
  button.addEventListener("click", () => chooseTest(button, test, matrix));
  return element("th", { scope: "col", className: headingStyle(test) }, button);
}

const headingStyle = (test) => (test.begins ? `${test.outcome} begins` : test.outcome);

function chooseTest(button, test, matrix) {
  document.querySelectorAll(".tests thead .chosen").forEach((one) => one.classList.remove("chosen"));
  button.parentElement.classList.add("chosen");
  const added = test.added.size > 0 ? `, and ${counted(test.added.size, matrix.unit)} that a failed build asked for` : "";
  const what = `Test ${test.number}, ${OUTCOMES[test.outcome]}, with ${test.asked.size} of ${counted(matrix.all, matrix.unit)}${added}: ${test.why}`;
  byId("test").replaceChildren(what);
  byId("printed").textContent = test.printed;
  byId("printed").hidden = test.printed === "";
}

function directoryBodies(directory, matrix, tests) {
  const heading = element("tr", { className: "directory" }, element("th", { scope: "row" }, directory.name), ...tests.map((test) => element("td", { className: test.begins ? "begins" : "" })));
  const files = directory.files.map((file) => fileBody(file, tests));
  return directory.name === "" ? files : [element("tbody", {}, heading), ...files];
}

/** A file with its changes, which are shown once somebody asks for them, or where one of them breaks the program. */
function fileBody(file, tests) {
  const body = element("tbody", {});
  const single = file.members.length === 1;
  const isGuilty = file.members.some((member) => member.guilty);
  const name = single ? `${file.name} ${file.members[0].place}`.trim() : `${file.name} (${file.members.length})`;
  const button = element("button", { type: "button", ariaExpanded: "false" }, name);
  const label = single ? name : button;
  const style = single && isGuilty ? "file guilty" : "file";
  body.append(matrixRow(label, file.members.map((member) => member.number), tests, style));
  if (single) return body;
  let rows = null;
  const show = (isShown) => {
    rows ??= file.members.map((member) => matrixRow(member.place, [member.number], tests, member.guilty ? "member guilty" : "member"));
    if (isShown) body.append(...rows);
    else rows.forEach((row) => row.remove());
    button.setAttribute("aria-expanded", String(isShown));
  };
  button.addEventListener("click", () => show(button.getAttribute("aria-expanded") !== "true"));
  if (isGuilty) show(true);
  return body;
}

function matrixRow(label, numbers, tests, className) {
  return element("tr", { className }, element("th", { scope: "row" }, label), ...tests.map((test) => matrixCell(numbers, test)));
}

function matrixCell(numbers, test) {
  const asked = numbers.filter((number) => test.asked.has(number)).length;
  const added = numbers.filter((number) => test.added.has(number)).length;
  const applied = asked + added;
  const begins = test.begins ? " begins" : "";
  if (applied === 0) return element("td", { className: `out${begins}` }, "·");
  const part = applied < numbers.length ? " part" : "";
  const extra = asked === 0 ? " added" : "";
  return element("td", { className: `${test.outcome}${part}${extra}${begins}` }, TEST_SIGNS[test.outcome]);
}

function legend() {
  const one = (outcome) => element("span", { className: outcome }, `${TEST_SIGNS[outcome]} ${OUTCOMES[outcome]}`);
  const words = ["each column is a test, with the changes that were applied in it", "pale: some of the file's changes", "dotted: applied because a failed build asked for it"];
  return [...Object.keys(TEST_SIGNS).map(one), ...words.map((text) => element("span", {}, text))];
}

const texts = ["good", "bad", "headline", "closest", "verdict"];
texts.forEach((name) => byId(name).append(data[name]));
byId("command").textContent = data.command_line;
byId("commits").append(...data.commits.map((text) => element("li", {}, text)));
byId("warnings").append(...data.warnings.map((text) => element("li", {}, text)));
byId("changes").append(...data.changes.map(guiltyChange));
byId("difference").append(...data.files.map(fileDifference));
byId("legend").append(...legend());
byId("matrices").append(...data.matrices.map(testMatrix));
beginTheme(() => {});
