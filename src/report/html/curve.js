// Draw how much was left over after how many tests.

const CURVE = { width: 768, height: 200, left: 0, right: 8, top: 10, bottom: 48 };
let curve = { last: 1, tests: 0 };

/** `phases` have the number of their first test and words; `unit` is what was left over, in the singular. */
function showCurve({ points, phases, tests, unit }) {
  if (points.length === 0) return byId("curve").replaceChildren();
  const most = Math.max(...points.map(([, left]) => left), 1);
  curve = { tests, most };
  // There must be room for the longest number.
  CURVE.left = 24 + 8 * grouped(most).length;
  // One unit is one pixel, so that the texts are as large as all others.
  CURVE.width = Math.max(280, Math.min(768, byId("curve").clientWidth));
  const picture = shape("svg", { viewBox: `0 0 ${CURVE.width} ${CURVE.height}`, role: "img", "aria-labelledby": "curve-told" });
  picture.append(shape("title", { id: "curve-told" }, toldCurve(points, tests, unit)), ...axes(), ...phases.flatMap(boundary));
  picture.append(shape("path", { class: "step", d: path(points) }), shape("line", { class: "now", id: "now" }));
  byId("curve").replaceChildren(picture);
}

const x = (test) => CURVE.left + ((CURVE.width - CURVE.left - CURVE.right) * test) / Math.max(curve.tests, 1);
const y = (left) => CURVE.height - CURVE.bottom - ((CURVE.height - CURVE.top - CURVE.bottom) * left) / curve.most;

function toldCurve(points, tests, unit) {
  const [first, last] = [points[0], points.at(-1)];
  return `From ${counted(first[1], unit)} to ${grouped(last[1])} in ${counted(tests, "test")}.`;
}

/** A step at each improvement, and level from the last one on. */
function path(points) {
  let d = `M${x(points[0][0])} ${y(points[0][1])}`;
  for (const [test, left] of points.slice(1)) d += `H${x(test).toFixed(1)}V${y(left).toFixed(1)}`;
  return `${d}H${x(curve.tests)}`;
}

function axes() {
  const [bottom, end] = [y(0), x(curve.tests)];
  return [
    shape("path", { class: "axis", d: `M${CURVE.left} ${CURVE.top}V${bottom}H${end}` }),
    shape("text", { x: CURVE.left - 6, y: y(curve.most) + 4, "text-anchor": "end" }, grouped(curve.most)),
    shape("text", { x: CURVE.left - 6, y: bottom + 4, "text-anchor": "end" }, "0"),
    shape("text", { x: end, y: bottom + 36, "text-anchor": "end" }, counted(curve.tests, "test")),
  ];
}

/** Where a phase begins; in words, if there is room before the next one. */
function boundary({ words, first }, at, phases) {
  if (phases.length < 2) return [];
  const line = shape("line", { class: "axis", x1: x(first), x2: x(first), y1: CURVE.top, y2: y(0), "stroke-dasharray": "3 3" });
  const room = x(phases[at + 1]?.first ?? curve.tests) - x(first);
  const text = room < 7 * words.length ? [] : [shape("text", { x: x(first) + 6, y: y(0) + 18 }, words)];
  return [...(at > 0 ? [line] : []), ...text];
}

function markCurve(test) {
  const now = byId("now");
  if (!now) return;
  for (const [key, value] of Object.entries({ x1: x(test), x2: x(test), y1: CURVE.top, y2: y(0) })) now.setAttribute(key, value);
}
