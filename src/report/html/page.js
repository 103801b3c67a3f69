// Begin: read the data, show the first result, and obey the switches.

const data = JSON.parse(byId("data").textContent);

function showChapter(at) {
  const chapter = data.chapters[at];
  if (!chapter) return;
  showSummary(chapter);
  showSource(chapter);
  showCurve(chapter);
  showMatrix(chapter);
  markCriterion(at);
}

const SYSTEM = matchMedia("(prefers-color-scheme: dark)");

function applyTheme() {
  const chosen = byId("theme").value;
  setTheme(chosen === "auto" ? SYSTEM.matches : chosen === "dark");
}

function setTheme(isDark) {
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  if (matrix.search) drawMatrix();
}

byId("title").textContent = data.title;
byId("introduction").textContent = data.introduction;
byId("theme").addEventListener("change", applyTheme);
SYSTEM.addEventListener("change", applyTheme);
// Paper is light, and a picture does not change its colours by itself.
addEventListener("beforeprint", () => setTheme(false));
addEventListener("afterprint", applyTheme);
byId("hide").addEventListener("change", () => byId("listing").classList.toggle("hiding", byId("hide").checked));
addEventListener("resize", () => matrix.search && drawMatrix());
applyTheme();
showSuspects(data.suspects, showPlace);
showCriteria(data.chapters, showChapter, opening());
showChapter(opening());
