package org.meed.yarn.experiment;

/** What an experiment is run with; times are those of the papers' cluster, before scaling. */
final class Settings {
  /** How many seconds of the papers' cluster pass in one of ours. */
  double scale = 20;
  /** {@code fair} or the class of another policy of the root. */
  String policy = "fair";
  /** Each queue holds its share at most. */
  boolean partitioned;
  /** All jobs in one queue: fairness among applications, not among workloads. */
  boolean flat;
  int nodes = 59;
  int nodeMegabytes = 4096;
  int nodeCores = 2;
  int containerMegabytes = 2048;
  /** How much of its share a queue's masters may hold: Hadoop's default; 2.2 had no such limit. */
  double mastersShare = 0.5;
  double heartbeatSeconds = 1;
  double masterSeconds = 4;
  String ledger = "";
  /** The starvation guard of the root, in seconds; below zero: none. */
  double tWaitSeconds = -1;
  /** Where not all jobs are waited for: when the run ends. */
  double untilSeconds = Double.POSITIVE_INFINITY;

  static Settings of(String[] arguments) {
    Settings settings = new Settings();
    for (String argument : arguments) {
      String[] words = argument.split("=", 2);
      settings.set(words[0], words.length > 1 ? words[1] : "");
    }
    return settings;
  }

  private void set(String key, String value) {
    switch (key) {
      case "scale":
        scale = Double.parseDouble(value);
        break;
      case "policy":
        policy = value;
        break;
      case "partitioned":
        partitioned = Boolean.parseBoolean(value);
        break;
      case "flat":
        flat = Boolean.parseBoolean(value);
        break;
      case "nodes":
        nodes = Integer.parseInt(value);
        break;
      case "heartbeat":
        heartbeatSeconds = Double.parseDouble(value);
        break;
      case "master":
        masterSeconds = Double.parseDouble(value);
        break;
      case "masters-share":
        mastersShare = Double.parseDouble(value);
        break;
      case "t-wait":
        tWaitSeconds = Double.parseDouble(value);
        break;
      case "until":
        untilSeconds = Double.parseDouble(value);
        break;
      case "ledger":
        ledger = value;
        break;
      default:
        throw new IllegalArgumentException("no setting is called \"" + key + "\"");
    }
  }

  /** So many seconds of the papers' cluster, in nanoseconds of ours. */
  long nanos(double seconds) {
    return (long) (seconds * 1e9 / scale);
  }

  /** The same in milliseconds, at least one. */
  long millis(double seconds) {
    return Math.max(1, Math.round(seconds * 1e3 / scale));
  }
}
