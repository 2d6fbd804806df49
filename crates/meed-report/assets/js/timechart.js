// Purpose: line charts in small multiples with shared axes: the same scales in every panel, one reading cursor and one
// zoom for all of them. By mouse: move to read, drag to zoom, double click to see all again. By keyboard: see `HELP`.

Meed.timechart = (() => {
  const { h, swatch, onWidth } = Meed.dom;
  const { format, theme, data } = Meed;
  const { nearest, passingDecade, logTicks, LOG_TIMES, thinned, joined } = Meed.base;
  const { calendar } = Meed;
  const HELP = "Left and right arrow keys move the reading cursor, with Shift by ten samples; Home and End jump; "
    + "plus and minus zoom the time axis, 0 shows all; Escape leaves.";

  /** Room to the right of the plot for half of the last tick's text. */
  /** Height of a plot in pixels, on a screen and on paper. */
  const HEIGHT = 230;
  const PAPER_HEIGHT = 130;
  const EDGE = 22;

  // Every chart over time shares one zoom; `zoom` is null when all is shown.
  const charts = new Set();
  let zoom = null;
  const zoomListeners = [];
  function setZoom(range) {
    zoom = range && { min: Math.max(0, range.min), max: Math.min(data.end, range.max) };
    if (zoom && zoom.max - zoom.min >= data.end * 0.999) zoom = null;
    for (const chart of charts) chart.showRange(zoom || { min: 0, max: data.end });
    zoomListeners.forEach((run) => run(zoom));
  }

  const WHOLE = Array.from({ length: 13 }, (_, k) => [1, 2, 5].map((m) => m * 10 ** k)).flat();

  /** Dashes of upright marks; more of them than so many stand above the plot, so high. */
  const MARK = [2, 2];
  const MARKS = 16;
  const EDGE_MARK = 9;

  /** Limits of the y axis for all panels together, with a little room, and whether it is logarithmic. */
  function limits(spec, panels) {
    const arrays = panels.flatMap((p) => [...p.lines.filter((l) => !l.hidden).map((l) => l.values),
      ...p.bands.flatMap((b) => [b.low, b.high])]);
    let [low, high] = data.extent(arrays) || [0, 1];
    const clip = typeof spec.clip === "function" ? spec.clip() : spec.clip;
    if (clip) {
      // A few extreme values must not flatten all others.
      [low, high] = [Math.max(low, clip[0]), Math.min(high, clip[1])];
    }
    if (panels.some((p) => p.stack)) {
      const tops = panels.map((p) => (p.areas.length ? p.areas[p.areas.length - 1].high : [0]));
      const top = Math.max(spec.baseline || 0, (data.extent(tops) || [0, 1])[1]);
      return { range: [0, top * 1.04 || 1], log: false };
    }
    const positive = spec.log ? passingDecade(arrays.flatMap((a) => [...a])) : null;
    if (positive) {
      low = Math.max(positive[0], data.quantile(positive, 0.01) / 10, high * 1e-7);
      if (spec.baseline > 0) [low, high] = [Math.min(low, spec.baseline), Math.max(high, spec.baseline)];
      return { range: [low / 1.15, high * 1.15], log: true };
    }
    if (spec.baseline !== undefined) [low, high] = [Math.min(low, spec.baseline), Math.max(high, spec.baseline)];
    const floor = spec.zeroFloor && low >= 0;
    if (floor) low = 0;
    if (high - low < 1e-9) [low, high] = [low - (floor ? 0 : 0.5), high + 0.5];
    const room = (high - low) * 0.06;
    return { range: [floor ? 0 : low - room, high + room], log: false };
  }

  /** What lies below each line of a stack that is shown. */
  function stacked(panel) {
    let below = panel.x.map(() => 0);
    return panel.lines.filter((l) => !l.hidden).map((line) => {
      const [low, values] = [below, line.values];
      below = below.map((v, i) => v + (values[i] || 0));
      return { line, low, high: below };
    });
  }

  /**
   * spec: { title, y: text of the y axis, format(v), baseline?, zeroFloor?, clip?: [low, high] or a function for it, percent?: bool (x is
   *         a part of tenants, or of other things named in `of`, not time), times?: bool (values are seconds), whole?: bool (values are counts),
   *         log?: bool (the axis is logarithmic where values pass a decade),
   *         height?, panels(): [{ title, x, lines: [{label, values, color, dash, fill?, width?, steps?: bool (a value holds until the next)}],
   *         stack?: bool (lines stand on one another as areas), bands: [{label, low, high, color}], marks?: { label, at: [x] } drawn as upright lines or, if many, above the plot }] }
   * Gives the functions that `figure` needs: { draw, table }.
   */
  function timechart(spec) {
    const hidden = new Set();
    let mine = [];

    function draw(root, announce) {
      for (const chart of mine) { charts.delete(chart); chart.destroy(); }
      mine = [];
      const panels = spec.panels();
      for (const panel of panels) {
        for (const line of panel.lines) line.hidden = hidden.has(line.label);
        panel.areas = panel.stack ? stacked(panel) : [];
      }
      const { range, log } = limits(spec, panels);
      const redraw = () => { root.replaceChildren(); draw(root, announce); };
      for (const panel of panels) {
        if (!panel.x.length) {
          root.append(empty(panel.title, "No samples over time in this run."));
          continue;
        }
        if (!data.extent([...panel.lines, ...panel.bands].map((e) => e.values || e.low))) {
          root.append(empty(panel.title, "No values in this run."));
          continue;
        }
        const chart = onePanel({ ...spec, isLog: log, baseline: spec.baseline }, panel, range, announce, mine, (label) => {
          if (!hidden.delete(label)) hidden.add(label);
          redraw();
          const again = [...root.querySelectorAll(".legend button")].find((b) => b.dataset.label === label && b.dataset.panel === panel.title);
          if (again) again.focus();
        });
        mine.push(chart);
        if (!spec.percent) charts.add(chart);
        root.append(chart.element);
      }
    }

    /** Columns of tables: { head, x, values }. */
    const columns = (panels) => panels.flatMap((p) => [...p.bands.flatMap((b) => [[b.label + ", low", b.low], [b.label + ", high", b.high]]),
      ...p.lines.map((l) => [l.label, l.values])].map(([label, values]) => ({ head: panels.length > 1 && p.title ? `${p.title}: ${label}` : label, x: p.x, values })));
    function table() {
      const panels = spec.panels().filter((p) => p.x.length);
      const longest = panels.reduce((a, p) => (p.x.length > a.length ? p.x : a), []);
      const step = Math.max(1, Math.ceil(longest.length / 60));
      const picked = longest.filter((_, i) => i % step === 0 || i === longest.length - 1);
      const all = columns(panels);
      return {
        note: step > 1 ? `One in ${step} of ${longest.length} points, and the last.` : null,
        head: [spec.percent ? `Part of ${spec.of || "tenants"}` : "Time", ...all.map((c) => c.head)],
        rows: picked.map((at) => [xText(spec, at), ...all.map(({ x, values }) => spec.format(values[nearest(x, at)]))]),
      };
    }
    /** All points, each panel at its own: runs are not sampled at the same instants. */
    function csv() {
      const all = columns(spec.panels().filter((p) => p.x.length));
      const dated = !spec.percent && calendar.known;
      return {
        head: [spec.percent ? `percent of ${spec.of || "tenants"}` : "seconds", ...(dated ? ["date (" + calendar.zone + ")"] : []), ...all.map((c) => c.head)],
        rows: joined(all).map(([x, ...values]) => [x, ...(dated ? [calendar.iso(x)] : []), ...values]),
      };
    }
    return { draw, table, csv };
  }

  const empty = (title, why) => h("div", { class: "panel" }, h("h4", {}, title), h("p", { class: "note" }, why));
  const xText = (spec, x) => (spec.percent ? format.num(x) + " %" : calendar.instant(x));

  function onePanel(spec, panel, yRange, announce, peers, toggle) {
    // Paper has room for low charts side by side.
    const tall = () => (document.documentElement.classList.contains("printing") ? PAPER_HEIGHT : spec.height || HEIGHT);
    const plot = h("div", {
      class: "plot", style: `min-height:${tall()}px`, tabindex: 0, role: "application", "aria-roledescription": "interactive chart",
      "aria-label": `${spec.title}${panel.title ? ", " + panel.title : ""}. ${HELP}`,
    });
    const entries = [...panel.lines.map((l) => ({ ...l, at: (i) => spec.format(l.values[i]) })),
      ...panel.bands.map((b) => ({ ...b, band: true, at: (i) => `${spec.format(b.low[i])} to ${spec.format(b.high[i])}` }))];
    const when = h("span", { class: "when" });
    const legend = h("ul", { class: "legend" }, entries.map((e) => {
      e.value = h("span", { class: "value" });
      const inside = [swatch(panel.stack ? { ...e, band: true } : e), h("span", { class: "name", title: e.label }, e.label), e.value];
      return h("li", { class: e.band ? "band" : null }, e.band ? h("span", { class: "entry" }, inside)
        : h("button", { type: "button", class: "entry", "aria-pressed": String(!e.hidden), title: "Show or hide " + e.label,
          "data-label": e.label, "data-panel": panel.title, onclick: () => toggle(e.label) }, inside));
    }));
    const marks = panel.marks && panel.marks.at.length ? panel.marks : null;
    if (marks) {
      legend.append(h("li", {}, h("span", { class: "entry" }, swatch({ color: theme.color("soft"), dash: MARK }), h("span", { class: "name", title: marks.label }, marks.label),
        h("span", { class: "value" }, format.count(marks.at.length) + "×"))));
    }
    const element = h("div", { class: "panel" }, h("h4", {}, panel.title, " ", when), plot, legend);

    let index = null;
    /** Shows the values at a sample, or at the end when there is none. */
    function read(i) {
      index = i;
      const at = i === null ? panel.x.length - 1 : i;
      when.textContent = (spec.percent ? "at " : i === null ? "end: " : "") + xText(spec, panel.x[at]);
      for (const e of entries) e.value.textContent = e.hidden ? "" : e.at(at);
    }

    let u = null;
    const dated = !spec.percent && calendar.known;
    let quiet = false;
    /** Moves the cursor without telling the others; x in axis units, null to leave. */
    function moveTo(x) {
      const i = x === null ? null : nearest(panel.x, x);
      read(i);
      if (!u) return;
      quiet = true;
      u.setCursor(i === null ? { left: -10, top: -10 } : { left: u.valToPos(panel.x[i], "x"), top: 10 });
      quiet = false;
    }
    const moveAll = (x) => peers.forEach((peer) => peer.moveTo(x));

    const full = spec.percent ? { min: 0, max: 100 } : { min: 0, max: data.end };
    function create(width) {
      const ink = theme.color("ink");
      const grid = { stroke: theme.color("grid"), width: 1 };
      const font = "12px system-ui, sans-serif";
      const axis = { stroke: ink, font, grid, ticks: { ...grid, size: 4 } };
      const series = [{}];
      const columns = [panel.x];
      const bands = [];
      for (const b of panel.bands) {
        bands.push({ series: [series.length, series.length + 1], fill: b.color });
        columns.push(...[b.high, b.low].map((edge) => (spec.isLog ? Array.from(edge, (v) => (v > 0 ? v : null)) : edge)));
        for (let k = 0; k < 2; k++) series.push({ stroke: "transparent", width: 0, points: { show: false } });
      }
      for (const { line, low, high } of panel.areas) {
        const paths = uPlot.paths.stepped({ align: -1 });
        bands.push({ series: [series.length, series.length + 1], fill: line.color });
        columns.push(high, low);
        series.push({ stroke: line.color, width: 1, paths, points: { show: false } }, { stroke: "transparent", width: 0, paths, points: { show: false } });
      }
      for (const l of panel.stack ? [] : panel.lines) {
        columns.push(spec.isLog ? Array.from(l.values, (v) => (v > 0 ? v : null)) : l.values);
        series.push({ show: !l.hidden, stroke: l.color, width: l.width || 1.8, dash: l.dash, fill: l.fill, fillTo: l.fill ? () => 0 : undefined,
          paths: l.steps ? uPlot.paths.stepped({ align: 1 }) : undefined, points: { show: false } });
      }
      const options = {
        width, height: tall(), padding: [10, EDGE, 0, 0], series, bands,
        legend: { show: false },
        scales: { x: { time: false }, y: { range: () => yRange, ...(spec.isLog ? { distr: 3, log: 10 } : {}) } },
        axes: [
          { ...axis, space: (_, __, min, max, size) => tickSpace(min, max, size), size: 30, ...(dated ? { splits: (self, _, min, max) => calendar.ticks(min, max, (self.bbox.width / (window.devicePixelRatio || 1)) / 84) } : {}), incrs: spec.percent ? undefined : format.TIME_STEPS,
            values: (self, splits, _, __, step) => splits.map((v) => {
              const text = spec.percent ? v + " %" : dated ? calendar.tick(v, splits.length > 1 ? splits[1] - splits[0] : data.end) : format.timeTick(v, step);
              // A text that would not fit at the right edge is left out.
              return self.valToPos(v, "x") + text.length * 3.3 > self.valToPos(self.scales.x.max, "x") + EDGE ? null : text;
            }) },
          spec.isLog ? { ...axis, size: 74, splits: () => logSplits(tall()), values: (_, splits) => splits.map((v) => (spec.times ? format.timeTick(v, v) : format.num(v, 3))) }
          : { ...axis, space: 32, incrs: spec.times ? format.TIME_STEPS : spec.whole ? WHOLE : undefined, size: (_, texts) => 14 + 7 * Math.max(2, ...(texts || []).map((t) => t.length)),
            values: (_, splits, __, ___, step) => splits.map((v) => (spec.times ? format.timeTick(v, step) : format.tick(v, step, Math.max(...splits.map(Math.abs))))) },
        ],
        cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false }, bind: { dblclick: () => () => setZoom(null) } },
        hooks: {
          drawAxes: [drawBaseline, drawMarks], // before the lines, which stay on top
          setCursor: [() => {
            // Also called when a scale changes, without an event: then nobody moved.
            if (quiet || !u.cursor.event) return;
            const i = u.cursor.idx;
            const outside = u.cursor.left < 0 || i === null || i === undefined;
            const x = outside ? null : panel.x[i];
            quiet = true;
            peers.forEach((peer) => { if (peer.u !== u) peer.moveTo(x); });
            quiet = false;
            read(outside ? null : i);
          }],
          setSelect: [() => {
            if (u.select.width < 4) return;
            const range = { min: u.posToVal(u.select.left, "x"), max: u.posToVal(u.select.left + u.select.width, "x") };
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            if (spec.percent) chart.showRange(range); else setZoom(range);
          }],
        },
      };
      u = new uPlot(options, columns, plot);
      Meed.save.recipe(u.ctx.canvas, (place) => {
        const again = new uPlot({ ...options, hooks: { drawAxes: [drawBaseline, drawMarks] } }, columns, place);
        again.setScale("x", spec.percent ? full : zoom || full);
        return again;
      });
      chart.u = u;
      chart.showRange(spec.percent ? full : zoom || full);
    }
    /** Ticks of a logarithmic axis, no two of them too near. */
    function logSplits(height) {
      const [low, high] = yRange.map(Math.log);
      const place = (v) => (Math.log(v) / (high - low)) * (height - 40);
      const wishes = [spec.baseline, ...(spec.times ? LOG_TIMES : logTicks(...yRange))];
      return thinned(wishes, yRange, place, 22).sort((a, b) => a - b);
    }
    /** Pixels between ticks: texts of hours with minutes are longer. */
    function tickSpace(min, max, size) {
      const [usual, long] = [64, 92];
      const step = format.TIME_STEPS.find((d) => d >= ((max - min) / size) * usual) || max;
      return !spec.percent && max > 3600 && step < 3600 ? long : usual;
    }
    function drawBaseline(u) {
      if (spec.baseline === undefined) return;
      const y = Math.round(u.valToPos(spec.baseline, "y", true)) + 0.5;
      const { bbox } = u;
      if (y >= bbox.top && y <= bbox.top + bbox.height) rule(u, "ink", [], [[bbox.left, y, bbox.left + bbox.width, y]]);
    }
    function drawMarks(u) {
      if (!marks) return;
      const { bbox } = u;
      const at = marks.at.map((x) => Math.round(u.valToPos(x, "x", true)) + 0.5).filter((x) => x >= bbox.left && x <= bbox.left + bbox.width);
      const xs = [...new Set(at)];
      const ratio = window.devicePixelRatio || 1;
      const many = xs.length > MARKS;
      rule(u, many ? "ink" : "soft", many ? [] : MARK.map((d) => d * ratio), xs.map((x) => (many ? [x, bbox.top - EDGE_MARK * ratio, x, bbox.top] : [x, bbox.top, x, bbox.top + bbox.height])));
    }
    function rule(u, color, dash, lines) {
      const { ctx } = u;
      ctx.save();
      ctx.strokeStyle = theme.color(color);
      ctx.lineWidth = 1;
      ctx.setLineDash(dash);
      ctx.beginPath();
      for (const [x0, y0, x1, y1] of lines) { ctx.moveTo(x0, y0); ctx.lineTo(x1, y1); }
      ctx.stroke();
      ctx.restore();
    }

    const chart = {
      element, u: null, moveTo,
      showRange(range) { if (u) u.setScale("x", range); },
      destroy() { if (u) u.destroy(); u = null; },
    };

    plot.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const last = panel.x.length - 1;
      const now = index === null ? last : index;
      const far = event.shiftKey ? 10 : 1;
      const go = { ArrowRight: index === null ? 0 : now + far, ArrowLeft: now - far, Home: 0, End: last }[event.key];
      if (go !== undefined) {
        moveAll(panel.x[Math.max(0, Math.min(last, go))]);
        announce(`${panel.title ? panel.title + ", " : ""}${xText(spec, panel.x[index])}: `
          + entries.filter((e) => !e.hidden).map((e) => `${e.label} ${e.at(index)}`).join("; "));
      } else if (event.key === "Escape") {
        moveAll(null);
        announce("");
      } else if ("+-0=".includes(event.key) && !spec.percent) {
        const range = zoom || full;
        const factor = { "+": 0.5, "=": 0.5, "-": 2, 0: Infinity }[event.key];
        const half = ((range.max - range.min) / 2) * factor;
        const middle = index === null ? (range.min + range.max) / 2 : panel.x[index];
        setZoom(Number.isFinite(half) ? { min: middle - half, max: middle + half } : null);
        announce(zoom ? `Showing ${format.time(zoom.min)} to ${format.time(zoom.max)}` : "Showing all");
        // The new scale holds from the next frame on.
        if (index !== null) requestAnimationFrame(() => moveAll(panel.x[index]));
      } else return;
      event.preventDefault();
    });
    read(null);
    onWidth(plot, (width) => {
      if (!element.isConnected) return;
      plot.style.minHeight = `${tall()}px`;
      if (u) u.setSize({ width, height: tall() }); else create(width);
    });
    return chart;
  }

  return { timechart, setZoom, onZoom: (run) => zoomListeners.push(run), range: () => zoom || { min: 0, max: data.end } };
})();
