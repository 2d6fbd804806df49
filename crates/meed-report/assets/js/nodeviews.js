// Purpose: nodes over time: all of them as a heat map, and the chosen one as lines.

Meed.nodeviews = (() => {
  const { h } = Meed.dom;
  const { data, format, nodes, theme } = Meed;
  const { figure, select } = Meed.figure;
  const { timechart } = Meed.timechart;
  const MB = 1e6;
  const ALL = "all";
  const SLOTS = [["cpu", "CPU slots", 0], ["io", "I/O slots", 1], ["any", "slots, no class", 7]].filter(([kind]) => nodes.hasSlots(kind));
  const TASKS = ["cpu_maps", "io_maps", "other_maps", "reduces"];

  const whole = (v) => format.count(v);
  const percent = (v) => (data.number(v) ? format.fixed(v, 1) + " %" : format.NONE);
  const rate = (v) => (data.number(v) ? format.num(v) + " MB/s" : format.NONE);
  const scaled = (values, factor) => Array.from(values, (v) => (data.number(v) ? v * factor : null));

  /** What the heat map can show of a node: [key, name, of(run, node), text of a value, value of full colour if known]. */
  const METRICS = [
    ["cpu", "CPU busy, % of cores", (run, n) => scaled(nodes.field(run, n, "cpu_busy"), 100), percent, 100],
    ["disk", "disk, MB/s read and written", (run, n) => scaled(nodes.field(run, n, "disk_bytes_per_s"), 1 / MB), rate],
    ["network", "network, MB/s received", (run, n) => scaled(nodes.field(run, n, "network_bytes_per_s"), 1 / MB), rate],
    ["tasks", "running tasks", (run, n) => nodes.sum(run, [n], TASKS), whole],
    ["cpu_maps", "running CPU-bound maps", (run, n) => nodes.field(run, n, "cpu_maps"), whole],
    ["io_maps", "running I/O-bound maps", (run, n) => nodes.field(run, n, "io_maps"), whole],
    ["local", `local maps, % of those started in the last ${format.time(nodes.window)}`, (run, n) => scaled(nodes.locality(run, [n]).lately, 100), percent, 100],
    ...SLOTS.map(([kind, name]) => [kind + "_slots", name, (run, n) => nodes.slots(run, [n], kind, run.nodeTimes), whole]),
  ].map(([key, name, of, show, full]) => ({ key, name, show, full, of: (run, n) => nodes.once(["map", key, data.runs.indexOf(run), n].join(), () => of(run, n)) }));

  // What the reader chose; `policy` and `node` hold for all charts of the section.
  let policy = ALL;
  let node = ALL;
  const shown = () => (policy === ALL ? nodes.runs : [data.runs[Number(policy)]]);
  const chosen = () => (node === ALL ? nodes.all : [node]);
  const nodeName = () => (node === ALL ? "all nodes" : nodes.names[node]);

  /** The value of full colour: the highest, but for a hundredth. The same for all runs. */
  function top(metric) {
    if (metric.full) return { full: metric.full, cut: false };
    return nodes.once("top," + metric.key, () => {
      const values = data.sorted(nodes.runs.flatMap((run) => nodes.all.flatMap((n) => Array.from(metric.of(run, n)))));
      const most = values.length ? values[values.length - 1] : 0;
      const full = data.quantile(values, 0.99) || most;
      return { full: full || 1, cut: most > full };
    });
  }

  function map(pick) {
    let metric = METRICS[0];
    let sorted = "declared";
    let say = () => {};
    function mean(run, n) {
      const { maps, local_maps } = run.mapreduce.nodes[n];
      if (metric.key === "local") return maps ? (local_maps / maps) * 100 : null;
      const known = metric.of(run, n).filter(data.number);
      return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
    }
    function order(run) {
      if (sorted === "declared") return nodes.all;
      const means = nodes.all.map((n) => mean(run, n));
      return [...nodes.all].sort((a, b) => (means[b] === null ? -1 : means[b]) - (means[a] === null ? -1 : means[a]) || a - b);
    }
    function scale() {
      const { full, cut } = top(metric);
      const stops = [0, 0.25, 0.5, 0.75, 1].map((x) => `rgb(${theme.sequential(x).join(",")})`).join(",");
      const gaps = shown().some((run) => nodes.all.some((n) => metric.of(run, n).some((v) => v === null)));
      const missing = gaps && { local: "no map started", cpu_slots: "no such slots", io_slots: "no such slots", any_slots: "no such slots" }[metric.key];
      return h("div", { class: "heat-scale" }, h("b", {}, metric.name), h("span", {}, metric.show(0)),
        h("span", { class: "heat-bar", style: `background:linear-gradient(90deg,${stops})` }), h("span", {}, (cut ? "≥ " : "") + metric.show(full)),
        missing ? h("span", { class: "note" }, "hatched: " + missing) : null);
    }
    const view = Meed.heatmap.heatmap({
      title: "All nodes over time", what: "node", missing: "nothing", named: true, name: (n) => nodes.names[n],
      panels: () => shown().map((run) => ({ key: run.policy, title: run.policy, t: run.nodeTimes, order: order(run), values: (n) => metric.of(run, n),
        top: sorted === "declared" ? "top: declared first" : "top: highest mean" })),
      color: (v) => theme.sequential(v / top(metric).full),
      say: (v) => metric.show(v), scale, pick, picked: () => (node === ALL ? [] : [node]),
      table: () => ({ note: metric.key === "local" ? "Local maps of all that were started." : `Mean over time of: ${metric.name}.`, head: ["Node", ...nodes.runs.map((run) => run.policy)],
        rows: nodes.all.map((n) => [nodes.names[n], ...nodes.runs.map((run) => metric.show(mean(run, n)))]) }),
    });
    const made = figure({
      id: "node-map", title: "All nodes over time",
      explain: "One row per node, one column per moment, the same colours for all policies. Click a row, or press Enter on it, to see the node in the charts below; a mark at the left edge shows which it is.",
      controls: [select("Colour", METRICS.map((m) => [m.key, m.name]), metric.key, (v) => { metric = METRICS.find((m) => m.key === v); made.redraw(); }),
        select("Rows sorted by", [["declared", "order of declaration"], ["mean", "mean over time of what is shown"]], sorted, (v) => { sorted = v; made.redraw(); })],
      draw: (root, announce) => { say = announce; view.draw(root, announce); }, table: view.table,
    });
    return { ...made, announce: (text) => say(text) };
  }

  /** Lines of the chosen node, one panel per policy that is shown. */
  function lines(id, title, explain, linesOf, extra, timesOf = (run) => run.nodeTimes) {
    const panels = () => shown().map((run) => {
      const x = run.nodeTimes.length > 1 ? timesOf(run) : [];
      return { title: `${nodeName()}, ${run.policy}`, x, bands: [], lines: x.length ? linesOf(run, x) : [], marks: { label: "slots set anew", at: nodes.changes(run, chosen()) } };
    });
    const { table, ...how } = extra;
    const chart = timechart({ title, panels, height: 190, zeroFloor: true, ...how });
    return figure({ id, title, explain, draw: chart.draw, table: table || chart.table });
  }

  /** Every change of the slots of what is shown, the slots at the start first. */
  function slotTable() {
    const rows = shown().flatMap((run) => {
      const times = [0, ...nodes.changes(run, chosen())];
      const columns = SLOTS.map(([kind]) => nodes.slots(run, chosen(), kind, times));
      return times.map((t, i) => [run.policy, format.time(t), ...columns.map((values) => format.count(values[i]))]);
    });
    const MOST = 500;
    return { head: ["Policy", "From", ...SLOTS.map(([, label]) => label)], rows: rows.slice(0, MOST),
      note: [`Slots of ${nodeName()} whenever they changed.`, rows.length > MOST ? `The first ${MOST} of ${format.count(rows.length)} rows.` : ""].join(" ") };
  }

  function charts() {
    const one = (name, of, i) => (run) => [{ label: name, values: of(run), ...theme.tenant(i), dash: [] }];
    const total = (run, name) => nodes.sum(run, chosen(), [name]);
    const slotTimes = (run) => [...new Set([...run.nodeTimes, ...nodes.changes(run, chosen())])].sort((a, b) => a - b);
    const KINDS = [["cpu_maps", "CPU-bound maps", 0], ["io_maps", "I/O-bound maps", 1], ["other_maps", "maps, no class", 7], ["reduces", "reduces", 2]];
    return [
      lines("node-tasks", "Running tasks by class", "How many tasks run at once. A job's class is what its first maps have shown when they had ended; before that it has none.",
        (run) => KINDS.map(([name, label, i]) => ({ label, values: total(run, name), ...theme.tenant(i) })).filter((l) => l.values.some((v) => v > 0)), { format: whole, whole: true }),
      lines("node-slots", "Map slots", "Upright dashes in this and the other charts, or marks above the plot where there are many: the rule set slots otherwise than they were.",
        (run, x) => SLOTS.map(([kind, label, i]) => ({ label, values: nodes.slots(run, chosen(), kind, x), steps: true, ...theme.tenant(i) })).filter((l) => l.values.some(data.number)), { format: whole, whole: true, table: slotTable }, slotTimes),
      lines("node-cpu", "CPU busy, % of cores", "Mean since the sample before. At 100 % the tasks slow one another down. For all nodes: the mean of the nodes.",
        one("CPU busy", (run) => scaled(total(run, "cpu_busy"), 100 / chosen().length), 0), { format: percent }),
      lines("node-disk", "Disk, MB/s read and written", "Mean since the sample before. With several streams at once a disk may give less in sum. For all nodes: the sum.",
        one("disk", (run) => scaled(total(run, "disk_bytes_per_s"), 1 / MB), 1), { format: rate }),
      lines("node-network", "Network, MB/s received", "Mean since the sample before: blocks read from other nodes, and what reduces fetch. For all nodes: the sum.",
        one("network", (run) => scaled(total(run, "network_bytes_per_s"), 1 / MB), 2), { format: rate }),
      lines("node-locality", "Local maps, % of those started", `Maps that found their block on their own node. Lately: of the maps started in the last ${format.time(nodes.window)}.`,
        (run) => {
          const { lately, soFar } = nodes.locality(run, chosen());
          return [{ label: "so far", values: scaled(soFar, 100), ...theme.tenant(0) }, { label: "lately", values: scaled(lately, 100), ...theme.tenant(3) }];
        }, { format: percent }),
    ];
  }

  /** The elements of the section; what must be drawn anew with another theme goes to `register`. */
  function parts(register) {
    if (!nodes.sampled) return [h("p", { class: "note" }, "This record holds no samples over time, so the plots of nodes are left out."), totals()];
    const made = charts();
    const pick = (value) => {
      node = value === ALL ? ALL : Number(value);
      control.querySelector("select").value = String(node);
      overview.redraw();
      made.forEach((f) => f.redraw());
      overview.announce(`The charts below show ${nodeName()}.`);
    };
    const overview = map(pick);
    const control = select("Node", [[ALL, "all nodes together"], ...nodes.all.map((n) => [String(n), nodes.names[n]])], ALL, pick);
    const runs = nodes.runs.length > 1 ? [h("div", { class: "controls" }, select("Policy", [[ALL, "all, side by side"], ...nodes.runs.map((run) => [String(data.runs.indexOf(run)), run.policy])], policy, (v) => {
      policy = v;
      overview.redraw();
      made.forEach((f) => f.redraw());
    }))] : [];
    [overview, ...made].forEach(register);
    return [...runs, overview.element, h("div", { class: "controls node-choice" }, control), ...made.map((f) => f.element), totals()];
  }

  /** Each node over the whole run. */
  function totals() {
    const lastSlots = (n) => {
      const last = n.slots[n.slots.length - 1];
      return last ? [["cpu", "CPU"], ["io", "I/O"], ["any", "any"]].filter(([k]) => last[k] !== undefined).map(([k, name]) => `${last[k]} ${name}`).join(", ") : null;
    };
    const METRICS = [
      ["cpu", "CPU busy", null, (n) => n.cpu_busy, format.percent],
      ["disk", "Disk", "MB/s", (n) => n.disk_bytes_per_s / MB, format.num],
      ["network", "Network in", "MB/s", (n) => n.network_bytes_per_s / MB, format.num],
      ["maps", "Maps", null, (n) => n.maps, whole],
      ["local", "Local maps", null, (n) => (n.maps ? n.local_maps / n.maps : null), format.percent],
      ["reduces", "Reduces", null, (n) => n.reduces, whole],
      ["changes", "Slots", "set anew", (n) => n.slot_changes, whole],
      ["slots", "Slots at the end", null, lastSlots, (v) => v || format.NONE],
    ];
    return [h("h3", {}, "Nodes over the whole run"), Meed.tables.browse({ one: "Node", many: "nodes", names: nodes.names, fixed: [], metrics: METRICS, first: "cpu", picks: null,
      outcome: (run, n) => (run.mapreduce ? run.mapreduce.nodes[n] : null) }).element];
  }

  return { parts };
})();
