// Show the verdict, the warnings, other failures, the funnel from executed to needed, and the command.

function showSummary(chapter) {
  byId("remark").textContent = chapter.remark;
  byId("criterion").textContent = chapter.criterion;
  byId("verdict").textContent = chapter.verdict;
  for (const [id, sentences] of [["warnings", chapter.warnings], ["by-products", chapter.by_products]]) {
    byId(id).replaceChildren(...sentences.map((sentence) => element("li", {}, sentence)));
  }
  byId("comparison").textContent = besideNeeded(chapter.comparison);
  byId("funnel").replaceChildren(...stages(chapter).map((stage) => bar(stage, chapter.events.recorded)));
  byId("command").textContent = chapter.command_line;
}

/** What is left over, stage by stage: key of the JSON result, number, meaning. */
function stages({ events, has_decisions, effects_tried, status, comparison }) {
  const needed = status === "minimal" ? "needed" : "kept";
  const decisions = has_decisions ? `${needed}, with the decisions that lead there` : needed;
  const all = [["recorded", "events in the recorded run"], ["omittable", "executions that can be left out"]];
  if (comparison) all.push(["dynamic", "that the failure depends on: dynamic slice, inferred"]);
  all.push(["kept", decisions]);
  if (has_decisions && effects_tried) all.push(["kept_for_effect", `${needed} for their effect`]);
  return all.map(([key, meaning]) => ({ key, meaning, number: key === "dynamic" ? comparison.dynamic : events[key] }));
}

/** What the dynamic slice is about, and how the two differ. */
function besideNeeded(comparison) {
  if (!comparison) return "";
  const { criterion, executed, dynamic, not_needed, not_inferred, warnings } = comparison;
  const holes = not_inferred ? ` Needed, and not in it: events ${not_inferred}; no dependence leads there.` : "";
  const told = `The dynamic slice of ${criterion} has ${grouped(dynamic)} of ${counted(executed, "statement execution")}; ` +
    `${grouped(not_needed.length)} of them can be left out.${holes}`;
  return [told, ...warnings].join(" ");
}

function bar({ key, meaning, number }, all) {
  const of = element("span", { className: "of" }, meaning);
  of.style.setProperty("--share", `${(100 * number) / Math.max(all, 1)}%`);
  return element("li", {}, element("b", { "data-key": key }, grouped(number)), of);
}
