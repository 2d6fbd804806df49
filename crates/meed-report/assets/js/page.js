// Purpose: bring a page of results to life: charts into their places, sorting into tables, the choice of theme.

(() => {
  const { theme } = Meed;
  const { figure, select } = Meed.figure;
  const KINDS = { lines: Meed.linechart.linechart, heat: Meed.grid.grid, spreads: Meed.spreads.spreads };
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
  // Charts far down are drawn in spare moments, so that printing and searching find them.
  const rest = [...figures];
  const next = () => {
    const figure = rest.shift();
    if (!figure) return;
    figure.ensure();
    setTimeout(next, 20);
  };
  setTimeout(next, 200);
  theme.onChange(() => figures.forEach((f) => f.redraw()));
})();
