package org.meed.yarn;

import java.math.BigInteger;

/**
 * The key of one queue or application, frozen: a row, and what is held at one instant. An order is
 * made over keys that do not move while it is made.
 *
 * <p>Two keys are compared by their floats where these are far enough apart, else exactly. Nothing
 * here throws. Cost: an order of n things makes n keys and compares n log n times.
 */
final class Key {
  /** Two floats that differ by more than this part of their sum are in the right order. */
  private static final double CERTAIN = 0x1p-40;

  /** Null: nothing is known, what is held decides. */
  final Row row;
  final long memory;
  final long cores;
  /** What it was made at: of a row only. */
  final Row.Pace at;
  private final Wide endedMemory;
  private final Wide endedCores;
  private final Wide first;
  private final Wide second;
  private final double ratio;

  /** Of a row of the snapshot, or of none, when so much is held. */
  static Key of(Row row, long memory, long cores, Snapshot in) {
    return row == null ? new Key(memory, cores) : row.key(memory, cores, in.pace(row));
  }

  private Key(long memory, long cores) {
    row = null;
    at = null;
    this.memory = memory;
    this.cores = cores;
    endedMemory = Wide.ZERO;
    endedCores = Wide.ZERO;
    first = Wide.ZERO;
    second = Wide.ZERO;
    ratio = memory;
  }

  /** For {@link Row#key}. */
  Key(Row row, long memory, long cores, Wide endedMemory, Wide endedCores, Row.Pace at) {
    this.row = row;
    this.memory = memory;
    this.cores = cores;
    this.endedMemory = endedMemory;
    this.endedCores = endedCores;
    this.at = at;
    first = row.amount(0, memory, cores, endedMemory, at);
    second = row.dominant ? row.amount(1, memory, cores, endedCores, at) : Wide.ZERO;
    ratio = row.approximate(first, second);
  }

  /** Whether it was made of these. */
  boolean isOf(long itsMemory, long itsCores, Wide itsEndedMemory, Wide itsEndedCores) {
    return memory == itsMemory && cores == itsCores && endedMemory == itsEndedMemory
        && endedCores == itsEndedCores;
  }

  /**
   * The smaller one is served first; of equal ones the one that has started nothing since the tick,
   * then the one that was served longest ago as of the tick, and of those never served the one that
   * was declared first.
   */
  static int compare(Key a, Key b) {
    int form = Integer.compare(form(a.row), form(b.row));
    if (form != 0) {
      // Of a row of another form only its kind is known, until the next tick.
      return form;
    }
    if (Math.abs(a.ratio - b.ratio) > (a.ratio + b.ratio) * CERTAIN) {
      return a.ratio < b.ratio ? -1 : 1;
    }
    if (a.row == null) {
      return Long.compare(a.memory, b.memory);
    }
    int exact = a.row.dominant ? compareShares(a, b)
        : Wide.compareRatios(a.first, a.row.weight, b.first, b.row.weight);
    return exact != 0 ? exact : compareTies(a, b);
  }

  /** Which of two whose use is equal is served first, as {@link #compare} says. */
  static int compareTies(Key a, Key b) {
    if (a.hasStarted() != b.hasStarted()) {
      return a.hasStarted() ? 1 : -1;
    }
    int tie = Long.compare(a.row.served, b.row.served);
    return tie != 0 ? tie : Integer.compare(a.row.number, b.row.number);
  }

  /** Whether a queue holds more than at the tick: what ended since is not seen in that. */
  private boolean hasStarted() {
    return row.number >= 0 && (memory > row.heldMemory || cores > row.heldCores);
  }

  /** Whether both are keys of one form, which can be compared by what was used. */
  boolean isLike(Key other) {
    return form(row) == form(other.row);
  }

  /** The key as a float. */
  double approximate() {
    return ratio;
  }

  /** The key as a fraction, of a row. */
  BigInteger[] exact() {
    return row.dominant ? row.exact(first, second)
        : new BigInteger[] {first.big(), BigInteger.valueOf(row.weight)};
  }

  private static int form(Row row) {
    return row == null ? 0 : row.dominant ? 2 : 1;
  }

  private static int compareShares(Key a, Key b) {
    BigInteger[] left = a.exact();
    BigInteger[] right = b.exact();
    return left[0].multiply(right[1]).compareTo(right[0].multiply(left[1]));
  }
}
