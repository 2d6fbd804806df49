// Purpose: where a reader arrives: a link lands at its place although charts are drawn late, and paper gets all of them,
// light and as wide as it is.

Meed.paper = (() => {
  const { theme } = Meed;
  const { settle } = Meed.dom;

  /** Between the upper edge, or what sticks to it, and where a link lands. */
  const GAP = 8;

  /** `ensure` draws all that is not drawn yet; `waiting()`: figures to draw in spare moments. */
  function arrive(ensure, waiting) {
    let goal = "";
    /** Scrolls to where the address points, now that everything above has its height. */
    function land() {
      const target = goal && document.getElementById(goal);
      const bar = document.querySelector(".bar");
      // Above its own place it does not stick.
      const isBelow = bar && target && bar.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING;
      const sticks = isBelow && getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
      document.documentElement.style.scrollPaddingTop = `${sticks + GAP}px`;
      if (target) target.scrollIntoView({ behavior: "instant", block: "start" });
    }
    function go() {
      goal = decodeURIComponent(window.location.hash.slice(1));
      if (!goal || !document.getElementById(goal)) { goal = ""; return; }
      ensure();
      settle();
      land();
      // Fonts and late widths may move it once more, until the reader does.
      requestAnimationFrame(() => requestAnimationFrame(land));
      setTimeout(() => { land(); goal = ""; }, 250);
    }
    for (const moved of ["wheel", "touchmove", "keydown", "mousedown"]) window.addEventListener(moved, () => { goal = ""; }, { passive: true });
    window.addEventListener("hashchange", go);
    // A second click on the link of the same place changes no address.
    document.addEventListener("click", (event) => {
      const link = event.target instanceof Element && event.target.closest("a[href^='#']");
      if (link && link.getAttribute("href") === window.location.hash) setTimeout(go, 0);
    });
    go();
    // Charts far down are drawn in spare moments, so that searching finds them and nothing grows under a reader.
    const rest = [...waiting()];
    const next = () => {
      const figure = rest.shift();
      if (!figure) return;
      figure.ensure();
      setTimeout(next, 10);
    };
    setTimeout(next, 100);

    window.addEventListener("beforeprint", () => {
      document.documentElement.classList.add("printing");
      theme.print(true);
      for (const fold of document.querySelectorAll("details.assumed:not([open])")) { fold.open = true; fold.dataset.folded = ""; }
      ensure();
      settle();
    });
    window.addEventListener("afterprint", () => {
      document.documentElement.classList.remove("printing");
      theme.print(false);
      for (const fold of document.querySelectorAll("details[data-folded]")) { fold.open = false; delete fold.dataset.folded; }
      settle();
    });
  }

  return { arrive };
})();
