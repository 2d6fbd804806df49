// Purpose: horizontal charts with one row per tenant and policy: bars from a base line, or boxes of percentiles. Every
// row carries its name, its marker and its value, so that nothing hangs on colour.

Meed.rowchart = (() => {
  const { h, s, marker, onWidth } = Meed.dom;
  const { data, format, theme } = Meed;
  const { ticks, passingDecade, logTicks, LOG_TIMES, thinned } = Meed.base;
  const ROW = 20;
  const HEAD = 24;
  const FOOT = 30;

  const PADDING = 8;
  const rowsOf = (groups) => groups.reduce((sum, g) => sum + HEAD + ROW * g.rows.length, 0);
  /** A tall chart has its axis at the top as well. */
  const axisAbove = (groups) => rowsOf(groups) > 500;
  /** How tall the chart will be: known before it is drawn, so that what is below stands where it stays. */
  const tall = (groups) => (axisAbove(groups) ? FOOT : 0) + rowsOf(groups) + FOOT;

  /**
   * spec: { title, what?: what a group is ("Tenant"), groups(): [{ name, rows: [{ policy (index), value, text, box?: [p1,p5,...,p99] }] }],
   *         base: number drawn as the base line, log?: bool (logarithmic, values are times),
   *         logWhereWide?: bool (logarithmic where values pass a decade), times?: bool (values are seconds), tick(v, step), describe }
   */
  function rowchart(spec) {
    function draw(root, announce) {
      const groups = spec.groups();
      const rows = groups.flatMap((g) => g.rows.map((row) => ({ ...row, group: g.name })));
      const values = rows.flatMap((r) => [r.value, ...(r.box || [])]).filter(data.number);
      if (!values.length) {
        root.append(h("p", { class: "note" }, "No values in this run."));
        return;
      }
      const view = h("div", { class: "rows", tabindex: 0, role: "application", "aria-roledescription": "chart",
        "aria-label": spec.title + ". Up and down arrow keys read row by row.", style: `min-height:${tall(groups) + 2 * PADDING}px` });
      root.append(view);
      let at = null;
      let size = 0;
      const paint = () => view.replaceChildren(picture(groups, values, size, at));
      onWidth(view, (width) => { size = width; paint(); });
      view.addEventListener("keydown", (event) => {
        const last = rows.length - 1;
        const next = { ArrowDown: at === null ? 0 : at + 1, ArrowUp: at === null ? last : at - 1, Home: 0, End: last }[event.key];
        if (next !== undefined) {
          at = Math.max(0, Math.min(last, next));
          const row = rows[at];
          announce(`${row.group}, ${data.runs[row.policy].policy}: ${spec.describe ? spec.describe(row) : row.text}`);
        } else if (event.key === "Escape") at = null;
        else return;
        event.preventDefault();
        paint();
      });
    }

    function picture(groups, values, width, at) {
      let [low, high] = data.extent([values]);
      const isLog = spec.log || (spec.logWhereWide && low > 0 && passingDecade(values));
      if (spec.base !== undefined) [low, high] = [Math.min(low, spec.base), Math.max(high, spec.base)];
      if (isLog) [low, high] = [Math.max(low, high * 1e-6, 1e-3) * 0.9, high * 1.1];
      else if (high - low < 1e-9) [low, high] = [low - 0.5, high + 0.5];
      else [low, high] = [low === spec.base ? low : low - (high - low) * 0.04, high === spec.base ? high : high + (high - low) * 0.04];
      const names = Math.min(width * 0.36, 24 + 7.2 * Math.max(...data.runs.map((r) => r.policy.length)));
      const texts = 12 + 7 * Math.max(...groups.flatMap((g) => g.rows.map((r) => r.text.length)));
      const [left, right] = [names, width - texts];
      const place = (v) => {
        const part = isLog ? Math.log(Math.max(v, low) / low) / Math.log(high / low) : (v - low) / (high - low);
        return left + part * (right - left);
      };
      const top = axisAbove(groups) ? FOOT : 0;
      const height = tall(groups);
      const wanted = Math.max(3, (right - left) / 80);
      const between = isLog ? [] : spec.times ? timeTicks(high, wanted) : ticks(low, high, wanted);
      const step = between.length > 1 ? between[1] - between[0] : 1;
      const wishes = spec.log ? LOG_TIMES : isLog ? [spec.base, ...logTicks(low, high)] : [spec.base, ...between];
      // No tick where its text would touch another.
      const marks = thinned(wishes, [low, high], place, 56);
      const svg = s("svg", { width, height, "aria-hidden": "true" });
      const ink = theme.color("ink");
      for (const v of marks) {
        for (const y of top ? [16, height - FOOT + 18] : [height - FOOT + 18]) {
          svg.append(s("text", { x: place(v), y, fill: ink, "text-anchor": "middle", "font-size": 12 }, isLog && !spec.log ? format.num(v, 3) : spec.tick(v, step)));
        }
      }
      // Lines stand beside the rows only, not across the names of tenants.
      const upright = (x, y, rows, stroke) => svg.append(s("line", { x1: x, x2: x, y1: y - 2, y2: y + rows * ROW + 2, stroke, "stroke-width": 1.2 }));
      let y = top;
      let i = 0;
      for (const group of groups) {
        svg.append(s("text", { x: 0, y: y + 16, fill: ink, "font-size": 13, "font-weight": 600 }, group.name));
        y += HEAD;
        for (const v of marks) upright(place(v), y, group.rows.length, theme.color("grid"));
        if (spec.base !== undefined) upright(place(spec.base), y, group.rows.length, ink);
        for (const row of group.rows) {
          const look = theme.policy(row.policy);
          const middle = y + ROW / 2;
          if (i === at) svg.append(s("rect", { x: 0, y, width, height: ROW, fill: theme.color("mark") }));
          svg.append(marker(look.shape, 8, middle, look.color), s("text", { x: 20, y: middle + 4, fill: ink, "font-size": 12, class: "row-name" }, clip(data.runs[row.policy].policy, (names - 24) / 6.6)));
          if (row.box && row.box.length) box(svg, row.box, place, middle, look.color);
          else if (data.number(row.value)) {
            const [a, b] = [place(spec.base), place(row.value)];
            svg.append(s("rect", { x: Math.min(a, b), y: middle - 4, width: Math.max(0.5, Math.abs(a - b)), height: 8, fill: look.color, "fill-opacity": 0.45 }));
          }
          if (data.number(row.value)) svg.append(marker(look.shape, place(row.value), middle, look.color, 4.5));
          svg.append(s("text", { x: width, y: middle + 4, fill: ink, "text-anchor": "end", "font-size": 12, class: "row-value" }, row.text));
          y += ROW;
          i += 1;
        }
      }
      return svg;
    }

    function table() {
      const groups = spec.groups();
      const policies = [...new Set(groups.flatMap((g) => g.rows.map((r) => r.policy)))];
      const cell = (g, p) => { const row = g.rows.find((r) => r.policy === p); return row ? (spec.describe ? spec.describe(row) : row.text) : format.NONE; };
      return { head: [spec.what || "Tenant", ...policies.map((p) => data.runs[p].policy)], rows: groups.map((g) => [g.name, ...policies.map((p) => cell(g, p))]) };
    }
    /** A row for each tenant and policy, with all percentiles. */
    function csv() {
      const rows = spec.groups().flatMap((g) => g.rows.map((row) => [g.name, data.runs[row.policy].policy, data.number(row.value) ? row.value : null, ...(row.box || [])]));
      const box = rows.some((row) => row.length > 3) ? data.record.percentiles.map((p) => `percentile ${p}`) : [];
      return { head: [spec.what || "Tenant", "policy", spec.title, ...box], rows };
    }
    return { draw, table, csv };
  }

  /** Ticks from zero on, so far apart as people count time. */
  function timeTicks(high, wanted) {
    const step = format.TIME_STEPS.find((d) => high / d <= wanted) || high;
    return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, i) => i * step);
  }
  const clip = (text, length) => (text.length > length ? text.slice(0, Math.max(1, Math.floor(length) - 1)) + "…" : text);

  /** Percentiles 1, 5, 10, 25, 50, 75, 90, 95, 99: thin line, then thicker towards the middle. */
  function box(svg, p, place, y, color) {
    const bar = (a, b, size, opacity) => svg.append(s("rect", { x: place(p[a]), y: y - size / 2, width: Math.max(1, place(p[b]) - place(p[a])), height: size, fill: color, "fill-opacity": opacity }));
    bar(0, 8, 1.5, 1);
    bar(2, 6, 6, 0.35);
    bar(3, 5, 11, 0.5);
  }

  return { rowchart };
})();
