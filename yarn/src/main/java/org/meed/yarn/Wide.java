package org.meed.yarn;

import java.math.BigInteger;

/** An integer of 128 bits with a sign. */
final class Wide {
  static final Wide ZERO = new Wide(0, 0);
  private static final Wide MOST = new Wide(Long.MAX_VALUE, -1);

  final long high;
  final long low;

  Wide(long high, long low) {
    this.high = high;
    this.low = low;
  }

  static Wide product(long a, long b) {
    return new Wide(Math.multiplyHigh(a, b), a * b);
  }

  Wide plus(Wide other) {
    long sum = low + other.low;
    long carry = Long.compareUnsigned(sum, low) < 0 ? 1 : 0;
    return new Wide(high + other.high + carry, sum);
  }

  /** The sum of two that are not negative; what is beyond 127 bits comes last all the same. */
  Wide grown(Wide by) {
    Wide sum = plus(by);
    return sum.high < 0 ? MOST : sum;
  }

  Wide notBelowZero() {
    return high < 0 ? ZERO : this;
  }

  /** Compares a * b with c * d; none is negative. */
  static int compareProducts(long a, long b, long c, long d) {
    int high = Long.compare(Math.multiplyHigh(a, b), Math.multiplyHigh(c, d));
    return high != 0 ? high : Long.compareUnsigned(a * b, c * d);
  }

  /** Compares a / weightOfA with b / weightOfB; neither is negative, weights are below 2^31. */
  static int compareRatios(Wide a, long weightOfA, Wide b, long weightOfB) {
    long aHigh = a.high * weightOfB;
    long bHigh = b.high * weightOfA;
    long aTop = Math.multiplyHigh(a.high, weightOfB);
    long bTop = Math.multiplyHigh(b.high, weightOfA);
    long aCarry = unsignedHigh(a.low, weightOfB);
    long bCarry = unsignedHigh(b.low, weightOfA);
    long aMiddle = aHigh + aCarry;
    long bMiddle = bHigh + bCarry;
    aTop += Long.compareUnsigned(aMiddle, aHigh) < 0 ? 1 : 0;
    bTop += Long.compareUnsigned(bMiddle, bHigh) < 0 ? 1 : 0;
    if (aTop != bTop) {
      return Long.compare(aTop, bTop);
    }
    if (aMiddle != bMiddle) {
      return Long.compareUnsigned(aMiddle, bMiddle);
    }
    return Long.compareUnsigned(a.low * weightOfB, b.low * weightOfA);
  }

  /** The upper half of the product of an unsigned number and one that is not negative. */
  private static long unsignedHigh(long unsigned, long positive) {
    return Math.multiplyHigh(unsigned, positive) + ((unsigned >> 63) & positive);
  }

  BigInteger big() {
    BigInteger lower = BigInteger.valueOf(low);
    if (low < 0) {
      lower = lower.add(BigInteger.ONE.shiftLeft(64));
    }
    return BigInteger.valueOf(high).shiftLeft(64).add(lower);
  }

  static Wide of(BigInteger big) {
    return new Wide(big.shiftRight(64).longValue(), big.longValue());
  }

  /** Near enough to see which of two is larger where they are not near each other. */
  double approximate() {
    double lower = low >= 0 ? low : (low >>> 1) * 2.0;
    return high * 0x1p64 + lower;
  }
}
