package org.meed.yarn;

import java.util.Comparator;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;

/**
 * Queues or applications of the Capacity Scheduler in their turn: keys are frozen as they are
 * added, then the smallest comes first. A heap, for mostly the first one is served and the others
 * are never asked for.
 */
final class Turns<T> implements Iterator<T> {
  private static final class Turn<T> {
    final T whose;
    final String name;
    final Key key;

    Turn(T whose, String name, Key key) {
      this.whose = whose;
      this.name = name;
      this.key = key;
    }
  }

  private final PriorityQueue<Turn<T>> heap;

  Turns(boolean lastFirst) {
    Comparator<Turn<T>> order = Turns::compare;
    heap = new PriorityQueue<>(lastFirst ? order.reversed() : order);
  }

  private static <T> int compare(Turn<T> a, Turn<T> b) {
    Policy.comparisons.increment();
    int key = Key.compare(a.key, b.key);
    return key != 0 ? key : a.name.compareTo(b.name);
  }

  void add(T whose, String name, Key key) {
    heap.add(new Turn<>(whose, name, key));
  }

  @Override
  public boolean hasNext() {
    return !heap.isEmpty();
  }

  @Override
  public T next() {
    Turn<T> turn = heap.poll();
    if (turn == null) {
      throw new NoSuchElementException();
    }
    return turn.whose;
  }
}
