package org.meed.yarn;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

/** What an application asks for, and what is left of that as it is served. */
public class AskedTest {
  private static Asked asked(long... asks) {
    return new Asked(null, asks);
  }

  @Test
  public void oneThatIsServedAsksForOneLess() {
    Asked asked = asked(1024, 1, 3, 2048, 1, 1);
    asked.serve(1024, 1);
    assertTrue(asked.isOf(new long[] {1024, 1, 2, 2048, 1, 1}));
    asked.serve(2048, 1);
    assertTrue("the last of its size", asked.isOf(new long[] {1024, 1, 2}));
    asked.serve(1024, 1);
    asked.serve(1024, 1);
    assertTrue(asked.isOf(new long[0]));
  }

  @Test
  public void ofASizeThatNobodyAskedForNothingIsLess() {
    Asked asked = asked(1024, 1, 1);
    asked.serve(1024, 2);
    asked.serve(512, 1);
    assertTrue(asked.isOf(new long[] {1024, 1, 1}));
    assertFalse(asked.isOf(new long[] {1024, 1, 2}));
  }

  @Test
  public void whatTheLedgerWasToldLessOfIsToldAnew() {
    Asked asked = asked(1024, 1, 600_000, 1024, 1, 600_000);
    asked.serve(1024, 1);
    assertFalse(asked.isOf(new long[] {1024, 1, 599_999, 1024, 1, 600_000}));
    Asked none = asked(1024, 1, 1);
    none.forget();
    none.serve(1024, 1);
    assertFalse(none.isOf(new long[] {1024, 1, 1}));
    assertFalse(none.isOf(new long[0]));
  }

  @Test
  public void ofTwoRequestsOfOneSizeTheFirstIsLess() {
    Asked asked = asked(1024, 1, 1, 1024, 1, 2);
    asked.serve(1024, 1);
    assertTrue(asked.isOf(new long[] {1024, 1, 2}));
  }
}
