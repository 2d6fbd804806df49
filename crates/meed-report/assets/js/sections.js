// Purpose: which charts the report has, what they show and how they are explained.

Meed.sections = (() => {
  const { h } = Meed.dom;
  const { data, format, theme, picker } = Meed;
  const { figure, select } = Meed.figure;
  const { timechart } = Meed.timechart;
  const { rowchart } = Meed.rowchart;
  const figures = [];
  const MEASURED = data.measured;
  const add = (spec, kind) => {
    const made = figure({ ...spec, ...kind });
    figures.push(made);
    return made.element;
  };
  const register = (made) => figures.push(made);
  const faded = (color, alpha) => color + Math.round(alpha * 255).toString(16).padStart(2, "0");

  /** Quantiles over time are the same on every redraw: computed once. */
  const cache = new Map();
  function quantiles(run, name, of) {
    const key = data.runs.indexOf(run) + name;
    if (!cache.has(key)) cache.set(key, data.quantilesOverTime(run, of, [0.05, 0.25, 0.5, 0.75, 0.95]));
    return cache.get(key);
  }

  /** One panel per policy: a line per tenant, or bands of quantiles with the picked tenants. */
  function perTenant(name, of) {
    return () => data.runs.map((run) => {
      const lines = picker.picked().filter((t) => run.track[t]).map((t) => ({
        label: data.tenants[t].name, values: of(run.track[t], run, data.tenants[t]), ...picker.look(t),
      }));
      const panel = { title: run.policy, x: run.t, lines, bands: [] };
      if (!data.few && run.t.length) {
        const [p5, p25, p50, p75, p95] = quantiles(run, name, of);
        const ink = theme.color("ink");
        panel.bands = [{ label: "90 % of tenants", low: p5, high: p95, color: faded(ink, 0.13) },
          { label: "50 % of tenants", low: p25, high: p75, color: faded(ink, 0.25) }];
        panel.lines.unshift({ label: "median", values: p50, color: ink, dash: [], width: 2.5 });
      }
      return panel;
    });
  }

  /** What the axis shows of values that are wild at the start: the range after a tenth of the time, and a bit more. */
  function settled(arraysOf) {
    const arrays = data.runs.flatMap((run) => {
      const from = run.t.findIndex((t) => t > data.end / 10);
      return from < 0 ? [] : arraysOf(run).map((a) => a.slice(from));
    });
    const range = data.extent(arrays);
    if (!range) return undefined;
    const room = Math.max(0.25 * (range[1] - range[0]), 0.02);
    return [range[0] - room, range[1] + room];
  }

  const scaled = (values, divisor) => values.map((v) => (data.number(v) && divisor > 0 ? v / divisor : null));

  const who = data.few ? "One line per tenant." : "Bands hold half and 90 % of the tenants; lines are the median and the tenants picked above.";
  const side = data.runs.length > 1 ? " Panels have the same scales." : "";

  /** Values of all tenants in rising order, one line per policy: who is how far from the others. */
  function across(id, title, explain, of, show, extra) {
    const panels = () => [{
      title: "", bands: [], x: Array.from({ length: 101 }, (_, i) => i),
      lines: data.runs.map((run, r) => {
        const values = data.sorted(run.queues.map(of));
        return { label: run.policy, values: Array.from({ length: 101 }, (_, i) => data.quantile(values, i / 100)), ...theme.policy(r) };
      }).filter((line) => line.values.some(data.number)),
    }];
    return add({ id, title, explain, wide: true }, timechart({ title, percent: true, format: show, panels, height: 280, ...extra }));
  }

  /** One row per tenant (all, or the picked ones) and policy. */
  function rows(id, title, explain, rowOf, extra) {
    const groups = () => picker.picked().map((t) => ({
      name: data.tenants[t].name,
      rows: data.runs.flatMap((run, policy) => (run.outcome[t] ? [{ policy, ...rowOf(run.outcome[t]) }] : [])),
    }));
    const note = data.few ? "" : " Shown for the picked tenants.";
    return add({ id, title, explain: explain + note, wide: true }, rowchart({ title, groups, ...extra }));
  }

  function fairness() {
    const parts = [];
    if (data.sampled) {
      const clip = settled((run) => [run.series.psi, run.series.omega]);
      parts.push(add({
        id: "benefit", title: "Sharing benefit Ψ and loss Ω over time",
        explain: "Ψ (Eq. 4) adds up how far tenants are above ρ = 1, Ω (Eq. 5) how far tenants are below. A good policy first brings Ω to 0, then makes Ψ large; a static partition has 0 for both." + side,
      }, timechart({
        title: "Sharing benefit and loss", format: format.ratio, baseline: 0, clip,
        panels: () => data.runs.map((run) => ({ title: run.policy, x: run.t, bands: [], lines: [
          { label: "benefit Ψ", values: run.series.psi, ...theme.tenant(0), fill: faded(theme.tenant(0).color, 0.22) },
          { label: "loss Ω", values: run.series.omega, ...theme.tenant(1), fill: faded(theme.tenant(1).color, 0.3) }] })),
      })));
      parts.push(add({
        id: "rho", title: "Fairness degree ρ over time",
        explain: "ρ (TSC'18 Eq. 3) compares what a tenant has received so far with what a private cluster of the size of its share would have given it. Above 1 it gained from sharing, below 1 it lost. " + who + side + " The first minutes are not shown in full: ratios are unstable while little has run.",
      }, timechart({
        title: "Fairness degree", format: format.ratio, baseline: 1, log: true,
        clip: () => settled((run) => [...picker.picked().filter((t) => run.track[t]).map((t) => run.track[t].rho),
          ...(data.few ? [] : [0, 4].map((q) => quantiles(run, "rho", (track) => track.rho)[q]))]),
        panels: perTenant("rho", (track) => track.rho),
      })));
      if (!data.few) parts.push(heat());
    } else parts.push(h("p", { class: "note" }, "This record holds no samples over time, so the plots over time are left out."));
    if (data.few) {
      parts.push(rows("rho-end", "Fairness degree ρ at the end", "ρ (Eq. 3) over the whole run, drawn from ρ = 1: to the right the tenant gained from sharing, to the left it lost.",
        (q) => ({ value: q.rho, text: format.ratio(q.rho) }), { base: 1, tick: format.tick, logWhereWide: true }));
    } else {
      parts.push(across("rho-end", "Fairness degree ρ at the end, across tenants", "All tenants in order of their ρ (Eq. 3): how many lost (below 1), how many gained (above 1), and how unequal they are. A flat line treats all alike.",
        (q) => q.rho, format.ratio, { baseline: 1, log: true }));
    }
    return parts;
  }

  function heat() {
    let by = "own";
    const rhoIn = (run) => (t) => (run.outcome[t] ? run.outcome[t].rho : null);
    const orders = () => {
      if (by === "declared") return data.runs.map(() => data.tenants.map((t) => t.index));
      return data.runs.map((run) => data.order(rhoIn(by === "own" ? run : data.runs[Number(by)])));
    };
    const top = () => (by === "declared" ? "top: declared first" : `top: lowest ρ at the end${by === "own" ? "" : " under " + data.runs[Number(by)].policy}`);
    let made = null;
    const options = [["own", "ρ at the end, each policy its own"], ...(data.runs.length > 1 ? data.runs.map((r, i) => [String(i), `ρ at the end under ${r.policy}`]) : []), ["declared", "order of declaration"]];
    const title = "ρ of every tenant over time";
    made = figure({
      id: "heat", title,
      explain: "One row per tenant, one column per moment; orange rows lose, blue rows gain. A row that turns from orange to blue was paid back. Click a row, or press Enter on it, to give the tenant a line of its own. Marks at the left edge: picked tenants.",
      controls: [select("Rows sorted by", options, by, (v) => { by = v; made.redraw(); })],
      ...Meed.rhomap.rhomap({ title, orders, pick: picker.toggle, picked: picker.picked, top }),
    });
    figures.push(made);
    return made.element;
  }

  function resources() {
    if (!data.sampled) return [h("p", { class: "note" }, "No samples over time in this record.")];
    const amount = format.amountUnit(MEASURED);
    const biggest = Math.max(0, ...data.runs.flatMap((r) => r.queues.map((q) => q.usage[MEASURED] || 0)));
    const usage = format.usageUnit(MEASURED, biggest);
    let unit = "share";
    const mine = [];
    const shareOf = (run, t) => (run.outcome[t.index] ? run.outcome[t.index].share : 0);
    const made = (id, name, explain, field, natural, relative) => {
      const inWords = () => (unit === "share" ? relative.text : natural.name);
      const of = (track, run, t) => scaled(track[field], unit === "share" ? shareOf(run, t) * relative.seconds : natural.divisor);
      const spec = timechart({
        title: name, zeroFloor: true, format: (v) => format.num(v, 4),
        panels: () => perTenant(field + unit, of)(),
        ...(field === "usage" ? {} : { get baseline() { return unit === "share" ? 1 : undefined; } }),
      });
      const caption = h("p", { class: "unit" });
      const one = figure({ id, title: name, explain: explain + side, table: spec.table, csv: spec.csv,
        draw: (root, announce) => { caption.textContent = "Unit: " + inWords(); spec.draw(root, announce); } });
      one.element.querySelector(".explain").after(caption);
      figures.push(one);
      mine.push(one);
      return one.element;
    };
    const seconds = data.end >= 7200 ? 3600 : 60;
    const own = seconds === 3600 ? "hours of the tenant's own share" : "minutes of the tenant's own share";
    const elements = [
      made("demand", "Demand", "What a tenant holds and waits for (d). " + who, "demand", amount, { text: "multiples of the tenant's share (1 = its share)", seconds: 1 }),
      made("allocation", "Allocation", "What a tenant holds (g). Above its share it borrows, below it may lend. " + who, "allocation", amount, { text: "multiples of the tenant's share (1 = its share)", seconds: 1 }),
      made("usage", "Accumulated usage", "What a tenant used so far (f, Eq. 1): the area under its allocation. Under a long-term policy the lines of tenants with enough demand draw together. " + who, "usage", usage, { text: own, seconds }),
    ];
    const control = select("Unit of the three charts", [["share", "relative to the tenant's share"], ["natural", `${amount.name}, ${usage.name}`]], unit, (v) => {
      unit = v;
      mine.forEach((f) => f.redraw());
    });
    return [Meed.holders.chart(register), h("div", { class: "controls" }, control), ...elements];
  }

  function lending() {
    const biggest = Math.max(0, ...data.runs.flatMap((r) => r.queues.map((q) => Math.max(q.lent, q.borrowed))));
    const unit = format.usageUnit(MEASURED, biggest);
    const text = (v) => (data.number(v) ? format.num(v / unit.divisor, 4) : format.NONE);
    const parts = [];
    if (data.sampled) {
      parts.push(add({
        id: "balance", title: `Lending balance over time, ${unit.name}`,
        explain: "What a tenant lent to others (unused share that others used) less what it borrowed (use above its share). Above 0 the pool owes the tenant, below 0 the tenant owes the pool. " + who + side,
      }, timechart({ title: "Lending balance, " + unit.name, format: (v) => format.num(v, 4), baseline: 0, panels: perTenant("balance", (track) => scaled(track.balance, unit.divisor)) })));
    }
    if (!data.few) {
      parts.push(across("balance-across", `Lending balance at the end, across tenants, ${unit.name}`, "All tenants in order of their balance: borrowers to the left, lenders to the right.",
        (q) => q.balance / unit.divisor, (v) => format.num(v, 4), { baseline: 0 }));
    }
    parts.push(rows("balance-end", `Lending balance at the end, ${unit.name}`, "To the right: lent more than borrowed. To the left: borrowed more than lent.",
      (q) => ({ value: q.balance / unit.divisor, text: text(q.balance), lent: q.lent, borrowed: q.borrowed }),
      { base: 0, tick: format.tick, describe: (row) => `${row.text} (lent ${text(row.lent)}, borrowed ${text(row.borrowed)})` }));
    return parts;
  }

  function utilisation() {
    const percent = (values) => values.map((v) => (data.number(v) ? v * 100 : null));
    const parts = [];
    if (data.sampled) {
      parts.push(add({
        id: "utilisation-time", title: "Used part of the cluster over time, %",
        explain: "Per resource, the part of the capacity that is held. A policy that shares well leaves nothing idle while anyone waits.",
      }, timechart({
        title: "Utilisation", format: (v) => (data.number(v) ? format.fixed(v, 1) + " %" : format.NONE), zeroFloor: true, clip: [0, 100],
        panels: () => data.resources.map((name) => ({
          title: name, bands: [],
          x: (data.runs.find((r) => r.sampled) || { t: [] }).t,
          lines: data.runs.map((run, r) => ({ label: run.policy, values: onto(run, percent(run.series.utilization[name] || [])), ...theme.policy(r) })),
        })),
      })));
    }
    const groups = () => data.resources.map((name) => ({ name, rows: data.runs.map((run, policy) => ({
      policy, value: data.number(run.utilization[name]) ? run.utilization[name] * 100 : null, text: format.percent(run.utilization[name]) })) }));
    parts.push(add({ id: "utilisation-end", title: "Used part of the cluster over the whole run, %", explain: "Used resource × time over capacity × time.", wide: true },
      rowchart({ title: "Utilisation", groups, base: 0, tick: format.tick })));
    return parts;
  }

  /** A run's values at the sample times of the first sampled run: runs may be sampled at different times. */
  function onto(run, values) {
    const base = (data.runs.find((r) => r.sampled) || run).t;
    if (!run.t.length) return base.map(() => null);
    if (run.t === base) return values;
    const last = run.t[run.t.length - 1];
    return base.map((t) => (t > last ? null : values[Meed.base.nearest(run.t, t)]));
  }

  function jobs() {
    const parts = [];
    if (!data.few) {
      parts.push(across("job-across", "Mean job time across tenants", "All tenants in order of their mean job time, from submission to end.", (q) => q.mean_job_s, format.time,
        { zeroFloor: true, times: true, log: true }));
    }
    parts.push(rows("job-times", "Job times, percentiles",
      "From submission to end of a job, on a logarithmic axis. The marker is the median, the thick bar holds half of the jobs (25 to 75 %), the thinner bar 80 % (10 to 90 %), the line 98 % (1 to 99 %).",
      (q) => ({ value: q.p50_job_s, box: q.job_s_percentiles, text: format.time(q.p50_job_s) }),
      { log: true, tick: format.time, describe: (row) => (row.box.length ? data.record.percentiles.map((p, i) => `${p} %: ${format.time(row.box[i])}`).join(", ") : "no job ended") }));
    const some = data.runs.some((r) => r.queues.some((q) => data.number(q.speedup)));
    if (!some) return [...parts, h("p", { class: "note" }, "No speed-up over the static partition: no run under the static policy in this record.")];
    if (!data.few) {
      parts.push(across("speedup-across", "Speed-up over the static partition, across tenants", "Mean job time under the static partition over mean job time here; tenants in rising order. Above 1 sharing made the tenant faster.",
        (q) => q.speedup, format.ratio, { baseline: 1, log: true }));
    }
    parts.push(rows("speedup", "Speed-up over the static partition", "Mean job time under the static partition over mean job time here. To the right of 1 sharing made the tenant's jobs faster, to the left slower.",
      (q) => ({ value: q.speedup, text: format.ratio(q.speedup) }), { base: 1, tick: format.tick, logWhereWide: true }));
    return parts;
  }

  let tenantTable = null;
  function tenants() {
    tenantTable = Meed.tables.tenants(data.few ? null : { picked: picker.picked, toggle: picker.toggle });
    const groups = Meed.tables.groups();
    return [h("p", { class: "explain" }, "Sort by a heading. Balance is lent less borrowed. Charged is the usage that the policy counts for this tenant at the end, after old usage has faded. A wait runs from when a task could have started to when it did."),
      tenantTable.element, groups ? h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Parent queues" }, groups) : null];
  }

  function input() {
    const { record, runs } = data;
    const list = record.assumptions.length ? h("ul", {}, record.assumptions.map((a) => h("li", {}, a))) : h("p", {}, "None.");
    const stride = record.stride > 1 ? [`To keep this file small, charts over time show one in ${record.stride} samples, and the last; the JSON output holds all.`] : [];
    if (record.slot_changes_thinned) stride.push(" Of the changes of a node's slots between two samples only the last is shown.");
    if (record.node_stride > 1) stride.push(` Samples of nodes are folded, ${record.node_stride} into one.`);
    return [h("h3", {}, "Assumptions"), h("p", { class: "explain" }, "What the input does not hold and Meed assumed."), list,
      h("h3", {}, "Counts"),
      h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Counts" }, Meed.figure.table({
        head: ["Policy", "Events", "Decisions", "Jobs refused", "Jobs unfinished", "Wrong lines skipped", "Lines left out"],
        rows: runs.map((r) => [r.policy, ...[r.events, r.decisions, r.refused, r.unfinished, r.skipped_lines, r.ignored_lines].map(format.count)]),
      })),
      h("p", { class: "explain" }, "A refused job has a task that no node could hold. A line is skipped when it is wrong, and left out by an assumption above. " + stride.join("")),
      h("p", { class: "explain" }, "Numbers in this file are rounded to 5 significant digits; the JSON output has all." + (record.runs.some((r) => r.series.queues.some((q) => q.coarse)) ? " Of many tenants usage, balance and ρ over time are kept as parts of each tenant's range: to a 500,000th." : ""))];
  }

  const summary = () => [Meed.tables.summary(),
    h("p", { class: "explain" }, "Ψ: how much tenants gained from sharing, in sum (Eq. 4). Ω: how much tenants lost, in sum; 0 is best (Eq. 5). Jain: 1 when all tenants have the same ρ (Eq. 3). Used: part of capacity × time. ",
      data.runs.length > 1 ? "Bold and underlined: best of the policies." : "")];

  const list = data.runs.length ? [
    ...(Meed.gains.some ? [{ id: "gains", title: "Who gains, who loses", parts: () => Meed.gains.parts(register) }] : []),
    { id: "summary", title: "Summary", parts: summary },
    { id: "fairness", title: "Fairness", parts: fairness },
    { id: "resources", title: "Demand and usage", parts: resources },
    { id: "lending", title: "Lending", parts: lending },
    { id: "utilisation", title: "Utilisation", parts: utilisation },
    { id: "jobs", title: "Job times", parts: jobs },
    ...(Meed.accounts.some ? [{ id: "accounts", title: "Accounts", parts: () => Meed.accounts.parts() }] : []),
    ...(Meed.overtaken.some ? [{ id: "overtaken", title: "Wide tasks", parts: () => Meed.overtaken.parts(register) }] : []),
    ...(Meed.nodes.runs.length ? [
      { id: "requests-jobs", title: "Requests and jobs", parts: () => Meed.jobviews.parts(register) },
      { id: "nodes", title: "Nodes", parts: () => Meed.nodeviews.parts(register) },
    ] : []),
    { id: "tenants", title: "Tenants", parts: tenants },
    { id: "input", title: "Input", parts: input },
  ] : [{ id: "summary", title: "Summary", parts: () => h("p", {}, "This record holds no run.") }];

  return {
    list,
    /** Draws all that was not near the window so far: for who jumps into the middle, and for paper. */
    ensure() { figures.forEach((f) => f.ensure && f.ensure()); },
    /** The figures, to be drawn one by one in spare moments. */
    waiting: () => figures.filter((f) => f.ensure),
    redraw() {
      figures.forEach((f) => f.redraw());
      if (tenantTable) tenantTable.render();
    },
  };
})();
