package org.meed.yarn;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Rows by name, as of a tick: those of the tick before, but for what the answer tells anew.
 *
 * <p>Rows are shared between ticks, places of names too; an array of rows is each snapshot's own.
 * So a comparator that works with the last one is not disturbed. Immutable but for what ended since
 * ({@link Row#end}): of that the next snapshot gets rid ({@link #takeOver}). Cost of a tick: a copy
 * of an array, and a row for each that changed.
 */
final class Snapshot {
  /** A leaf under the starvation guard. */
  static final class Guarded {
    final String queue;
    /** What it has used, by weight 1. */
    final Row row;
    final Entitlement entitled;
    /** Since when it has waited: microseconds since 1970. */
    final long since;

    Guarded(String queue, Row row, Entitlement entitled, long since) {
      this.queue = queue;
      this.row = row;
      this.entitled = entitled;
      this.since = since;
    }

    Guarded withoutEnds() {
      return new Guarded(queue, row.withoutEnds(), entitled, since);
    }
  }

  /** So many names of applications that are over are kept at least before they are dropped. */
  private static final int FORGOTTEN = 1024;

  /** Until when events are in it: milliseconds of the ResourceManager's clock. */
  final long now;
  final long late;
  final long missed;
  final List<String> remarks = new ArrayList<>();
  /** Whether all rows were told, so that names may be others. */
  final boolean whole;
  /** How many rows were told. */
  final int told;
  private final List<String> queues;
  /** Places by name: of queues by their full name first, then of applications. */
  private final Map<String, Integer> places;
  private Row[] rows;
  /**
   * What queues hold, by place: mebibytes and cores; -1 where there is no row. It goes from one
   * snapshot to the next, and only who makes them looks at it.
   */
  private final long[] heldMemory;
  private final long[] heldCores;
  private int used;
  private int forgotten;
  private final Row.Pace[] paces;
  /** By queue; empty where there is no guard. */
  private final Guarded[] guarded;
  private final Map<String, Row> newcomers = new ConcurrentHashMap<>();
  /** Where something ended since the tick: places of rows, and of leaves under guard. */
  private final List<Integer> ended = new ArrayList<>();
  private final List<Integer> endedGuarded = new ArrayList<>();
  private Row any;
  /** Microseconds; -1: there is no guard. */
  final long tWait;
  final long madeNanos = System.nanoTime();

  /** The answer {@code in}, after {@code last}, or after none; queues as they were declared. */
  Snapshot(ByteBuffer in, Snapshot last, List<String> queues) {
    this.queues = queues;
    now = in.getLong();
    late = in.getLong();
    missed = in.getLong();
    for (int i = in.getInt(); i > 0; i--) {
      remarks.add(text(in));
    }
    whole = in.get() != 0;
    int count = in.getInt();
    if (count != queues.size() || last == null && !whole) {
      throw new IllegalStateException("rows of " + count + " queues, not " + queues.size()
          + ", or some rows before all");
    }
    places = whole ? new ConcurrentHashMap<>(2 * count) : last.places;
    rows = whole ? new Row[count] : last.rows.clone();
    heldMemory = whole ? absent(count) : last.heldMemory;
    heldCores = whole ? absent(count) : last.heldCores;
    used = whole ? count : last.used;
    forgotten = whole ? 0 : last.forgotten;
    if (whole) {
      for (int i = 0; i < count; i++) {
        places.put(queues.get(i), i);
      }
    }
    int some = in.getInt();
    for (int i = 0; i < some; i++) {
      int place = in.getInt();
      Row row = Row.read(in, place);
      rows[place] = row;
      heldMemory[place] = row == null ? -1 : row.heldMemory;
      heldCores[place] = row == null ? -1 : row.heldCores;
    }
    told = some + applications(in);
    tWait = in.getLong();
    guarded = tWait < 0 ? new Guarded[0] : guarded(in, last, count);
    paces = new Row.Pace[in.getInt()];
    for (int i = 0; i < paces.length; i++) {
      long time = in.getLong();
      paces[i] = new Row.Pace(time, in.getLong());
    }
    any = Arrays.stream(rows).filter(row -> row != null).findFirst().orElse(null);
  }

  private static long[] absent(int count) {
    long[] held = new long[count];
    Arrays.fill(held, -1);
    return held;
  }

  private int applications(ByteBuffer in) {
    for (int i = in.getInt(); i > 0; i--) {
      Integer place = places.remove(text(in));
      if (place != null) {
        rows[place] = null;
        forgotten++;
      }
    }
    int apps = in.getInt();
    for (int i = 0; i < apps; i++) {
      String name = text(in);
      Integer known = places.get(name);
      int place = known == null ? used++ : known;
      if (place >= rows.length) {
        rows = Arrays.copyOf(rows, place + Math.max(16, place / 8));
      }
      rows[place] = Row.read(in, -1);
      if (known == null) {
        places.put(name, place);
      }
    }
    return apps;
  }

  private Guarded[] guarded(ByteBuffer in, Snapshot last, int count) {
    Guarded[] all = whole ? new Guarded[count] : last.guarded.clone();
    for (int i = in.getInt(); i > 0; i--) {
      int place = in.getInt();
      long since = in.getLong();
      Entitlement entitled = Entitlement.read(in);
      Row row = Row.read(in, place);
      all[place] = row == null ? null : new Guarded(queues.get(place), row, entitled, since);
    }
    return all;
  }

  private static String text(ByteBuffer in) {
    byte[] bytes = new byte[in.getInt()];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /**
   * Rows that are still {@code last}'s lose what ended since its tick: who publishes this one tells
   * anew what is not in it. Under the lock under which ends are told.
   */
  void takeOver(Snapshot last) {
    if (last == null || whole) {
      return;
    }
    for (int place : last.ended) {
      if (rows[place] != null && rows[place] == last.rows[place]) {
        rows[place] = rows[place].withoutEnds();
      }
    }
    for (int place : last.endedGuarded) {
      Guarded it = guarded[place];
      if (it != null && it == last.guarded[place]) {
        guarded[place] = it.withoutEnds();
      }
    }
  }

  /** Whether so many names are of applications that are over that all rows are to be told anew. */
  boolean isLittered() {
    return forgotten > Math.max(FORGOTTEN, used - forgotten);
  }

  /** The row of a queue or an application; null where it came since the tick. */
  Row row(String name) {
    Integer place = places.get(name);
    // A name may be newer than this snapshot.
    return place == null || place >= rows.length ? null : rows[place];
  }

  /** What a row of this snapshot moves by. */
  Row.Pace pace(Row row) {
    return paces[row.pace];
  }

  /** What is charged to a row of this snapshot (of a scalar, or of memory). */
  Wide charged(Row row) {
    return row.charged(0, pace(row));
  }

  /**
   * Whether the queue in that place held so much at the tick, or has no row. Of the last snapshot
   * only.
   */
  boolean holds(int place, long memory, long cores) {
    return heldMemory[place] == memory && heldCores[place] == cores || heldMemory[place] < 0;
  }

  /** Mebibytes of the queue in that place; none where it has no row. */
  long heldMemory(int place) {
    return Math.max(0, heldMemory[place]);
  }

  /** The same of virtual cores. */
  long heldCores(int place) {
    return Math.max(0, heldCores[place]);
  }

  /** What it held, in words. */
  String held(int place) {
    return "ledger " + heldMemory[place] + " MB and " + heldCores[place] + " cores";
  }

  /** What the guard knows of a leaf; null where it is none, or came since the tick. */
  Guarded guarded(String queue) {
    Integer place = places.get(queue);
    return place == null || place >= guarded.length ? null : guarded[place];
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

  /** Queues, as they were declared. */
  List<String> queues() {
    return queues;
  }

  /** All names with a row; those of the guard have a mark before them. For tests. */
  Map<String, Row> all() {
    Map<String, Row> all = new HashMap<>();
    places.forEach((name, place) -> {
      if (rows[place] != null) {
        all.put(name, rows[place]);
      }
    });
    for (Guarded it : guarded) {
      if (it != null) {
        Entitlement of = it.entitled;
        String entitled = of.part + "/" + of.whole;
        all.put("guard " + it.since + " " + entitled + " " + it.queue, it.row);
      }
    }
    return all;
  }

  /** A container has ended: its application, its leaf and all queues above give something back. */
  void end(String app, String queue, long memory, long cores, long since) {
    end(app, memory, cores, since);
    if (queue == null) {
      return;
    }
    Guarded guard = guarded(queue);
    if (guard != null) {
      guard.row.end(memory, cores, since, now, pace(guard.row));
      endedGuarded.add(places.get(queue));
    }
    String at = queue;
    while (true) {
      end(at, memory, cores, since);
      int dot = at.lastIndexOf('.');
      if (dot < 0) {
        return;
      }
      at = at.substring(0, dot);
    }
  }

  private void end(String name, long memory, long cores, long since) {
    Row row = row(name);
    if (row != null) {
      row.end(memory, cores, since, now, pace(row));
      ended.add(places.get(name));
    }
  }
}
