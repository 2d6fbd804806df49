// Purpose: points of lines that have places of their own, brought onto one common axis and found there again.

Meed.points = (() => {
  const { number, nearest } = Meed.base;

  /** All places of all arrays in rising order; a place that an array has twice is there twice. */
  function union(arrays) {
    return arrays.reduce((a, b) => {
      const out = [];
      let [i, j] = [0, 0];
      while (i < a.length || j < b.length) {
        if (j >= b.length || a[i] < b[j]) out.push(a[i++]);
        else if (i >= a.length || b[j] < a[i]) out.push(b[j++]);
        else { out.push(a[i++]); j++; }
      }
      return out;
    }, []);
  }
  /** Values at their places among all; where a line has no place of its own it has no gap either (undefined). */
  function onto(all, xs, values, scale) {
    const out = new Array(all.length);
    for (let k = 0, i = 0; k < all.length && i < xs.length; k++) {
      if (all[k] === xs[i]) { out[k] = values[i] === null ? null : values[i] / scale; i++; }
    }
    return out;
  }
  /** Index of the point that holds at x: the last so far of steps, else the nearest; null outside of the line. */
  function pointAt(line, x, slack) {
    const { xs } = line;
    if (!xs.length || x < xs[0] - slack || x > xs[xs.length - 1] + slack) return null;
    let i = nearest(xs, x);
    if (line.steps && xs[i] > x && i > 0) i--;
    return i;
  }
  /** Points between two gaps: they are no line and would not be seen. */
  function lonely(values) {
    const out = [];
    let [before, last] = [null, -1]; // the value before, undefined ones aside, and the candidate
    values.forEach((v, i) => {
      if (v === undefined) return;
      if (last >= 0 && !number(v)) out.push(last);
      last = number(v) && !number(before) ? i : -1;
      before = v;
    });
    if (last >= 0) out.push(last);
    return out;
  }

  return { union, onto, pointAt, lonely };
})();
