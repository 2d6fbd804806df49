// Purpose: what nodes did over time: unpacks the embedded series on demand, and derives totals, locality and slots.

Meed.nodes = (() => {
  const { data } = Meed;
  /** Locality over time is that of the maps started in so long a part of the time axis. */
  const WINDOW = 1 / 20;
  const runs = data.runs.filter((run) => run.mapreduce);
  // All runs are of one cluster.
  const names = runs.length ? runs[0].mapreduce.nodes.map((n) => n.node) : [];
  const all = names.map((_, n) => n);
  for (const run of runs) run.nodeTimes = run.mapreduce.t_ms.map((ms) => ms / 1000);

  /** Numbers of a fixed count of digits, as `embed` writes them; nothing stands for zeros. */
  function unpack(text, { width, step }, count) {
    const out = new Float64Array(count);
    if (text) for (let i = 0; i < count; i++) out[i] = data.whole(text, i * width, width) * step;
    return out;
  }
  const known = new Map();
  const once = (key, make) => {
    if (!known.has(key)) known.set(key, make());
    return known.get(key);
  };
  /** A field of one node in one run: an array over `run.nodeTimes`. */
  const field = (run, node, name) => once([data.runs.indexOf(run), node, name].join(), () =>
    unpack(run.mapreduce.series[node][name], data.record.node_scales[name], run.nodeTimes.length));

  /** The sum over nodes and fields. */
  function sum(run, nodes, fields) {
    const out = new Float64Array(run.nodeTimes.length);
    for (const node of nodes) for (const name of fields) field(run, node, name).forEach((v, i) => { out[i] += v; });
    return out;
  }

  /** Local part of the maps started so far, and of those started lately; null where none was. */
  function locality(run, nodes) {
    const t = run.nodeTimes;
    const total = (name) => sum(run, nodes, [name]).map(((so) => (v) => (so += v))(0));
    const [started, local] = [total("maps_started"), total("local_maps_started")];
    const part = (i, j) => {
      const before = j < 0 ? [0, 0] : [started[j], local[j]];
      const maps = started[i] - before[0];
      return maps > 0 ? (local[i] - before[1]) / maps : null;
    };
    let j = -1;
    const lately = Array.from(t, (at, i) => {
      while (j + 1 < i && t[j + 1] <= at - data.end * WINDOW) j++;
      return part(i, j);
    });
    return { lately, soFar: Array.from(t, (_, i) => part(i, -1)) };
  }

  /** Slots of a kind ("any", "cpu", "io") at some times in rising order, summed over nodes; null where there are none. */
  function slots(run, nodes, kind, times) {
    const out = new Array(times.length).fill(null);
    for (const node of nodes) {
      let [now, next] = [null, 0];
      const changes = run.mapreduce.nodes[node].slots;
      times.forEach((t, i) => {
        while (next < changes.length && changes[next].t_s <= t) {
          const v = changes[next++][kind];
          now = v === undefined ? null : v;
        }
        if (now !== null) out[i] = (out[i] || 0) + now;
      });
    }
    return out;
  }
  /** When slots were set otherwise than before. */
  const changes = (run, nodes) => [...new Set(nodes.flatMap((n) => run.mapreduce.nodes[n].slots.slice(1).map((c) => c.t_s)))].sort((a, b) => a - b);
  const hasSlots = (kind) => runs.some((run) => run.mapreduce.nodes.some((n) => n.slots.some((c) => c[kind] !== undefined)));

  return { runs, names, all, field, sum, locality, slots, changes, hasSlots, window: data.end * WINDOW, sampled: runs.some((run) => run.nodeTimes.length > 1), once };
})();
