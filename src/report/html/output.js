// Show a test: what it executed, what it has printed, and how that differs from what was recorded.

const CHANGES = {
  " ": { name: "span", sign: " ", words: "" },
  "-": { name: "del", sign: "−", words: "recorded only: " },
  "+": { name: "ins", sign: "+", words: "this test only: " },
  "~": { name: "span", sign: "⋮", words: "equal lines" },
};

function showOutput(row) {
  byId("search").classList.add("chosen");
  const output = matrix.search.outputs[row.output];
  const none = element("p", { className: "note" }, "What it has printed is not shown, see below the tests.");
  byId("test-subset").replaceChildren(...subset(row));
  byId("printed").replaceChildren(...(output ? output.streams.flatMap(printed) : [none]));
  byId("difference").replaceChildren(...(output ? output.streams.flatMap(difference) : []));
}

function hideOutput() {
  byId("search").classList.remove("chosen");
  byId("test-subset").replaceChildren("Here stand the events that it executed, and how to execute them again.");
  byId("printed").replaceChildren();
  byId("difference").replaceChildren();
}

/** The events of a test, as the command line takes them. */
function subset({ events, is_cut: isCut, control }) {
  if (isCut) return ["Executed: events ", element("code", {}, `${events},…`), " and more, which there is no room for"];
  const chosen = events ? `events ${events}` : "none of the events";
  const executed = `Executed: ${chosen}, and what cannot be left out.`;
  const again = `stripe replay ${matrix.run ?? "PROG"} --control ${control} --keep ${events || "''"}`;
  const rest = matrix.run === null ? ", where PROG is the program with its options: the run was not kept." : "";
  return [`${executed} Again: `, element("code", {}, again), rest];
}

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
