package org.meed.yarn.experiment;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What happened, a line each, in the order in which it did: microseconds since the beginning, what,
 * and the rest, parted by tabs. Containers are told by the ResourceManager itself, in the
 * scheduler's critical path.
 */
final class Journal implements AutoCloseable {
  private final PrintWriter out;
  private volatile long began;
  private boolean closed;

  Journal(Path file) throws IOException {
    out = new PrintWriter(Files.newBufferedWriter(file));
  }

  /** Time counts from now. */
  void begin() {
    began = System.nanoTime();
  }

  long began() {
    return began;
  }

  synchronized void tell(Object... words) {
    if (closed || began == 0) {
      return;
    }
    out.print((System.nanoTime() - began) / 1000);
    for (Object word : words) {
      out.print('\t');
      out.print(word);
    }
    out.println();
  }

  @Override
  public synchronized void close() {
    closed = true;
    out.close();
  }
}
