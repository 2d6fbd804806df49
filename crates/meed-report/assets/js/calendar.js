// Purpose: where it is known what the clock said at time 0, instants as dates, and ticks where days, months and years begin.

Meed.calendar = (() => {
  const { data, format } = Meed;
  const clock = data.record.clock || null;
  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const DAY = 86400;
  /** The date with the zone's hours as if they were UTC's. */
  const at = (s) => new Date(clock.at_ms + (s + clock.offset_s) * 1000);
  const back = (ms) => (ms - clock.at_ms) / 1000 - clock.offset_s;
  const two = (n) => String(n).padStart(2, "0");
  const hours = (d) => `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}`;

  /** An instant as a date: "3 Mar 2024 14:30". */
  function date(s) {
    const d = at(s);
    return `${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]} ${d.getUTCFullYear()} ${hours(d)}`;
  }

  /** An instant in words: as a date where that is known, else how long after time 0. */
  const instant = (s) => (clock ? date(s) : format.time(s));

  /** The date for programs. */
  const iso = (s) => at(s).toISOString().slice(0, 19);

  /** Steps of whole seconds within a day, then of days; months and years are counted by the calendar. */
  const STEPS = [1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, DAY, 2 * DAY, 7 * DAY];
  const BY_MONTH = [1, 2, 3, 6, 12, 24, 60, 120, 240];

  /** Instants for ticks between two instants, at most so many. */
  function ticks(low, high, most) {
    const rough = (high - low) / Math.max(1, most);
    const step = STEPS.find((d) => d >= rough);
    const out = [];
    if (step) {
      // Days and weeks begin at midnight, weeks on Monday: 1970 began on a Thursday.
      const shift = step === 7 * DAY ? 4 * DAY : 0;
      const first = Math.ceil((at(low).getTime() / 1000 - shift) / step) * step + shift;
      for (let v = first; back(v * 1000) <= high; v += step) out.push(back(v * 1000));
      return out;
    }
    const months = BY_MONTH.find((m) => m * 30.4 * DAY >= rough) || BY_MONTH[BY_MONTH.length - 1];
    const begin = at(low);
    const from = Math.floor((begin.getUTCFullYear() * 12 + begin.getUTCMonth()) / months) * months;
    for (let m = from; ; m += months) {
      const s = back(Date.UTC(Math.floor(m / 12), m % 12, 1));
      if (s > high) return out;
      if (s >= low) out.push(s);
    }
  }

  /** The text of a tick, as short as its neighbours allow. */
  function tick(s, step) {
    const d = at(s);
    const midnight = d.getUTCHours() + d.getUTCMinutes() + d.getUTCSeconds() === 0;
    if (step >= 360 * DAY) return String(d.getUTCFullYear());
    if (step >= 27 * DAY) return `${MONTHS[d.getUTCMonth()]} ${d.getUTCFullYear()}`;
    if (midnight) return `${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]}`;
    return step < 60 ? `${hours(d)}:${two(d.getUTCSeconds())}` : hours(d);
  }

  return { known: clock !== null, zone: clock ? clock.zone : "", date, instant, iso, ticks, tick };
})();
