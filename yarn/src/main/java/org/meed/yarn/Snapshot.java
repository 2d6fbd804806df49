package org.meed.yarn;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The answer to a tick: rows by name. Immutable but for what ended since ({@link Row#end}). */
final class Snapshot {
  /** A leaf under the starvation guard. */
  static final class Guarded {
    final String queue;
    final Row row;
    /** Microseconds, at the tick. */
    final long waited;

    Guarded(String queue, Row row, long waited) {
      this.queue = queue;
      this.row = row;
      this.waited = waited;
    }
  }

  /** Until when events are in it: milliseconds of the ResourceManager's clock. */
  final long now;
  final long late;
  final long missed;
  final List<String> remarks = new ArrayList<>();
  /** Queues by full name, applications by their identity. */
  private final Map<String, Row> rows = new HashMap<>();
  private final Map<String, Row> newcomers = new ConcurrentHashMap<>();
  private Row any;
  /** Microseconds; -1: there is no guard. */
  final long tWait;
  final Map<String, Guarded> guarded = new HashMap<>();
  final long madeNanos = System.nanoTime();

  Snapshot(ByteBuffer in, List<String> queues) {
    now = in.getLong();
    late = in.getLong();
    missed = in.getLong();
    for (int i = in.getInt(); i > 0; i--) {
      remarks.add(text(in));
    }
    int count = in.getInt();
    for (int i = 0; i < count; i++) {
      put(queues.get(i), Row.read(in, i));
    }
    int apps = in.getInt();
    for (int i = 0; i < apps; i++) {
      String name = text(in);
      put(name, Row.read(in, i));
    }
    tWait = in.getLong();
    if (tWait >= 0) {
      for (int i = 0; i < count; i++) {
        long waited = in.getLong();
        Row row = Row.read(in, i);
        if (row != null) {
          guarded.put(queues.get(i), new Guarded(queues.get(i), row, waited));
        }
      }
    }
  }

  private void put(String name, Row row) {
    if (row != null) {
      rows.put(name, row);
      any = any == null ? row : any;
    }
  }

  private static String text(ByteBuffer in) {
    byte[] bytes = new byte[in.getInt()];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** The row of a queue or an application; null where it came since the tick. */
  Row row(String name) {
    return rows.get(name);
  }

  /** The row of one that came since the tick. */
  Row newcomer(String name, Row like, long weight) {
    Row known = newcomers.get(name);
    if (known == null) {
      known = like.newcomer(weight);
      newcomers.put(name, known);
    }
    return known;
  }

  /** Some row, as a pattern; null where there is none. */
  Row anyRow() {
    return any;
  }

  Map<String, Row> rows() {
    return rows;
  }

  /** A container has ended: its application, its leaf and all queues above give something back. */
  void end(String app, String queue, long memory, long cores, long since) {
    end(rows.get(app), memory, cores, since);
    if (queue == null) {
      return;
    }
    Guarded guard = guarded.get(queue);
    end(guard == null ? null : guard.row, memory, cores, since);
    String at = queue;
    while (true) {
      end(rows.get(at), memory, cores, since);
      int dot = at.lastIndexOf('.');
      if (dot < 0) {
        return;
      }
      at = at.substring(0, dot);
    }
  }

  private void end(Row row, long memory, long cores, long since) {
    if (row != null) {
      row.end(memory, cores, since, now);
    }
  }
}
