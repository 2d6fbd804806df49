package org.meed.yarn;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** An open ledger of the native library. One thread asks at a time. */
final class Ledger implements AutoCloseable {
  private static final byte TEXT = 0;
  private static final byte ROWS = 1;
  private static final byte OVER = 3;

  private final long handle;
  private final String opened;

  private Ledger(long handle, String opened) {
    this.handle = handle;
    this.opened = opened;
  }

  /** Opens a ledger; the question is {@code open}. */
  static Ledger open(Json question) throws LedgerException {
    ByteBuffer answer = answered(Native.ask(0, question.bytes()), TEXT);
    long handle = answer.getLong();
    return new Ledger(handle, StandardCharsets.UTF_8.decode(answer).toString());
  }

  /** What was said when it was opened, in JSON. */
  String opened() {
    return opened;
  }

  /** What happened, told; or {@code rows}: rows of now. */
  ByteBuffer rows(Json question) throws LedgerException {
    return answered(Native.ask(handle, question.bytes()), ROWS);
  }

  /** A question that is answered in words or JSON. */
  String ask(Json question) throws LedgerException {
    ByteBuffer answer = answered(Native.ask(handle, question.bytes()), TEXT);
    return StandardCharsets.UTF_8.decode(answer).toString();
  }

  @Override
  public void close() {
    Native.close(handle);
  }

  private static ByteBuffer answered(byte[] answer, byte wanted) throws LedgerException {
    if (answer.length > 0 && answer[0] == wanted) {
      return ByteBuffer.wrap(answer, 1, answer.length - 1);
    }
    byte[] text = answer.length > 0 ? Arrays.copyOfRange(answer, 1, answer.length) : answer;
    boolean over = answer.length == 0 || answer[0] == OVER;
    throw new LedgerException(new String(text, StandardCharsets.UTF_8), over);
  }
}
