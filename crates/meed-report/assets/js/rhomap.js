// Purpose: rho of every tenant over time as a heat map, its colour diverging around 1.

Meed.rhomap = (() => {
  const { h } = Meed.dom;
  const { data, format, theme } = Meed;

  /** Distance from rho = 1 at which colour is full, in powers of two, from the data. */
  function reach() {
    const all = [];
    for (const run of data.runs) {
      for (const track of run.track) {
        if (!track) continue;
        for (let i = 0; i < track.rho.length; i += 7) if (data.number(track.rho[i])) all.push(Math.abs(Math.log2(Math.max(track.rho[i], 1e-3))));
      }
    }
    const value = data.quantile(data.sorted(all), 0.97) || 1;
    return Math.min(2, Math.max(0.1, value));
  }

  /** spec: { title, orders(): per run an array of tenants, pick(tenant), picked(): tenants, top(): what the first row is }. */
  function rhomap(spec) {
    const span = reach();
    function scale() {
      const stops = [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1];
      const css = stops.map((x) => `rgb(${theme.diverging(x).join(",")})`).join(",");
      return h("div", { class: "heat-scale" },
        h("span", {}, "ρ ≤ " + format.num(2 ** -span, 2), " (served less)"),
        h("span", { class: "heat-bar", style: `background:linear-gradient(90deg,${css})` }),
        h("span", {}, "ρ ≥ " + format.num(2 ** span, 2), " (served more)"),
        h("span", { class: "note" }, "middle: ρ = 1; hatched: no demand yet"));
    }
    function table() {
      return {
        note: "ρ at the end; the tenants' table below has all other numbers.",
        head: ["Tenant", ...data.runs.map((run) => run.policy)],
        rows: data.tenants.map((t) => [t.name, ...data.runs.map((run) => format.ratio(run.outcome[t.index] && run.outcome[t.index].rho))]),
      };
    }
    return Meed.heatmap.heatmap({
      title: spec.title, what: "tenant", missing: "no demand yet",
      panels() {
        const orders = spec.orders();
        return data.runs.map((run, r) => ({ key: r, title: run.policy, top: spec.top(), t: run.sampled ? run.t : [], order: orders[r],
          values: (tenant) => (run.track[tenant] ? run.track[tenant].rho : null) }));
      },
      color: (rho) => theme.diverging(Math.max(-1, Math.min(1, Math.log2(Math.max(rho, 1e-3)) / span))),
      say: (rho) => "ρ " + format.ratio(rho),
      name: (tenant) => data.tenants[tenant].name,
      pick: spec.pick, picked: spec.picked, scale, table,
    });
  }

  return { rhomap };
})();
