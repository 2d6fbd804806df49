// Purpose: the jobs of runs on nodes that contend: requests under each policy, jobs as bars over time, and as a table.

Meed.jobviews = (() => {
  const { h, s, onWidth } = Meed.dom;
  const { data, format, nodes, theme } = Meed;
  const { figure, select } = Meed.figure;
  const ROW = 16;
  const GB = 1e9;
  /** So many jobs have bars. */
  const BARS = 400;
  /** More requests than so many are not listed one by one. */
  const LISTED = 24;
  const CLASSES = [["cpu", "CPU-bound", 0], ["io", "I/O-bound", 1], [null, "no class", 7]];

  const local = (job) => (job.maps ? job.local_maps / job.maps : null);
  const took = (job) => (data.number(job.end_s) ? job.end_s - job.submit_s : null);
  const look = (job) => CLASSES.find(([name]) => name === job.class) || CLASSES[2];

  // Jobs are the same in all runs, but where one request follows another their order may differ: known by their names.
  const named = (jobs) => {
    const seen = new Map();
    return new Map(jobs.map((job) => {
      const n = (seen.get(job.job) || 0) + 1;
      seen.set(job.job, n);
      return [n > 1 ? `${job.job} (${n})` : job.job, job];
    }));
  };
  const byName = new Map(nodes.runs.map((run) => [run, named(run.mapreduce.jobs)]));
  const names = [...new Set([...byName.values()].flatMap((jobs) => [...jobs.keys()]))];
  const anyOf = (name) => [...byName.values()].map((jobs) => jobs.get(name)).find(Boolean);

  function requests() {
    const list = nodes.runs[0].mapreduce.requests.map((r) => r.request);
    const time = (r) => (r && data.number(r.end_s) && data.number(r.submit_s) ? r.end_s - r.submit_s : null);
    const id = "requests";
    const of = (run) => run.mapreduce.requests.map(time);
    if (list.length > LISTED) {
      const title = "Times of requests";
      const x = Array.from({ length: 101 }, (_, i) => i);
      const panels = () => [{ title: "", bands: [], x, lines: nodes.runs.map((run) => {
        const sorted = data.sorted(of(run));
        return { label: run.policy, values: x.map((i) => data.quantile(sorted, i / 100)), ...theme.policy(data.runs.indexOf(run)) };
      }) }];
      return figure({ id, title, explain: "All requests in order of their times, from the submission of a request's jobs to the end of the last of them.", wide: true,
        ...Meed.timechart.timechart({ title, percent: true, of: "requests", times: true, zeroFloor: true, format: format.time, panels, height: 280 }) });
    }
    const groups = () => list.map((name, i) => ({ name, rows: nodes.runs.map((run) => {
      const value = time(run.mapreduce.requests[i]);
      return { policy: data.runs.indexOf(run), value, text: value === null ? "not ended" : format.time(value) };
    }) }));
    const title = "Time of each request";
    return figure({ id, title, explain: "From the submission of a request's jobs to the end of the last of them.", wide: true,
      ...Meed.rowchart.rowchart({ title, what: "Request", groups, base: 0, times: true, tick: format.timeTick }) });
  }

  const describe = (job, name) => `${name}: ${job.kind}, ${look(job)[1]}, ${format.num(job.input_bytes / GB)} GB, submitted at ${format.time(job.submit_s)}, `
    + (data.number(job.end_s) ? `took ${format.time(took(job))}` : "not ended") + `, ${format.percent(local(job))} of ${format.count(job.maps)} maps local`;

  function timeline() {
    let run = nodes.runs[0];
    const jobs = () => [...byName.get(run)].slice(0, BARS);
    const explain = "One bar per job, from its submission: full until its last map had ended, pale while reduces ran. Colour is the class that its maps have shown.";
    const made = figure({
      id: "timeline", title: "Jobs over time", explain: explain + (names.length > BARS ? ` The first ${BARS} jobs.` : ""), wide: true,
      controls: nodes.runs.length > 1 ? [select("Policy", nodes.runs.map((r, i) => [String(i), r.policy]), "0", (v) => { run = nodes.runs[Number(v)]; made.redraw(); })] : [],
      draw: (root, announce) => bars(root, announce, run, jobs()),
      table: () => ({ head: ["Job", "Submitted", "Maps ended", "Ended"], rows: jobs().map(([name, job]) => [name, ...[job.submit_s, job.maps_end_s, job.end_s].map(format.time)]) }),
    });
    return made;
  }

  function bars(root, announce, run, jobs) {
    if (!jobs.length) {
      root.append(h("p", { class: "note" }, "No job was submitted."));
      return;
    }
    const head = h("div", { class: "timeline-axis", "aria-hidden": "true" });
    const body = h("div", { class: "timeline-rows" });
    const view = h("div", { class: "rows timeline", tabindex: 0, role: "application", "aria-roledescription": "chart",
      "aria-label": `Jobs over time, ${run.policy}. Up and down arrow keys read job by job.` }, head, body);
    const legend = h("ul", { class: "legend" }, CLASSES.filter(([name]) => jobs.some(([, job]) => look(job)[0] === name)).map(([, label, i]) =>
      h("li", {}, h("span", { class: "entry" }, Meed.dom.swatch({ color: theme.tenant(i).color, band: true }), h("span", { class: "name" }, label)))));
    root.append(h("div", {}, view, legend));
    let at = null;
    let width = 0;
    const paint = () => {
      const { axis, rows } = picture(run, jobs, width, at);
      head.replaceChildren(axis);
      body.replaceChildren(rows);
    };
    onWidth(body, (w) => { width = w; paint(); });
    view.addEventListener("keydown", (event) => {
      const last = jobs.length - 1;
      const next = { ArrowDown: at === null ? 0 : at + 1, ArrowUp: at === null ? last : at - 1, Home: 0, End: last }[event.key];
      if (next !== undefined) {
        at = Math.max(0, Math.min(last, next));
        announce(describe(jobs[at][1], jobs[at][0]));
        view.scrollTop = at * ROW - view.clientHeight / 2;
      } else if (event.key === "Escape") { at = null; announce(""); } else return;
      event.preventDefault();
      paint();
    });
  }

  /** Columns: name, bars, and as much in words as there is room for. */
  function picture(run, jobs, width, at) {
    const wide = width >= 760;
    const text = (job) => [...(wide ? [look(job)[1], format.percent(local(job)) + " local"] : []), data.number(job.end_s) ? format.time(took(job)) : "not ended"].join(", ");
    const left = Math.min(width * 0.3, 14 + 7 * Math.max(...jobs.map(([name]) => name.length)));
    const right = width - 10 - 6.6 * Math.max(...jobs.map(([, job]) => text(job).length));
    const x = (t) => left + (t / data.end) * (right - left);
    const ink = theme.color("ink");
    const step = format.TIME_STEPS.find((d) => (d / data.end) * (right - left) >= 85) || data.end;
    const axis = s("svg", { width, height: 20 });
    const rows = s("svg", { width, height: jobs.length * ROW + 4, "aria-hidden": "true" });
    for (let t = 0; t <= data.end * 1.0001; t += step) {
      const label = format.timeTick(t, step);
      if (x(t) + label.length * 3.3 > width) continue;
      axis.append(s("text", { x: x(t), y: 14, fill: ink, "text-anchor": "middle", "font-size": 12 }, label));
      rows.append(s("line", { x1: x(t), x2: x(t), y1: 0, y2: jobs.length * ROW, stroke: theme.color("grid") }));
    }
    jobs.forEach(([name, job], i) => {
      const y = i * ROW;
      const { color } = theme.tenant(look(job)[2]);
      const end = data.number(job.end_s) ? job.end_s : run.end_s;
      const maps = data.number(job.maps_end_s) ? job.maps_end_s : end;
      const bar = (from, to, opacity) => s("rect", { x: x(from), y: y + 3, width: Math.max(0.7, x(to) - x(from)), height: ROW - 6, fill: color, "fill-opacity": opacity });
      if (i === at) rows.append(s("rect", { x: 0, y, width, height: ROW, fill: theme.color("mark") }));
      rows.append(s("g", {}, s("title", {}, describe(job, name)),
        s("rect", { x: 0, y, width, height: ROW, fill: "transparent" }),
        s("text", { x: 0, y: y + 12, fill: ink, "font-size": 12 }, clip(name, (left - 8) / 6.6)),
        bar(job.submit_s, maps, 0.9), end > maps ? bar(maps, end, 0.4) : null,
        s("text", { x: width, y: y + 12, fill: ink, "text-anchor": "end", "font-size": 12, class: "row-value" }, text(job))));
    });
    return { axis, rows };
  }
  /** A name that is too long loses its middle: names often differ at their ends. */
  function clip(text, length) {
    if (text.length <= length) return text;
    const head = Math.max(1, Math.floor(length / 2) - 1);
    return text.slice(0, head) + "…" + text.slice(text.length - Math.max(1, Math.floor(length) - head - 1));
  }

  function table() {
    const className = (c) => (c === undefined || c === null ? format.NONE : look({ class: c })[1]);
    return Meed.tables.browse({
      one: "Job", many: "jobs", names, first: "took", picks: null,
      fixed: [{ name: "Kind", of: (i) => anyOf(names[i]).kind, show: String, text: true }, { name: "Queue", of: (i) => anyOf(names[i]).queue, show: String, text: true },
        { name: "Input", unit: "GB", of: (i) => anyOf(names[i]).input_bytes / GB, show: format.num }],
      metrics: [
        ["took", "Job time", null, took, format.time],
        ["maps-took", "Until maps ended", null, (j) => (data.number(j.maps_end_s) ? j.maps_end_s - j.submit_s : null), format.time],
        ["class", "Class found", null, (j) => j.class, className],
        ["local", "Local maps", null, local, format.percent],
        ...(nodes.runs.some((run) => run.mapreduce.rack_maps) ? [["rack", "Maps local to the rack", null, (j) => (j.maps ? j.rack_maps / j.maps : null), format.percent]] : []),
        ["maps", "Maps", "started", (j) => j.maps, format.count],
        ["submit", "Submitted", null, (j) => j.submit_s, format.time],
      ],
      outcome: (run, i) => (byName.has(run) ? byName.get(run).get(names[i]) || null : null),
    });
  }

  /** The elements of the section; what must be drawn anew with another theme goes to `register`. */
  function parts(register) {
    const made = [requests(), timeline()];
    made.forEach(register);
    const left = nodes.runs.map((run) => run.mapreduce.jobs_left_out).reduce((a, b) => Math.max(a, b), 0);
    return [...made.map((f) => f.element), h("h3", {}, "All jobs"),
      left ? h("p", { class: "note" }, `To keep this file small, ${format.count(left)} jobs submitted last are left out; the JSON output holds all.`) : null, table().element];
  }

  return { parts };
})();
