// Purpose: read the embedded record and answer plain questions about it (tenants, series, quantiles).
// Nothing is computed here but order and quantiles across tenants.

Meed.data = (() => {
  const { number, quantile, sorted, extent } = Meed.base;
  const record = JSON.parse(document.getElementById("data").textContent);
  const runs = record.runs;
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const DIGIT = new Uint8Array(128);
  [...DIGITS].forEach((c, i) => { DIGIT[c.charCodeAt(0)] = i; });

  /** The whole number of `width` digits that begins at a place of a text. */
  function whole(text, at, width) {
    let out = 0;
    for (let k = 0; k < width; k++) out = out * 64 + DIGIT[text.charCodeAt(at + k)];
    return out;
  }
  /** Values of a series that is packed: parts of the way from its lowest to its highest value, 0 for none. */
  function unpacked(series) {
    if (Array.isArray(series)) return series;
    const { low, high, width, packed } = series;
    const most = 64 ** width - 2;
    const out = new Array(packed.length / width);
    for (let i = 0; i < out.length; i++) {
      const part = whole(packed, i * width, width);
      out[i] = part ? low + ((high - low) * (part - 1)) / most : null;
    }
    return out;
  }
  for (const run of runs) {
    for (const queue of run.series.queues) for (const key of ["usage", "rho", "balance"]) {
      if (!Array.isArray(queue[key])) queue.coarse = true;
      queue[key] = unpacked(queue[key]);
    }
  }
  // Tenants in order of declaration; every run has the same ones.
  const tenants = [];
  const known = new Map();
  for (const run of runs) {
    for (const queue of run.queues) {
      if (!known.has(queue.queue)) {
        known.set(queue.queue, tenants.length);
        tenants.push({ name: queue.queue, weight: queue.weight, index: tenants.length });
      }
    }
  }
  for (const run of runs) {
    // Per tenant: its outcome and its series in this run, or null.
    run.outcome = tenants.map(() => null);
    run.track = tenants.map(() => null);
    run.queues.forEach((queue, i) => {
      const tenant = known.get(queue.queue);
      run.outcome[tenant] = queue;
      run.track[tenant] = run.series.queues[i] || null;
    });
    run.t = run.series.t_ms.map((ms) => ms / 1000);
    run.sampled = run.t.length > 1;
  }

  /** Quantiles across tenants at every sample: one array per q. `of(track, run, tenant)` gives a tenant's array. */
  function quantilesOverTime(run, of, qs) {
    const arrays = tenants.map((t) => (run.track[t.index] ? of(run.track[t.index], run, t) : null)).filter(Boolean);
    const out = qs.map(() => new Array(run.t.length).fill(null));
    for (let s = 0; s < run.t.length; s++) {
      const column = sorted(arrays.map((a) => a[s]));
      qs.forEach((q, k) => { out[k][s] = quantile(column, q); });
    }
    return out;
  }

  /** Tenant indices by rising value, those without a value last; ties in order of declaration. */
  function order(valueOf) {
    const rank = (i) => { const v = valueOf(i); return number(v) ? v : Infinity; };
    return tenants.map((t) => t.index).sort((a, b) => {
      const [x, y] = [rank(a), rank(b)];
      return x === y ? a - b : x - y;
    });
  }

  const ends = runs.map((run) => Math.max(run.end_s, run.t.length ? run.t[run.t.length - 1] : 0)).sort((a, b) => b - a);
  const DWARFS = 4;
  const axisEnd = Math.max(1e-9, ends.length > 1 && ends[0] > DWARFS * ends[1] && ends[1] > 0 ? ends[1] : ends[0] || 0);

  const FEW = 12;
  return {
    record, runs, tenants, whole, number, quantile, sorted, quantilesOverTime, order,
    /** Few enough tenants to draw a line for each. */
    few: tenants.length <= FEW,
    measured: runs.length ? runs[0].measured : "",
    sampled: runs.some((run) => run.sampled),
    /** Where time axes end: with the longest run, unless it dwarfs all others (a static partition can take years). */
    end: axisEnd,
    longest: ends[0],
    resources: [...new Set(runs.flatMap((run) => Object.keys(run.utilization)))].sort(),
    tenantNamed: (name) => (known.has(name) ? known.get(name) : null),
    extent,
  };
})();
