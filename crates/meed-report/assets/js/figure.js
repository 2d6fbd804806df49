// Purpose: the frame of every chart: heading, explanation, panels side by side, readout, "show as table", what can be saved.

Meed.figure = (() => {
  const { h, whenNear } = Meed.dom;

  /**
   * spec: { id, title, explain, controls?: [elements], wide?: bool, draw(panels, announce) , table(): {head, rows}, csv?(): the same with
   *         all rows and plain numbers }
   * `draw` fills the element `panels`; it is called when the figure comes near the window and again on `redraw`.
   */
  function figure(spec) {
    /** Pages that stay open and change, as the dashboard, have nothing to save by. */
    const saves = () => (Meed.save ? h("div", { class: "saves" },
      Meed.save.buttons(spec.title, () => { ensure(); return panels; }, spec.csv || (() => spec.table()))) : null);
    const panels = h("div", { class: spec.wide ? "panels wide" : "panels" });
    const readout = h("p", { class: "readout", role: "status", "aria-live": "polite" });
    const body = h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": spec.title + ", as a table" });
    const details = h("details", { class: "as-table" }, h("summary", {}, "Show as table"), body);
    let tableStale = true;
    const fillTable = () => {
      if (!details.open || !tableStale) return;
      tableStale = false;
      const { note, ...content } = spec.table();
      body.replaceChildren(...[note ? h("p", { class: "note" }, note) : null, table(content)].filter(Boolean));
    };
    details.addEventListener("toggle", fillTable);

    let drawn = false;
    const draw = () => {
      drawn = true;
      // A chart that is drawn again keeps the keyboard's focus.
      const focusable = () => [...panels.querySelectorAll("[tabindex]")];
      const focused = focusable().indexOf(document.activeElement);
      panels.replaceChildren();
      readout.textContent = "";
      spec.draw(panels, (text) => { readout.textContent = text; });
      if (focused >= 0 && focusable()[focused]) focusable()[focused].focus({ preventScroll: true });
    };
    // A group, no landmark: a page may have many charts, and several of one title.
    const element = h("section", { class: "figure", role: "group", id: spec.id, "aria-labelledby": spec.id + "-title" },
      h("h3", { id: spec.id + "-title" }, spec.title),
      h("p", { class: "explain" }, spec.explain),
      spec.controls && spec.controls.length ? h("div", { class: "controls" }, spec.controls) : null,
      panels, readout, h("div", { class: "under" }, details, saves()));
    const ensure = () => { if (!drawn) draw(); };
    whenNear(element, ensure);
    return {
      element,
      /** Draws what was not near the window so far. */
      ensure,
      redraw() {
        tableStale = true;
        if (drawn) draw();
        fillTable();
      },
    };
  }

  /** A plain table: head is an array of texts, rows arrays of texts, the first of each names the row; `words`: so many columns are no numbers. */
  function table({ head, rows, caption, words = 1 }) {
    const look = (i) => ({ class: i && i < words ? "text" : null });
    return h("table", {},
      caption ? h("caption", {}, caption) : null,
      h("thead", {}, h("tr", {}, head.map((text, i) => h("th", { scope: "col", ...look(i) }, text)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, i) => (i ? h("td", look(i), cell) : h("th", { scope: "row" }, cell)))))));
  }

  /** A labelled select; options are [value, text]. */
  function select(label, options, value, onchange) {
    const control = h("select", { onchange: () => onchange(control.value) },
      options.map(([v, text]) => h("option", { value: v, selected: v === value }, text)));
    return h("label", { class: "control" }, label + " ", control);
  }

  return { figure, table, select };
})();
