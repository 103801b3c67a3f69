// Draw tests as a picture of rows and columns. The slider is how keyboards and screen readers get at the rows. Who uses
// it says in `chooseTest` what becomes of a chosen row, and in `toldCell` what is told of a cell.

let matrix = { search: null, run: null, chosen: null, columnOf: new Map(), width: 0, height: 0 };

/** At the left of each row its outcome, which a row without marks would not tell. */
const STRIP = 8;

/** The largest picture that browsers draw without trouble. */
const LONGEST_SIDE = 16000;

/** Shows these rows; `label` says in words what they are. */
function showCells({ rows, note }, label) {
  const slider = byId("test");
  slider.max = Math.max(rows.length, 1);
  slider.value = 1;
  slider.disabled = rows.length === 0;
  byId("search-note").textContent = note;
  byId("outcomes").replaceChildren(...Object.entries(OUTCOMES).map(swatch));
  byId("cells").setAttribute("aria-label", label);
}

function swatch([key, words]) {
  const dot = element("i", { className: "swatch" });
  dot.style.color = `var(--${key})`;
  return element("span", {}, dot, words);
}

function drawMatrix() {
  const { search } = matrix;
  const canvas = byId("cells");
  const room = byId("matrix").clientWidth - STRIP;
  const columns = Math.max(search.columns.length, 1);
  const fit = (most, size) => Math.max(2, Math.min(most, Math.floor(size)));
  matrix.width = fit(14, room / columns);
  const rows = Math.max(search.rows.length, 1);
  matrix.height = fit(Math.max(matrix.width, Math.min(14, 300 / rows), 3), LONGEST_SIDE / rows);
  canvas.width = STRIP + columns * matrix.width;
  canvas.height = rows * matrix.height;
  canvas.classList.toggle("dense", matrix.width < 6);
  const paint = canvas.getContext("2d");
  const colors = { empty: color(matrix.width < 6 ? "panel" : "empty") };
  for (const key of Object.keys(OUTCOMES)) colors[key] = color(key);
  search.rows.forEach((row, at) => drawRow(paint, row, at, colors));
  if (matrix.chosen !== null) frame(paint);
}

function drawRow(paint, row, at, colors) {
  const { width, height } = matrix;
  paint.fillStyle = colors[row.outcome];
  paint.fillRect(0, at * height, STRIP - 3, height);
  [...row.cells].forEach((sign, column) => {
    if (sign === "-") return;
    const share = Number(sign) / 9;
    paint.fillStyle = share > 0 ? colors[row.outcome] : colors.empty;
    paint.globalAlpha = share > 0 ? 0.35 + 0.65 * share : 1;
    if (width < 6) return paint.fillRect(STRIP + column * width, at * height, width, height);
    const radius = (Math.min(width, height) / 2) * (share > 0 ? 0.8 : 0.25);
    paint.beginPath();
    paint.arc(STRIP + (column + 0.5) * width, (at + 0.5) * height, radius, 0, 2 * Math.PI);
    paint.fill();
  });
  paint.globalAlpha = 1;
}

function frame(paint) {
  const { width, height, chosen, search } = matrix;
  paint.strokeStyle = color("ink");
  paint.lineWidth = 1.5;
  paint.strokeRect(0.75, chosen * height + 0.75, STRIP + search.columns.length * width - 1.5, Math.max(height - 1.5, 2));
}

/** The row and the column under the mouse; the picture may be stretched. */
function under({ offsetX, offsetY }) {
  const canvas = byId("cells");
  const unstretched = (offset, side, stretched) => (offset * side) / Math.max(stretched, 1);
  return {
    row: Math.floor(unstretched(offsetY, canvas.height, canvas.clientHeight) / matrix.height),
    column: Math.floor((unstretched(offsetX, canvas.width, canvas.clientWidth) - STRIP) / matrix.width),
  };
}

byId("cells").addEventListener("click", (click) => chooseTest(under(click).row));
byId("cells").addEventListener("mousemove", (mouse) => {
  const place = under(mouse);
  const row = matrix.search.rows[place.row];
  const column = matrix.search.columns[place.column];
  if (!row || !column) return;
  byId("cells").title = `Test ${row.number}, ${OUTCOMES[row.outcome]}: ${toldCell(row, column)}`;
});
byId("test").addEventListener("keydown", (key) => {
  if (key.key !== "Enter" && key.key !== " ") return;
  key.preventDefault();
  chooseTest(byId("test").valueAsNumber - 1);
});
byId("test").addEventListener("input", () => {
  chooseTest(byId("test").valueAsNumber - 1);
  const box = byId("matrix");
  const height = byId("cells").clientHeight / matrix.search.rows.length;
  const top = matrix.chosen * height;
  if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - height) box.scrollTop = top - box.clientHeight / 2;
});
