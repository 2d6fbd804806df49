// Purpose: numbers, times and units as text.

Meed.format = (() => {
  const { number } = Meed.base;
  const NONE = "–";
  const PLACES = 12;

  /** A number with about `digits` significant digits, thousands grouped, no "-0". */
  function num(v, digits = 3) {
    if (!number(v)) return NONE;
    const size = Math.abs(v);
    if (size === 0) return "0";
    if (size >= 1e9 || size < 1e-4) return v.toExponential(digits - 1).replace(/\.?0*e\+?/, "e").replace(/-/g, "−");
    const places = Math.max(0, Math.min(PLACES, digits - 1 - Math.floor(Math.log10(size))));
    const text = v.toLocaleString("en-US", { maximumFractionDigits: places });
    return text.replace("-", "−");
  }

  /** A number with so many places after the point. */
  function fixed(v, places) {
    if (!number(v)) return NONE;
    const text = v.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
    return (/[1-9]/.test(text) ? text : text.replace("-", "")).replace("-", "−");
  }

  /** How many digits after the point `step` has, in units of 10^power. */
  function places(step, power) {
    let d = 0;
    for (let v = step / 10 ** power; d < 12 && Math.abs(v - Math.round(v)) > 1e-6 * v; d++) v *= 10;
    return d;
  }

  /** A tick: as many digits as tell it from its neighbours, `step` away; `largest` is the largest size on the axis. */
  function tick(v, step, largest = Math.abs(v)) {
    const size = Math.abs(v);
    if (size < step * 1e-6) return "0";
    if (largest >= 1e7 || (step < 1e-4 && largest < 1e-2) || step < 1e-10) {
      const power = Math.floor(Math.log10(size) + 1e-9);
      return v.toExponential(Math.min(15, places(step, power))).replace("e+", "e").replace(/-/g, "−");
    }
    return fixed(v, places(step, 0));
  }

  const ratio = (v) => fixed(v, 3);
  const percent = (v) => (number(v) ? fixed(v * 100, 1) + " %" : NONE);
  const count = (v) => (number(v) ? v.toLocaleString("en-US") : NONE);

  /** Seconds as people say them: "2 h 05 min". */
  function time(s) {
    if (!number(s)) return NONE;
    if (s < 0) return "−" + time(-s);
    if (s < 10) return num(s, 2) + " s";
    if (s < 60) return Math.round(s) + " s";
    const pair = (big, bigName, small, smallName, ratioOf) => {
      let [a, b] = [Math.floor(s / big), Math.round((s % big) / small)];
      if (b === ratioOf) { a += 1; b = 0; }
      return b ? `${a} ${bigName} ${b} ${smallName}` : `${a} ${bigName}`;
    };
    if (s < 3600) return pair(60, "min", 1, "s", 60);
    if (s < 86400) return pair(3600, "h", 60, "min", 60);
    return pair(86400, "d", 3600, "h", 24);
  }

  /** Steps between the ticks of a time axis, and the tick texts for a step. */
  const TIME_STEPS = [0.001, 0.01, 0.1, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 14400,
    21600, 43200, 86400, 172800, 432000, 864000, 1728000, 4320000, 8640000, 17280000, 31536000, 157680000];
  function timeTick(s, step) {
    if (s === 0) return "0";
    if (step >= 86400 || s % 86400 === 0) return num(s / 86400) + " d";
    if (step >= 3600 || s % 3600 === 0) {
      const days = Math.floor(s / 86400);
      return (days ? days + " d " : "") + num((s % 86400) / 3600) + " h";
    }
    return time(s);
  }

  const GIB = 2 ** 30;
  const KINDS = { cpu: ["core", "cores", 1], map: ["map-slot", "map slots", 1], reduce: ["reduce-slot", "reduce slots", 1], memory: ["GiB", "GiB", GIB], mem: ["GiB", "GiB", GIB] };

  /** Unit of an amount of a resource: { name, divisor }. */
  function amountUnit(resource) {
    const [, name, divisor] = KINDS[resource] || [resource, resource, 1];
    return { name, divisor };
  }

  /** Unit of resource x time that fits values up to `max`. */
  function usageUnit(resource, max) {
    const [one, , size] = KINDS[resource] || [resource, resource, 1];
    const hours = max / size >= 3600;
    return { name: one + (hours ? "-hours" : "-seconds"), divisor: size * (hours ? 3600 : 1) };
  }

  return { NONE, num, fixed, tick, ratio, percent, count, time, TIME_STEPS, timeTick, amountUnit, usageUnit };
})();
