// Purpose: nodes over a window of time: a row for each node, a bar for each task, hatched where room is held. Bars carry
// names where there is place, and are read one by one with the keyboard: nothing hangs on colour.

Meed.gantt = (() => {
  const { h, s, onWidth } = Meed.dom;
  const { data, format, theme } = Meed;
  const COLOURED = 8;
  const LANES = 16;
  const MOST_ROWS = 500;
  const AXIS = 22;
  const GAP = 4;
  const [BACKFILLED, RESERVED] = [1, 2];
  const STOPPED = 4;
  const runs = data.runs.filter((run) => run.chart && run.chart.nodes.length);
  const some = runs.length > 0;

  const task = ([node, queue, from, to, amount, how, job]) => ({ node, queue, from: from / 1000, to: to / 1000, amount, how: how % STOPPED, stopped: how >= STOPPED, job });
  const hold = ([node, queue, from, to, amount, job]) => ({ node, queue, from: from / 1000, to: to / 1000, amount, job });
  const charts = runs.map((run) => {
    const { chart } = run;
    return { run, ...chart, tasks: chart.tasks.map(task), holds: chart.holds.map(hold), length: chart.length_ms / 1000,
      nodes: chart.nodes.map(([name, capacity]) => ({ name, capacity })) };
  });
  const anyTask = (test) => charts.some((one) => one.tasks.some(test));
  const name = (one, queue) => one.run.queues[queue].queue;

  /** The queues that hold most have colours, the same in all runs; wide and rare ones count: by room times the root of time. */
  const rank = new Map();
  for (const one of charts) {
    const size = new Map();
    for (const t of one.tasks) size.set(name(one, t.queue), (size.get(name(one, t.queue)) || 0) + t.amount * (t.to - t.from));
    for (const t of one.holds) size.set(name(one, t.queue), Infinity);
    for (const [queue, used] of size) rank.set(queue, Math.max(rank.get(queue) || 0, used));
  }
  const known = [...rank.keys()].sort((a, b) => rank.get(b) - rank.get(a)).slice(0, COLOURED - 1);
  known.sort((a, b) => data.tenantNamed(a) - data.tenantNamed(b));
  const color = (queue) => {
    const place = known.indexOf(queue);
    return place < 0 ? theme.color("soft") : theme.tenant(place).color;
  };

  /** Lanes of a node's row for each task: those that are free, side by side where there are enough. */
  function lanes(one) {
    const until = one.nodes.map(({ capacity }) => new Array(Number.isInteger(capacity) && capacity > 0 && capacity <= LANES ? capacity : LANES).fill(-1));
    for (const t of one.tasks) {
      const row = until[t.node];
      const wanted = Math.max(1, Math.min(row.length, Math.round((t.amount / one.nodes[t.node].capacity) * row.length) || 1));
      const free = row.map((end, lane) => (end <= t.from + 1e-6 ? lane : -1)).filter((lane) => lane >= 0);
      const start = free.findIndex((lane, i) => free[i + wanted - 1] === lane + wanted - 1);
      const taken = start >= 0 ? free.slice(start, start + wanted) : free.slice(0, wanted);
      t.lanes = taken.length ? taken : [0];
      t.of = row.length;
      for (const lane of t.lanes) row[lane] = t.to;
    }
    for (const t of one.holds) {
      const count = until[t.node].length;
      t.of = count;
      // Where its task starts then, if it does.
      const starts = one.tasks.find((other) => other.how === RESERVED && other.node === t.node && other.job === t.job && Math.abs(other.from - t.to) < 0.01);
      t.lanes = starts ? starts.lanes : Array.from({ length: Math.max(1, Math.min(count, Math.round((t.amount / one.nodes[t.node].capacity) * count))) }, (_, i) => i);
    }
  }
  charts.forEach(lanes);

  /** Lanes side by side are one piece: [first, how many]. */
  function pieces(taken) {
    const out = [];
    for (const lane of taken) {
      const last = out[out.length - 1];
      if (last && last[0] + last[1] === lane) last[1] += 1;
      else out.push([lane, 1]);
    }
    return out;
  }

  const words = (one, t) => {
    const how = { [BACKFILLED]: ", backfilled", [RESERVED]: ", in room held for it" }[t.how] || "";
    const stopped = t.stopped ? ", stopped for another" : "";
    return `${one.nodes[t.node].name}: job ${t.job} of ${name(one, t.queue)}, ${amount(t.amount)}, ${format.time(one.from_s + t.from)} to ${format.time(one.from_s + t.to)}${how}${stopped}`;
  };
  function amount(v) {
    const unit = format.amountUnit(data.measured);
    return `${format.num(v / unit.divisor, 4)} ${unit.name}`;
  }
  const rowHeight = (nodes) => (nodes <= 6 ? 64 : nodes <= 12 ? 40 : nodes <= 40 ? 24 : 14);

  /** Slanted lines within a box: as a pattern would draw them, which would have to be fetched by its name. */
  function hatch({ x, y, width, height }, every = 7) {
    const right = x + width;
    const bottom = y + height;
    let d = "";
    for (let c = Math.ceil((x + y) / every) * every; c < right + bottom; c += every) {
      const [a, b] = [Math.max(x, c - bottom), Math.min(right, c - y)];
      if (b - a > 0.2) d += `M${a.toFixed(1)} ${(c - a).toFixed(1)}L${b.toFixed(1)} ${(c - b).toFixed(1)}`;
    }
    return d;
  }

  /** A cross before the right end of a bar. */
  function cross(right, top, width, tall) {
    const size = Math.min(8, tall - 1, width);
    if (size < 1.5) return "";
    const [x, y, far] = [(right - size).toFixed(1), (top + (tall - size) / 2).toFixed(1), size.toFixed(1)];
    return `M${x} ${y}l${far} ${far}m0 ${-far}l${-far} ${far}`;
  }

  function picture(one, width, at) {
    const names = one.nodes.map((node) => node.name);
    const left = Math.min(width * 0.25, 10 + 6.6 * Math.max(...names.map((n) => n.length)));
    const row = rowHeight(one.nodes.length);
    const height = AXIS * 2 + one.nodes.length * (row + GAP);
    const right = width - 4;
    const x = (t) => left + (Math.max(0, Math.min(one.length, t)) / one.length) * (right - left);
    const y = (t, lane) => AXIS + t.node * (row + GAP) + (lane / t.of) * row;
    const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const [ink, paper] = [theme.color("ink"), theme.color("paper")];
    axis(svg, one, x, height, right - left);
    names.forEach((text, i) => {
      const top = AXIS + i * (row + GAP);
      svg.append(s("rect", { x: left, y: top, width: right - left, height: row, fill: paper, stroke: theme.color("line"), "stroke-width": 1 }));
      if (row >= 12) svg.append(s("text", { x: 0, y: top + row / 2 + 4, fill: ink, "font-size": 11 }, clip(text, (left - 6) / 6.2)));
    });
    const bars = new Map();
    const [marks, edges, stops, texts] = [[], [], [], []];
    for (const t of one.tasks) {
      const fill = color(name(one, t.queue));
      for (const [lane, count] of pieces(t.lanes)) {
        const [a, b, top] = [x(t.from), x(t.to), y(t, lane)];
        const [w, tall] = [Math.max(0.6, b - a - 0.6), Math.max(0.6, (count / t.of) * row - 0.6)];
        const box = `M${a.toFixed(1)} ${top.toFixed(1)}h${w.toFixed(1)}v${tall.toFixed(1)}h${(-w).toFixed(1)}z`;
        bars.set(fill, (bars.get(fill) || "") + box);
        const cut = Math.min(7, tall, w);
        // Of what started before the window, its start is not there to be marked.
        if (t.from > 0 && t.how === BACKFILLED && cut > 1.5) marks.push(`M${a.toFixed(1)} ${top.toFixed(1)}h${cut.toFixed(1)}l${(-cut).toFixed(1)} ${cut.toFixed(1)}z`);
        if (t.from > 0 && t.how === RESERVED) edges.push(`M${a.toFixed(1)} ${top.toFixed(1)}h${Math.min(w, 3).toFixed(1)}v${tall.toFixed(1)}h${(-Math.min(w, 3)).toFixed(1)}z`);
        if (t.stopped) stops.push(cross(b - 0.6, top, w, tall));
        const label = `${name(one, t.queue)} ${t.job}`;
        if (tall >= 13 && w > label.length * 6.4 + 14) texts.push(s("text", { x: a + 9, y: top + tall / 2 + 4, fill: paper, "font-size": 11 }, label));
      }
    }
    for (const [fill, d] of bars) svg.append(s("path", { d, fill }));
    svg.append(s("path", { d: marks.join(""), fill: paper }), s("path", { d: edges.join(""), fill: ink }), ...texts);
    for (const t of one.holds) for (const [lane, count] of pieces(t.lanes)) {
      const box = { x: x(t.from), y: y(t, lane), width: Math.max(1.5, x(t.to) - x(t.from)), height: (count / t.of) * row };
      svg.append(s("rect", { ...box, fill: paper, "fill-opacity": 0.3 }), s("path", { d: hatch(box), stroke: ink, "stroke-width": 1.3, "stroke-opacity": 0.75, fill: "none" }),
        s("rect", { ...box, fill: "none", stroke: ink, "stroke-width": 1.2, "stroke-dasharray": "5 3" }));
    }
    // Over what is held: it is there that tasks are stopped.
    for (const [stroke, wide] of [[paper, 4], [ink, 1.8]]) svg.append(s("path", { d: stops.join(""), stroke, "stroke-width": wide, fill: "none" }));
    const chosen = at === null ? null : one.tasks[at];
    if (chosen) for (const [lane, count] of pieces(chosen.lanes)) {
      svg.append(s("rect", { x: x(chosen.from) - 1.5, y: y(chosen, lane) - 1.5, width: Math.max(3, x(chosen.to) - x(chosen.from)) + 3, height: (count / chosen.of) * row + 3,
        fill: "none", stroke: theme.color("focus"), "stroke-width": 3 }));
    }
    /** The task below a place of the picture. */
    const find = (px, py) => one.tasks.findIndex((t) => x(t.from) <= px && px <= x(t.to) && pieces(t.lanes).some(([lane, count]) => y(t, lane) <= py && py <= y(t, lane + count)));
    return { svg, find };
  }

  function axis(svg, one, x, height, room) {
    const step = format.TIME_STEPS.find((d) => one.length / d <= Math.max(2, room / 90)) || one.length;
    const [ink, grid] = [theme.color("ink"), theme.color("grid")];
    for (let t = Math.ceil(one.from_s / step) * step; t <= one.from_s + one.length + 1e-6; t += step) {
      const at = x(t - one.from_s);
      svg.append(s("line", { x1: at, x2: at, y1: AXIS - 4, y2: height - AXIS, stroke: grid }));
      const anchor = room - (at - x(0)) < 24 ? "end" : at - x(0) < 12 ? "start" : "middle";
      for (const y of [AXIS - 8, height - 6]) svg.append(s("text", { x: at, y, fill: ink, "font-size": 11, "text-anchor": anchor }, format.timeTick(t, step)));
    }
  }
  const clip = (text, length) => (text.length > length ? text.slice(0, Math.max(1, Math.floor(length) - 1)) + "…" : text);

  function legend() {
    const ink = theme.color("ink");
    const swatch = (...parts) => s("svg", { class: "swatch", width: 26, height: 14, "aria-hidden": "true" }, parts);
    const block = (fill, more) => s("rect", { x: 1, y: 1, width: 24, height: 12, fill, ...more });
    const others = charts.some((one) => one.tasks.some((t) => !known.includes(name(one, t.queue))));
    const entries = [
      ...known.map((queue) => [swatch(block(color(queue))), queue]),
      ...(others ? [[swatch(block(theme.color("soft"))), "other queues"]] : []),
    ];
    if (charts.some((one) => one.holds.length)) entries.push([swatch(block("none", { stroke: ink, "stroke-dasharray": "5 3" }), s("path", { d: hatch({ x: 1, y: 1, width: 24, height: 12 }), stroke: ink, "stroke-width": 1.3 })), "room held"]);
    const grey = theme.color("soft");
    if (anyTask((t) => t.how === BACKFILLED)) entries.push([swatch(block(grey), s("path", { d: "M1 1h8l-8 8z", fill: theme.color("paper") })), "backfilled"]);
    if (anyTask((t) => t.how === RESERVED)) entries.push([swatch(block(grey), s("rect", { x: 1, y: 1, width: 4, height: 12, fill: ink })), "in room held for it"]);
    if (anyTask((t) => t.stopped)) entries.push([swatch(block(grey), s("path", { d: cross(24, 1, 24, 12), stroke: ink, "stroke-width": 1.6, fill: "none" })), "stopped for another"]);
    return h("ul", { class: "legend gantt-legend" }, entries.map(([sign, text]) => h("li", { class: "entry" }, sign, h("span", { class: "name" }, text))));
  }

  function draw(root, announce) {
    charts.forEach((one) => {
      const view = h("div", { class: "gantt", tabindex: 0, role: "application", "aria-roledescription": "chart",
        "aria-label": `Nodes over time under ${one.run.policy}. Left and right arrow keys read task by task.` });
      let [size, at, find] = [0, null, () => -1];
      const paint = () => {
        const made = picture(one, size, at);
        find = made.find;
        view.replaceChildren(made.svg);
      };
      const choose = (next) => {
        at = next;
        announce(at === null ? "" : words(one, one.tasks[at]));
        paint();
      };
      onWidth(view, (width) => { size = width; paint(); });
      view.addEventListener("keydown", (event) => {
        const last = one.tasks.length - 1;
        const next = { ArrowRight: at === null ? 0 : at + 1, ArrowLeft: at === null ? last : at - 1, Home: 0, End: last }[event.key];
        if (next !== undefined && last >= 0) choose(Math.max(0, Math.min(last, next)));
        else if (event.key === "Escape") choose(null);
        else return;
        event.preventDefault();
      });
      view.addEventListener("mousemove", (event) => {
        const box = view.getBoundingClientRect();
        const next = find(event.clientX - box.left, event.clientY - box.top);
        if (next !== (at === null ? -1 : at)) choose(next < 0 ? null : next);
      });
      view.addEventListener("mouseleave", () => { if (at !== null) choose(null); });
      root.append(h("div", { class: "panel" }, h("h4", {}, one.run.policy), view));
    });
    root.append(legend());
  }

  function table() {
    const rows = charts.flatMap((one) => [
      ...one.holds.map((t) => [one.nodes[t.node].name, "room held", t, one]),
      ...one.tasks.map((t) => [one.nodes[t.node].name, ["runs", "runs, backfilled", "runs in room held for it"][t.how] + (t.stopped ? ", stopped for another" : ""), t, one]),
    ].sort((a, b) => a[2].from - b[2].from).slice(0, MOST_ROWS));
    const policy = charts.length > 1;
    return {
      head: ["Node", ...(policy ? ["Policy"] : []), "What", "Queue", "Job", "Amount", "From", "To"],
      rows: rows.map(([node, what, t, one]) => [node, ...(policy ? [one.run.policy] : []), what, name(one, t.queue), t.job, amount(t.amount),
        format.time(one.from_s + t.from), format.time(one.from_s + t.to)]),
      note: charts.some((one) => one.tasks.length + one.holds.length > MOST_ROWS) ? `The first ${MOST_ROWS} of each policy.` : "",
    };
  }

  function chart(register) {
    const [first] = charts;
    const sampled = charts.find((one) => one.nodes_in_all > one.nodes.length);
    const cut = charts.reduce((sum, one) => Math.max(sum, one.left_out), 0);
    const explain = [`A row for each node, ${format.time(first.from_s)} to ${format.time(first.from_s + first.length)} of the run, around the time when ${first.why}. The height of a bar is the part of the node's ${data.measured} that a task holds.`,
      "Room that is held for a task is hatched, from the making of the reservation to the start; a cut corner marks a task that started while room was held for another (backfilled), a thick left edge one that started in room held for it.",
      anyTask((t) => t.stopped) ? "A cross at the right end marks a task that was stopped for another: its room was taken back." : "",
      sampled ? `${sampled.nodes.length} of ${format.count(sampled.nodes_in_all)} nodes are shown: those where room is held, and others at equal distances.` : "",
      cut ? `${format.count(cut)} later tasks are left out to keep this file small.` : ""].filter(Boolean).join(" ");
    const made = Meed.figure.figure({ id: "nodes-over-time", title: "Nodes over time", explain, wide: true, draw, table });
    register(made);
    return made.element;
  }

  return { some, chart };
})();
