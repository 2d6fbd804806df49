package org.meed.yarn.experiment;

/** How late this process did what was due: the machine may be busy with other things. */
final class Lateness {
  private long count;
  private double sum;
  private final long[] byMillis = new long[2000];

  synchronized void note(long nanos) {
    count++;
    sum += nanos;
    byMillis[(int) Math.min(byMillis.length - 1, Math.max(0, nanos / 1_000_000))]++;
  }

  synchronized void reset() {
    count = 0;
    sum = 0;
    java.util.Arrays.fill(byMillis, 0);
  }

  /** Mean, 99th percentile and largest, in milliseconds. */
  @Override
  public synchronized String toString() {
    int largest = 0;
    int percentile = -1;
    long seen = 0;
    for (int i = 0; i < byMillis.length; i++) {
      seen += byMillis[i];
      largest = byMillis[i] > 0 ? i : largest;
      percentile = percentile < 0 && seen * 100 >= count * 99 ? i : percentile;
    }
    return String.format(java.util.Locale.ROOT, "%.3f\t%d\t%d", sum / 1e6 / Math.max(1, count),
        percentile, largest);
  }
}
