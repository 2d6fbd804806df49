// Purpose: tasks that narrower ones overtook: in words, a row for each queue, and nodes over time.

Meed.overtaken = (() => {
  const { h } = Meed.dom;
  const { data, format } = Meed;
  /** Fewer times are not worth a section. */
  const NOTABLE = 10;
  const MOST_ROWS = 60;

  const of = (queue) => (queue.overtaken && queue.overtaken.most ? queue.overtaken : null);
  const rows = data.runs.flatMap((run) => run.queues.flatMap((queue) => (of(queue) ? [{ run, queue, ...of(queue) }] : [])))
    .sort((a, b) => b.most.times - a.most.times);
  const passed = rows.length > 0 && rows[0].most.times >= NOTABLE;
  const some = passed || Meed.gantt.some;

  const amount = ([name, value]) => {
    const { divisor } = format.amountUnit(name);
    return `${format.num(value / divisor, 4)} ${divisor > 1 ? "GiB of " + name : name}`;
  };
  const asks = (most) => Object.entries(most.demand).map(amount).join(", ");
  const by = (most) => most.by.slice(0, 3).map((one) => `${one.queue}: ${format.count(one.times)}`).join(", ") + (most.by.length > 3 ? ", …" : "");
  const helped = ({ with_reserve: run }) => (!run ? format.NONE : data.number(run.waited_s) ? format.time(run.waited_s) : "no earlier start");

  /** The elements of the section; what must be drawn anew with another theme goes to `register`. */
  function parts(register) {
    return [passed ? inWords() : null, Meed.gantt.some ? Meed.gantt.chart(register) : null];
  }

  function inWords() {
    const words = data.runs.filter((run) => run.overtaken)
      .map((run) => h("p", {}, data.runs.length > 1 ? h("b", {}, run.policy + ": ") : null, run.overtaken + "."));
    return [
      h("p", { class: "explain" }, "A task is overtaken when a narrower one, which began to wait later, starts before it: what it needs is never free on one node at once, and what comes free is used by others. How wide a task is: its largest part of the largest node. Whose turn it was is not asked. With when_blocked=reserve room is held for the task that is first in turn."),
      words,
      h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Overtaken tasks" }, Meed.figure.table({
        caption: rows.length > MOST_ROWS ? `The ${MOST_ROWS} queues of ${rows.length} whose tasks were overtaken most.` : "The task of each queue that was overtaken most.",
        head: ["Queue", ...(data.runs.length > 1 ? ["Policy"] : []), "Job", "Asks for", "Waited", "Overtaken", "By", "With reserve it waits", "Tasks overtaken", "Times in all"],
        rows: rows.slice(0, MOST_ROWS).map(({ run, queue, most, tasks, times }) => [queue.queue, ...(data.runs.length > 1 ? [run.policy] : []), String(most.job), asks(most),
          format.time(most.waited_s) + (data.number(most.started_s) ? "" : ", not started"), format.count(most.times), by(most), helped(most), format.count(tasks), format.count(times)]),
      })),
      h("p", { class: "explain" }, "With reserve it waits: the same run a second time, in which all is the same but when_blocked=reserve; made for the task that was overtaken most of all, where the run is short enough."),
    ];
  }

  return { some, parts };
})();
