// Purpose: tables of jobs, queues and tasks. On a phone each row is a card: cells tell their own heads.

Meed.jobs = (() => {
  const { h, s, swatch } = Meed.dom;
  const { words, held, format, ask, theme } = Meed;

  /** columns: [{ head, cell(row), class? }]; the first names the row. */
  function grid(title, columns, rows, empty) {
    if (!rows.length) return h("p", { class: "empty" }, empty);
    return h("div", { class: "table-scroll tall grid", tabindex: 0, role: "region", "aria-label": title },
      h("table", {},
        h("thead", {}, h("tr", {}, columns.map((c) => h("th", { scope: "col", class: c.class }, c.head)))),
        h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((c, i) => (i
          ? h("td", { class: c.class, "data-head": c.head }, c.cell(row))
          : h("th", { scope: "row" }, c.cell(row)))))))));
  }

  const link = (to, text, key) => h("a", { href: to, "data-key": key }, text);
  const jobLink = (id) => link(`#/job/${id}`, `${words.job()} ${words.clean(id)}`, `job-${id}`);
  const queueLink = (name) => link(`#/queue/${ask.part(name)}`, words.clean(name), `queue-${name}`);

  const tasks = (job) => (job.tasks === 1 ? "1" : `${format.count(job.done + job.failed)} of ${format.count(job.tasks)}`);

  /** reasons: words for each job's number; without them there is no such column. */
  function list(title, jobs, empty, reasons) {
    const columns = [
      { head: words.job(), cell: (j) => jobLink(j.id) },
      { head: "State", cell: (j) => words.state(j.state) },
      // A pod's namespace and name are what it is called.
      ...(words.isCluster ? [] : [{ head: "Name", class: "name", cell: (j) => words.clean(j.name) }, { head: "User", cell: (j) => words.clean(j.user) }]),
      { head: "Queue", cell: (j) => queueLink(j.queue) },
      ...(words.isCluster ? [] : [{ head: "Tasks", class: "num", cell: tasks }]),
      { head: "Submitted", cell: (j) => h("span", { title: words.when(j.submitted_us) }, words.ago(j.submitted_us)) },
    ];
    if (reasons) columns.push({ head: "Why it waits", class: "why", cell: (j) => reasons[j.id] || "" });
    return grid(title, columns, jobs, empty);
  }

  /** How much a queue is owed (to the right) or owes, beside the largest of all. */
  function balance(value, most) {
    const part = most > 0 ? (Math.abs(value) / most) * 58 : 0;
    const fill = value < 0 ? theme.tenant(1).color : theme.tenant(0).color;
    return s("svg", { class: "balance", viewBox: "0 0 120 14", "aria-hidden": "true" },
      s("rect", { x: value < 0 ? 60 - part : 60, y: 2, width: part, height: 10, fill }), s("line", { class: "zero", x1: 60, y1: 0, x2: 60, y2: 14 }));
  }

  function queues(list, names) {
    const inTurn = [...list].sort((a, b) => (a.next ?? Infinity) - (b.next ?? Infinity) || b.held - a.held);
    const most = Math.max(0, ...list.map((q) => (q.books ? Math.abs(q.books.balance) : 0)));
    const book = (key) => (q) => (q.books ? words.hours(q.books[key], q.measured) : "");
    return grid("Queues", [
      { head: "Queue", cell: (q) => [swatch({ color: held.color(names, q.queue), band: true }), queueLink(q.queue)] },
      { head: "Next", class: "num", cell: (q) => (q.next === null ? "" : String(q.next + 1)) },
      { head: "Entitled", class: "num", cell: (q) => words.amount(q.share, q.measured) },
      { head: "Holds", class: "num", cell: (q) => words.amount(q.held, q.measured) },
      { head: "Waiting tasks", class: "num", cell: (q) => format.count(q.waiting_tasks) },
      { head: "Used", class: "num", cell: book("usage") },
      { head: "Lent less borrowed", cell: (q) => (q.books ? [balance(q.books.balance, most), book("balance")(q)] : "") },
      { head: "Rho", class: "num", cell: (q) => (q.books && q.books.rho !== null ? format.ratio(q.books.rho) : "") },
      { head: "Weight", class: "num", cell: (q) => format.num(q.weight) },
    ], inTurn, words.isCluster ? "There are no queues that you may see." : "There are no queues yet: each user's comes with the first job.");
  }

  function ofJob(shown, choose) {
    return grid("Tasks", [
      { head: "Task", cell: (t) => h("button", { type: "button", "data-key": `task-${t.index}`, onclick: () => choose(t.index) }, `Task ${t.index}`) },
      { head: "State", cell: (t) => words.state(t.running ? "running" : t.ended && t.words === "exit status 0" ? "done" : "failed") },
      { head: "Began", cell: (t) => words.when(t.began_us) },
      { head: "Ran", cell: (t) => (t.running ? words.ago(t.began_us).replace(" ago", "") : words.between(t.began_us, t.ended && t.ended.at.wall_us)) },
      { head: "End", cell: (t) => (t.running ? "" : words.clean(t.words)) },
      { head: "Attempt", class: "num", cell: (t) => String(t.attempt + 1) },
      { head: "GPUs", cell: (t) => t.gpus.join(", ") },
    ], Object.values(shown.task), "None of its tasks has begun.");
  }

  /** Where a pod runs, since when. */
  function ofPod(shown) {
    return grid("Node", [
      { head: "Node", cell: (t) => words.clean(t.node || "not placed yet") },
      { head: "Charged since", cell: (t) => words.when(t.began_us) },
      { head: "For", cell: (t) => words.ago(t.began_us).replace(" ago", "") },
    ], Object.values(shown.task), "It runs nowhere.");
  }

  return { list, queues, ofJob, ofPod, queueLink };
})();
