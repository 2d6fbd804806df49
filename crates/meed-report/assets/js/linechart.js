// Purpose: lines over a common x axis, each with its own places: bands, steps, gaps, references, marks. By mouse: move
// to read, drag to zoom, double click to see all. By keyboard: see `HELP`.

Meed.linechart = (() => {
  const { h, swatch, onWidth } = Meed.dom;
  const { number, extent, joined } = Meed.base;
  const { union, onto, pointAt, lonely } = Meed.points;
  const { format, theme } = Meed;
  const HELP = "Left and right arrow keys move the reading cursor, with Shift by ten points; Home and End jump; "
    + "plus and minus zoom, 0 shows all; Escape leaves.";
  const HEIGHT = 300;
  const EDGE = 24;
  /** Lines with no more points show each of them. */
  const DOTS = 40;
  /** So many lines stand in the legend before the rest is asked for. */
  const LISTED = 12;
  /** More lines are drawn thin. */
  const THICK = 24;
  const WHOLE_STEPS = Array.from({ length: 13 }, (_, k) => [1, 2, 5].map((m) => m * 10 ** k)).flat();

  function yRange(lines, levels) {
    const range = extent([...lines.flatMap((l) => [l.y, l.low || [], l.high || []]), levels.map((m) => m.at)]);
    if (!range) return null;
    let [low, high] = range;
    if (low === high) { const room = Math.abs(low) * 0.1 || 1; return [low - room, high + room]; }
    const room = (high - low) * 0.06;
    // A range that nearly reaches down to zero begins there.
    return [low >= 0 && low < 0.35 * high ? 0 : low - room, high <= 0 && high > 0.35 * low ? 0 : high + room];
  }

  /** chart: as data.rs writes it. Gives what `figure` needs: { draw, table }. */
  function linechart(chart) {
    const lines = chart.lines.map((line, index) => ({ ...line, index, xs: chart.xs[line.x] }));
    const known = lines.filter((l) => l.y.some(number));
    const xExtent = extent([...known.map((l) => l.xs), chart.marks.map((m) => m.at)]);
    const whole = yRange(known, chart.levels);
    // Patterns of very many lines would be noise: only references keep theirs.
    const look = (l) => (lines.length > THICK && !l.dashed ? { ...theme.line(l.index, false), dash: [] } : theme.line(l.index, l.dashed));
    const hidden = new Set();
    let all = false;
    let plotted = null;

    function draw(root, announce) {
      if (plotted) plotted.destroy();
      plotted = null;
      if (!known.length) {
        root.append(h("div", { class: "panel" }, h("p", { class: "note" }, lines.length ? "The lines hold no values." : "There are no lines.")));
        return;
      }
      const redraw = (focus) => {
        root.replaceChildren();
        draw(root, announce);
        const again = focus && root.querySelector(focus);
        if (again) again.focus({ preventScroll: true });
      };
      const view = {
        hidden, all, xExtent, title: chart.title, marks: chart.marks, levels: chart.levels,
        lines: lines.map((l) => ({ ...l, ...look(l), hidden: hidden.has(l.index), empty: !known.includes(l) })),
        x: Meed.axis.axis(chart.x, ...xExtent), y: Meed.axis.axis(chart.y, ...whole),
        range: yRange(known.filter((l) => !hidden.has(l.index)), chart.levels) || whole,
        toggle(index) { if (!hidden.delete(index)) hidden.add(index); redraw(`[data-line="${index}"]`); },
        only(on) { hidden.clear(); if (!on) known.forEach((l) => hidden.add(l.index)); redraw(".legend-tools button"); },
        expand() { all = !all; redraw(".legend-tools button"); },
      };
      plotted = panel(view, announce);
      root.append(plotted.element);
      if (chart.thinned_from) root.append(h("p", { class: "note" }, `Drawn from the highest and the lowest values of ${format.count(chart.thinned_from)} points.`));
    }

    /** Columns of tables: { l: line, name, x, values }. */
    const columnsOf = (some) => some.flatMap((l) => [["", l.y], ...(l.low ? [[", low", l.low], [", high", l.high]] : [])]
      .map(([edge, values]) => ({ l, name: l.name + edge, x: l.xs, values })));

    function table() {
      const wide = known.slice(0, 100);
      const places = union([...new Set(wide.map((l) => l.xs))]);
      const step = Math.max(1, Math.ceil(places.length / 100));
      const picked = places.filter((_, i) => i % step === 0 || i === places.length - 1);
      const [x, y] = whole ? [Meed.axis.axis(chart.x, ...xExtent), Meed.axis.axis(chart.y, ...whole)] : [];
      const columns = columnsOf(wide);
      const notes = [step > 1 ? `One in ${step} of ${format.count(places.length)} places on the x axis, and the last.` : "",
        ...[...chart.marks, ...chart.levels].map((m) => `${m.label}: ${(chart.marks.includes(m) ? x || format : y || format).text ? (chart.marks.includes(m) ? x : y).text(m.at) : format.num(m.at)}.`)];
      return {
        note: notes.filter(Boolean).join(" ") || null,
        head: [x ? x.label || "x" : "x", ...columns.map((c) => c.name)],
        rows: picked.map((at) => [x.text(at), ...columns.map(({ l, values }) => {
          const i = pointAt(l, at, 0);
          return i === null || (l.xs[i] !== at && !l.steps) ? "" : y.text(values[i]);
        })]),
      };
    }
    /** All points of all lines, in the units of the labels. */
    function csv() {
      const columns = columnsOf(known);
      return { head: [chart.x || "x", ...columns.map((c) => c.name)], rows: joined(columns) };
    }
    return { draw, table, csv };
  }

  function valueText(view, line, i) {
    if (i === null) return format.NONE;
    const band = line.low && number(line.low[i]) ? ` (${view.y.text(line.low[i])} to ${view.y.text(line.high[i])})` : "";
    return view.y.text(line.y[i]) + band;
  }

  /** The legend; `show(x)` fills in values, `emphasise(index)` is called while a name is pointed at. */
  function legend(view, emphasise) {
    const entries = [];
    const shown = view.all ? view.lines : view.lines.slice(0, LISTED);
    const items = shown.map((line) => {
      const value = h("span", { class: "value" });
      entries.push({ line, value });
      const on = () => emphasise(line.index);
      const off = () => emphasise(null);
      return h("li", {}, h("button", { type: "button", class: "entry", "aria-pressed": String(!line.hidden), title: "Show or hide " + line.name,
        "data-line": line.index, onclick: () => view.toggle(line.index), onmouseenter: on, onmouseleave: off, onfocus: on, onblur: off },
      swatch(line), h("span", { class: "name" }, line.name), value));
    });
    for (const level of view.levels) {
      items.push(h("li", {}, h("span", { class: "entry" }, swatch({ color: theme.color("ink"), dash: [10, 4] }), h("span", { class: "name" }, level.label),
        h("span", { class: "value" }, view.y.text(level.at)))));
    }
    const more = view.lines.length - LISTED;
    const tools = view.lines.length > LISTED ? h("p", { class: "legend-tools" },
      h("button", { type: "button", onclick: view.expand }, view.all ? `List only ${LISTED} lines` : `List ${more} more lines`),
      h("button", { type: "button", onclick: () => view.only(view.hidden.size > 0) }, view.hidden.size ? "Show all lines" : "Hide all lines")) : null;
    return { element: h("div", {}, h("ul", { class: "legend lines" }, items), tools), entries };
  }

  function panel(view, announce) {
    const { x, y } = view;
    const slack = (view.xExtent[1] - view.xExtent[0]) * 1e-6;
    const plot = h("div", { class: "plot", style: `min-height:${HEIGHT}px`, tabindex: 0, role: "application",
      "aria-roledescription": "interactive chart", "aria-label": `${view.title}. ${HELP}` });
    let u = null;
    const list = legend(view, (index) => { if (u) u.setSeries(index === null ? null : 1 + slots.indexOf(index), { focus: true }); });
    const when = h("span", { class: "when" });
    const markList = h("p", { class: "mark-list" });
    const element = h("div", { class: "panel lone" },
      h("p", { class: "axis-name" }, h("span", {}, y.label), when), plot, h("p", { class: "axis-name x" }, x.label), list.element, markList);
    const drawn = view.lines.filter((l) => !l.hidden && !l.empty);
    // Series of the plot: the lines first, so that a line's place is known, then the edges of bands.
    const slots = drawn.map((l) => l.index);
    const places = union([...new Set(drawn.map((l) => l.xs))]);
    const thin = drawn.length > THICK;
    const [first, last] = view.xExtent;
    const few = places.length <= DOTS ? (last - first) * 0.015 : 0;
    const full = first === last ? { min: first - (Math.abs(first) * 0.1 || 1), max: last + (Math.abs(last) * 0.1 || 1) } : { min: first - few, max: last + few };
    let zoom = null;
    let index = null;
    // Rounds and slots have no halves.
    const whole = x.scale === 1 && places.every(Number.isInteger);
    let marked = { texts: [], height: 0 };

    function read(i) {
      index = i;
      const at = i === null ? null : places[i];
      when.textContent = places.length ? (i === null ? "last values" : "at " + x.text(at)) : "";
      for (const { line, value } of list.entries) {
        const p = at === null ? line.xs.length - 1 : pointAt(line, at, slack);
        value.textContent = line.hidden ? "" : line.empty ? "no values" : valueText(view, line, p);
      }
    }

    function options(width) {
      const ink = theme.color("ink");
      const grid = { stroke: theme.color("grid"), width: 1 };
      const axis = { stroke: ink, font: "12px system-ui, sans-serif", grid, ticks: { ...grid, size: 4 } };
      const series = [{}];
      const columns = [places.map((v) => v / x.scale)];
      const bands = [];
      for (const l of drawn) {
        const values = onto(places, l.xs, l.y, y.scale);
        const single = l.xs.length <= DOTS && !thin ? null : lonely(values);
        columns.push(values);
        series.push({ stroke: l.color, width: thin ? 1 : l.dashed ? 1.8 : 2.2, dash: l.dash, paths: l.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
          points: { show: true, size: 6, fill: l.color, stroke: l.color, dash: [], filter: single ? () => single : l.steps ? () => lonely(values) : undefined } });
      }
      for (const l of drawn) {
        if (!l.low) continue;
        bands.push({ series: [series.length, series.length + 1], fill: l.color + "2e" });
        for (const edge of [l.high, l.low]) {
          columns.push(onto(places, l.xs, edge, y.scale));
          series.push({ stroke: "transparent", width: 0, points: { show: false }, paths: l.steps ? uPlot.paths.stepped({ align: 1 }) : undefined });
        }
      }
      const step = (splits) => (splits.length > 1 ? splits[1] - splits[0] : 1);
      const texts = (ax, splits) => splits.map((v) => ax.tick(v * ax.scale, step(splits) * ax.scale));
      const opts = {
        width, height: HEIGHT + marked.height, padding: [10 + marked.height, EDGE, 0, 0], series, bands,
        legend: { show: false }, focus: { alpha: 0.2 },
        scales: { x: { time: false }, y: { range: () => view.range.map((v) => v / y.scale) } },
        axes: [
          { ...axis, space: (_, __, min, max) => (!x.seconds ? 74 : max - min > 3600 && max - min < 40000 ? 92 : 60), size: 30, incrs: x.seconds ? format.TIME_STEPS : whole ? WHOLE_STEPS : undefined,
            values: (self, splits) => texts(x, splits).map((text, i) => (self.valToPos(splits[i], "x") + text.length * 3.4 > self.bbox.width / devicePixelRatio + EDGE ? null : text)) },
          { ...axis, space: 34, incrs: y.seconds ? format.TIME_STEPS : undefined, size: (_, shown) => 14 + 7 * Math.max(2, ...(shown || []).map((t) => (t || "").length)),
            values: (_, splits) => texts(y, splits) },
        ],
        cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false }, bind: { dblclick: () => () => show(null) } },
        hooks: {
          draw: [(self) => Meed.marks.draw(self, view.marks.map((m) => ({ ...m, at: m.at / x.scale })), marked.texts, view.levels.map((m) => ({ ...m, at: m.at / y.scale })))],
          setCursor: [(self) => {
            if (!self.cursor.event) return;
            const i = self.cursor.idx;
            read(self.cursor.left < 0 || !number(i) ? null : i);
          }],
          setSelect: [(self) => {
            if (self.select.width < 4) return;
            const range = { min: self.posToVal(self.select.left, "x") * x.scale, max: self.posToVal(self.select.left + self.select.width, "x") * x.scale };
            self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            show(range);
          }],
        },
      };
      return [opts, columns];
    }

    function create(width) {
      if (u) u.destroy();
      // The plot's width is known for certain only afterwards: labels are placed for a little less.
      const inner = width - 70 - EDGE;
      const place = (v) => ((v - full.min) / (full.max - full.min)) * inner;
      marked = Meed.marks.texts(view.marks, place, inner);
      listMarks();
      plot.style.minHeight = HEIGHT + marked.height + "px";
      const [opts, columns] = options(width);
      u = new uPlot(opts, columns, plot);
      Meed.save.recipe(u.ctx.canvas, (place) => {
        const again = new uPlot({ ...opts, hooks: { draw: opts.hooks.draw } }, columns, place);
        const { min, max } = zoom || full;
        again.setScale("x", { min: min / x.scale, max: max / x.scale });
        return again;
      });
      show(zoom);
    }
    function listMarks() {
      const MOST = 30;
      const list = view.marks.slice(0, MOST).map((m, i) => h("span", {}, `${marked.numbered ? i + 1 + ": " : ""}${m.label} (${x.text(m.at)})`));
      if (view.marks.length > MOST) list.push(h("span", {}, `and ${view.marks.length - MOST} more, in the table`));
      markList.replaceChildren(...(list.length ? [h("b", {}, "Marks "), ...list.flatMap((e, i) => (i ? [" · ", e] : [e]))] : []));
    }
    function show(range) {
      zoom = range && { min: Math.max(full.min, range.min), max: Math.min(full.max, range.max) };
      if (zoom && !(zoom.max - zoom.min < (full.max - full.min) * 0.999 && zoom.max > zoom.min)) zoom = null;
      const { min, max } = zoom || full;
      if (u) u.setScale("x", { min: min / x.scale, max: max / x.scale });
    }
    function moveTo(i) {
      read(i);
      if (u) u.setCursor(i === null ? { left: -10, top: -10 } : { left: u.valToPos(places[i] / x.scale, "x"), top: 10 }, false);
    }

    plot.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !places.length) return;
      const end = places.length - 1;
      const far = event.shiftKey ? 10 : 1;
      const go = { ArrowRight: index === null ? 0 : index + far, ArrowLeft: (index === null ? end : index) - far, Home: 0, End: end }[event.key];
      if (go !== undefined) {
        moveTo(Math.max(0, Math.min(end, go)));
        announce(`${x.text(places[index])}: ` + list.entries.filter((e) => !e.line.hidden).map((e) => `${e.line.name} ${e.value.textContent}`).join("; "));
      } else if (event.key === "Escape") {
        moveTo(null);
        announce("");
      } else if ("+-0=".includes(event.key)) {
        const range = zoom || full;
        const factor = { "+": 0.5, "=": 0.5, "-": 2, 0: Infinity }[event.key];
        const half = ((range.max - range.min) / 2) * factor;
        const middle = index === null ? (range.min + range.max) / 2 : places[index];
        show(Number.isFinite(half) ? { min: middle - half, max: middle + half } : null);
        announce(zoom ? `Showing ${x.text(zoom.min)} to ${x.text(zoom.max)}` : "Showing all");
      } else return;
      event.preventDefault();
    });
    read(null);
    onWidth(plot, (width) => { if (element.isConnected) create(width); });
    return { element, destroy() { if (u) u.destroy(); u = null; } };
  }

  return { linechart };
})();
