// Show the tests as in Figure 5 of Cleve and Zeller, AADEBUG 2000: tests down, events across.

function showMatrix(chapter) {
  const { search, run } = chapter;
  const columnOf = new Map(search.is_exact ? search.columns.map(([event], at) => [event, at]) : []);
  matrix = { search, run, chosen: null, columnOf, width: 0, height: 0 };
  showCells(search, described(chapter));
  clearTest();
  drawMatrix();
}

function described({ tests, search }) {
  return `${counted(tests.total, "test")} of ${counted(search.columns.length, "column")}: ${grouped(tests.reproduced)} `
    + `reproduced the failure, ${grouped(tests.not_reproduced)} did not, ${grouped(tests.unresolved)} unresolved. `
    + "The slider above goes through them.";
}

function toldCell(_, [first, last, line]) {
  return last > first ? `events ${first} to ${last}, from line ${line}` : `event ${first}, line ${line}`;
}

/** Shows a row in words, in the picture and in the source. */
function chooseTest(at) {
  const row = matrix.search.rows[at];
  if (!row) return;
  matrix.chosen = at;
  const told = `Test ${grouped(row.number)}: ${grouped(row.size)} of ${counted(row.of, "execution")} chosen: ${OUTCOMES[row.outcome]}: ${row.why}`;
  byId("test").value = at + 1;
  byId("test").setAttribute("aria-valuetext", told);
  byId("test-number").textContent = grouped(row.number);
  byId("test-told").textContent = told;
  byId("filter-text").textContent = `As in test ${grouped(row.number)}`;
  byId("filter").hidden = !matrix.search.is_exact;
  filterSource(matrix.search.is_exact ? (event) => isExecuted(row, event) : null);
  drawMatrix();
  markCurve(row.number);
  showOutput(row);
}

function clearTest() {
  matrix.chosen = null;
  const hint = "Click on a row, or move the slider, to see what a test executed and printed.";
  byId("test-told").textContent = matrix.search.rows.length ? hint : "No test was made.";
  byId("test-number").textContent = "";
  hideOutput();
  byId("filter").hidden = true;
  filterSource(null);
}

/** Whether a test executed an event; undefined where there was no choice. */
function isExecuted(row, event) {
  const sign = row.cells[matrix.columnOf.get(event)];
  return sign === undefined || sign === "-" ? undefined : sign !== "0";
}

/** The test that showed that an event is not needed: the first to reproduce the failure without it. */
function lastTestOf(event) {
  if (!matrix.columnOf.has(event)) return undefined;
  return matrix.search.rows.find((row) => row.outcome === "reproduced" && isExecuted(row, event) === false);
}

byId("filter-off").addEventListener("click", () => { clearTest(); drawMatrix(); });
