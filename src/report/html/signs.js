// Show source with a sign for each execution, and lead through the signs by mouse and keyboard. One sign is in the order
// of Tab; arrow keys go on. Who uses it says in `tellSign` what is told of a sign.

/** The signs in the order of the page: each with its `button` and its place, `file` and `line`. */
let signs = { all: [], chosen: null };

/** The lines of one part of the source; `headings` are pairs of text and class. */
function sourceTable(part, headings, row) {
  return element(
    "table",
    { className: "listing" },
    element("caption", {}, `${part.file}: ${part.functions}`),
    element("thead", {}, element("tr", {}, ...headings.map(([text, className]) => element("th", { scope: "col", className }, text)))),
    element("tbody", {}, ...part.rows.map((one) => row(one, part.file))),
  );
}

const count = (number) => element("td", { className: "count" }, number === null ? "" : grouped(number));

/** The signs of a line side by side; nothing for none. */
function besides(made) {
  return made.length > 0 ? [element("span", { className: "dots" }, ...made)] : [];
}

/** Makes the sign of an execution: a button with a text for eyes and a label for screen readers. */
function addSign(execution, { text, className, label }) {
  const button = element("button", { type: "button", className: `dot ${className}`, tabIndex: -1, "aria-label": label }, text);
  const sign = { ...execution, button };
  const at = signs.all.push(sign) - 1;
  button.addEventListener("focus", () => chooseSign(at));
  button.addEventListener("click", () => chooseSign(at));
  button.addEventListener("mouseenter", () => tellSign(sign));
  button.addEventListener("mouseleave", () => signs.chosen !== null && tellSign(signs.all[signs.chosen]));
  button.addEventListener("keydown", (key) => moveFrom(key, at));
  return button;
}

/** Has Tab lead to this sign; without one, to the first of all. */
function enterAt(sign) {
  const entered = sign ?? signs.all[0];
  if (!entered) return;
  for (const { button } of signs.all) if (button.tabIndex === 0) button.tabIndex = -1;
  entered.button.tabIndex = 0;
}

function chooseSign(at) {
  if (signs.chosen !== null) signs.all[signs.chosen].button.removeAttribute("aria-current");
  const sign = signs.all[at];
  enterAt(sign);
  sign.button.setAttribute("aria-current", "true");
  signs.chosen = at;
  tellSign(sign);
}

/** Left and right go to the next sign, up and down to that of the next line with signs. */
function moveFrom(key, at) {
  const here = signs.all[at];
  const isVisible = ({ button }) => button.offsetParent !== null;
  const isElsewhere = (sign) => isVisible(sign) && (sign.line !== here.line || sign.file !== here.file);
  const ways = {
    ArrowRight: () => signs.all.slice(at + 1).find(isVisible),
    ArrowLeft: () => signs.all.slice(0, at).findLast(isVisible),
    ArrowDown: () => signs.all.slice(at).find(isElsewhere),
    ArrowUp: () => signs.all.slice(0, at).findLast(isElsewhere),
  };
  const next = ways[key.key]?.();
  if (key.key in ways) key.preventDefault();
  next?.button.focus();
}
