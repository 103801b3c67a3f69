// Show what a run has printed, and how that differs from what was recorded.

const CHANGES = {
  " ": { name: "span", sign: " ", words: "" },
  "-": { name: "del", sign: "−", words: "recorded only: " },
  "+": { name: "ins", sign: "+", words: "not recorded: " },
  "~": { name: "span", sign: "⋮", words: "equal lines" },
};

function printed(stream) {
  return told(stream.name, stream.note, stream.lines.map((text) => shownLine(element("span", {}, text))));
}

function difference(stream) {
  return told(stream.name, stream.difference_note, stream.difference.map(change));
}

function told(name, note, lines) {
  const text = lines.length > 0 ? [element("pre", {}, ...lines)] : [];
  return [element("p", { className: "stream" }, name), ...text, element("p", { className: "note" }, note)];
}

/** Colour alone does not tell: there is a sign, and words for those who do not see it. */
function change([kind, text]) {
  const { name, sign, words } = CHANGES[kind];
  const spoken = words ? [element("span", { className: "spoken" }, words)] : [];
  const shown = element("span", { className: "sign", ariaHidden: "true" }, sign);
  return shownLine(element(name, {}, shown, ...spoken, element("span", { className: "text" }, text)));
}

function shownLine(content) {
  content.classList.add("line");
  return content;
}
