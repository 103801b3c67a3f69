// Show a simplified input: what is left of it, what went, and what each test has given to the program.

const data = JSON.parse(byId("data").textContent);

/** Folded is what went in stretches of more lines or characters. */
const FOLD = { lines: 8, characters: 600, shown: 2 };
/** Parts that are listed, and the elements that show them. */
const shownParts = [];

/** Characters that would not be seen, by signs; in parts that are no text each character is a byte. */
function visible(text, isText) {
  const sign = (character) => {
    const code = character.codePointAt(0);
    if (!isText && (code > 126 || code < 32) && code !== 10) return `\\x${code.toString(16).padStart(2, "0")}`;
    if (code === 127) return "\u2421";
    return code < 32 && code !== 9 && code !== 10 ? String.fromCodePoint(0x2400 + code) : character;
  };
  return [...text].map(sign).join("");
}

/** Where the characters of a stretch begin in the input, in bytes, and where the last one ends. */
function offsets({ at, text }, isText) {
  const bytes = (code) => (!isText || code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
  const found = [];
  let offset = at;
  for (const character of text) {
    for (let unit = 0; unit < character.length; unit += 1) found.push(offset);
    offset += bytes(character.codePointAt(0));
  }
  return [...found, offset];
}

/** The first character of a stretch that begins at an offset or behind it. */
function characterAt(places, offset) {
  let [low, high] = [0, places.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What stands in the input from one offset to another, in pieces: texts, and numbers of bytes that are not shown. */
function textsBetween(part, from, to) {
  const found = [];
  let at = from;
  for (const stretch of part.shown) {
    const [start, end] = [stretch.at, stretch.places.at(-1)];
    if (end <= at || start >= to) continue;
    if (start > at) found.push(start - at);
    const [first, last] = [characterAt(stretch.places, Math.max(at, start)), characterAt(stretch.places, Math.min(to, end))];
    found.push(stretch.text.slice(first, last));
    at = Math.min(to, end);
  }
  return at < to ? [...found, to - at] : found;
}

const hidden = (bytes, words) => element("span", { className: "fold" }, `… ${counted(bytes, "byte")} ${words} …`);

function keptElements(part, from, to) {
  return textsBetween(part, from, to).map((piece) =>
    typeof piece === "number" ? hidden(piece, "that are left, and not shown") : element("span", { className: "kept" }, visible(piece, part.is_text)));
}

function goneElements(part, from, to) {
  return textsBetween(part, from, to).flatMap((piece) => (typeof piece === "number" ? [hidden(piece, "went")] : folded(piece, part)));
}

/** What went, without the middle of a long stretch. */
function folded(text, part) {
  const gone = (shown) => (shown ? [element("del", {}, visible(shown, part.is_text))] : []);
  const lines = text.split("\n");
  const isLong = lines.length > FOLD.lines || text.length > FOLD.characters;
  if (byId("unfold").checked || !isLong) return gone(text);
  const byLines = lines.length > FOLD.lines;
  const [first, last] = byLines
    ? [`${lines.slice(0, FOLD.shown).join("\n")}\n`, lines.slice(-FOLD.shown).join("\n")]
    : [text.slice(0, 100), text.slice(-100)];
  const rest = byLines ? counted(lines.length - 2 * FOLD.shown, "line") : counted(text.length - 200, "character");
  const fold = element("span", { className: "fold" }, `… ${rest} went …`);
  return [...gone(first), fold, ...(byLines ? [element("del", {}, "\n")] : []), ...gone(last)];
}

/** The elements that show a part of which these pieces are left; null for one that is left out. */
function elementsOf(part, pieces) {
  let at = 0;
  const found = [];
  for (const piece of pieces ?? []) {
    if (typeof piece === "string") {
      found.push(element("ins", {}, visible(piece, part.is_text)));
      continue;
    }
    const [from, to] = piece;
    found.push(...goneElements(part, at, from), ...keptElements(part, from, to));
    at = to;
  }
  return [...found, ...goneElements(part, at, part.bytes)];
}

function showPieces(given) {
  data.parts.forEach((part, at) => shownParts[at].replaceChildren(...elementsOf(part, given[at])));
}

const resultPieces = () => data.parts.map((part) => part.left);

/** Shows the result, or what the chosen test has given. */
function showChosen() {
  const row = matrix.chosen === null ? null : data.rows[matrix.chosen];
  showPieces(row?.given ?? resultPieces());
}

function partSection(part) {
  const pre = element("pre", { className: "input", tabIndex: 0, role: "region", "aria-label": part.name });
  shownParts.push(pre);
  return element("section", {}, element("h3", {}, part.heading), pre);
}

function toldCell(_, [first, last, part]) {
  const name = data.parts.length > 1 ? ` of ${data.parts[part].name}` : "";
  return last > first ? `bytes ${grouped(first)} to ${grouped(last)}${name}` : `byte ${grouped(first)}${name}`;
}

/** Shows what a test has given. */
function chooseTest(at) {
  const row = data.rows[at];
  if (!row) return;
  matrix.chosen = at;
  const told = `Test ${grouped(row.number)}: ${counted(row.bytes, "byte")} given: ${OUTCOMES[row.outcome]}: ${row.why}`;
  byId("test").value = at + 1;
  byId("test").setAttribute("aria-valuetext", told);
  byId("test-number").textContent = grouped(row.number);
  byId("test-told").textContent = told;
  byId("filter-text").textContent = `As in test ${grouped(row.number)}`;
  byId("filter").hidden = false;
  showChosen();
  drawMatrix();
  markCurve(row.number);
}

function clearTest() {
  matrix.chosen = null;
  const hint = "Click on a row, or move the slider, to see above what a test has given to the program.";
  byId("test-told").textContent = data.rows.length ? hint : "No test is told of.";
  byId("test-number").textContent = "";
  byId("filter").hidden = true;
  showChosen();
}

function otherFailure({ what, tests, bytes, parts }) {
  const texts = parts.flatMap(({ name, text }) => [element("p", { className: "note" }, name), element("pre", { tabIndex: 0 }, text)]);
  return element("div", {}, element("p", {}, element("b", {}, what), `, in ${counted(tests, "test")}, with ${counted(bytes, "byte")}:`), ...texts);
}

function showAll() {
  byId("title").textContent = data.title;
  byId("criterion").textContent = data.criterion;
  byId("verdict").textContent = data.verdict;
  byId("command").textContent = data.command_line;
  byId("warnings").replaceChildren(...data.warnings.map((sentence) => element("li", {}, sentence)));
  byId("sets").textContent = data.sets;
  byId("sets").hidden = !data.sets;
  for (const part of data.parts) for (const stretch of part.shown) stretch.places = offsets(stretch, part.is_text);
  byId("parts").replaceChildren(...data.parts.map(partSection));
  byId("input").hidden = data.parts.length === 0;
  byId("search").hidden = data.rows.length === 0;
  byId("input-note").textContent = data.note;
  byId("legend").replaceChildren(
    element("span", {}, element("span", { className: "kept" }, "left"), ": the failure needs it"),
    element("span", {}, element("del", {}, "went"), ": the failure shows without it"),
    element("span", {}, element("ins", {}, "simpler"), ": in the place of something else"),
  );
  byId("errors-before").textContent = data.errors[0];
  byId("errors-after").textContent = data.errors[1];
  byId("errors").hidden = data.errors.every((text) => text === "");
  byId("others-list").replaceChildren(...data.others.map(otherFailure));
  byId("others").hidden = data.others.length === 0;
}

/** The tests, and how much was left over; on a page where they are seen. */
function showSearch() {
  const { rows, columns } = data;
  matrix = { ...matrix, search: { rows, columns, note: data.search_note } };
  const { reproduced, not_reproduced: not, unresolved } = data.tests;
  const label = `${counted(data.tests.total, "test")}: ${grouped(reproduced)} reproduced the failure, ${grouped(not)} did not, `
    + `${grouped(unresolved)} unresolved. The slider above goes through them.`;
  showCells(matrix.search, label);
  showCurve({ points: data.curve, phases: data.phases, tests: data.tests.total, unit: "byte" });
  drawMatrix();
}

showAll();
if (data.rows.length > 0) showSearch();
clearTest();
byId("only").addEventListener("change", () => shownParts.forEach((pre) => pre.classList.toggle("only", byId("only").checked)));
byId("unfold").addEventListener("change", showChosen);
byId("filter-off").addEventListener("click", () => { clearTest(); drawMatrix(); });
addEventListener("resize", () => matrix.search && drawMatrix());
beginTheme(() => matrix.search && drawMatrix());
