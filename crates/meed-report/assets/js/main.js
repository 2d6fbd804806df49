// Purpose: put the page together.

(() => {
  const { h } = Meed.dom;
  const { data, format, theme } = Meed;
  const { select } = Meed.figure;

  function fact(name, value) {
    return h("div", {}, h("dt", {}, name), h("dd", {}, value));
  }

  const made = data.record.made || {};

  function header() {
    const reset = h("button", { type: "button", hidden: true, onclick: () => Meed.timechart.setZoom(null) }, "Show the whole time");
    Meed.timechart.onZoom((zoom) => { reset.hidden = !zoom; });
    const links = Meed.sections.list.map(({ id, title }) => h("a", { href: "#" + id }, title));
    document.getElementById("head").append(
      h("div", { class: "top" }, h("div", {}, h("p", { class: "brand" }, "Meed report"), h("h1", {}, data.record.scenario || "Simulation")),
        select("Theme", [["auto", "as the system"], ["light", "light"], ["dark", "dark"]], theme.choice(), theme.choose)),
      h("dl", { class: "facts" },
        fact("Policies", data.runs.map((r) => r.policy).join(", ") || "none"),
        fact("Tenants", format.count(data.tenants.length)),
        fact("Measured resource", data.measured || "none"),
        fact("Simulated", data.runs.length ? format.time(data.longest) : "nothing"),
        Meed.calendar.known ? fact("Dates", `${Meed.calendar.date(0)} to ${Meed.calendar.date(data.longest)} (${Meed.calendar.zone})`)
          : made.data ? fact("Data of", made.data) : null,
        data.longest > data.end ? fact("Time axes end at", format.time(data.end) + ", with the other runs") : null,
        fact("Seed", data.record.seed)),
      h("nav", { "aria-label": "Sections" }, links));
    const bar = h("div", { class: "bar", role: "region", "aria-label": "Charts" }, Meed.picker.element(), reset);
    return bar;
  }

  function foot() {
    document.getElementById("foot").append(
      made.version ? h("p", { class: "made" }, `Made by Meed ${made.version}`, made.command ? [": ", h("code", {}, made.command)] : null, ".") : "",
      h("p", {}, "Equations: S. Tang, B.-S. Lee, B. He, “Fair Resource Allocation for Data-Intensive Computing in the Cloud”, IEEE Transactions on Services Computing, 2018."),
      h("p", {}, "Charts: move to read all policies at the same time, drag to zoom into a period, double click to see all. Plots drawn with uPlot (MIT licence)."));
  }

  const bar = header();
  const main = document.getElementById("main");
  for (const { id, title, parts } of Meed.sections.list) {
    const content = parts();
    main.append(h("section", { class: "part", id, "aria-labelledby": id + "-h" }, h("h2", { id: id + "-h" }, title), content));
    // The first screen is for who gains and who loses; what is picked is of the charts below.
    if (id === Meed.sections.list[0].id) main.append(bar);
  }
  foot();
  Meed.paper.arrive(Meed.sections.ensure, Meed.sections.waiting);
  theme.onChange(Meed.sections.redraw);
  Meed.picker.onChange(Meed.sections.redraw);
})();
