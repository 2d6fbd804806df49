// Purpose: who holds the cluster over time, as areas on one another. What a tenant holds is the mean between two samples,
// from what it has used by then: jobs that begin and end between two samples count as well.

Meed.holders = (() => {
  const { data, format, theme } = Meed;
  const { figure } = Meed.figure;
  const { timechart } = Meed.timechart;
  /** So many tenants have an area of their own; the others share one. */
  const OWN = 7;
  /** More intervals than so many are joined. */
  const INTERVALS = 180;

  const used = (run, t) => (run.outcome[t] ? run.outcome[t].usage[data.measured] || 0 : 0);
  /** The tenants that use most in all runs together, then in order of declaration. */
  const most = data.tenants.map((t) => t.index)
    .sort((a, b) => data.runs.reduce((sum, run) => sum + used(run, b) - used(run, a), 0) || a - b)
    .slice(0, data.tenants.length > OWN + 1 ? OWN : OWN + 1).sort((a, b) => a - b);
  const others = data.tenants.length - most.length;

  /** Samples at which an interval ends: with time between them. */
  function ends(t) {
    const step = Math.max(1, Math.ceil((t.length - 1) / INTERVALS));
    const out = t.length ? [0] : [];
    for (let i = 1; i < t.length; i++) {
      if ((i % step === 0 || i === t.length - 1) && t[i] > t[out[out.length - 1]]) out.push(i);
    }
    return out;
  }

  function panel(run, divisor) {
    const at = ends(run.t);
    if (at.length < 2) return { title: run.policy, x: [], lines: [], bands: [] };
    const means = (usage) => {
      const held = at.map((i, k) => (k ? Math.max(0, (usage[i] - usage[at[k - 1]]) / (run.t[i] - run.t[at[k - 1]])) / divisor : 0));
      held[0] = held[1];
      return held;
    };
    const nothing = at.map(() => 0);
    const of = (t) => (run.track[t] ? means(run.track[t].usage) : nothing);
    const lines = most.map((t, i) => ({ label: data.tenants[t].name, values: of(t), color: theme.tenant(i).color }));
    if (others) {
      const own = new Set(most);
      const rest = data.tenants.filter((t) => !own.has(t.index)).map((t) => of(t.index));
      lines.push({ label: `${format.count(others)} others`, values: at.map((_, k) => rest.reduce((sum, held) => sum + held[k], 0)), color: theme.color("line") });
    }
    return { title: run.policy, x: at.map((i) => run.t[i]), lines, bands: [], stack: true };
  }

  /** The chart; `register` gets what must be drawn anew with another theme. */
  function chart(register) {
    const amount = format.amountUnit(data.measured);
    const cluster = Math.max(...data.runs.map((run) => run.queues.reduce((sum, q) => sum + (q.share || 0), 0))) / amount.divisor;
    const spec = timechart({ title: "Who holds the cluster", format: (v) => format.num(v, 4), baseline: cluster > 0 ? cluster : undefined,
      panels: () => data.runs.map((run) => panel(run, amount.divisor)) });
    const made = figure({ id: "holders", title: `Who holds the cluster over time, ${amount.name}`,
      explain: `Areas stand on one another in the order of the list below, the first at the bottom; each is the mean over the time since the sample before. ${others ? `The ${most.length} tenants that use most have areas of their own. ` : ""}The level line is all of the cluster, and what is empty below it is idle.`, ...spec });
    register(made);
    return made.element;
  }

  return { chart };
})();
