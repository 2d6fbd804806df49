package org.meed.yarn;

import java.io.FileWriter;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.applicationhistoryservice.NullApplicationHistoryStore;
import org.apache.hadoop.yarn.server.applicationhistoryservice.records.ContainerFinishData;
import org.apache.hadoop.yarn.server.applicationhistoryservice.records.ContainerStartData;

/**
 * A store of YARN's own application history that writes a line for each container that starts or
 * ends: what {@code cargo xtask yarn daemons} holds the ledger against. It hears what Hadoop itself
 * notes, on a way of Hadoop's own: {@code yarn.timeline-service.generic-application-history}.
 */
public class Witness extends NullApplicationHistoryStore {
  /** The key of its file. */
  public static final String FILE = "meed-test.witness";

  private FileWriter out;

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    out = new FileWriter(conf.get(FILE) + "-" + System.currentTimeMillis(), true);
    super.serviceInit(conf);
  }

  private synchronized void line(String line) throws IOException {
    out.write(line + "\n");
    // The process is killed without a word.
    out.flush();
  }

  @Override
  public void containerStarted(ContainerStartData start) throws IOException {
    line("start " + start.getContainerId() + " " + start.getAllocatedResource().getMemorySize()
        + " " + start.getStartTime());
  }

  @Override
  public void containerFinished(ContainerFinishData end) throws IOException {
    line("end " + end.getContainerId() + " " + end.getFinishTime());
  }
}
