// Purpose: the summary of policies, and tables of tenants and jobs that can be sorted and filtered.

Meed.tables = (() => {
  const { h } = Meed.dom;
  const { data, format } = Meed;
  const { select } = Meed.figure;

  /** What runs with nodes that contend have besides. */
  const placed = [
    ["Request time", "mean", (r) => (r.mapreduce ? r.mapreduce.mean_request_s : null), format.time, -1],
    ["Local", "maps", (r) => (r.mapreduce ? r.mapreduce.locality : null), format.percent, 1],
    ["Slots", "set anew", (r) => (r.mapreduce ? r.mapreduce.slot_settings : null), format.count, 0],
  ];

  /** One row per policy; the best value of a column is marked where "better" has a meaning. */
  function summary() {
    const columns = [
      ["Ψ", "sharing benefit", (r) => r.psi, format.ratio, 1],
      ["Ω", "sharing loss", (r) => r.omega, format.ratio, 1],
      ["Jain", "index of all ρ", (r) => r.jain, format.ratio, 1],
      ...data.resources.map((name) => [name, "used", (r) => r.utilization[name], format.percent, 1]),
      ...(data.runs.some((r) => r.held_idle) ? data.resources : []).map((name) =>
        [name, "held idle", (r) => (r.held_idle ? r.held_idle[name] : null), format.percent, -1]),
      ["Job time", "mean", (r) => r.mean_job_s, format.time, -1],
      ["End", "last event", (r) => r.end_s, format.time, -1],
      ...(data.runs.some((r) => r.mapreduce) ? placed : []),
      ["Tasks", "started", (r) => r.decisions, format.count, 0],
      ["Refused", "jobs", (r) => r.refused, format.count, 0],
      ["Unfinished", "jobs", (r) => r.unfinished, format.count, 0],
    ];
    const best = columns.map(([, , of, , sign]) => {
      const values = data.runs.map(of).filter(data.number);
      return sign && data.runs.length > 1 && new Set(values).size > 1 ? Math.max(...values.map((v) => v * sign)) * sign : null;
    });
    return h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Policies compared" },
      h("table", { class: "summary" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Policy"),
          columns.map(([name, sub]) => h("th", { scope: "col" }, name, h("small", {}, sub))))),
        h("tbody", {}, data.runs.map((run) => h("tr", {}, h("th", { scope: "row" }, run.policy),
          columns.map(([, , of, show], c) => {
            const isBest = best[c] !== null && of(run) === best[c];
            return h("td", { class: isBest ? "best" : null, title: isBest ? "best of the policies" : null }, show(of(run)));
          }))))));
  }

  /** Quantities of a tenant: [key, heading, unit or null, of(outcome), show]. */
  function quantities() {
    const measured = data.measured;
    const all = (of) => data.runs.flatMap((r) => r.queues.map(of)).filter(data.number).map(Math.abs);
    const biggest = (of) => all(of).reduce((a, b) => Math.max(a, b), 0);
    const amount = format.amountUnit(measured);
    const used = (q) => q.usage[measured];
    const usage = format.usageUnit(measured, biggest(used));
    const inUnit = (unit) => Object.assign((v) => (data.number(v) ? format.num(v / unit.divisor, 4) : format.NONE), { divisor: unit.divisor });
    return [
      ["rho", "ρ", null, (q) => q.rho, format.ratio],
      ["speedup", "Speed-up", null, (q) => q.speedup, format.ratio],
      ["balance", "Balance", usage.name, (q) => q.balance, inUnit(usage)],
      ["lent", "Lent", usage.name, (q) => q.lent, inUnit(usage)],
      ["borrowed", "Borrowed", usage.name, (q) => q.borrowed, inUnit(usage)],
      ["usage", "Usage", usage.name, used, inUnit(usage)],
      ["charged", "Charged", usage.name, (q) => q.charged, inUnit(usage)],
      ...(data.runs.some((r) => r.held_idle) ? [["held_idle", "Held idle", usage.name,
        (q) => (q.held_idle ? q.held_idle[measured] : null), inUnit(usage)]] : []),
      ["share", "Share", amount.name, (q) => q.share, inUnit(amount)],
      ["mean", "Mean job", null, (q) => q.mean_job_s, format.time],
      ["p50", "Median job", null, (q) => q.p50_job_s, format.time],
      ["p99", "99 % job", null, (q) => q.p99_job_s, format.time],
      ["wait", "Mean wait", null, (q) => q.mean_wait_s, format.time],
      ["longest", "Longest wait", null, (q) => q.longest_wait_s, format.time],
      ["jobs", "Jobs", null, (q) => q.jobs, format.count],
      ["tasks", "Tasks", null, (q) => q.tasks, format.count],
    ];
  }

  const PAGE = 100;

  /** Numbers by size, texts by alphabet, what is missing last in either direction. */
  function inOrder(rows, value, down) {
    const missing = (i) => { const v = value(i); return v === null || v === undefined || Number.isNaN(v); };
    const compare = (a, b) => { const [x, y] = [value(a), value(b)]; return x < y ? -1 : x > y ? 1 : 0; };
    const known = rows.filter((i) => !missing(i)).sort((a, b) => (down ? -compare(a, b) : compare(a, b)) || a - b);
    return [...known, ...rows.filter(missing)];
  }

  /**
   * A table of many things that can be sorted and filtered: one quantity under all policies, or all quantities under one.
   * spec: { one: "Tenant", many: "tenants", names: [text], fixed: [{ name, unit?, of(i), show, text?: bool }] the same in all runs,
   *         metrics: [[key, heading, unit or null, of(outcome), show]], outcome(run, i): outcome or null, first: key shown first,
   *         picks: { picked(): [i], toggle(i) } or null when nothing can be picked }
   */
  function browse(spec) {
    const { names, fixed, metrics, outcome, picks } = spec;
    let view = data.runs.length > 1 ? "m:" + spec.first : "r:0";
    let filter = "";
    // Column -1: names; -2 and below: what is the same in all runs.
    let sort = { column: -1, down: false };
    let limit = PAGE;
    const holder = h("div", { class: "table-scroll tall", tabindex: 0, role: "region", "aria-label": spec.many[0].toUpperCase() + spec.many.slice(1) + ", as a table" });
    const status = h("p", { class: "note", role: "status" });

    function columns() {
      const [kind, key] = [view.slice(0, 1), view.slice(2)];
      const value = (run, of) => (i) => { const found = outcome(run, i); return found ? of(found) : null; };
      if (kind === "r") return metrics.map(([, name, unit, of, show]) => ({ name, unit, show, of: value(data.runs[Number(key)], of) }));
      const [, name, unit, of, show] = metrics.find((m) => m[0] === key);
      return data.runs.map((run) => ({ name: run.policy, unit: unit || name, show, of: value(run, of) }));
    }

    function render() {
      const cols = columns();
      const wanted = filter.toLowerCase();
      let rows = names.flatMap((name, i) => (name.toLowerCase().includes(wanted) ? [i] : []));
      const found = rows.length;
      if (sort.column !== -1) rows = inOrder(rows, (sort.column < -1 ? fixed[-2 - sort.column] : cols[sort.column] || cols[0]).of, sort.down);
      else if (sort.down) rows.reverse();
      rows = rows.slice(0, limit);
      const heading = (text, unit, column, left = column === -1) => {
        const on = sort.column === column;
        const state = on ? (sort.down ? "descending" : "ascending") : "none";
        return h("th", { scope: "col", "aria-sort": state, class: column === -1 ? "name" : left ? "text" : null },
          h("button", { type: "button", class: "sort", "data-column": column, onclick: () => {
            sort = { column, down: on ? !sort.down : false };
            render();
            holder.querySelector(`[data-column="${column}"]`).focus();
          } }, text, h("span", { class: "arrow", "aria-hidden": "true" }, on ? (sort.down ? " ▼" : " ▲") : ""), unit ? h("small", {}, unit) : null));
      };
      const picked = new Set(picks ? picks.picked() : []);
      const focused = holder.contains(document.activeElement) && document.activeElement.dataset.item;
      holder.replaceChildren(h("table", {},
        h("thead", {}, h("tr", {}, picks ? h("th", { scope: "col", class: "plot-head" }, "Plot") : null, heading(spec.one, null, -1),
          fixed.map((c, k) => heading(c.name, c.unit, -2 - k, c.text)), cols.map((c, i) => heading(c.name, c.unit, i)))),
        h("tbody", {}, rows.map((i) => h("tr", {},
          picks ? h("td", { class: "pick" }, h("input", { type: "checkbox", checked: picked.has(i), "aria-label": "Plot " + names[i], "data-item": i, onchange: () => picks.toggle(i) })) : null,
          h("th", { scope: "row", title: names[i] }, names[i]), [...fixed, ...cols].map((c) => h("td", { class: c.text ? "text" : null }, c.show(c.of(i)))))))));
      const again = focused && holder.querySelector(`[data-item="${focused}"]`);
      if (again) again.focus({ preventScroll: true });
      status.replaceChildren(`${format.count(rows.length)} of ${format.count(found)} ${spec.many}` + (wanted ? " that match" : "") + ". ",
        rows.length < found ? h("button", { type: "button", onclick: () => { limit = Infinity; render(); } }, "Show all") : "");
    }

    /** All rows, with plain numbers. */
    const every = () => ({
      head: [spec.one, ...[...fixed, ...columns()].map((c) => c.name + (c.unit ? ` (${c.unit})` : "") + (c.show === format.time ? " (s)" : ""))],
      rows: names.map((name, i) => [name, ...[...fixed, ...columns()].map((c) => { const v = c.of(i); return data.number(v) ? v / (c.show.divisor || 1) : v; })]),
    });
    const search = h("input", { type: "search", placeholder: "part of a name", oninput: () => { filter = search.value; limit = PAGE; render(); } });
    const views = [...(data.runs.length > 1 ? metrics.map(([key, name]) => ["m:" + key, "policies by: " + name]) : []),
      ...data.runs.map((run, i) => ["r:" + i, "all numbers under: " + run.policy])];
    render();
    const element = h("div", { class: "browse" },
      h("div", { class: "controls" }, select("Show", views, view, (v) => {
        view = v;
        if (sort.column >= columns().length) sort = { column: -1, down: false };
        render();
      }), names.length > 8 ? h("label", { class: "control" }, "Filter ", search) : null,
        Meed.save.tableButton(spec.many, every)), holder, status);
    return { element, render };
  }

  /** The table of tenants. `picks` as of `browse`. */
  const tenants = (picks) => browse({
    one: "Tenant", many: "tenants", names: data.tenants.map((t) => t.name), metrics: quantities(), first: "rho", picks,
    fixed: [{ name: "Weight", of: (t) => data.tenants[t].weight, show: format.num }], outcome: (run, t) => run.outcome[t],
  });

  /** Parent queues, when there are any. */
  function groups() {
    const names = [...new Set(data.runs.flatMap((r) => r.groups.map((g) => g.queue)))];
    if (!names.length) return null;
    const measured = data.measured;
    const max = Math.max(...data.runs.flatMap((r) => r.groups.map((g) => g.usage[measured] || 0)));
    const unit = format.usageUnit(measured, max);
    const show = (v) => (data.number(v) ? format.num(v / unit.divisor, 4) : format.NONE);
    const find = (run, name) => run.groups.find((g) => g.queue === name) || { usage: {} };
    return Meed.figure.table({
      caption: `Parent queues: ${measured} used and charged, ${unit.name}`,
      head: ["Queue", "Weight", ...data.runs.flatMap((r) => [`${r.policy}: used`, `${r.policy}: charged`])],
      rows: names.map((name) => [name, format.num(find(data.runs[0], name).weight),
        ...data.runs.flatMap((r) => [show(find(r, name).usage[measured]), show(find(r, name).charged)])]),
    });
  }

  return { summary, browse, tenants, groups };
})();
