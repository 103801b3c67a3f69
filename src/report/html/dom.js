// Make elements, and write numbers. Texts are set as texts, never as markup.

const byId = (id) => document.getElementById(id);

/** An element with properties and children; a child is an element or a text. */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** The same for drawings. */
function shape(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const grouped = (number) => number.toLocaleString("en");
const counted = (number, thing) => `${grouped(number)} ${thing}${number === 1 ? "" : "s"}`;
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const OUTCOMES = { reproduced: "reproduced", not_reproduced: "not reproduced", unresolved: "unresolved" };
const SIGNS = { e: "●", d: "○", h: "◆", i: "◌", u: "·", f: "■" };

/** What the signs of a chapter mean. */
function meanings(chapter) {
  return {
    e: chapter.effects_tried ? "needed for its effect" : "needed",
    d: chapter.effects_tried ? "needed only as a decision" : "needed, a decision",
    h: "needed, but not in the dynamic slice",
    i: "in the dynamic slice, but not needed",
    u: chapter.comparison ? "executed, in neither" : "executed but not needed",
    f: "cannot be left out",
  };
}
