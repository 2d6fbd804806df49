// Purpose: values of many rows (tenants, nodes) over time as a picture: one row each, one column per sample. For more
// rows than lines can show. What the colours mean is the caller's.

Meed.heatmap = (() => {
  const { h, onWidth } = Meed.dom;
  const { data, format, theme, calendar } = Meed;
  /** Names stand beside rows at least so far apart, in pixels. */
  const NAMED = 15;
  const help = (what) => `Arrow keys move the reading cursor, with Shift by ten; Home and End jump in time; Enter picks the ${what}.`;

  /**
   * spec: { title, what: what a row is ("tenant"), missing: text for no value, panels(): [panel], color(v): [r, g, b],
   *         say(v), scale(): element, name(row), pick(row), picked(): rows, named?: names stand beside the rows, table() }
   * panel: { key, title, top: what the first row is, t: times, order: [row], values(row): array or null, none?: why it is empty }
   */
  function heatmap(spec) {
    // Where the reading cursor stands in each panel, kept when the picture is drawn again.
    const places = new Map();

    function draw(root, announce) {
      const panels = spec.panels();
      root.classList.toggle("wide", panels.length === 1);
      for (const panel of panels) {
        root.append(panel.t.length > 1 && panel.order.length ? picture(panel, announce)
          : h("div", { class: "panel" }, h("h4", {}, panel.title), h("p", { class: "note" }, panel.none || "No samples over time in this run.")));
      }
      root.append(spec.scale());
    }

    function picture(panel, announce) {
      const { order, t } = panel;
      const rows = order.length;
      const last = t.length - 1;
      const height = Math.max(200, Math.min(560, rows * (spec.named ? 5 : 1)));
      const canvas = h("canvas", { height });
      const cross = h("div", { class: "cross", hidden: true });
      const line = h("div", { class: "cross-row", hidden: true });
      const view = h("div", { class: "heat", tabindex: 0, role: "application", "aria-roledescription": "heat map",
        "aria-label": `${spec.title}, ${panel.title}. ${help(spec.what)}`, style: `height:${height}px` }, canvas, cross, line);
      const names = spec.named ? h("div", { class: "heat-names", "aria-hidden": "true" }, rowNames(order, height)) : null;
      const axis = h("div", { class: "heat-axis", "aria-hidden": "true" });
      const text = h("p", { class: "heat-text" }, "\u00a0");
      const values = order.map(panel.values);
      const place = places.get(panel.key) || null;
      let at = place && [Math.min(rows - 1, place[0]), Math.min(last, place[1])]; // [row, sample]
      let width = 0;
      // The picture ends where the samples end; the axis is the same in every panel.
      const x = (time) => (time / data.end) * width;

      function paint() {
        const n = t.length;
        const small = document.createElement("canvas");
        [small.width, small.height] = [n, rows];
        const pen = small.getContext("2d");
        const image = pen.createImageData(n, rows);
        const quiet = theme.dark() ? [[24, 26, 31], [52, 56, 64]] : [[255, 255, 255], [222, 222, 226]];
        values.forEach((row, y) => {
          for (let s = 0; s < n; s++) {
            const v = row ? row[s] : null;
            const [red, green, blue] = data.number(v) ? spec.color(v) : quiet[(s + y) % 4 === 0 ? 1 : 0];
            image.data.set([red, green, blue, 255], (y * n + s) * 4);
          }
        });
        pen.putImageData(image, 0, 0);
        const ratio = window.devicePixelRatio || 1;
        [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
        const out = canvas.getContext("2d");
        out.imageSmoothingEnabled = rows > canvas.height;
        out.drawImage(small, 0, 0, x(t[last]) * ratio, canvas.height);
        const picked = new Set(spec.picked());
        out.fillStyle = theme.color("ink");
        order.forEach((row, y) => {
          if (picked.has(row)) out.fillRect(0, ((y + 0.5) / rows) * canvas.height - 2, 9 * ratio, 4);
        });
        axis.replaceChildren(...ticks());
      }

      /** Ticks with their texts to the right, the last ones to the left; none whose text would touch the one before. */
      function ticks() {
        const out = [];
        let end = 0;
        const step = format.TIME_STEPS.find((d) => (d / data.end) * width >= 95) || data.end;
        const times = calendar.known ? calendar.ticks(0, data.end, width / 95) : Array.from({ length: Math.floor((data.end * 1.0001) / step) + 1 }, (_, i) => i * step);
        for (const time of times) {
          const text = calendar.known ? calendar.tick(time, times.length > 1 ? times[1] - times[0] : data.end) : format.timeTick(time, step);
          const long = text.length * 6.5 + 8;
          const last = x(time) + long > width;
          if (last && x(time) - long < end) continue;
          end = last ? x(time) : x(time) + long;
          out.push(h("span", { class: last ? "last" : null, style: `left:${x(time)}px` }, text));
        }
        return out;
      }

      function show(next) {
        at = next;
        places.set(panel.key, next);
        cross.hidden = line.hidden = !at;
        if (!at) { text.textContent = "\u00a0"; return ""; }
        const [y, s] = at;
        const v = values[y] ? values[y][s] : null;
        cross.style.left = x(t[s]) + "px";
        line.style.top = ((y + 0.5) / rows) * height + "px";
        text.textContent = `${spec.name(order[y])} (${y + 1} of ${rows}), ${calendar.instant(t[s])}: ` + (data.number(v) ? spec.say(v) : spec.missing);
        return text.textContent;
      }
      view.addEventListener("mousemove", (event) => {
        const box = canvas.getBoundingClientRect();
        const y = Math.floor(((event.clientY - box.top) / box.height) * rows);
        show([Math.max(0, Math.min(rows - 1, y)), Meed.base.nearest(t, ((event.clientX - box.left) / width) * data.end)]);
      });
      view.addEventListener("mouseleave", () => show(null));
      view.addEventListener("click", () => { if (at) spec.pick(order[at[0]]); });
      view.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const far = event.shiftKey ? 10 : 1;
        const [y, s] = at || [0, last];
        const next = { ArrowUp: [y - far, s], ArrowDown: [y + far, s], ArrowLeft: [y, s - far], ArrowRight: [y, s + far],
          Home: [y, 0], End: [y, last] }[event.key];
        if (next) announce(`${panel.title}, ${show([Math.max(0, Math.min(rows - 1, next[0])), Math.max(0, Math.min(last, next[1]))])}`);
        else if (event.key === "Escape") show(null);
        else if (event.key === "Enter" && at) spec.pick(order[at[0]]);
        else return;
        event.preventDefault();
      });
      onWidth(view, (w) => { width = w; paint(); show(at); });
      return h("div", { class: "panel" }, h("h4", {}, panel.title), h("p", { class: "heat-end" }, panel.top),
        names ? h("div", { class: "heat-named" }, names, h("div", {}, view, axis)) : [view, axis], text);
    }

    /** Names of as many rows as have room for theirs. */
    function rowNames(order, height) {
      const every = Math.max(1, Math.ceil(NAMED / (height / order.length)));
      const longest = order.map(spec.name).reduce((a, b) => (b.length > a.length ? b : a), "");
      return [h("span", { class: "sizer" }, longest),
        ...order.map((row, y) => (y % every ? null : h("span", { class: "name", style: `top:${Math.max(6, ((y + 0.5) / order.length) * height)}px` }, spec.name(row))))];
    }
    return { draw, table: spec.table };
  }

  return { heatmap };
})();
