package org.meed.yarn.experiment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The workload, as the simulator drew it: {@code cargo xtask yarn experiment} writes it.
 *
 * <p>Lines of fields parted by tabs. A job: {@code job}, its number, its queue, its chain or -1,
 * and when it is submitted, in seconds from the beginning; of a chain's later jobs, from the end
 * of the job before. Its stages follow: {@code stage}, the number of the application in the job
 * that runs it, and the seconds of each of its tasks, parted by commas.
 */
final class Plan {
  /** Equal containers, all asked for at once. */
  static final class Stage {
    final int application;
    final double[] seconds;

    Stage(int application, double[] seconds) {
      this.application = application;
      this.seconds = seconds;
    }
  }

  /** A job: one application, or, of Hive, one for each pair of map and reduce. */
  static final class Job {
    final int number;
    final String queue;
    final int chain;
    final double seconds;
    final List<Stage> stages = new ArrayList<>();

    Job(int number, String queue, int chain, double seconds) {
      this.number = number;
      this.queue = queue;
      this.chain = chain;
      this.seconds = seconds;
    }
  }

  /** Jobs that come by themselves. */
  final List<Job> open = new ArrayList<>();
  /** Jobs that follow each other. */
  final Map<Integer, List<Job>> chains = new LinkedHashMap<>();
  final List<String> queues = new ArrayList<>();
  int jobs;

  static Plan read(Path file) throws IOException {
    Plan plan = new Plan();
    Job job = null;
    for (String line : Files.readAllLines(file)) {
      String[] words = line.split("\t");
      switch (words[0]) {
        case "job":
          job = new Job(Integer.parseInt(words[1]), words[2], Integer.parseInt(words[3]),
              Double.parseDouble(words[4]));
          plan.add(job);
          break;
        case "stage":
          String[] times = words[2].split(",");
          double[] seconds = new double[times.length];
          for (int i = 0; i < times.length; i++) {
            seconds[i] = Double.parseDouble(times[i]);
          }
          job.stages.add(new Stage(Integer.parseInt(words[1]), seconds));
          break;
        default:
          throw new IOException(file + ": a line is \"" + words[0] + "\", not job or stage");
      }
    }
    return plan;
  }

  private void add(Job job) {
    jobs++;
    if (!queues.contains(job.queue)) {
      queues.add(job.queue);
    }
    if (job.chain < 0) {
      open.add(job);
    } else {
      chains.computeIfAbsent(job.chain, chain -> new ArrayList<>()).add(job);
    }
  }
}
