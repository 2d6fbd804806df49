// Purpose: who holds what: a bar for now, and stacked areas over the last day or month. Colours go with the place of a
// queue in the server's list; every area has its name and value in the legend, and the table has all numbers.

Meed.held = (() => {
  const { h, s, swatch, onWidth } = Meed.dom;
  const { theme, words, format } = Meed;
  const { figure, select } = Meed.figure;
  const HEIGHT = 240;
  const SPANS = [["day", "the last day"], ["month", "the last month"]];

  const color = (names, queue) => (queue === null ? theme.color("soft") : theme.tenant(Math.max(0, names.indexOf(queue))).color);
  const label = (queue) => (queue === null ? "all others" : words.clean(queue));

  /** The mark of what nobody holds. */
  const unheld = () => s("svg", { class: "swatch", width: 26, height: 12, "aria-hidden": "true" },
    s("rect", { x: 0.5, y: 1.5, width: 25, height: 9, fill: "none", stroke: theme.color("soft") }));

  /** A bar of what each queue holds of `has`; `held` is what all hold, whether they may be named or not. */
  function now(queues, names, has, resource, held) {
    const named = queues.filter((q) => q.held > 0);
    const others = (held || 0) - named.reduce((sum, q) => sum + q.held, 0);
    const holders = others > 1e-6 ? [...named, { queue: null, held: others }] : named;
    const whole = Math.max(has, holders.reduce((sum, q) => sum + q.held, 0)) || 1;
    let at = 0;
    const parts = holders.map((q) => {
      const part = s("rect", { x: `${(at / whole) * 100}%`, y: 0, width: `${(q.held / whole) * 100}%`, height: 34, fill: color(names, q.queue), class: "cut" });
      at += q.held;
      return part;
    });
    const text = holders.length ? holders.map((q) => `${label(q.queue)} ${words.amount(q.held, resource)}`).join(", ") : "nobody holds anything";
    const free = Math.max(0, has - at);
    const entry = (mark, name, value) => h("li", {}, h("span", { class: "entry" }, mark, h("span", { class: "name", title: name }, name), h("span", { class: "value" }, value)));
    return h("div", { class: "now" },
      s("svg", { role: "img", "aria-label": `Now: ${text}; ${words.amount(free, resource)} free` }, s("rect", { class: "free", width: "100%", height: 34 }), parts),
      h("ul", { class: "legend" },
        holders.map((q) => entry(swatch({ color: color(names, q.queue), band: true }), label(q.queue), words.amount(q.held, resource))),
        entry(unheld(), "free", words.amount(free, resource))));
  }

  /** Sums from the bottom up: the last is what all held. */
  function stacked(series) {
    const sums = [];
    series.forEach((one, i) => sums.push(one.held.map((v, k) => v + (i ? sums[i - 1][k] : 0))));
    return sums;
  }

  /** A figure over time. `read()` gives { names, history }, `choose(span)` asks for another span; `only`: one queue. */
  function chart(read, choose, only) {
    let plot = null;
    const series = () => read().history.series.filter((one) => !only || one.queue === only);
    const view = figure({
      id: "held-over-time", wide: true,
      title: only ? "What it held" : "Who held what",
      explain: "The mean of each step, by the ledger: areas add up to what was used. Move over it, or use the arrow keys, to read.",
      controls: [select("Time", SPANS, "day", choose)],
      draw(panels, announce) {
        const { history } = read();
        if (plot) { plot.destroy(); plot = null; }
        if (!series().length) {
          panels.append(h("p", { class: "empty" }, "Nobody has held anything in this time."));
          return;
        }
        const built = build(series(), history, read().names, announce, only);
        panels.append(built.element);
        onWidth(built.place, (width) => {
          if (plot) { plot.setSize({ width, height: HEIGHT }); return; }
          plot = built.plot(width);
        });
      },
      table() {
        const { history } = read();
        const step = Math.max(1, Math.ceil(history.at_us.length / 60));
        const picked = history.at_us.map((_, i) => i).filter((i) => i % step === 0 || i === history.at_us.length - 1);
        return {
          note: step > 1 ? `One in ${step} of ${history.at_us.length} steps, and the last.` : null,
          head: ["Until", ...series().map((one) => label(one.queue))],
          rows: picked.map((i) => [words.when(history.at_us[i]), ...series().map((one) => words.amount(one.held[i], history.measured))]),
        };
      },
    });
    return view;
  }

  /** Corners of the steps as the plot has them; a time in which nobody served is empty (`null`). */
  function steps(history) {
    const [x, step, from] = [[], [], []];
    const length = history.step_us / 1e6;
    const corner = (time, value, i) => { x.push(time); step.push(value); from.push(i); };
    history.at_us.forEach((us, i) => {
      const end = us / 1e6;
      const last = x.length ? x[x.length - 1] : end - length;
      const begin = Math.max(end - length, last);
      if (begin > last + length / 2) {
        corner(last, null, i - 1);
        corner(begin, null, i);
      }
      corner(begin, i, i);
      corner(end, i, i);
    });
    return { x, step, from };
  }

  function build(series, history, names, announce, only) {
    const value = series.map(() => h("span", { class: "value" }));
    const place = h("div", { class: "plot", tabindex: 0, role: "application", "aria-roledescription": "interactive chart",
      "aria-label": "Who held what over time. Left and right arrow keys move the reading cursor; Home and End jump." });
    const legend = h("ul", { class: "legend" }, series.map((one, i) => h("li", {}, h("span", { class: "entry" },
      swatch({ color: color(names, one.queue), band: true }), h("span", { class: "name", title: label(one.queue) }, label(one.queue)), value[i]))));
    const when = h("span", { class: "when" });
    const read = (at) => {
      if (at === null || at === undefined) return;
      when.textContent = words.when(history.at_us[at]);
      series.forEach((one, i) => { value[i].textContent = words.amount(one.held[at], history.measured); });
    };
    const element = h("div", { class: "panel" }, h("h4", {}, words.amount(history.capacity, history.measured) + " in all", when), place, legend);
    const sums = stacked(series);
    const { x, step, from } = steps(history);
    const data = [x, ...sums.map((sum) => step.map((i) => (i === null ? 0 : sum[i]))).reverse()];
    let cursor = series[0].held.length - 1;
    function plot(width) {
      const [ink, grid] = [theme.color("soft"), theme.color("grid")];
      const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "12px system-ui, sans-serif" };
      const most = Math.max(only ? 0 : history.capacity, ...sums[sums.length - 1]);
      const made = new uPlot({
        width, height: HEIGHT, legend: { show: false }, padding: [10, 14, 0, 0],
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: true }, y: { range: [0, (most || 1) * 1.05] } },
        axes: [axis, { ...axis, size: 52, values: (_, ticks) => ticks.map((v) => (history.measured === "memory" ? format.num(v / 2 ** 30) : format.num(v))) }],
        series: [{}, ...[...series].reverse().map((one) => ({
          stroke: theme.color("panel"), width: 1, fill: color(names, one.queue), points: { show: false },
        }))],
        hooks: { setCursor: [(u) => { if (u.cursor.idx !== null && u.cursor.idx !== undefined) { cursor = from[u.cursor.idx]; read(cursor); } }] },
      }, data, place);
      read(cursor);
      return made;
    }
    place.addEventListener("keydown", (event) => {
      const last = history.at_us.length - 1;
      const to = { ArrowLeft: cursor - 1, ArrowRight: cursor + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      cursor = Math.max(0, Math.min(last, to));
      read(cursor);
      announce(when.textContent + ": " + series.map((one, i) => `${label(one.queue)} ${value[i].textContent}`).join(", "));
    });
    return { element, place, plot };
  }

  return { now, chart, color };
})();
