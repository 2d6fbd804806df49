// Purpose: many tenants before and after on logarithmic axes: on the diagonal nothing changes, above it times are longer.

Meed.scatter = (() => {
  const { h, s, marker, onWidth } = Meed.dom;
  const { format, theme } = Meed;
  const { LOG_TIMES, thinned } = Meed.base;
  const [LEFT, BOTTOM, TOP, RIGHT] = [74, 40, 12, 12];
  const HEIGHT = 330;
  /** So many points have room to be large. */
  const FEW = 60;

  /**
   * points: [{ name, before, now, look: "longer" | "shorter" | "same", text }], positive numbers of seconds.
   * titles: { before, now, what }. Gives an element.
   */
  function scatter(points, range, titles) {
    const readout = h("p", { class: "readout", role: "status", "aria-live": "polite" }, "\u00a0");
    const view = h("div", { class: "plot scatter", style: `height:${HEIGHT}px`, tabindex: 0, role: "application", "aria-roledescription": "scatter chart",
      "aria-label": `${titles.what} under ${titles.now} against ${titles.before}, a point for each of ${points.length} tenants. Left and right arrow keys go from the tenant that gains most to the one that loses most.` });
    const [low, high] = [range[0] / 1.3, range[1] * 1.3];
    const sorted = [...points].sort((a, b) => a.now / a.before - b.now / b.before);
    let at = null;
    let width = 0;
    const part = (v) => Math.log(v / low) / Math.log(high / low);
    const x = (v) => LEFT + part(v) * (width - LEFT - RIGHT);
    const y = (v) => HEIGHT - BOTTOM - part(v) * (HEIGHT - BOTTOM - TOP);
    const marks = (place, apart) => thinned(LOG_TIMES, [low, high], place, apart);

    function paint() {
      const ink = theme.color("ink");
      const grid = theme.color("grid");
      const svg = s("svg", { width, height: HEIGHT, "aria-hidden": "true" });
      const text = (words, more) => s("text", { fill: ink, "font-size": 12, ...more }, words);
      for (const v of marks(x, 76)) svg.append(s("line", { x1: x(v), x2: x(v), y1: TOP, y2: HEIGHT - BOTTOM, stroke: grid }), text(format.timeTick(v, v), { x: x(v), y: HEIGHT - BOTTOM + 15, "text-anchor": "middle" }));
      for (const v of marks(y, 26)) svg.append(s("line", { x1: LEFT, x2: width - RIGHT, y1: y(v), y2: y(v), stroke: grid }), text(format.timeTick(v, v), { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }));
      svg.append(text(`${titles.before} →`, { x: width - RIGHT, y: HEIGHT - 6, "text-anchor": "end" }));
      svg.append(s("line", { x1: x(low), y1: y(low), x2: x(high), y2: y(high), stroke: ink, "stroke-dasharray": "6 4" }));
      const ways = { shorter: [theme.tenant(0).color, "circle"], longer: [theme.tenant(1).color, "triangle"], same: [theme.color("soft"), "diamond"] };
      for (const p of sorted) {
        const [color, shape] = ways[p.look];
        const dot = marker(shape, x(p.before), y(p.now), color, points.length > FEW ? 3.2 : 5);
        dot.setAttribute("fill-opacity", "0.6");
        svg.append(dot);
      }
      if (at) svg.append(marker("ring", x(at.before), y(at.now), ink, 8));
      view.replaceChildren(svg);
    }
    function read(p) {
      if (p === at) return;
      at = p;
      readout.textContent = p ? `${p.name}: ${format.time(p.before)}, now ${format.time(p.now)} (${p.text})` : "\u00a0";
      paint();
    }
    view.addEventListener("mousemove", (event) => {
      const box = view.getBoundingClientRect();
      const far = (p) => (x(p.before) - event.clientX + box.left) ** 2 + (y(p.now) - event.clientY + box.top) ** 2;
      const near = sorted.reduce((a, b) => (far(b) < far(a) ? b : a), sorted[0]);
      read(near && far(near) < 900 ? near : null);
    });
    view.addEventListener("mouseleave", () => read(null));
    view.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const last = sorted.length - 1;
      const now = at ? sorted.indexOf(at) : -1;
      const far = event.shiftKey ? 10 : 1;
      const go = { ArrowRight: now + far, ArrowLeft: at ? now - far : last, Home: 0, End: last }[event.key];
      if (go !== undefined) read(sorted[Math.max(0, Math.min(last, go))]);
      else if (event.key === "Escape") read(null);
      else return;
      event.preventDefault();
    });
    onWidth(view, (w) => { width = w; paint(); });
    return h("div", { class: "panel" }, h("h4", {}, `${titles.now} (upright) against ${titles.before} (level)`), view, readout);
  }

  return { scatter };
})();
