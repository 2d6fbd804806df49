// Purpose: rho of every tenant over time as a picture: one row per tenant, one column per sample, colour diverging
// around 1. For workloads with more tenants than lines can show.

Meed.heatmap = (() => {
  const { h, onWidth } = Meed.dom;
  const { data, format, theme } = Meed;
  const HELP = "Arrow keys move the reading cursor, with Shift by ten; Home and End jump in time; Enter picks the tenant.";

  /** Distance from rho = 1 at which colour is full, in powers of two, from the data. */
  function reach() {
    const all = [];
    for (const run of data.runs) {
      for (const track of run.track) {
        if (!track) continue;
        for (let i = 0; i < track.rho.length; i += 7) if (data.number(track.rho[i])) all.push(Math.abs(Math.log2(Math.max(track.rho[i], 1e-3))));
      }
    }
    const value = data.quantile(data.sorted(all), 0.97) || 1;
    return Math.min(2, Math.max(0.1, value));
  }

  /** spec: { title, orders(): per run an array of tenants, pick(tenant), picked(): tenants, top(): what the first row is }. */
  function heatmap(spec) {
    const span = reach();
    // Where the reading cursor stands in each panel, kept when the picture is drawn again.
    const places = data.runs.map(() => null);
    const tone = (rho) => theme.diverging(Math.max(-1, Math.min(1, Math.log2(Math.max(rho, 1e-3)) / span)));

    function draw(root, announce) {
      const orders = spec.orders();
      data.runs.forEach((run, r) => root.append(run.sampled ? panel(run, r, orders[r], announce)
        : h("div", { class: "panel" }, h("h4", {}, run.policy), h("p", { class: "note" }, "No samples over time in this run."))));
      root.append(scale());
    }

    function scale() {
      const stops = [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1];
      const css = stops.map((x) => `rgb(${theme.diverging(x).join(",")})`).join(",");
      return h("div", { class: "heat-scale" },
        h("span", {}, "ρ ≤ " + format.num(2 ** -span, 2), " (served less)"),
        h("span", { class: "heat-bar", style: `background:linear-gradient(90deg,${css})` }),
        h("span", {}, "ρ ≥ " + format.num(2 ** span, 2), " (served more)"),
        h("span", { class: "note" }, "middle: ρ = 1; hatched: no demand yet"));
    }

    function panel(run, r, order, announce) {
      const rows = order.length;
      const height = Math.max(200, Math.min(560, rows));
      const canvas = h("canvas", { height });
      const cross = h("div", { class: "cross", hidden: true });
      const row = h("div", { class: "cross-row", hidden: true });
      const view = h("div", { class: "heat", tabindex: 0, role: "application", "aria-roledescription": "heat map",
        "aria-label": `${spec.title}, ${run.policy}. ${HELP}`, style: `height:${height}px` }, canvas, cross, row);
      const axis = h("div", { class: "heat-axis", "aria-hidden": "true" });
      const text = h("p", { class: "heat-text" }, "\u00a0");
      let at = places[r]; // [row, sample]
      let width = 0;
      // The picture ends where the samples end; the axis is the same in every panel.
      const x = (t) => (t / data.end) * width;

      function paint() {
        const n = run.t.length;
        const picture = document.createElement("canvas");
        [picture.width, picture.height] = [n, rows];
        const pen = picture.getContext("2d");
        const image = pen.createImageData(n, rows);
        const quiet = theme.dark() ? [[24, 26, 31], [52, 56, 64]] : [[255, 255, 255], [222, 222, 226]];
        order.forEach((tenant, y) => {
          const track = run.track[tenant];
          for (let s = 0; s < n; s++) {
            const rho = track ? track.rho[s] : null;
            const [red, green, blue] = data.number(rho) ? tone(rho) : quiet[(s + y) % 4 === 0 ? 1 : 0];
            image.data.set([red, green, blue, 255], (y * n + s) * 4);
          }
        });
        pen.putImageData(image, 0, 0);
        const ratio = window.devicePixelRatio || 1;
        [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
        const out = canvas.getContext("2d");
        out.imageSmoothingEnabled = rows > canvas.height;
        out.drawImage(picture, 0, 0, x(run.t[n - 1]) * ratio, canvas.height);
        const picked = new Set(spec.picked());
        out.fillStyle = theme.color("ink");
        order.forEach((tenant, y) => {
          if (picked.has(tenant)) out.fillRect(0, ((y + 0.5) / rows) * canvas.height - 2, 9 * ratio, 4);
        });
        const step = format.TIME_STEPS.find((d) => (d / data.end) * width >= 95) || data.end;
        const ticks = [];
        for (let t = 0; t <= data.end * 1.0001; t += step) ticks.push(t);
        axis.replaceChildren(...ticks.map((t) => h("span", { class: width - x(t) < 45 ? "last" : null, style: `left:${x(t)}px` }, format.timeTick(t, step))));
      }

      function show(next) {
        at = places[r] = next;
        cross.hidden = row.hidden = !at;
        if (!at) { text.textContent = "\u00a0"; return ""; }
        const [y, s] = at;
        const tenant = order[y];
        const rho = run.track[tenant] ? run.track[tenant].rho[s] : null;
        cross.style.left = x(run.t[s]) + "px";
        row.style.top = ((y + 0.5) / rows) * height + "px";
        text.textContent = `${data.tenants[tenant].name} (${y + 1} of ${rows}), ${format.time(run.t[s])}: `
          + (data.number(rho) ? "ρ " + format.ratio(rho) : "no demand yet");
        return text.textContent;
      }
      view.addEventListener("mousemove", (event) => {
        const box = canvas.getBoundingClientRect();
        const y = Math.floor(((event.clientY - box.top) / box.height) * rows);
        show([Math.max(0, Math.min(rows - 1, y)), Meed.base.nearest(run.t, ((event.clientX - box.left) / width) * data.end)]);
      });
      view.addEventListener("mouseleave", () => show(null));
      view.addEventListener("click", () => { if (at) spec.pick(order[at[0]]); });
      view.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const far = event.shiftKey ? 10 : 1;
        const [y, s] = at || [0, run.t.length - 1];
        const last = run.t.length - 1;
        const next = { ArrowUp: [y - far, s], ArrowDown: [y + far, s], ArrowLeft: [y, s - far], ArrowRight: [y, s + far],
          Home: [y, 0], End: [y, last] }[event.key];
        if (next) announce(`${run.policy}, ${show([Math.max(0, Math.min(rows - 1, next[0])), Math.max(0, Math.min(last, next[1]))])}`);
        else if (event.key === "Escape") show(null);
        else if (event.key === "Enter" && at) spec.pick(order[at[0]]);
        else return;
        event.preventDefault();
      });
      onWidth(view, (w) => { width = w; paint(); show(at); });
      return h("div", { class: "panel" }, h("h4", {}, run.policy), h("p", { class: "heat-end" }, spec.top()), view, axis, text);
    }

    function table() {
      return {
        note: "ρ at the end; the tenants' table below has all other numbers.",
        head: ["Tenant", ...data.runs.map((run) => run.policy)],
        rows: data.tenants.map((t) => [t.name, ...data.runs.map((run) => format.ratio(run.outcome[t.index] && run.outcome[t.index].rho))]),
      };
    }
    return { draw, table };
  }

  return { heatmap };
})();
