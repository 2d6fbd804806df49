// Purpose: build elements. Text goes in as text nodes only: names of tenants and policies are not to be trusted.

Meed.dom = (() => {
  const SVG = "http://www.w3.org/2000/svg"; // a name of a language, not an address: nothing is fetched

  function fill(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
    return node;
  }
  /** An HTML element. */
  const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  /** An SVG element. */
  const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  /** A short piece of line as it looks in the chart, or a block for a band. */
  function swatch({ color, dash, band }) {
    const shape = band
      ? s("rect", { x: 0, y: 1, width: 26, height: 10, fill: color })
      : s("line", { x1: 0, y1: 6, x2: 26, y2: 6, stroke: color, "stroke-width": 2.5, "stroke-dasharray": (dash || []).join(" ") });
    return s("svg", { class: "swatch", width: 26, height: 12, "aria-hidden": "true" }, shape);
  }

  /** A marker of one of the shapes of the theme. */
  function marker(shape, x, y, color, r = 5) {
    const at = (points) => s("polygon", { points: points.map(([a, b]) => `${x + a * r},${y + b * r}`).join(" "), fill: color });
    switch (shape) {
      case "square": return s("rect", { x: x - r * 0.9, y: y - r * 0.9, width: r * 1.8, height: r * 1.8, fill: color });
      case "triangle": return at([[0, -1.1], [1.1, 0.9], [-1.1, 0.9]]);
      case "diamond": return at([[0, -1.25], [1.1, 0], [0, 1.25], [-1.1, 0]]);
      case "cross": return s("path", { d: `M${x - r},${y - r}L${x + r},${y + r}M${x + r},${y - r}L${x - r},${y + r}`, stroke: color, "stroke-width": 2.5 });
      case "ring": return s("circle", { cx: x, cy: y, r: r * 0.85, fill: "none", stroke: color, "stroke-width": 2.5 });
      default: return s("circle", { cx: x, cy: y, r, fill: color });
    }
  }

  /** Calls `run` once, when the element comes near the window. */
  function whenNear(element, run) {
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((e) => e.isIntersecting)) { watch.disconnect(); run(); }
    }, { rootMargin: "600px" });
    watch.observe(element);
  }

  /** Width inside the padding of an element; 0 while it is nowhere. */
  function innerWidth(element) {
    const style = getComputedStyle(element);
    return Math.floor(element.clientWidth - (parseFloat(style.paddingLeft) || 0) - (parseFloat(style.paddingRight) || 0));
  }

  /**
   * How charts and other things that are as wide as their elements take a width. The elements are marked: the page itself
   * knows which are there, and what has left it is kept by nobody.
   */
  const uses = new WeakMap();
  /** Sets everything to the width that it has now, without waiting for a frame: of paper there is none. */
  function settle() {
    for (const element of document.querySelectorAll("[data-wide]")) uses.get(element)(innerWidth(element));
  }

  /** Calls `run(width)` when the element has a width, and when that changes, in the next frame. Once for an element. */
  function onWidth(element, run) {
    let last = 0;
    const use = (width) => { if (width > 0 && width !== last) { last = width; run(width); } };
    element.setAttribute("data-wide", "");
    uses.set(element, use);
    new ResizeObserver((entries) => {
      const width = Math.floor(entries[entries.length - 1].contentRect.width);
      if (width > 0 && width !== last) requestAnimationFrame(() => use(width));
    }).observe(element);
    // A window that shows nothing, as of a program that takes pictures, may not tell of sizes.
    setTimeout(() => { if (last === 0 && element.isConnected) use(innerWidth(element)); }, 0);
  }

  return { h, s, swatch, marker, whenNear, onWidth, settle };
})();
