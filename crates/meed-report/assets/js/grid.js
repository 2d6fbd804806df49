// Purpose: values over two parameters as coloured cells: with their numbers when there are few, with a scale always.
// A scale with two sides is quiet at its neutral value; cells without a value are hatched.

Meed.grid = (() => {
  const { h, s, onWidth } = Meed.dom;
  const { number, extent } = Meed.base;
  const { format, theme } = Meed;
  const HELP = "Arrow keys read cell by cell; Home and End jump within a row; Escape leaves.";
  const FONT = "12px system-ui, sans-serif";
  /** No more cells than this have their numbers in them. */
  const PRINTED = 200;
  /** From this ratio of largest to smallest on, colours follow the logarithm. */
  const WIDE = { one: 1000, two: 4 };

  const pen = document.createElement("canvas").getContext("2d");
  function widthOf(text) { pen.font = FONT; return pen.measureText(text).width; }
  /** As much of a text as fits, with a mark where it ends. */
  function clip(text, width) {
    if (widthOf(text) <= width) return text;
    let n = text.length;
    while (n > 1 && widthOf(text.slice(0, n) + "…") > width) n--;
    return text.slice(0, n) + "…";
  }

  /** { part(v): -1..1 or 0..1, color(v): [r, g, b], low, high, note } */
  function scaleOf(chart, range) {
    const [low, high] = range;
    const { middle } = chart;
    const two = number(middle);
    const log = low > 0 && (two ? middle > 0 && Math.max(high, middle) / Math.min(low, middle) > WIDE.two : high / low > WIDE.one);
    const f = log ? Math.log : (v) => v;
    if (two) {
      const reach = Math.max(Math.abs(f(high) - f(middle)), Math.abs(f(low) - f(middle))) || 1;
      const back = (part) => (log ? middle * Math.exp(part * reach) : middle + part * reach);
      const part = (v) => (f(v) - f(middle)) / reach;
      return { two, log, part, low: back(-1), high: back(1), color: (v) => theme.diverging(part(v)), at: theme.diverging };
    }
    const part = (v) => (high > low ? (f(v) - f(low)) / (f(high) - f(low)) : 0.5);
    return { two, log, part, low, high, color: (v) => theme.sequential(part(v)), at: (x) => theme.sequential((x + 1) / 2) };
  }
  const css = (rgb) => `rgb(${rgb.join(",")})`;
  /** Black or white, whichever stands out. */
  function inkOn(rgb) {
    const [r, g, b] = rgb.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
  }

  /** chart: as data.rs writes it. Gives what `figure` needs: { draw, table }. */
  function grid(chart) {
    const { values, x_labels: xs, y_labels: ys } = chart;
    const range = extent(values);
    const missing = values.some((row) => row.some((v) => v === null));
    const text = (v) => (number(v) ? format.num(v, 4) : format.NONE);

    function draw(root, announce) {
      if (!range) {
        root.append(h("div", { class: "panel" }, h("p", { class: "note" }, "There are no values.")));
        return;
      }
      const scale = scaleOf(chart, range);
      const canvas = h("canvas", { "aria-hidden": "true" });
      const view = h("div", { class: "cells", tabindex: 0, role: "application", "aria-roledescription": "heat map", "aria-label": `${chart.title}. ${HELP}` }, canvas);
      const readout = h("p", { class: "cell-text" }, "\u00a0");
      const below = h("p", { class: "axis-name" }, chart.x ? chart.x + " →" : "");
      root.append(h("div", { class: "panel lone" }, h("p", { class: "axis-name" }, h("span", {}, chart.y ? chart.y + " ↓" : "")), view, below, readout, legend(scale)));
      let at = null;
      let shape = null;
      const paint = () => { shape = picture(canvas, scale, shape.width, at); below.style.paddingLeft = shape.left + "px"; };
      const say = () => {
        if (!at) { readout.textContent = "\u00a0"; return ""; }
        const [r, c] = at;
        readout.textContent = `${chart.y ? chart.y + " " : ""}${ys[r]}, ${chart.x ? chart.x + " " : ""}${xs[c]}: ${number(values[r][c]) ? text(values[r][c]) : "no value"}`;
        return readout.textContent;
      };
      const move = (next) => { if (String(next) !== String(at)) { at = next; paint(); say(); } };
      onWidth(view, (width) => { shape = { width }; paint(); });
      canvas.addEventListener("mousemove", (event) => {
        if (!shape || !shape.cell) return;
        const box = canvas.getBoundingClientRect();
        const [c, r] = [Math.floor((event.clientX - box.left - shape.left) / shape.cell[0]), Math.floor((event.clientY - box.top - shape.top) / shape.cell[1])];
        move(c >= 0 && c < xs.length && r >= 0 && r < ys.length ? [r, c] : null);
      });
      canvas.addEventListener("mouseleave", () => move(null));
      view.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || !shape) return;
        const [r, c] = at || [0, 0];
        const next = at === null && event.key.startsWith("Arrow") ? [0, 0] : { ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1],
          Home: [r, 0], End: [r, xs.length - 1] }[event.key];
        if (next) {
          move([Math.max(0, Math.min(ys.length - 1, next[0])), Math.max(0, Math.min(xs.length - 1, next[1]))]);
          announce(say());
        } else if (event.key === "Escape") move(null);
        else return;
        event.preventDefault();
      });
    }

    function picture(canvas, scale, width, at) {
      const longest = (labels) => labels.reduce((m, l) => Math.max(m, widthOf(l)), 0);
      const left = Math.min(Math.ceil(longest(ys)) + 10, Math.floor(width * 0.36));
      const printed = xs.length * ys.length <= PRINTED;
      const fit = Math.min((width - left - 1) / xs.length, 140);
      // All cells have the same digits; where even few do not fit, the picture is wider than its frame and scrolls.
      const needed = (digits) => Math.max(...values.map((row) => longest(row.map((v) => (number(v) ? format.num(v, digits) : ""))))) + 8;
      const digits = printed ? [4, 3].find((d) => needed(d) <= fit) || 3 : 0;
      const cellWidth = printed ? Math.max(fit, needed(digits)) : fit;
      const total = Math.max(width, left + xs.length * cellWidth + 1);
      const wide = longest(xs) + 8 <= cellWidth;
      // Long labels stand upright, and where cells are narrow only every k-th has one.
      const every = wide ? 1 : Math.max(1, Math.ceil(15 / cellWidth));
      const foot = wide ? 22 : Math.min(190, Math.ceil(longest(xs)) + 12);
      const cellHeight = printed ? 30 : Math.max(3, Math.min(24, 480 / ys.length));
      const numbers = printed ? values.map((row) => row.map((v) => (number(v) ? format.num(v, digits) : ""))) : null;
      const height = Math.round(ys.length * cellHeight + foot + 2);
      const ratio = window.devicePixelRatio || 1;
      [canvas.width, canvas.height] = [Math.round(total * ratio), Math.round(height * ratio)];
      [canvas.style.width, canvas.style.height] = [total + "px", height + "px"];
      const out = canvas.getContext("2d");
      out.scale(ratio, ratio);
      out.font = FONT;
      out.textBaseline = "middle";
      const ink = theme.color("ink");
      const everyRow = Math.max(1, Math.ceil(14 / cellHeight));
      const gap = cellWidth > 8 && cellHeight > 8 ? 1 : 0;
      ys.forEach((label, r) => {
        const y = 1 + r * cellHeight;
        if (r % everyRow === 0) {
          out.fillStyle = ink;
          out.textAlign = "right";
          out.fillText(clip(label, left - 8), left - 6, y + cellHeight / 2);
        }
        xs.forEach((_, c) => {
          const x = left + c * cellWidth;
          const v = values[r][c];
          const box = [x, y, cellWidth - gap, cellHeight - gap];
          if (!number(v)) { hatch(out, box); return; }
          const rgb = scale.color(v);
          out.fillStyle = css(rgb);
          out.fillRect(...box);
          if (!numbers) return;
          out.fillStyle = inkOn(rgb);
          out.textAlign = "center";
          out.fillText(numbers[r][c], x + cellWidth / 2, y + cellHeight / 2 + 0.5);
        });
      });
      out.fillStyle = ink;
      const base = ys.length * cellHeight + 6;
      xs.forEach((label, c) => {
        if (c % every) return;
        const x = left + (c + 0.5) * cellWidth;
        out.save();
        out.translate(x, base);
        out.textAlign = wide ? "center" : "right";
        if (wide) out.translate(0, 7); else out.rotate(-Math.PI / 2);
        out.fillText(wide ? label : clip(label, foot - 10), 0, 0);
        out.restore();
      });
      if (at) {
        out.strokeStyle = ink;
        out.lineWidth = 2;
        out.strokeRect(left + at[1] * cellWidth + 1, 1 + at[0] * cellHeight + 1, cellWidth - 2, Math.max(2, cellHeight - 2));
      }
      return { width, left, top: 1, cell: [cellWidth, cellHeight] };
    }

    function hatch(out, [x, y, width, height]) {
      out.save();
      out.beginPath();
      out.rect(x, y, width, height);
      out.clip();
      out.strokeStyle = theme.color("soft");
      out.globalAlpha = 0.55;
      out.lineWidth = 1;
      out.beginPath();
      for (let d = -height; d < width; d += 6) { out.moveTo(x + d, y + height); out.lineTo(x + d + height, y); }
      out.stroke();
      out.restore();
    }

    function legend(scale) {
      const stops = Array.from({ length: 9 }, (_, i) => css(scale.at(-1 + i / 4))).join(",");
      const hatched = s("svg", { width: 22, height: 14, "aria-hidden": "true" },
        s("rect", { x: 0.5, y: 0.5, width: 21, height: 13, fill: "none", stroke: theme.color("soft") }),
        s("path", { d: "M0,14L14,0M7,14L21,0M14,14L22,6M0,7L7,0", stroke: theme.color("soft") }));
      return h("div", { class: "heat-scale" }, chart.value ? h("b", {}, chart.value) : null,
        scale.low === scale.high ? h("span", {}, `${text(scale.low)} in every cell`) : h("span", { class: "cell-scale" }, h("span", {}, text(scale.low)),
          h("span", { class: scale.two ? "bar-holder two" : "bar-holder" }, h("span", { class: "heat-bar", style: `background:linear-gradient(90deg,${stops})` }),
            scale.two ? h("span", { class: "middle" }, text(chart.middle)) : null),
          h("span", {}, text(scale.high))),
        scale.log ? h("span", { class: "note" }, "colours follow the logarithm") : null,
        missing ? h("span", { class: "cell-scale" }, hatched, h("span", {}, "no value")) : null);
    }

    function table() {
      return { head: [[chart.y, chart.x].filter(Boolean).join(" \\ ") || "", ...xs], rows: ys.map((label, r) => [label, ...values[r].map(text)]),
        note: chart.value ? chart.value + "." : null };
    }
    return { draw, table };
  }

  return { grid };
})();
