package org.meed.yarn;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/** The native library: what counts. It is loaded once in a process. */
final class Native {
  /** Both sides speak this version; see crates/meed-yarn/src/lib.rs. */
  static final int PROTOCOL = 5;
  private static int spoken = PROTOCOL;

  private static String loadedFrom;

  private Native() {}

  static native int protocol();

  /** Answers a question to a ledger; see crates/meed-yarn/src/worker.rs. */
  static native byte[] ask(long ledger, byte[] question);

  static native void close(long ledger);

  /**
   * Loads the library: the one at {@code path}, or, where that is null, the jar's own for this
   * platform.
   */
  static synchronized void load(String path) throws LedgerException {
    if (loadedFrom == null) {
      try {
        String from = path != null ? path : unpacked().toString();
        System.load(from);
        loadedFrom = from;
      } catch (IOException | LinkageError e) {
        throw new LedgerException("the native library cannot be loaded: " + e.getMessage(), true);
      }
    }
    int theirs;
    try {
      theirs = protocol();
    } catch (LinkageError e) {
      throw new LedgerException(
          "the native library at " + loadedFrom + " is another one: " + e.getMessage(), true);
    }
    if (theirs != spoken) {
      throw new LedgerException("the native library speaks version " + theirs
          + " of the protocol, this jar version " + spoken + ": use both from one build", true);
    }
  }

  /** For tests: the next one to load is looked for anew. */
  static synchronized void forget() {
    loadedFrom = null;
  }

  /** For tests: as if this jar spoke another version. */
  static synchronized void speak(int version) {
    spoken = version;
  }

  private static Path unpacked() throws IOException {
    String arch = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
    String platform = System.getProperty("os.name").toLowerCase(Locale.ROOT) + "-"
        + (arch.equals("amd64") ? "x86_64" : arch);
    String resource = "native/" + platform + "/libmeed_yarn.so";
    try (InputStream in = Native.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IOException("this jar has none for " + platform);
      }
      Path file = Files.createTempFile("libmeed_yarn", ".so");
      Files.copy(in, file, StandardCopyOption.REPLACE_EXISTING);
      file.toFile().deleteOnExit();
      return file;
    }
  }
}
