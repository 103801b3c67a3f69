// Obey the switch between light and dark.

const SYSTEM = matchMedia("(prefers-color-scheme: dark)");
const theme = { redraw: () => {} };

function applyTheme() {
  const chosen = byId("theme").value;
  setTheme(chosen === "auto" ? SYSTEM.matches : chosen === "dark");
}

function setTheme(isDark) {
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  theme.redraw();
}

/** `redraw` is called after each change. */
function beginTheme(redraw) {
  theme.redraw = redraw;
  byId("theme").addEventListener("change", applyTheme);
  SYSTEM.addEventListener("change", applyTheme);
  // Paper is light.
  addEventListener("beforeprint", () => setTheme(false));
  addEventListener("afterprint", applyTheme);
  applyTheme();
}
