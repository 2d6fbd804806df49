// Purpose: arithmetic that charts need: order, quantiles, ranges, round ticks. The first of all scripts.

const Meed = {};

Meed.base = (() => {
  const number = (v) => typeof v === "number" && Number.isFinite(v);

  /** Quantile of values in rising order, interpolated; null of nothing. */
  function quantile(sorted, q) {
    if (!sorted.length) return null;
    const at = q * (sorted.length - 1);
    const low = sorted[Math.floor(at)];
    return low + (sorted[Math.ceil(at)] - low) * (at % 1);
  }

  const sorted = (values) => Float64Array.from(values.filter(number)).sort();

  /** Smallest and largest number of some arrays; null of none. */
  function extent(arrays) {
    let [low, high] = [Infinity, -Infinity];
    for (const array of arrays) {
      for (const v of array) {
        if (number(v)) { if (v < low) low = v; if (v > high) high = v; }
      }
    }
    return low <= high ? [low, high] : null;
  }

  /** Index of the value nearest to x in a rising array. */
  function nearest(xs, x) {
    let [low, high] = [0, xs.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (xs[middle] < x) low = middle; else high = middle;
    }
    return Math.abs(xs[low] - x) <= Math.abs(xs[high] - x) ? low : high;
  }

  /** Ticks at round numbers, about `wanted` of them. */
  function ticks(low, high, wanted) {
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((d) => d >= rough);
    const out = [];
    for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-6; v += step) out.push(Math.abs(v) < step * 1e-6 ? 0 : v);
    return out;
  }

  /** The positive values in rising order where, but for a hundredth at either end, they reach over more than a decade; else null. */
  function passingDecade(values) {
    const all = sorted(values);
    if (all.length < 2 || all[0] < 0) return null;
    const positive = all.filter((v) => v > 0);
    const passes = positive.length > 1 && positive.length >= all.length * 0.9 && quantile(positive, 0.99) > 10 * quantile(positive, 0.01);
    return passes ? positive : null;
  }

  /** Ticks of a logarithmic axis of plain numbers: decades, and 2 and 5 between them where there are few. */
  function logTicks(low, high) {
    const decades = Math.log10(high / low);
    const parts = decades > 4 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 3, 5, 7];
    const every = Math.max(1, Math.ceil(decades / 8));
    const out = [];
    for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k += every) {
      for (const m of parts) { const v = m * 10 ** k; if (v >= low && v <= high) out.push(v); }
    }
    return out;
  }

  /** The same of seconds, where people have names for them: the more important first. */
  const LOG_TIMES = [1, 60, 3600, 86400, 0.001, 0.01, 0.1, 10, 600, 36000, 864000, 8640000,
    0.003, 0.03, 0.3, 3, 30, 180, 1800, 10800, 259200, 2592000, 2, 5, 20, 120, 300, 1200, 7200, 18000, 43200, 172800, 432000];

  /** Of wished ticks, the more important first, those between low and high of which no two have places nearer than `apart`. */
  function thinned(wishes, [low, high], place, apart) {
    const out = [];
    for (const v of wishes) {
      if (v >= low && v <= high && out.every((w) => Math.abs(place(w) - place(v)) >= apart)) out.push(v);
    }
    return out;
  }

  /**
   * One table of columns with places of their own, { x: rising, values }: for each place of any of them a row, the place and
   * then each column's value, null where it has none there. A column that has a place twice has a row for each.
   */
  function joined(columns) {
    const arrays = [...new Set(columns.map((c) => c.x))];
    const own = columns.map((c) => arrays.indexOf(c.x));
    const next = arrays.map(() => 0);
    const rows = [];
    for (;;) {
      const place = Math.min(...arrays.map((xs, k) => (next[k] < xs.length ? xs[next[k]] : Infinity)));
      if (place === Infinity) return rows;
      const here = arrays.map((xs, k) => (xs[next[k]] === place ? next[k]++ : null));
      rows.push([place, ...columns.map((c, k) => (here[own[k]] === null ? null : c.values[here[own[k]]]))]);
    }
  }

  return { passingDecade, logTicks, LOG_TIMES, thinned, joined, number, quantile, sorted, extent, nearest, ticks };
})();
