// Purpose: distributions as rows on one axis: a thin line from the smallest to the largest, a box over the middle half,
// a tick at the median; beside them, as a marked band, what a paper gives. Each row has its numbers in words.

Meed.spreads = (() => {
  const { h, s, onWidth } = Meed.dom;
  const { number, extent, ticks } = Meed.base;
  const { theme } = Meed;
  const ROW = 34;
  /** From this ratio of largest to smallest on, the axis is logarithmic. */
  const WIDE = 300;

  function ranges(chart) {
    const range = extent(chart.rows.flatMap((r) => [r.five || [], r.reference || []]));
    if (!range) return null;
    let [low, high] = range;
    const log = low > 0 && high / low >= WIDE;
    if (log) return { low: low / 1.15, high: high * 1.15, log };
    if (low === high) { const room = Math.abs(low) * 0.1 || 1; return { low: low - room, high: high + room, log }; }
    const room = (high - low) * 0.03;
    if (low >= 0 && low < 0.35 * high) low = room;
    return { low: low - room, high: high + room, log };
  }

  const TIMES = [0.001, 0.01, 0.1, 1, 10, 60, 600, 3600, 36000, 86400, 864000, 8640000, 86400000, 864000000];
  /** Powers of ten, and between them 2 and 5 where there are few. */
  function logTicks(low, high, wanted) {
    const from = Math.floor(Math.log10(low));
    const to = Math.ceil(Math.log10(high));
    const of = (steps, every) => Array.from({ length: to - from + 1 }, (_, i) => i).filter((i) => i % every === 0).flatMap((i) => steps.map((m) => m * 10 ** (from + i)));
    const all = to - from <= wanted / 3 ? of([1, 2, 5], 1) : of([1], Math.max(1, Math.ceil((to - from) / wanted)));
    return all.filter((v) => v >= low && v <= high);
  }

  /** chart: as data.rs writes it. Gives what `figure` needs: { draw, table }. */
  function spreads(chart) {
    const range = ranges(chart);
    const axis = range && Meed.axis.axis(chart.x, range.low, range.high);
    const referenceText = ([a, b]) => (a === b ? axis.text(a) : `${axis.text(a)} to ${axis.text(b)}`);
    const describe = (row) => [row.five ? `median ${axis.text(row.five[2])}, half from ${axis.text(row.five[1])} to ${axis.text(row.five[3])}, all from ${axis.text(row.five[0])} to ${axis.text(row.five[4])}` : "no values",
      row.reference ? `paper ${referenceText(row.reference)}` : ""].filter(Boolean).join("; ");

    function draw(root, announce) {
      if (!range) {
        root.append(h("div", { class: "panel" }, h("p", { class: "note" }, "There are no values.")));
        return;
      }
      const strips = chart.rows.map((row) => h("div", { class: "strip", title: `${row.label}: ${describe(row)}` }));
      const foot = h("div", { class: "strip" });
      const rows = chart.rows.flatMap((row, i) => [h("div", { class: "spread-name" }, row.label), strips[i],
        h("div", { class: "spread-value" }, h("span", {}, row.five ? axis.text(row.five[2]) : "no values"), row.reference ? h("small", {}, "paper " + referenceText(row.reference)) : null)]);
      const view = h("div", { class: "spreads", tabindex: 0, role: "application", "aria-roledescription": "chart", "aria-label": chart.title + ". Up and down arrow keys read row by row." },
        h("div", { class: "spread-name head" }), h("div", { class: "strip" }), h("div", { class: "spread-value head" }, "median"),
        rows, h("div", { class: "spread-name" }), foot, h("div", { class: "spread-value" }));
      root.append(h("div", { class: "panel lone" }, view, h("p", { class: "axis-name x" }, axis.label + (range.log ? " (logarithmic axis)" : "")), legend()));
      let at = null;
      const paint = () => strips.forEach((strip, i) => strip.classList.toggle("read", i === at));
      view.addEventListener("keydown", (event) => {
        const last = strips.length - 1;
        const next = { ArrowDown: at === null ? 0 : at + 1, ArrowUp: at === null ? last : at - 1, Home: 0, End: last }[event.key];
        if (next !== undefined) {
          at = Math.max(0, Math.min(last, next));
          announce(`${chart.rows[at].label}: ${describe(chart.rows[at])}`);
        } else if (event.key === "Escape") { at = null; announce(""); } else return;
        event.preventDefault();
        paint();
      });
      onWidth(foot, (width) => {
        const EDGE = 4;
        const f = range.log ? Math.log : (v) => v;
        const place = (v) => EDGE + ((f(v) - f(range.low)) / (f(range.high) - f(range.low))) * (width - 2 * EDGE);
        const wanted = Math.max(2, width / 85);
        const splits = range.log && axis.seconds ? TIMES.filter((v) => v >= range.low && v <= range.high) : range.log ? logTicks(range.low, range.high, wanted) : ticks(range.low, range.high, wanted);
        const step = splits.length > 1 ? splits[1] - splits[0] : 1;
        const marks = splits.map((v) => [v, axis.tick(v, range.log ? v : step)]);
        chart.rows.forEach((row, i) => strips[i].replaceChildren(strip(row, place, width, splits)));
        foot.replaceChildren(scale(marks, place, width));
      });
    }

    function strip(row, place, width, splits) {
      const ink = theme.color("ink");
      const { color } = theme.line(0, false);
      const mark = theme.line(1, false).color;
      const svg = s("svg", { width, height: ROW, "aria-hidden": "true" }, splits.map((v) => s("line", { x1: place(v), x2: place(v), y1: 0, y2: ROW, stroke: theme.color("grid") })));
      const middle = ROW / 2;
      if (row.reference) svg.append(band(place(row.reference[0]), place(row.reference[1]), ROW, mark));
      if (row.five) {
        const [low, q1, median, q3, high] = row.five.map(place);
        svg.append(
          s("line", { x1: low, x2: high, y1: middle, y2: middle, stroke: color, "stroke-width": 2 }),
          [low, high].map((x) => s("line", { x1: x, x2: x, y1: middle - 5, y2: middle + 5, stroke: color, "stroke-width": 2 })),
          s("rect", { x: q1, y: middle - 8, width: Math.max(1, q3 - q1), height: 16, fill: color, "fill-opacity": 0.45, stroke: color }),
          s("line", { x1: median, x2: median, y1: middle - 10, y2: middle + 10, stroke: ink, "stroke-width": 3 }));
      }
      return svg;
    }
    /** The paper's range: edges with a tint; a single value is one edge with a triangle on it. */
    function band(a, b, height, color) {
      const edge = (x) => s("line", { x1: x, x2: x, y1: 1, y2: height - 1, stroke: color, "stroke-width": 2, "stroke-dasharray": "3 2" });
      return b - a < 1.5 ? s("g", {}, edge(a), s("polygon", { points: `${a - 5},0 ${a + 5},0 ${a},7`, fill: color }))
        : s("g", {}, s("rect", { x: a, y: 1, width: b - a, height: height - 2, fill: color, "fill-opacity": 0.16 }), edge(a), edge(b));
    }
    /** The ticks of the axis; none where its text would touch another or leave the picture. */
    function scale(marks, place, width) {
      const svg = s("svg", { width, height: 24, "aria-hidden": "true" });
      let end = -Infinity;
      for (const [v, text] of marks) {
        const half = text.length * 3.5 + 2;
        const x = Math.max(half, Math.min(width - half, place(v)));
        if (x - half < end + 8 || Math.abs(x - place(v)) > half) continue;
        end = x + half;
        svg.append(s("line", { x1: place(v), x2: place(v), y1: 0, y2: 4, stroke: theme.color("soft") }), s("text", { x, y: 17, fill: theme.color("ink"), "text-anchor": "middle", "font-size": 12 }, text));
      }
      return svg;
    }

    function legend() {
      const { color } = theme.line(0, false);
      const box = s("svg", { width: 44, height: 20, "aria-hidden": "true" }, s("line", { x1: 1, x2: 43, y1: 10, y2: 10, stroke: color, "stroke-width": 2 }),
        s("rect", { x: 12, y: 4, width: 20, height: 12, fill: color, "fill-opacity": 0.45, stroke: color }), s("line", { x1: 20, x2: 20, y1: 1, y2: 19, stroke: theme.color("ink"), "stroke-width": 3 }));
      const paper = s("svg", { width: 44, height: 20, "aria-hidden": "true" }, band(6, 24, 20, theme.line(1, false).color), band(36, 36, 20, theme.line(1, false).color));
      return h("div", { class: "heat-scale" }, h("span", { class: "cell-scale" }, box, h("span", {}, "smallest to largest, box: middle half, tick: median")),
        chart.rows.some((r) => r.reference) ? h("span", { class: "cell-scale" }, paper, h("span", {}, "paper: a range, or a value")) : null);
    }

    function table() {
      const text = (v) => (number(v) ? axis.text(v) : "");
      return { head: ["", "Smallest", "First quartile", "Median", "Third quartile", "Largest", "Paper"],
        rows: chart.rows.map((r) => [r.label, ...(r.five || Array(5).fill(null)).map(text), r.reference ? referenceText(r.reference) : ""]), note: axis && axis.label ? axis.label : null };
    }
    return { draw, table };
  }

  return { spreads };
})();
