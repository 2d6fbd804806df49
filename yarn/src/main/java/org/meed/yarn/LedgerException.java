package org.meed.yarn;

/** Why the ledger did not answer. */
final class LedgerException extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean over;

  LedgerException(String message, boolean over) {
    super(message);
    this.over = over;
  }

  /** Whether the ledger cannot go on; otherwise nothing has changed, and it does. */
  boolean isOver() {
    return over;
  }
}
