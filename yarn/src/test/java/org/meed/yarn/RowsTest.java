package org.meed.yarn;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AppSchedulingInfo;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMAppState;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;
import org.junit.Test;

/**
 * Rows that ticks told bit by bit are all rows: random histories of the real Fair Scheduler. The
 * slow twin is the ledger asked for everything at once.
 */
public class RowsTest extends VirtualCluster {
  private static final String[] LEAVES = {"a", "b.c", "b.d", "e", "f"};

  /** The first one is the application's own. */
  private static final Pattern WAITING = Pattern.compile("\"waiting\":(\\d+)");

  private final List<ApplicationAttemptId> apps = new ArrayList<>();

  private static String queues(Random random, boolean more) {
    return "<queue name=\"a\"><weight>" + (1 + random.nextInt(5)) + "</weight></queue>"
        + "<queue name=\"b\"><queue name=\"c\"/><queue name=\"d\"/></queue>" + queue("e")
        + queue("f") + (more ? queue("g") + queue("h") : "");
  }

  private static Map<String, String> told(Snapshot snapshot) {
    Map<String, String> told = new TreeMap<>();
    snapshot.all().forEach((name, row) -> told.put(name, row.told(snapshot.pace(row))));
    return told;
  }

  private void step(Random random) throws Exception {
    switch (random.nextInt(9)) {
      case 0:
        if (apps.size() < 12) {
          apps.add(createSchedulingRequest(1024 * (1 + random.nextInt(3)), 1,
              "root." + LEAVES[random.nextInt(LEAVES.length)], "u", 1 + random.nextInt(4), 1));
        }
        break;
      case 1:
        if (!apps.isEmpty()) {
          release(apps.get(random.nextInt(apps.size())));
        }
        break;
      case 2:
        if (!apps.isEmpty() && random.nextInt(3) == 0) {
          ApplicationAttemptId app = apps.remove(random.nextInt(apps.size()));
          scheduler.handle(new AppAttemptRemovedSchedulerEvent(app, RMAppAttemptState.FINISHED,
              false));
          scheduler.handle(new AppRemovedSchedulerEvent(app.getApplicationId(),
              RMAppState.FINISHED));
        }
        break;
      case 3:
        if (random.nextInt(4) == 0) {
          allocations(OURS, queues(random, random.nextBoolean()));
          scheduler.reinitialize(conf, resourceManager.getRMContext());
        }
        break;
      case 4:
        if (!apps.isEmpty()) {
          askAnew(random, apps.get(random.nextInt(apps.size())));
        }
        break;
      default:
        scheduler.update();
        beat(random.nextInt(4));
    }
  }

  /** What the ledger says of an application that waits is what the scheduler says. */
  private void assertAsked(String what) throws Exception {
    for (ApplicationAttemptId app : apps) {
      String why = told("Why." + app.getApplicationId());
      Matcher waiting = WAITING.matcher(why);
      assertTrue(what + ": " + why, waiting.find());
      long asked = 0;
      AppSchedulingInfo info = scheduler.getSchedulerApp(app).getAppSchedulingInfo();
      for (SchedulerRequestKey key : info.getSchedulerKeys()) {
        asked += info.getPendingAsk(key).getCount();
      }
      assertEquals(what + ": " + app, asked, Long.parseLong(waiting.group(1)));
    }
  }

  private void askAnew(Random random, ApplicationAttemptId app) {
    ResourceRequest ask = createResourceRequest(1024 * (1 + random.nextInt(2)), 1,
        ResourceRequest.ANY, 1 + random.nextInt(2), random.nextInt(5), true);
    List<ResourceRequest> asks = new ArrayList<>();
    asks.add(ask);
    scheduler.allocate(app, asks, null, Collections.emptyList(), null, null,
        new ContainerUpdates());
  }

  private long history(int seed, String... settings) throws Exception {
    Random random = new Random(seed);
    keys.clear();
    apps.clear();
    ledger = null;
    for (int i = 0; i < settings.length; i += 2) {
      keys.put("meed.yarn.policy." + settings[i], settings[i + 1]);
    }
    up(OURS, queues(random, false));
    addNode(16 * 1024, 16);
    tick();
    long rows = 0;
    for (int i = 0; i < 120; i++) {
      step(random);
      if (random.nextInt(3) > 0) {
        clock.tickSec(random.nextInt(10) == 0 ? 25 : 1 + random.nextInt(2));
        tick();
        String what = "seed " + seed + ", " + keys + ", step " + i;
        assertEquals(what, told(ledger.whole()), told(ledger.snapshot()));
        assertAsked(what);
        rows += ledger.snapshot().whole ? 0 : ledger.snapshot().told;
      }
    }
    down();
    return rows;
  }

  @Test
  public void whatTicksTellIsAllThereIs() throws Exception {
    String[][] policies = {{}, {"half-life", "20s"}, {"round", "30s"}, {"t-wait", "3s"},
        {"order", "long-term-drf", "t-wait", "0s", "half-life", "1min"},
        {"quantum", "adaptive", "newcomer", "early-bird", "round", "1min"}};
    long rows = 0;
    for (int seed = 0; seed < policies.length; seed++) {
      rows += history(seed, policies[seed]);
    }
    assertTrue("some ticks told some rows", rows > 100);
  }
}
