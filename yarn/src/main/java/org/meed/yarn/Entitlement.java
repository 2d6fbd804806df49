package org.meed.yarn;

import java.math.BigInteger;
import java.nio.ByteBuffer;

/**
 * What a leaf is entitled to, as a part of the root: an exact fraction. The starvation guard
 * compares what leaves have used over this. Immutable; nothing here throws.
 */
final class Entitlement {
  /** Two floats that differ by more than this part of their sum are in the right order. */
  private static final double CERTAIN = 0x1p-40;
  /** Floats beyond this, or below one over this, may be rounded by more. */
  private static final double FAR = 1e150;

  final BigInteger part;
  final BigInteger whole;
  private final double inverse;

  Entitlement(BigInteger part, BigInteger whole) {
    this.part = part;
    this.whole = whole;
    inverse = whole.doubleValue() / part.doubleValue();
  }

  /** Reads one. */
  static Entitlement read(ByteBuffer in) {
    BigInteger part = number(in);
    return new Entitlement(part.max(BigInteger.ONE), number(in));
  }

  private static BigInteger number(ByteBuffer in) {
    byte[] bytes = new byte[in.getInt()];
    in.get(bytes);
    return new BigInteger(1, bytes);
  }

  /**
   * Who of two leaves has used less of what it is entitled to: the smaller one is served first; of
   * equal ones the one that {@link Key#compare} names. Keys are of weight 1.
   */
  static int compare(Key a, Entitlement ofA, Key b, Entitlement ofB) {
    double mine = a.approximate() * ofA.inverse;
    double theirs = b.approximate() * ofB.inverse;
    if (a.isLike(b) && isSure(mine) && isSure(theirs)
        && Math.abs(mine - theirs) > (mine + theirs) * CERTAIN) {
      return mine < theirs ? -1 : 1;
    }
    if (!a.isLike(b) || a.row == null || ofA.part.equals(ofB.part) && ofA.whole.equals(ofB.whole)) {
      return Key.compare(a, b);
    }
    BigInteger[] left = a.exact();
    BigInteger[] right = b.exact();
    BigInteger up = left[0].multiply(ofA.whole).multiply(right[1]).multiply(ofB.part);
    BigInteger down = right[0].multiply(ofB.whole).multiply(left[1]).multiply(ofA.part);
    int exact = up.compareTo(down);
    return exact != 0 ? exact : Key.compareTies(a, b);
  }

  private static boolean isSure(double value) {
    return value > 1 / FAR && value < FAR;
  }
}
