// Purpose: what a reader takes away from a page: a table as CSV with unrounded numbers, a chart as a picture (SVG).
//
// A picture is what stands on the page: texts where they stand, drawings as they are, and what charts draw on a canvas
// drawn once more by `Pen`, which writes lines down instead of colouring pixels.

Meed.save = (() => {
  const { h, s } = Meed.dom;
  const SVG = "http://www.w3.org/2000/svg"; // a name of a language, not an address: nothing is fetched
  /** How to draw a canvas again: a function of the pen, or none, and then its pixels are taken. */
  const recipes = new WeakMap();
  const MARGIN = 16;

  /** Text as a cell: quoted where it must be; what a spreadsheet would run as a formula is text there, too. */
  function cell(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
    const text = /^[=+@\t\r-]/.test(value) ? "'" + value : value;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  }
  const csv = ({ head, rows }) => [head, ...rows].map((row) => row.map(cell).join(",") + "\n").join("");

  /** A table of the page: numbers as they are, where the page has them. */
  function ofTable(table) {
    const value = (c) => (c.dataset.value !== undefined ? Number(c.dataset.value.replace("inf", "Infinity")) : c.textContent.trim());
    const names = [...table.tHead.rows[0].cells].map((c) => c.textContent.replace(/ [▲▼]/, "").trim());
    return { head: names, rows: [...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => [...row.cells].map(value)) };
  }

  function hand(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    const link = h("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
  }
  const file = (title, ending) => (title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "meed") + ending;

  /** A pen with the words of a canvas, as far as charts use them, that writes SVG. */
  function Pen(ratio) {
    const out = [];
    const first = { strokeStyle: "#000", fillStyle: "#000", lineWidth: 1, font: "12px sans-serif", textAlign: "start", textBaseline: "alphabetic", globalAlpha: 1, lineCap: "butt", lineJoin: "miter", lineDashOffset: 0 };
    const pen = Object.assign(this, first);
    let dash = [];
    let clip = [];
    let clips = 0;
    let at = [1, 0, 0, 1, 0, 0];
    let path = "";
    const stack = [];
    const esc = (t) => String(t).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
    const two = (v) => Math.round(v * 100) / 100;
    const draw = (element) => {
      const moved = at.some((v, i) => v !== [1, 0, 0, 1, 0, 0][i]) ? ` transform="matrix(${at.map((v) => Math.round(v * 1e5) / 1e5).join(" ")})"` : "";
      const inside = moved ? `<g${moved}>${element}</g>` : element;
      out.push(clip.reduce((within, id) => `<g clip-path="url(#${id})">${within}</g>`, inside));
    };
    const words = (p) => (p && p.words !== undefined ? p.words : path);
    const isEmpty = (color) => color === "transparent" || pen.globalAlpha === 0;
    const times = ([a, b, c, d, e, f], [g, i, j, k, l, m]) => [a * g + c * i, b * g + d * i, a * j + c * k, b * j + d * k, a * l + c * m + e, b * l + d * m + f];
    const line = { moveTo: (x, y) => `M${two(x)} ${two(y)}`, lineTo: (x, y) => `L${two(x)} ${two(y)}`, closePath: () => "Z",
      rect: (x, y, w, t) => `M${two(x)} ${two(y)}h${two(w)}v${two(t)}h${two(-w)}Z`,
      bezierCurveTo: (...p) => "C" + p.map(two).join(" "), quadraticCurveTo: (...p) => "Q" + p.map(two).join(" "),
      arc: (x, y, r, from, to) => (Math.abs(to - from) >= 6.28
        ? `M${two(x + r)} ${two(y)}A${two(r)} ${two(r)} 0 1 1 ${two(x - r)} ${two(y)}A${two(r)} ${two(r)} 0 1 1 ${two(x + r)} ${two(y)}`
        : `M${two(x + r * Math.cos(from))} ${two(y + r * Math.sin(from))}A${two(r)} ${two(r)} 0 ${Math.abs(to - from) > Math.PI ? 1 : 0} 1 ${two(x + r * Math.cos(to))} ${two(y + r * Math.sin(to))}`) };
    pen.Path = class { constructor(other) { this.words = other ? other.words : ""; } addPath(p) { this.words += p.words; } };
    for (const [name, say] of Object.entries(line)) {
      // A path that begins with a line begins at its end, as on a canvas.
      const after = (before) => (name === "lineTo" && !before ? line.moveTo : say);
      pen[name] = (...p) => { path += after(path)(...p); };
      pen.Path.prototype[name] = function add(...p) { this.words += after(this.words)(...p); };
    }
    Object.assign(pen, {
      save() { stack.push([Object.fromEntries(Object.keys(first).map((k) => [k, pen[k]])), dash, clip, at]); },
      restore() { if (stack.length) { let state; [state, dash, clip, at] = stack.pop(); Object.assign(pen, state); } },
      beginPath() { path = ""; },
      clip(p) {
        clips += 1;
        const id = `${pen.name}-${clips}`;
        // A clip of nothing would hide all; where it comes from it means that there are no gaps.
        if (words(p)) { clip = [...clip, id]; out.push(`<clipPath id="${id}"><path d="${words(p)}"/></clipPath>`); }
      },
      stroke(p) {
        if (isEmpty(pen.strokeStyle) || pen.lineWidth === 0 || !words(p)) return;
        draw(`<path d="${words(p)}" fill="none" stroke="${esc(pen.strokeStyle)}" stroke-width="${two(pen.lineWidth)}" stroke-opacity="${pen.globalAlpha}"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}/>`);
      },
      fill(p) { if (!isEmpty(pen.fillStyle) && words(p)) draw(`<path d="${words(p)}" fill="${esc(pen.fillStyle)}" fill-opacity="${pen.globalAlpha}"/>`); },
      fillRect(x, y, w, t) { if (!isEmpty(pen.fillStyle)) draw(`<rect x="${two(x)}" y="${two(y)}" width="${two(w)}" height="${two(t)}" fill="${esc(pen.fillStyle)}"/>`); },
      strokeRect(x, y, w, t) { const p = new pen.Path(); p.rect(x, y, w, t); pen.stroke(p); },
      fillText(text, x, y) {
        const anchor = { left: "start", start: "start", center: "middle", right: "end", end: "end" }[pen.textAlign];
        const down = { top: 0.8, hanging: 0.8, middle: 0.35, bottom: -0.2 }[pen.textBaseline] || 0;
        const size = parseFloat((/([\d.]+)px/.exec(pen.font) || [0, 12])[1]);
        draw(`<text x="${two(x)}" y="${two(y + down * size)}" font-size="${two(size)}" text-anchor="${anchor}" fill="${esc(pen.fillStyle)}">${esc(text)}</text>`);
      },
      strokeText() {}, clearRect() {}, setLineDash(d) { dash = [...d]; }, getLineDash: () => dash,
      measureText: (text) => ({ width: String(text).length * 7 }),
      translate(x, y) { at = times(at, [1, 0, 0, 1, x, y]); },
      rotate(a) { at = times(at, [Math.cos(a), Math.sin(a), -Math.sin(a), Math.cos(a), 0, 0]); },
      scale(x, y) { at = times(at, [x, 0, 0, y, 0, 0]); },
      setTransform() { at = [1, 0, 0, 1, 0, 0]; },
      text: () => `<g transform="scale(${1 / ratio})">${out.join("")}</g>`,
    });
  }

  let pens = 0;
  /** A plot of uPlot drawn once more: `make` makes it in a place that nobody sees. */
  async function replot(make) {
    const pen = new Pen(window.devicePixelRatio || 1);
    pen.name = "clip" + (pens += 1);
    const [context, Path] = [HTMLCanvasElement.prototype.getContext, window.Path2D];
    let u;
    try {
      HTMLCanvasElement.prototype.getContext = () => pen;
      window.Path2D = pen.Path;
      u = make(document.createElement("div"));
      // uPlot draws when what called it is done.
      for (let i = 0; i < 4; i++) await null;
      if (u) u.destroy();
    } finally {
      HTMLCanvasElement.prototype.getContext = context;
      window.Path2D = Path;
    }
    return pen.text();
  }

  const isShown = (element) => { const c = getComputedStyle(element); return c.visibility !== "hidden" && c.display !== "none"; };

  /** Pieces of a text, one for each line that it takes. */
  function* lines(node) {
    const range = document.createRange();
    let [from, top] = [0, null];
    const piece = (to) => { range.setStart(node, from); range.setEnd(node, to); return [node.data.slice(from, to).trim(), range.getBoundingClientRect()]; };
    for (let i = 0; i < node.length; i++) {
      range.setStart(node, i);
      range.setEnd(node, i + 1);
      const box = range.getBoundingClientRect();
      if (!box.width) continue;
      if (top !== null && box.top > top + box.height / 2) { yield piece(i); from = i; }
      top = box.top;
    }
    if (top !== null) yield piece(node.length);
  }

  /** The element as a picture. */
  async function picture(element, title) {
    const frame = element.getBoundingClientRect();
    const [left, top] = [frame.left - MARGIN, frame.top - MARGIN - 28];
    const style = (node) => getComputedStyle(node);
    const size = { width: Math.ceil(frame.width + 2 * MARGIN), height: Math.ceil(frame.height + 2 * MARGIN + 28) };
    const root = s("svg", { xmlns: SVG, ...size, viewBox: `0 0 ${size.width} ${size.height}`, "font-family": "system-ui, sans-serif" }, s("title", {}, title));
    root.append(s("rect", { ...size, fill: style(document.body).backgroundColor }),
      s("text", { x: MARGIN, y: 30, "font-size": 16, "font-weight": 600, fill: style(document.body).color }, title));
    const visit = async (node) => {
      if (node.nodeType === Node.TEXT_NODE) {
        const look = style(node.parentElement);
        for (const [text, box] of lines(node)) {
          if (text) root.append(s("text", { x: box.left - left, y: box.top - top + box.height * 0.5 + parseFloat(look.fontSize) * 0.35, "font-size": look.fontSize, "font-weight": look.fontWeight, fill: look.color }, text));
        }
        return;
      }
      if (node.nodeType !== Node.ELEMENT_NODE || !isShown(node)) return;
      const box = node.getBoundingClientRect();
      if (!box.width || !box.height) return;
      const place = { x: box.left - left, y: box.top - top, width: box.width, height: box.height };
      if (node.tagName === "CANVAS") {
        const recipe = recipes.get(node);
        if (recipe) {
          const drawn = new DOMParser().parseFromString(`<svg xmlns="${SVG}">${await replot(recipe)}</svg>`, "image/svg+xml").documentElement;
          root.append(s("g", { transform: `translate(${place.x} ${place.y})` }, ...[...drawn.childNodes]));
        } else root.append(s("image", { ...place, href: node.toDataURL(), preserveAspectRatio: "none" }));
        return;
      }
      if (node instanceof SVGSVGElement) {
        const copy = node.cloneNode(true);
        for (const [key, value] of Object.entries(place)) copy.setAttribute(key, value);
        root.append(copy);
        return;
      }
      const look = style(node);
      if (node.classList.contains("panel") || node.classList.contains("rows")) root.append(s("rect", { ...place, rx: 6, fill: look.backgroundColor, stroke: look.borderTopColor }));
      for (const child of node.childNodes) await visit(child);
    };
    await visit(element);
    return new XMLSerializer().serializeToString(root);
  }

  const button = (text, save) => h("button", { type: "button", class: "save", onclick: save }, text);
  const tableButton = (title, table) => button("Save table (CSV)", () => hand(file(title, ".csv"), "text/csv;charset=utf-8", csv(table())));
  const pictureButton = (title, element) => button("Save picture (SVG)", async () => hand(file(title, ".svg"), "image/svg+xml", await picture(element(), title)));
  /** Buttons under a chart. */
  const buttons = (title, element, table) => [pictureButton(title, element), tableButton(title, table)];

  return { buttons, tableButton, ofTable, csv, recipe: (canvas, make) => recipes.set(canvas, make) };
})();
