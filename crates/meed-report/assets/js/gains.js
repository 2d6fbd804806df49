// Purpose: who gains and who loses: each tenant under each policy against one that the reader chooses, in words first.

Meed.gains = (() => {
  const { h, s, marker, onWidth } = Meed.dom;
  const { data, format, theme } = Meed;
  const { select, figure } = Meed.figure;
  const { scatter } = Meed.scatter;
  const { LOG_TIMES, thinned } = Meed.base;
  /** Changes below this are none that a reader should act on. */
  const ALIKE = 0.05;
  /** Of many tenants so many are listed at either end. */
  const ENDS = 6;
  const ROW = 18;
  /** Room beside the outermost marks, and between the texts of ticks. */
  const EDGE = 8;
  const APART = 64;
  const AXIS = 18;
  /** What happens to a tenant whose value is smaller, and larger: of one, of several, larger. */
  const FASTER = ["finishes sooner", "finish sooner", "later"];
  const WAITS = ["waits less", "wait less", "longer"];
  const QUANTITIES = [
    ["mean", "mean job time", (q) => q.mean_job_s, FASTER],
    ["p50", "median job time", (q) => q.p50_job_s, FASTER],
    ["p99", "99 % job time", (q) => q.p99_job_s, FASTER],
    ["wait", "mean wait", (q) => q.mean_wait_s, WAITS],
    ["longest", "longest wait", (q) => q.longest_wait_s, WAITS],
  ];
  const some = data.runs.length > 1 && data.tenants.length > 0;
  /** Of which pairs of runs something is said first: what the others are held against, and another one. */
  const pairs = data.record.pairs || [];
  const first = pairs.length ? pairs[0][0] : 0;
  let base = first;
  let quantity = QUANTITIES[0];

  const chosen = () => base;
  const others = () => data.runs.map((_, r) => r).filter((r) => r !== base);
  const valueIn = (run, t) => (data.runs[run].outcome[t] ? quantity[2](data.runs[run].outcome[t]) : null);

  /** Change against another run as a ratio; null where either is missing, 1 where both are nothing. */
  function ratio(run, t, base = chosen()) {
    const [before, now] = [valueIn(base, t), valueIn(run, t)];
    if (!data.number(before) || !data.number(now)) return null;
    return before === now ? 1 : before > 0 ? now / before : Infinity;
  }
  const isLonger = (r) => r !== null && r > 1 + ALIKE;
  const isShorter = (r) => r !== null && r < 1 - ALIKE;

  /** A value is missing where no job of the tenant has ended: the worst that can be, not nothing to say. */
  const hasEnded = (run, t) => data.number(valueIn(run, t));
  const isGone = (run, t, base = chosen()) => hasEnded(base, t) && !hasEnded(run, t);
  const isNew = (run, t, base = chosen()) => !hasEnded(base, t) && hasEnded(run, t);

  function inWords(r, run, t) {
    if (isGone(run, t)) return "no job ended";
    if (isNew(run, t)) return "none ended before";
    if (r === null) return "";
    if (!isLonger(r) && !isShorter(r)) return "about the same";
    const times = r > 1 ? r : 1 / r;
    if (!Number.isFinite(times)) return r > 1 ? "longer" : "none any more";
    return `${format.num(times, times < 10 ? 2 : 3)} × ${r > 1 ? "longer" : "shorter"}`;
  }

  /** Tenants by their change under the last of the other policies, most gained first; none without a job that ended somewhere. */
  function order() {
    const last = others().pop();
    const rank = (t) => (isGone(last, t) ? Number.MAX_VALUE : isNew(last, t) ? -1 : ratio(last, t));
    return data.order(rank).filter((t) => data.runs.some((_, run) => hasEnded(run, t)));
  }

  /** Some tenants by name, and how many more. */
  function list(found) {
    const named = found.slice(0, ENDS).flatMap((t, i) => [i ? ", " : "", h("b", {}, data.tenants[t].name)]);
    return [named, found.length > ENDS ? ` and ${format.count(found.length - ENDS)} more` : ""];
  }

  /** A group of its own: those of whom no job has ended under one of the two. */
  function without(words, found) {
    return found.length ? [` ${words}: ${format.count(found.length)} (`, list(found), ")."] : null;
  }

  /** One policy against another, as a sentence. */
  function sentence([base, run]) {
    const changes = data.tenants.map(({ index }) => [index, ratio(run, index, base)]).filter(([, r]) => r !== null);
    const [won, lost] = [isShorter, isLonger].map((is) => changes.filter(([, r]) => is(r)).sort(([, a], [, b]) => (a === b ? 0 : a < b ? -1 : 1)));
    const named = ([t]) => [h("b", {}, data.tenants[t].name), ` (${format.time(valueIn(base, t))}, now ${format.time(valueIn(run, t))})`];
    const name = data.runs[base].policy;
    const all = data.tenants.map(({ index }) => index);
    const policy = data.runs[run].policy;
    const [one, several, later] = quantity[3];
    const same = changes.length - won.length - lost.length;
    const counted = !changes.length ? "no tenant has ended jobs under both" : [`${format.count(won.length)} of ${format.count(changes.length)} tenants ${won.length === 1 ? one : several} (${quantity[1]} shorter by ${ALIKE * 100} % or more)`,
      lost.length ? `${format.count(lost.length)} ${later}` : `none ${later}`, same ? `${format.count(same)} about the same` : null].filter(Boolean).join(", ");
    return h("li", {}, h("b", {}, policy), ` instead of ${name}: ${counted}.`,
      won.length ? [" ", named(won[0]), " gains most."] : null,
      lost.length ? [" ", named(lost[lost.length - 1]), " loses most."] : null,
      without(`No job ended under ${policy}, but some did under ${name}`, all.filter((t) => isGone(run, t, base))),
      without(`Jobs ended under ${policy}, but none did under ${name}`, all.filter((t) => isNew(run, t, base))),
      below(run, base));
  }

  /** How many get less than their own share, under both. */
  function below(run, base) {
    const [now, before] = [run, base].map((r) => data.runs[r].queues.filter((q) => data.number(q.rho) && q.rho < 1 - 1e-9).length);
    const name = data.runs[base].policy;
    if (!now && !before) return " Nobody gets less than its own share, under either.";
    return ` ${now ? format.count(now) : "Nobody"} ${now > 1 ? "get" : "gets"} less than ${now > 1 ? "their" : "its"} own share (ρ < 1), under ${name} ${before ? format.count(before) : "nobody"}.`;
  }

  /** The places of values in a picture of this width, on a logarithmic axis, and the ticks that have room there. */
  function axisOf([low, high], width) {
    const place = (v) => EDGE + (width - 2 * EDGE) * (high > low ? Math.log(Math.max(v, low) / low) / Math.log(high / low) : 0.5);
    return { width, place, ticks: thinned(LOG_TIMES, [low, high], place, APART) };
  }

  /** The ticks in words, for all rows. */
  function scale({ width, place, ticks }) {
    const text = (v) => {
      const words = format.timeTick(v, v);
      const half = words.length * 3.3;
      return s("text", { x: Math.max(half, Math.min(width - half, place(v))), y: 13, "text-anchor": "middle", "font-size": 12, fill: theme.color("soft") }, words);
    };
    return s("svg", { width, height: AXIS, viewBox: `0 0 ${width} ${AXIS}`, "aria-hidden": "true" }, ticks.map(text));
  }

  /** Ring: the base; marks: the others; between them who gains and who loses. */
  function dumbbell(t, { width, place, ticks }) {
    const rows = others().filter((run) => data.number(valueIn(run, t)));
    const height = ROW * Math.max(1, rows.length);
    const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": rows.map((run) => `${data.runs[run].policy}: ${inWords(ratio(run, t), run, t)}`).join(", ") },
      ticks.map((v) => s("line", { x1: place(v), x2: place(v), y1: 0, y2: height, stroke: theme.color("grid") })));
    rows.forEach((run, i) => {
      const y = ROW * (i + 0.5);
      const r = ratio(run, t);
      const [from, to] = [valueIn(base, t), valueIn(run, t)];
      const ink = isLonger(r) ? theme.tenant(1).color : isShorter(r) ? theme.tenant(0).color : theme.color("soft");
      if (data.number(from)) {
        svg.append(s("line", { x1: place(from), x2: place(to), y1: y, y2: y, stroke: ink, "stroke-width": 3 }), marker("ring", place(from), y, theme.color("ink"), 4));
      }
      svg.append(marker(theme.policy(run).shape, place(to), y, ink, 5));
    });
    return svg;
  }

  /** More tenants than are listed one by one. */
  const isMany = (all) => all.length > 2 * ENDS + 2;

  /** What the marks and colours of the pictures are. */
  function key() {
    const mark = (shape, ink) => s("svg", { width: 14, height: 14, "aria-hidden": "true" }, marker(shape, 7, 7, ink, 5));
    const entry = (shape, ink, ...words) => h("span", {}, mark(shape, ink), " ", words);
    const soft = theme.color("soft");
    return h("p", { class: "gains-key" }, entry("ring", theme.color("ink"), h("b", {}, data.runs[base].policy), ", compared with"),
      others().map((run) => entry(theme.policy(run).shape, soft, h("b", {}, data.runs[run].policy))),
      h("span", {}, h("span", { style: `color:${theme.tenant(0).color}` }, "━"), " shorter"), h("span", {}, h("span", { style: `color:${theme.tenant(1).color}` }, "━"), " longer"));
  }

  /** The table of tenants, or of the first and last of many. */
  function listing(all) {
    const cut = isMany(all);
    const shown = cut ? [...all.slice(0, ENDS), ...all.slice(-ENDS)] : all;
    const values = shown.flatMap((t) => data.runs.map((_, run) => valueIn(run, t))).filter((v) => data.number(v) && v > 0);
    const range = values.length ? [Math.max(Math.min(...values), Math.max(...values) * 1e-5), Math.max(...values)] : [1, 1];
    const never = data.tenants.length - all.length;
    const head = ["Tenant", data.runs[base].policy, ...others().map((run) => data.runs[run].policy)];
    // All pictures are as wide as their column, and drawn anew when that changes.
    const places = [];
    const place = (t) => { const element = h("div", {}); places.push([element, (axis) => dumbbell(t, axis)]); return element; };
    const ruler = h("div", {});
    places.push([ruler, scale]);
    const row = (t) => h("tr", {}, h("th", { scope: "row" }, data.tenants[t].name), h("td", { "data-name": data.runs[base].policy }, format.time(valueIn(base, t))),
      others().map((run) => h("td", { "data-name": data.runs[run].policy }, format.time(valueIn(run, t)), h("small", {}, inWords(ratio(run, t), run, t)))),
      h("td", { class: "change" }, place(t)));
    const caption = cut ? `The ${ENDS} tenants that gain most and the ${ENDS} that lose most under ${data.runs[others().pop()].policy}, of ${format.count(all.length)}; all are below, under Tenants.`
      : "Who gains most stands first.";
    const titles = head.map((text) => h("th", { scope: "col" }, text));
    const rows = shown.map(row);
    onWidth(ruler, (width) => { const axis = axisOf(range, width); places.forEach(([element, draw]) => element.replaceChildren(draw(axis))); });
    return h("div", {}, key(), h("div", { class: "table-scroll tall", tabindex: 0, role: "region", "aria-label": "Tenants against the chosen policy" },
      h("table", { class: "gains" }, h("caption", {}, caption, never ? ` No job of ${format.count(never)} more has ended under any policy.` : ""),
        h("thead", {}, h("tr", {}, titles, h("th", { scope: "col", class: "text change" }, `${quantity[1]}, logarithmic`, ruler))),
        h("tbody", {}, rows))));
  }

  /** Of many tenants a point each, a picture for each other policy. */
  function points() {
    const panels = others().map((run) => {
      const found = data.tenants.map(({ index, name }) => ({ t: index, name, before: valueIn(base, index), now: valueIn(run, index) }))
        .filter((p) => p.before > 0 && p.now > 0)
        .map((p) => { const r = ratio(run, p.t); return { ...p, text: inWords(r, run, p.t), look: isLonger(r) ? "longer" : isShorter(r) ? "shorter" : "same" }; });
      return { run, found };
    }).filter(({ found }) => found.length > 1);
    const range = data.extent(panels.flatMap(({ found }) => found.flatMap((p) => [[p.before, p.now]])));
    return range ? panels.map(({ run, found }) => scatter(found, range, { before: data.runs[base].policy, now: data.runs[run].policy, what: quantity[1] })) : [];
  }
  /** All tenants with their value under each policy, and the change. */
  const all = () => ({
    head: ["tenant", ...data.runs.map((run) => `${quantity[1]} under ${run.policy}, s`), ...others().map((run) => `${data.runs[run].policy} over ${data.runs[base].policy}`)],
    rows: order().map((t) => [data.tenants[t].name, ...data.runs.map((_, run) => valueIn(run, t)), ...others().map((run) => ratio(run, t))]),
  });

  /** The elements of the section; what must be drawn anew with another theme goes to `register`. */
  function parts(register) {
    const words = h("ul", { class: "gains-words" });
    const body = h("div", {});
    const chart = figure({
      id: "gains-scatter", title: "Every tenant, before and after",
      explain: "A point for each tenant, on logarithmic axes: on the dashed diagonal nothing changes; below it (blue circles) its times are shorter, above it (orange triangles) longer. Grey diamonds: less than 5 % either way.",
      draw: (root) => root.append(...points()),
      table() {
        const { head, rows } = all();
        return { head, rows: rows.map((row) => row.map((v) => (typeof v === "number" ? format.num(v, 4) : v === null ? format.NONE : v))) };
      },
      csv: all,
    });
    const frame = h("div", {}, h("div", {}, body,
      h("div", { class: "saves" }, Meed.save.buttons("Who gains, who loses", () => body, all))), chart.element);
    const redraw = () => {
      const ranked = order();
      words.replaceChildren(...(base === first && pairs.length ? pairs : others().map((run) => [base, run])).map(sentence));
      body.replaceChildren(listing(ranked));
      chart.element.hidden = !isMany(ranked);
      frame.classList.toggle("gains-two", isMany(ranked));
      chart.redraw();
    };
    redraw();
    register({ redraw, ensure: chart.ensure });
    // All figures rest on a cluster that was assumed: said before any of them.
    const assumed = data.record.assumptions.find((a) => a.startsWith("assumed cluster: "));
    return [
      assumed ? h("p", { class: "explain" }, `${assumed[0].toUpperCase()}${assumed.slice(1)}.`) : null,
      h("div", { class: "controls" },
        select("Compared with", data.runs.map((run, r) => [String(r), run.policy]), String(base), (v) => { base = Number(v); redraw(); }),
        select("By", QUANTITIES.map(([key, name]) => [key, name]), quantity[0], (v) => { quantity = QUANTITIES.find(([key]) => key === v); redraw(); })),
      words,
      frame,
    ];
  }

  return { some, parts };
})();
