// Begin: read the data, show the first result, and obey the switches.

const data = JSON.parse(byId("data").textContent);

function showChapter(at) {
  const chapter = data.chapters[at];
  if (!chapter) return;
  showSummary(chapter);
  showSource(chapter);
  showCurve({ points: chapter.search.curve, phases: chapter.search.phases.map(phase), tests: chapter.tests.total, unit: "event" });
  showMatrix(chapter);
  markCriterion(at);
}

function phase({ control, first }) {
  return { first, words: control === "program" ? "branches decide" : "the trace decides" };
}

byId("title").textContent = data.title;
byId("introduction").textContent = data.introduction;
byId("hide").addEventListener("change", () => byId("listing").classList.toggle("hiding", byId("hide").checked));
addEventListener("resize", () => matrix.search && drawMatrix());
// A picture does not change its colours by itself.
beginTheme(() => matrix.search && drawMatrix());
showSuspects(data.suspects, showPlace);
showCriteria(data.chapters, showChapter, opening());
showChapter(opening());
