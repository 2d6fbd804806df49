// Purpose: bring a page of results to life: charts into their places, sorting into tables, the choice of theme.

(() => {
  const { theme } = Meed;
  const { h } = Meed.dom;
  const { figure, select } = Meed.figure;
  const KINDS = { lines: Meed.linechart.linechart, heat: Meed.grid.grid, spreads: Meed.spreads.spreads, pairs: Meed.pairs.pairs };
  const charts = JSON.parse(document.getElementById("page-data").textContent);
  const figures = [];
  for (const place of document.querySelectorAll(".chart-place")) {
    const chart = charts[Number(place.dataset.chart)];
    const made = figure({ id: "meed-chart-" + place.dataset.chart, title: chart.title, explain: chart.caption, wide: true, ...KINDS[chart.kind](chart) });
    figures.push(made);
    place.replaceWith(made.element);
  }
  document.querySelectorAll("table").forEach(Meed.sorting.sortable);
  document.getElementById("tools").append(
    select("Theme", [["auto", "as the system"], ["light", "light"], ["dark", "dark"]], theme.choice(), theme.choose));
  for (const box of document.querySelectorAll(".table-scroll.results")) {
    const table = box.querySelector("table");
    const title = (table.caption && table.caption.textContent) || (box.closest("section") || document).querySelector("h2, h1").textContent;
    box.after(h("div", { class: "saves" }, Meed.save.tableButton(title, () => Meed.save.ofTable(table))));
  }
  Meed.filter.sections();
  const ensure = () => figures.forEach((f) => f.ensure());
  Meed.paper.arrive(ensure, () => figures);
  theme.onChange(() => figures.forEach((f) => f.redraw()));
})();
