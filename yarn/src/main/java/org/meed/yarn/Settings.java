package org.meed.yarn;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/**
 * The keys of {@code yarn-site.xml}, as they are written: the native side knows what they mean.
 *
 * <p>{@code meed.yarn.policy.KEY} holds for the root and all queues, {@code
 * meed.yarn.queue.PATH.policy.KEY} for the children of one. Keys are those of scenarios.
 */
final class Settings {
  static final String PREFIX = "meed.yarn.";
  static final String POLICY = PREFIX + "policy.";
  static final String QUEUE = PREFIX + "queue.";
  static final String FOLDER = PREFIX + "ledger-dir";
  static final String INTERVAL = PREFIX + "interval-ms";
  static final String NATIVE = PREFIX + "native-library";
  static final String EXACT = PREFIX + "exact-events";
  static final String KEEP_DAYS = PREFIX + "keep-days";
  static final String DRY_RUN = PREFIX + "reclaim-dry-run";
  static final String CLAIM = PREFIX + "claim-ms";
  private static final String OF_QUEUE = ".policy.";

  private static final List<String> KEYS =
      List.of(FOLDER, INTERVAL, KEEP_DAYS, EXACT, NATIVE, DRY_RUN, CLAIM);

  /** A queue, as it is configured. */
  static final class Queue {
    final String name;
    final long weight;

    Queue(String name, double weight) {
      this.name = name;
      this.weight = Math.max(1, Math.round(weight * 1000.0));
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Queue && ((Queue) other).name.equals(name)
          && ((Queue) other).weight == weight;
    }

    @Override
    public int hashCode() {
      return name.hashCode();
    }
  }

  final long intervalMillis;
  final String folder;
  final String nativeLibrary;
  final boolean exactEvents;
  /** What would be taken back is only said. */
  final boolean reclaimsDry;
  /** How long a queue whose master has just started keeps its claim on what is free; 0: none. */
  final long claimMillis;
  private final String keepDays;
  private final Map<String, String> policy = new TreeMap<>();
  private final Map<String, Map<String, String>> ofQueues = new TreeMap<>();

  Settings(Configuration conf) throws LedgerException {
    intervalMillis = number(conf, INTERVAL, 1000, 10, 3_600_000);
    folder = conf.getTrimmed(FOLDER);
    nativeLibrary = conf.getTrimmed(NATIVE);
    exactEvents = flag(conf, EXACT, true);
    reclaimsDry = flag(conf, DRY_RUN, false);
    claimMillis = number(conf, CLAIM, 10_000, 0, 3_600_000);
    keepDays = conf.getTrimmed(KEEP_DAYS) == null
        ? null : Long.toString(number(conf, KEEP_DAYS, 90, 1, 36_500));
    for (Map.Entry<String, String> entry : conf.getPropsWithPrefix(PREFIX).entrySet()) {
      read(entry.getKey(), entry.getValue().trim());
    }
  }

  private void read(String key, String value) throws LedgerException {
    String full = PREFIX + key;
    if (full.startsWith(POLICY)) {
      policy.put(full.substring(POLICY.length()), value);
    } else if (full.startsWith(QUEUE) && full.lastIndexOf(OF_QUEUE) > QUEUE.length()) {
      int at = full.lastIndexOf(OF_QUEUE);
      String queue = full.substring(QUEUE.length(), at);
      ofQueues.computeIfAbsent(queue, name -> new TreeMap<>())
          .put(full.substring(at + OF_QUEUE.length()), value);
    } else if (!KEYS.contains(full)) {
      throw new LedgerException("unknown key " + full + "; there are " + POLICY + "KEY, " + QUEUE
          + "PATH.policy.KEY, " + String.join(", ", KEYS), false);
    }
  }

  private static boolean flag(Configuration conf, String key, boolean usual)
      throws LedgerException {
    String text = conf.getTrimmed(key, Boolean.toString(usual));
    if (!text.equals("true") && !text.equals("false")) {
      throw new LedgerException(key + " is true or false, not \"" + text + "\"", false);
    }
    return text.equals("true");
  }

  private static long number(Configuration conf, String key, long usual, long least, long most)
      throws LedgerException {
    String text = conf.getTrimmed(key);
    if (text == null) {
      return usual;
    }
    try {
      long number = Long.parseLong(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new LedgerException(key + " is a whole number from " + least + " to " + most + ", not \""
        + text + "\"", false);
  }

  /** As the native side reads them. */
  void write(Json json, List<Queue> queues) {
    json.object();
    keys(json, policy);
    json.key("queues").array();
    for (Queue queue : queues) {
      json.object().key("name").value(queue.name).key("weight").value(queue.weight);
      Map<String, String> own = ofQueues.get(queue.name);
      if (own != null) {
        keys(json, own);
      }
      json.endObject();
    }
    json.endArray();
    if (keepDays != null) {
      json.key("keep_days").value(Long.parseLong(keepDays));
    }
    json.endObject();
  }

  private static void keys(Json json, Map<String, String> keys) {
    json.key("policy").array();
    for (Map.Entry<String, String> entry : keys.entrySet()) {
      json.array().value(entry.getKey()).value(entry.getValue()).endArray();
    }
    json.endArray();
  }

  /** Whether containers are taken back, or would be. */
  boolean reclaims() {
    return policy.keySet().stream().anyMatch(key -> key.startsWith("reclaim"));
  }

  /** Whether cores are part of what is counted, of all queues or of some. */
  boolean countsCores() {
    return countsCores(policy) || ofQueues.values().stream().anyMatch(Settings::countsCores);
  }

  private static boolean countsCores(Map<String, String> keys) {
    return keys.getOrDefault("order", "").endsWith("drf")
        || keys.getOrDefault("resource", "").equals("cpu")
        || keys.getOrDefault("prices", "").contains("cpu");
  }

  /** Names of queues that have keys of their own, and are not among {@code queues}. */
  List<String> unknown(List<Queue> queues) {
    List<String> unknown = new ArrayList<>();
    for (String name : ofQueues.keySet()) {
      if (!name.equals("root") && queues.stream().noneMatch(queue -> queue.name.equals(name))) {
        unknown.add(name);
      }
    }
    return unknown;
  }
}
