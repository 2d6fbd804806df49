// Purpose: what the numbers of an axis are: seconds shown as people say them, or plain numbers; ticks that differ.

Meed.axis = (() => {
  const { number } = Meed.base;
  const { format } = Meed;
  /** A label that ends so is of seconds, which are shown as minutes, hours or days from this size on. */
  const SECONDS = /\s*\(s\)\s*$/;
  const LARGE = 180;
  const LONGEST = 3e9;

  /**
   * The axis of values between low and high. Values are drawn divided by `scale`, a power of ten: the plotting library
   * knows no steps for very small and very large ones. { label, scale, seconds, text(v), tick(v, step) }
   */
  function axis(label, low, high) {
    const size = Math.max(Math.abs(low), Math.abs(high));
    const seconds = SECONDS.test(label) && size >= LARGE && size < LONGEST;
    const span = high > low ? high - low : size;
    // Values that hardly differ need more digits.
    const digits = span > 0 ? Math.min(12, Math.max(4, 3 + Math.ceil(Math.log10(size / span)))) : 4;
    const extreme = span > 0 && (span < 1e-6 || size > 1e12);
    return {
      label: seconds ? label.replace(SECONDS, "") : label,
      scale: extreme ? 10 ** Math.floor(Math.log10(size)) : 1,
      seconds,
      text: (v) => (!number(v) ? format.NONE : seconds ? format.time(v) : format.num(v, digits)),
      tick: (v, step) => (seconds ? (v < 0 ? "−" + format.timeTick(-v, step) : format.timeTick(v, step)) : format.tick(v, step, size)),
    };
  }

  return { axis };
})();
