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

  return { number, quantile, sorted, extent, nearest, ticks };
})();
