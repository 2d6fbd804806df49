package org.meed.yarn;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What the key of one queue or application is made of, at a tick; and what ended since.
 *
 * <p>key = (amount + charge of what started since - what ended gave back) / weight
 *
 * <p>amount = amount when the row was told + rate * (memory time at the tick - memory time then)
 *
 * <p>So a row stands while what it is of runs on; the tick tells memory time, once for all rows of
 * one {@link Pace}.
 *
 * <p>What is held now minus what was held at the tick is charged the quantum, as the ledger charges
 * a start. A container that ends takes with it what it was charged ahead, not what it used: for
 * that {@link #ended} gives back what it had used of its quantum by the tick.
 *
 * <p>All but {@code ended}, and the key that is kept at hand, is immutable. Nothing here throws.
 */
final class Row {
  private static final byte SCALAR = 1;
  private static final long THOUSANDTHS = 1000;

  /** What rows move by, at a tick: microseconds. */
  static final class Pace {
    /** Memory time. */
    final long time;
    /** The memory time of the quantum that begins at the tick; -1: the quantum itself. */
    private final long ahead;

    Pace(long time, long ahead) {
      this.time = time;
      this.ahead = ahead;
    }
  }

  final boolean dominant;
  final long weight;
  /**
   * Of a queue: the number of its last service as of the tick, 0 where it was never served; of
   * equal keys the smaller comes first. Of an application: 0.
   */
  final long served;
  final long heldMemory;
  final long heldCores;
  private final Wide[] amounts = new Wide[2];
  private final long[] rates = new long[2];
  /** Its place among the paces; and that one's memory time when the amounts were so. */
  final int pace;
  private final long told;
  final long quantum;
  private final Wide pseudo;
  private final long parts;
  private final long[] capacity = new long[2];
  private final long[] units = new long[2];
  private final long discount;
  private final long[] shares = new long[2];
  private final long[] within = new long[2];
  /** What ran before was charged from then on: milliseconds. */
  private final long since;
  /**
   * Of a queue: declared as number so and so; of queues with equal keys that were never served the
   * smaller comes first. Of an application: -1.
   */
  final int number;

  private volatile Wide endedMemory = Wide.ZERO;
  private volatile Wide endedCores = Wide.ZERO;
  /** The key that was made last. It cannot change, so threads may race for it. */
  private Key last;

  /** Reads a row; null where there is nothing to compare. */
  static Row read(ByteBuffer in, int number) {
    byte form = in.get();
    return form == 0 ? null : new Row(form != SCALAR, in, number);
  }

  private Row(boolean dominant, ByteBuffer in, int number) {
    this.dominant = dominant;
    this.number = number;
    weight = in.getLong();
    served = in.getLong();
    heldMemory = in.getLong();
    heldCores = in.getLong();
    amounts[0] = wide(in);
    amounts[1] = wide(in);
    longs(in, rates);
    pace = in.getInt();
    told = in.getLong();
    pseudo = wide(in);
    parts = in.getLong();
    longs(in, capacity);
    quantum = in.getLong();
    longs(in, units);
    discount = in.getLong();
    longs(in, shares);
    longs(in, within);
    since = in.getLong();
  }

  /** The same with nothing ended since. */
  private Row(Row of) {
    dominant = of.dominant;
    number = of.number;
    weight = of.weight;
    served = of.served;
    heldMemory = of.heldMemory;
    heldCores = of.heldCores;
    pseudo = of.pseudo;
    parts = of.parts;
    quantum = of.quantum;
    pace = of.pace;
    told = of.told;
    discount = of.discount;
    since = of.since;
    for (int kind = 0; kind < 2; kind++) {
      amounts[kind] = of.amounts[kind];
      rates[kind] = of.rates[kind];
      capacity[kind] = of.capacity[kind];
      units[kind] = of.units[kind];
      shares[kind] = of.shares[kind];
      within[kind] = of.within[kind];
    }
  }

  Row withoutEnds() {
    return new Row(this);
  }

  /** Of one that came since the tick, below the queue of {@code above} or among its children. */
  private Row(Row above, long weight, int number) {
    dominant = above.dominant;
    this.weight = weight;
    this.number = number;
    served = 0;
    heldMemory = 0;
    heldCores = 0;
    amounts[0] = Wide.ZERO;
    amounts[1] = Wide.ZERO;
    pseudo = Wide.ZERO;
    parts = above.parts;
    quantum = above.quantum;
    pace = above.pace;
    told = above.told;
    discount = above.discount;
    since = above.since;
    for (int kind = 0; kind < 2; kind++) {
      capacity[kind] = above.capacity[kind];
      units[kind] = above.units[kind];
      shares[kind] = Long.MAX_VALUE;
    }
  }

  Row newcomer(long itsWeight) {
    return new Row(this, Math.max(1, Math.min(itsWeight, Integer.MAX_VALUE)), Integer.MAX_VALUE);
  }

  private static Wide wide(ByteBuffer in) {
    long high = in.getLong();
    return new Wide(high, in.getLong());
  }

  private static void longs(ByteBuffer in, long[] into) {
    for (int i = 0; i < into.length; i++) {
      into[i] = in.getLong();
    }
  }

  /** What a container gave back that began then, and ended since the tick. */
  void end(long memory, long cores, long began, long tick, Pace at) {
    long ranMicros = (tick - Math.max(began, since)) * 1000;
    long used = Math.min(quantum, Math.max(0, ranMicros));
    if (used == 0) {
      return;
    }
    long time = used;
    long ahead = ahead(at);
    if (quantum != ahead) {
      BigInteger warped = BigInteger.valueOf(used).multiply(BigInteger.valueOf(ahead));
      time = warped.divide(BigInteger.valueOf(quantum)).longValue();
    }
    if (dominant) {
      endedMemory = endedMemory.plus(Wide.product(memory * units[0] * THOUSANDTHS, time));
      endedCores = endedCores.plus(Wide.product(cores * units[1] * THOUSANDTHS, time));
    } else {
      long amount = memory * units[0] + cores * units[1];
      endedMemory = endedMemory.plus(Wide.product(amount * THOUSANDTHS, time));
    }
  }

  /**
   * The key when so much is held. From one order to the next little moves: what stands as it stood
   * has the key that it had.
   */
  Key key(long memory, long cores, Pace at) {
    Key known = last;
    if (known != null && known.isOf(memory, cores, endedMemory, endedCores)
        && (known.at == at || known.at.time == at.time && known.at.ahead == at.ahead
            || isAsTold(memory, cores))) {
      return known;
    }
    Key made = new Key(this, memory, cores, endedMemory, endedCores, at);
    last = made;
    return made;
  }

  /** Whether neither time nor what a start is charged moves its key. */
  private boolean isAsTold(long memory, long cores) {
    return rates[0] == 0 && rates[1] == 0 && memory == heldMemory && cores == heldCores;
  }

  private long ahead(Pace at) {
    return at.ahead < 0 ? quantum : at.ahead;
  }

  /** What is charged at the tick (of a scalar, or of memory or cores). */
  Wide charged(int kind, Pace at) {
    return rates[kind] == 0 ? amounts[kind]
        : amounts[kind].grown(Wide.product(rates[kind], at.time - told));
  }

  /** The amount (of a scalar, or of memory or cores) when so much is held, and so much ended. */
  Wide amount(int kind, long memory, long cores, Wide ended, Pace at) {
    long since = dominant
        ? (kind == 0 ? (memory - heldMemory) * units[0] : (cores - heldCores) * units[1])
        : (memory - heldMemory) * units[0] + (cores - heldCores) * units[1];
    long counted = since * THOUSANDTHS;
    if (discount != THOUSANDTHS) {
      counted = counted(within[kind] + since, kind) - counted(within[kind], kind);
    }
    Wide all = charged(kind, at).plus(Wide.product(counted, ahead(at)));
    return all.plus(ended).notBelowZero();
  }

  private long counted(long amount, int kind) {
    long below = Math.min(amount, shares[kind]);
    return below * THOUSANDTHS + (amount - below) * discount;
  }

  /** The key as a float, of these amounts ({@link #amount}). */
  double approximate(Wide memory, Wide cores) {
    if (!dominant) {
      return memory.approximate() / weight;
    }
    double ofMemory = capacity[0] > 0 ? memory.approximate() / capacity[0] : 0;
    double ofCores = capacity[1] > 0 ? cores.approximate() / capacity[1] : 0;
    return (Math.max(ofMemory, ofCores) + pseudo.approximate() / Math.max(1, parts)) / weight;
  }

  /** The largest share per weight, as a fraction. */
  BigInteger[] exact(Wide memory, Wide cores) {
    BigInteger most = BigInteger.ZERO;
    BigInteger of = BigInteger.ONE;
    for (int kind = 0; kind < 2; kind++) {
      if (capacity[kind] > 0) {
        BigInteger amount = (kind == 0 ? memory : cores).big();
        BigInteger whole = BigInteger.valueOf(capacity[kind]);
        if (amount.multiply(of).compareTo(most.multiply(whole)) > 0) {
          most = amount;
          of = whole;
        }
      }
    }
    BigInteger all = BigInteger.valueOf(Math.max(1, parts));
    BigInteger sum = most.multiply(all).add(pseudo.big().multiply(of));
    return new BigInteger[] {sum, of.multiply(all).multiply(BigInteger.valueOf(weight))};
  }

  /** All that a key is made of at the tick: for tests. */
  String told(Pace at) {
    return dominant + " weight " + weight + " served " + served + " held " + heldMemory + " "
        + heldCores + " amounts " + charged(0, at).big() + " " + charged(1, at).big() + " rates "
        + Arrays.toString(rates)
        + " pseudo " + pseudo.big() + " parts " + parts
        + " capacity " + Arrays.toString(capacity) + " quantum " + quantum + " ahead " + ahead(at)
        + " units " + Arrays.toString(units) + " discount " + discount + " shares "
        + Arrays.toString(shares) + " within " + Arrays.toString(within) + " since " + since
        + " ended " + endedMemory.big() + " " + endedCores.big() + " number " + number;
  }
}
