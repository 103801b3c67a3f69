// Show a test: what it executed, what it has printed, and how that differs from what was recorded.

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
