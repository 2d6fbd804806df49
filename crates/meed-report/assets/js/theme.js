// Purpose: light and dark, and colours that colour-blind readers can tell apart. Colour never stands alone: lines also
// differ by dash, markers by shape, rows by label.

Meed.theme = (() => {
  const listeners = [];
  const media = window.matchMedia("(prefers-color-scheme: dark)");
  let choice = "auto";

  // Okabe and Ito's palette, darkened or lightened to stand out from the background (at least 3:1).
  const TENANT = {
    light: ["#0072b2", "#d55e00", "#008a64", "#b5568f", "#a87900", "#2b8cc4", "#6b6b00", "#333333"],
    dark: ["#56b4e9", "#ff8a3d", "#2cc295", "#e59ac6", "#e6b422", "#8fb8ff", "#f0e442", "#e0e0e0"],
  };
  // Paul Tol's medium contrast.
  const POLICY = {
    light: ["#004488", "#994455", "#8a6a00", "#4a86c5", "#c9576e", "#6f6f6f"],
    dark: ["#7fb2e5", "#ee99aa", "#eecc66", "#b9d8f7", "#d4748a", "#c0c0c0"],
  };
  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
  const PATTERNS = [[], [12, 3, 3, 3], [2.5, 3]];
  const REFERENCE = [7, 5];
  const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "ring"];

  let paper = false;
  const dark = () => !paper && (choice === "auto" ? media.matches : choice === "dark");
  const pick = (palette, i) => { const p = palette[dark() ? "dark" : "light"]; return p[i % p.length]; };

  function apply() {
    document.documentElement.dataset.theme = dark() ? "dark" : "light";
    listeners.forEach((run) => run());
  }
  media.addEventListener("change", apply);
  // `report.html#theme=dark` opens dark, for pictures and for links.
  const asked = /theme=(dark|light)/.exec(window.location.hash);
  if (asked) choice = asked[1];
  document.documentElement.dataset.theme = dark() ? "dark" : "light";

  /** Diverging colour for x in -1..1 as [r, g, b]: orange below, blue above, quiet in the middle. */
  function diverging(x) {
    const middle = dark() ? [40, 44, 52] : [245, 245, 245];
    const ends = dark() ? [[255, 150, 60], [90, 180, 255]] : [[179, 78, 0], [0, 84, 159]];
    const end = ends[x < 0 ? 0 : 1];
    const k = Math.min(1, Math.abs(x)) ** 0.8;
    return middle.map((m, i) => Math.round(m + (end[i] - m) * k));
  }

  return {
    dark,
    diverging,
    color: (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(),
    tenant: (i) => ({ color: pick(TENANT, i), dash: DASHES[(i + Math.floor(i / 8)) % 4] }),
    policy: (i) => ({ color: pick(POLICY, i), dash: DASHES[i % 4], shape: SHAPES[i % SHAPES.length] }),
    /** A line of a chart of results: its place decides; a reference has a dash that no other line has. */
    line: (i, reference) => ({ color: pick(TENANT, i), dash: reference ? REFERENCE : PATTERNS[(i + 2 * Math.floor(i / 8)) % PATTERNS.length] }),
    /** Colour for x in 0..1 as [r, g, b], from quiet to full. */
    sequential(x) {
      const [from, to] = dark() ? [[32, 40, 52], [110, 195, 255]] : [[236, 243, 250], [0, 84, 159]];
      return from.map((f, i) => Math.round(f + (to[i] - f) * Math.max(0, Math.min(1, x))));
    },
    choice: () => choice,
    choose(value) { choice = value; apply(); },
    /** Paper is light. */
    print(on) { if (paper !== on) { paper = on; apply(); } },
    onChange: (run) => listeners.push(run),
  };
})();
