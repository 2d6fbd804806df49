// Purpose: the three pages: all of the machine, one queue, one job. Each is { title, load(), show(root) }; `load` asks,
// `show` puts what is known on the page.

Meed.views = (() => {
  const { h } = Meed.dom;
  const { ask, words, held, jobs, format } = Meed;
  const REASONS = 15;
  const TAIL = 16384;

  const facts = (rows) => h("dl", { class: "facts" }, rows.filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
  const crumbs = (...parts) => h("nav", { class: "crumbs", "aria-label": "Where you are" }, h("a", { href: "#/", "data-key": "home" }, "All queues"), ...parts.flatMap((p) => [h("span", { "aria-hidden": "true" }, "/"), h("span", {}, p)]));
  const many = () => (words.isCluster ? "pods" : "jobs");
  /** What has ended, where that is kept. */
  const lately = (area) => (words.isCluster ? [] : [h("h2", {}, "Lately ended"), area]);
  const names = (queues) => queues.map((q) => q.queue);

  /** Answers by their names, once all have come. */
  const together = async (asked) => Object.fromEntries(await Promise.all(Object.entries(asked).map(async ([name, answer]) => [name, await answer])));
  const listed = (query) => ask.get(`/v1/jobs?${query}`);
  /** A list that is always empty of a cluster: no pod is held or waits for another one, and what has ended is not kept. */
  const listedHere = (query) => (words.isCluster ? { jobs: [], next: null } : listed(query));

  /** Over-time data with its span; a chart that lives as long as its page. */
  function timeline(only) {
    const state = { span: "day", history: null, names: [], chart: null };
    state.load = async () => { state.history = await ask.get(`/v1/history?span=${state.span}`); };
    state.element = (queues) => {
      state.names = names(queues);
      if (!state.chart) {
        state.chart = held.chart(() => state, async (span) => { state.span = span; await state.load(); state.chart.redraw(); }, only);
      }
      return state.chart.element;
    };
    state.redraw = () => state.chart && state.chart.redraw();
    return state;
  }

  /** Reasons of the first waiting jobs that may be asked about. */
  async function reasons(list, me) {
    const mine = list.filter((j) => me.role !== "tenant" || words.isCluster || j.user === me.user).slice(0, REASONS);
    const told = await Promise.all(mine.map((j) => ask.get(`/v1/jobs/${ask.part(j.id)}/why`).catch(() => null)));
    const out = {};
    told.forEach((one, i) => { if (one) out[mine[i].id] = words.why(one).join(" ") || "It starts with the next turn."; });
    return { words: out, first: told.find((one) => one && one.standing && one.standing.levels.length) || null };
  }

  function overview(me) {
    const over = timeline(null);
    let data = null;
    const areas = { head: h("div"), now: h("div"), queues: h("div"), waiting: h("div"), running: h("div"), ended: h("div") };
    async function load() {
      const { cluster, queues, waiting, after, kept, running, ended } = await together({
        cluster: ask.get("/v1/cluster"), queues: ask.get("/v1/queues"), history: over.load(),
        waiting: listed("state=waiting&limit=100"), after: listedHere("state=after&limit=100"), kept: listedHere("state=held&limit=100"),
        running: listed("state=running&limit=100"), ended: listedHere("ended=true&limit=20") });
      waiting.next = waiting.next || after.next || kept.next;
      waiting.jobs.push(...after.jobs, ...kept.jobs);
      data = { cluster, queues: queues.queues, waiting, running, ended, why: await reasons(waiting.jobs, me) };
    }
    function fill() {
      const { cluster, queues, waiting, running, ended, why } = data;
      const node = cluster.nodes[0];
      const measured = queues.length ? queues[0].measured : node.resources[0].resource;
      const all = node.resources.find((r) => r.resource === measured) || { has: 0, held: 0 };
      const next = queues.find((q) => q.next === 0);
      areas.head.replaceChildren(facts([
        words.isCluster ? ["Nodes", format.count(cluster.node_count)] : ["Machine", words.clean(node.node)],
        ...node.resources.filter((r) => r.has > 0).map((r) => [r.resource === "cpu" ? "processors" : r.resource, `${words.amount(r.held, r.resource)} held, ${words.amount(r.free, r.resource)} free`]),
        [words.isCluster ? "Open pods" : "Open jobs", format.count(cluster.open_jobs)],
        ["Order", words.clean(cluster.policy)],
      ]));
      areas.now.replaceChildren(held.now(queues, names(queues), all.has, measured, all.held));
      const order = words.order(why.first) || (next ? `${words.clean(next.queue)} is served next.` : "Nothing waits: whatever comes starts at once where it fits.");
      areas.queues.replaceChildren(h("p", { class: "lead" }, order), jobs.queues(queues, names(queues)));
      const more = waiting.next ? `The newest ${waiting.jobs.length} are shown.` : null;
      areas.waiting.replaceChildren(...[more ? h("p", { class: "note" }, more) : null, jobs.list(`Waiting ${many()}`, waiting.jobs, "Nothing waits.", why.words)].filter(Boolean));
      areas.running.replaceChildren(jobs.list(`Running ${many()}`, running.jobs, "Nothing runs."));
      areas.ended.replaceChildren(jobs.list("Ended jobs", ended.jobs.filter((j) => j.ended_us), "Nothing has ended yet."));
    }
    return {
      title: "Who holds what",
      load,
      show(root) {
        fill();
        root.replaceChildren(areas.head,
          h("h2", {}, "Now"), areas.now, over.element(data.queues),
          h("h2", {}, "Queues"), areas.queues,
          h("h2", {}, "Waiting"), areas.waiting, h("h2", {}, "Running"), areas.running, ...lately(areas.ended));
      },
      update: fill,
      slow: over.redraw,
    };
  }

  function queue(name, me) {
    const over = timeline(name);
    let data = null;
    const areas = { head: h("div"), open: h("div"), ended: h("div") };
    async function load() {
      const own = `queue=${ask.part(name)}`;
      const { all, open, ended } = await together({ all: ask.get("/v1/queues"), history: over.load(),
        open: listed(own + "&limit=200"), ended: listedHere(own + "&ended=true&limit=50") });
      const one = all.queues.find((q) => q.queue === name);
      if (!one) throw new ask.Refused(404, "There is no such queue.");
      const waiting = open.jobs.filter((j) => j.state !== "running");
      data = { all: all.queues, one, open: open.jobs, waiting, ended: ended.jobs.filter((j) => j.ended_us), why: await reasons(waiting, me) };
    }
    function fill() {
      const { one } = data;
      const b = one.books;
      areas.head.replaceChildren(facts([
        ["Served next", one.next === null ? "nothing waits" : one.next === 0 ? "yes" : `after ${words.plural(one.next, "other", "others")}`],
        ["Entitled to", words.amount(one.share, one.measured)], ["Holds", words.amount(one.held, one.measured)],
        ["Holds and waits for", words.amount(one.demand, one.measured)], ["Weight", format.num(one.weight)],
        b && ["Used", words.hours(b.usage, one.measured)], b && ["Lent less borrowed", words.hours(b.balance, one.measured)],
        b && b.rho !== null && ["Rho", format.ratio(b.rho)],
      ]), b ? "" : h("p", { class: "note" }, "What others have used is theirs to see."));
      areas.open.replaceChildren(jobs.list(`${words.job()}s of the queue`, data.open, `It has no ${many()} now.`, data.why.words));
      areas.ended.replaceChildren(jobs.list("Ended jobs of the queue", data.ended, "None has ended yet."));
    }
    return {
      title: "Queue " + words.clean(name),
      load,
      show(root) {
        fill();
        root.replaceChildren(crumbs(words.clean(name)), areas.head, over.element(data.all),
          h("h2", {}, `${words.job()}s`), areas.open, ...lately(areas.ended));
      },
      update: fill,
      slow: over.redraw,
    };
  }

  function job(id, me) {
    let [data, chosen] = [null, null];
    const areas = { head: h("div"), why: h("div"), command: h("div"), tasks: h("div"), log: h("div") };
    async function load() {
      const [shown, why] = await Promise.all([ask.get(`/v1/jobs/${ask.part(id)}`), ask.get(`/v1/jobs/${ask.part(id)}/why`)]);
      const first = Object.values(shown.task)[0];
      // What a pod writes is read by kubectl.
      const index = words.isCluster ? null : chosen ?? (first ? first.index : null);
      let log = null;
      if (index !== null) log = await ask.tail(id, index, TAIL).catch((error) => ({ said: error.message }));
      data = { shown, why, index, log };
    }
    async function act(word) {
      try { await ask.change("POST", `/v1/jobs/${ask.part(id)}/${word}`); } catch (error) { Meed.say(error.message); return; }
      await load();
      fill();
    }
    const button = (word, text) => h("button", { type: "button", "data-key": word, onclick: () => act(word) }, text);
    function fill() {
      const { shown, why, index, log } = data;
      const over = ["done", "failed", "cancelled"].includes(shown.state);
      areas.head.replaceChildren(facts([
        ["State", words.state(shown.state)], ["Name", words.clean(shown.name)], [words.isCluster ? "Namespace" : "User", words.clean(shown.user)],
        ["Queue", jobs.queueLink(shown.queue)], !words.isCluster && ["Tasks", `${format.count(shown.running)} run, ${format.count(shown.done)} done, ${format.count(shown.failed)} failed of ${format.count(shown.tasks)}`],
        ["Submitted", words.when(shown.submitted_us)], shown.ended_us && ["Ended", words.when(shown.ended_us)],
        [words.isCluster ? "It asks for" : "A task asks for", Object.entries(shown.spec.demand).map(([r, a]) => `${words.clean(r)} ${words.clean(a)}`).join(", ")],
      ]), me.reads_only || over ? "" : h("div", { class: "actions" }, button("cancel", "Cancel"),
        shown.state === "held" ? button("release", "Release") : shown.state === "waiting" || shown.state === "after" ? button("hold", "Hold") : null));
      const sentences = words.why(why);
      areas.why.replaceChildren(...(sentences.length ? [h("h2", {}, over ? "What became of it" : "Why it waits"), h("ul", { class: "words" }, sentences.map((w) => h("li", {}, w)))] : []));
      areas.command.replaceChildren(words.isCluster ? "" : h("pre", { class: "command" }, shown.spec.command.map((c) => (typeof c === "string" ? words.clean(c) : "(bytes)")).join(" ")));
      areas.tasks.replaceChildren(words.isCluster ? jobs.ofPod(shown) : jobs.ofJob(shown, async (task) => { chosen = task; await load(); fill(); }));
      const cut = log && log.offset > 0 ? `The last ${format.count(log.size - log.offset)} of ${format.count(log.size)} bytes.` : null;
      areas.log.replaceChildren(...(log ? [h("h2", {}, `Output of task ${index}`), cut ? h("p", { class: "note" }, cut) : null,
        log.said ? h("p", { class: "empty" }, log.said) : h("pre", { class: "log", tabindex: 0 }, words.clean(log.text) || "Nothing yet.")] : []).filter(Boolean));
    }
    return {
      title: `${words.job()} ${words.clean(id)}`,
      load,
      show(root) {
        fill();
        root.replaceChildren(crumbs(jobs.queueLink(data.shown.queue), `${words.job()} ${words.clean(id)}`), areas.head, areas.why,
          ...(words.isCluster ? [h("h2", {}, "Where it runs"), areas.tasks] : [h("h2", {}, "Command"), areas.command, h("h2", {}, "Tasks"), areas.tasks, areas.log]));
      },
      update: fill,
      slow: null,
      // What is written is no event.
      grows: () => data !== null && data.shown.running > 0,
    };
  }

  return { overview, queue, job };
})();
