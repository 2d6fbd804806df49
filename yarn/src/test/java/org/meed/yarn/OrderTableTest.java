package org.meed.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FSSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.Schedulable;
import org.junit.Test;

/**
 * The comparator and the engine come to one order. The table is made by the engine: see
 * crates/meed-yarn/tests/table.rs.
 */
public class OrderTableTest {
  /** Where an answer without remarks says how many queues there are. */
  private static final int QUEUES_AT = 29;

  @Test
  public void everyLineOfTheTable() throws Exception {
    int cases = 0;
    Snapshot snapshot = null;
    String name = "";
    List<Schedulable> children = new ArrayList<>();
    try (BufferedReader in = new BufferedReader(new InputStreamReader(
        getClass().getResourceAsStream("/order-table.txt"), StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        String[] words = line.split(" ");
        switch (words[0]) {
          case "case":
            name = words[1];
            children.clear();
            keepKeys(snapshot(words[2]), true);
            snapshot = snapshot(words[2]);
            keepKeys(snapshot, false);
            break;
          case "end":
            snapshot.end(words[1], words[2], Long.parseLong(words[3]), Long.parseLong(words[4]),
                Long.parseLong(words[5]));
            break;
          case "queue":
            children.add(new Child(words[1], Long.parseLong(words[2]), Long.parseLong(words[3])));
            break;
          default:
            assertEquals("order", words[0]);
            check(name, snapshot, children, Arrays.asList(words).subList(1, words.length));
            cases++;
        }
      }
    }
    assertTrue(cases >= 100);
  }

  private static void check(
      String name, Snapshot snapshot, List<Schedulable> children, List<String> order) {
    Collections.shuffle(children, new Random(cases(name)));
    TreeSet<Schedulable> sorted = new TreeSet<>(new Order(snapshot, null));
    sorted.addAll(children);
    List<String> ours = new ArrayList<>();
    sorted.forEach(child -> ours.add(child.getName()));
    assertEquals("case " + name, order, ours);
  }

  private static Snapshot snapshot(String hex) {
    ByteBuffer answer = ByteBuffer.wrap(bytes(hex));
    return new Snapshot(answer, null, names(answer.getInt(QUEUES_AT)));
  }

  /**
   * Each row keeps a key of what was held at the tick: what is held or ends after it must not be
   * lost.
   */
  private static void keepKeys(Snapshot snapshot, boolean untilOneEnds) {
    for (int i = 0; snapshot.row("root.q" + i) != null; i++) {
      String name = "root.q" + i;
      Row row = snapshot.row(name);
      Row.Pace at = snapshot.pace(row);
      Key kept = row.key(row.heldMemory, row.heldCores, at);
      assertSame(kept, row.key(row.heldMemory, row.heldCores, at));
      assertNotSame(kept, row.key(row.heldMemory + 1, row.heldCores, at));
      assertNotSame(kept, row.key(row.heldMemory, row.heldCores + 1, at));
      Key again = row.key(row.heldMemory, row.heldCores, at);
      assertEquals(0, Key.compare(kept, again));
      if (untilOneEnds) {
        row.end(1, 1, 0, Long.MAX_VALUE / 2000, at);
        boolean gaveBack = row.quantum > 0;
        assertEquals(name, gaveBack, again != row.key(row.heldMemory, row.heldCores, at));
      }
    }
  }

  private static long cases(String name) {
    return Long.parseLong(name);
  }

  private static List<String> names(int count) {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      names.add("root.q" + i);
    }
    return names;
  }

  private static byte[] bytes(String hex) {
    byte[] bytes = new byte[hex.length() / 2];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
    }
    return bytes;
  }

  /** 128 bits against integers of any length. */
  @Test
  public void ratiosAreComparedExactly() {
    Random random = new Random(7);
    for (int i = 0; i < 200_000; i++) {
      Wide a = wide(random);
      Wide b = random.nextInt(3) == 0 ? a : wide(random);
      long weightOfA = weight(random);
      long weightOfB = random.nextInt(3) == 0 ? weightOfA : weight(random);
      int exact = a.big().multiply(big(weightOfB)).compareTo(b.big().multiply(big(weightOfA)));
      int ours = Wide.compareRatios(a, weightOfA, b, weightOfB);
      assertEquals(Integer.signum(exact), Integer.signum(ours));
      assertEquals(a.big().add(b.big()), a.plus(b).big());
      assertEquals(a.big().doubleValue(), a.approximate(), a.approximate() * 1e-15);
    }
  }

  private static java.math.BigInteger big(long number) {
    return java.math.BigInteger.valueOf(number);
  }

  private static Wide wide(Random random) {
    Wide wide = new Wide(random.nextLong() >>> 2, random.nextLong());
    return random.nextBoolean() ? wide : new Wide(0, wide.low >>> random.nextInt(64));
  }

  private static long weight(Random random) {
    return 1 + (random.nextInt(Integer.MAX_VALUE) >>> random.nextInt(31));
  }

  /** A child that holds so much. */
  static final class Child implements Schedulable {
    private final String name;
    private final Resource held;
    private final Resource wanted;

    Child(String name, long memory, long cores) {
      this.name = name;
      held = Resource.newInstance(memory, (int) cores);
      // The engine's order is one of queues that ask for something.
      wanted = Resource.newInstance(memory + 1, (int) cores + 1);
    }

    @Override
    public String getName() {
      return name;
    }

    @Override
    public Resource getDemand() {
      return wanted;
    }

    @Override
    public Resource getResourceUsage() {
      return held;
    }

    @Override
    public Resource getMinShare() {
      return Resource.newInstance(0, 0);
    }

    @Override
    public Resource getMaxShare() {
      return Resource.newInstance(Long.MAX_VALUE, Integer.MAX_VALUE);
    }

    @Override
    public float getWeight() {
      return 1;
    }

    @Override
    public long getStartTime() {
      return 0;
    }

    @Override
    public Priority getPriority() {
      return Priority.newInstance(1);
    }

    @Override
    public void updateDemand() {}

    @Override
    public Resource assignContainer(FSSchedulerNode node) {
      return Resource.newInstance(0, 0);
    }

    @Override
    public Resource getFairShare() {
      return held;
    }

    @Override
    public void setFairShare(Resource fairShare) {}

    @Override
    public boolean isPreemptable() {
      return true;
    }
  }
}
