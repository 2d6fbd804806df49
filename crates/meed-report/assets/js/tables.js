// Purpose: the summary of policies and the table of tenants that can be sorted and filtered.

Meed.tables = (() => {
  const { h } = Meed.dom;
  const { data, format } = Meed;
  const { select } = Meed.figure;

  /** One row per policy; the best value of a column is marked where "better" has a meaning. */
  function summary() {
    const columns = [
      ["Ψ", "sharing benefit", (r) => r.psi, format.ratio, 1],
      ["Ω", "sharing loss", (r) => r.omega, format.ratio, 1],
      ["Jain", "index of all ρ", (r) => r.jain, format.ratio, 1],
      ...data.resources.map((name) => [name, "used", (r) => r.utilization[name], format.percent, 1]),
      ["Job time", "mean", (r) => r.mean_job_s, format.time, -1],
      ["End", "last event", (r) => r.end_s, format.time, -1],
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
    const inUnit = (unit) => (v) => (data.number(v) ? format.num(v / unit.divisor, 4) : format.NONE);
    return [
      ["rho", "ρ", null, (q) => q.rho, format.ratio],
      ["speedup", "Speed-up", null, (q) => q.speedup, format.ratio],
      ["balance", "Balance", usage.name, (q) => q.balance, inUnit(usage)],
      ["lent", "Lent", usage.name, (q) => q.lent, inUnit(usage)],
      ["borrowed", "Borrowed", usage.name, (q) => q.borrowed, inUnit(usage)],
      ["usage", "Usage", usage.name, used, inUnit(usage)],
      ["charged", "Charged", usage.name, (q) => q.charged, inUnit(usage)],
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

  /** The table of tenants. `picks`: { picked(): [tenant], toggle(tenant) } or null when nothing can be picked. */
  function tenants(picks) {
    const metrics = quantities();
    let view = data.runs.length > 1 ? "m:rho" : "r:0";
    let filter = "";
    let sort = { column: -1, down: false };
    let limit = PAGE;
    const holder = h("div", { class: "table-scroll tall", tabindex: 0, role: "region", "aria-label": "Tenants" });
    const status = h("p", { class: "note", role: "status" });

    function columns() {
      const [kind, key] = [view.slice(0, 1), view.slice(2)];
      if (kind === "r") {
        const run = data.runs[Number(key)];
        return metrics.map(([, name, unit, of, show]) => ({ name, unit, show, of: (t) => (run.outcome[t] ? of(run.outcome[t]) : null) }));
      }
      const [, name, unit, of, show] = metrics.find((m) => m[0] === key);
      return data.runs.map((run) => ({ name: run.policy, unit: unit || name, show, of: (t) => (run.outcome[t] ? of(run.outcome[t]) : null) }));
    }

    function render() {
      const cols = columns();
      const wanted = filter.toLowerCase();
      let rows = data.tenants.filter((t) => t.name.toLowerCase().includes(wanted)).map((t) => t.index);
      const found = rows.length;
      if (sort.column !== -1) {
        const value = sort.column === -2 ? (t) => data.tenants[t].weight : (cols[sort.column] || cols[0]).of;
        const known = rows.filter((t) => data.number(value(t)));
        known.sort((a, b) => (sort.down ? value(b) - value(a) : value(a) - value(b)) || a - b);
        rows = [...known, ...rows.filter((t) => !data.number(value(t)))];
      } else if (sort.down) rows.reverse();
      rows = rows.slice(0, limit);
      const heading = (text, unit, column) => {
        const on = sort.column === column;
        const state = on ? (sort.down ? "descending" : "ascending") : "none";
        return h("th", { scope: "col", "aria-sort": state, class: column === -1 ? "name" : null },
          h("button", { type: "button", class: "sort", "data-column": column, onclick: () => {
            sort = { column, down: on ? !sort.down : false };
            render();
            holder.querySelector(`[data-column="${column}"]`).focus();
          } }, text, h("span", { class: "arrow", "aria-hidden": "true" }, on ? (sort.down ? " ▼" : " ▲") : ""), unit ? h("small", {}, unit) : null));
      };
      const picked = new Set(picks ? picks.picked() : []);
      const focused = holder.contains(document.activeElement) && document.activeElement.dataset.tenant;
      holder.replaceChildren(h("table", {},
        h("thead", {}, h("tr", {}, picks ? h("th", { scope: "col", class: "plot-head" }, "Plot") : null, heading("Tenant", null, -1), heading("Weight", null, -2),
          cols.map((c, i) => heading(c.name, c.unit, i)))),
        h("tbody", {}, rows.map((t) => h("tr", {},
          picks ? h("td", { class: "pick" }, h("input", { type: "checkbox", checked: picked.has(t), "aria-label": "Plot " + data.tenants[t].name, "data-tenant": t, onchange: () => picks.toggle(t) })) : null,
          h("th", { scope: "row" }, data.tenants[t].name), h("td", {}, format.num(data.tenants[t].weight)),
          cols.map((c) => h("td", {}, c.show(c.of(t)))))))));
      const again = focused && holder.querySelector(`[data-tenant="${focused}"]`);
      if (again) again.focus({ preventScroll: true });
      status.replaceChildren(`${format.count(rows.length)} of ${format.count(found)} tenants` + (wanted ? " that match" : "") + ". ",
        rows.length < found ? h("button", { type: "button", onclick: () => { limit = Infinity; render(); } }, "Show all") : "");
    }

    const search = h("input", { type: "search", placeholder: "part of a name", oninput: () => { filter = search.value; limit = PAGE; render(); } });
    const views = [...(data.runs.length > 1 ? metrics.map(([key, name]) => ["m:" + key, "policies by: " + name]) : []),
      ...data.runs.map((run, i) => ["r:" + i, "all numbers under: " + run.policy])];
    render();
    const element = h("div", { class: "tenants" },
      h("div", { class: "controls" }, select("Show", views, view, (v) => {
        view = v;
        if (sort.column >= columns().length) sort = { column: -1, down: false };
        render();
      }), data.tenants.length > 8 ? h("label", { class: "control" }, "Filter ", search) : null), holder, status);
    return { element, render };
  }

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

  return { summary, tenants, groups };
})();
