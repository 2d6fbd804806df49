// Purpose: times of many, before and after, as a chart of a page of results: a point each, and their numbers as a table.

Meed.pairs = (() => {
  const { h } = Meed.dom;
  const { format } = Meed;
  /** Times below a second stand at a second: a logarithmic axis has no 0. */
  const LEAST = 1;

  function inWords(by) {
    const size = format.time(Math.abs(by));
    return by < 0 ? size + " shorter" : by > 0 ? size + " longer" : "the same";
  }

  /** chart: as data.rs writes it. Gives what `figure` needs: { draw, table, csv }. */
  function pairs(chart) {
    const points = chart.points.map(({ name, before_s, now_s }) => {
      const by = now_s - before_s;
      const look = by <= -chart.least_s ? "shorter" : by >= chart.least_s ? "longer" : "same";
      return { name, before: Math.max(LEAST, before_s), now: Math.max(LEAST, now_s), look, text: inWords(by) };
    });
    const range = Meed.base.extent(points.map((p) => [p.before, p.now]));
    const titles = { before: chart.before, now: chart.now, what: chart.what };
    const draw = (root) => root.append(range ? Meed.scatter.scatter(points, range, titles)
      : h("div", { class: "panel" }, h("p", { class: "note" }, "There are no values.")));
    const head = ["Tenant", chart.before, chart.now];
    const rows = (text) => chart.points.map((p) => [p.name, text(p.before_s), text(p.now_s)]);
    return { draw, table: () => ({ head, rows: rows(format.time) }), csv: () => ({ head: [...head.slice(0, 1), `${chart.what} under ${chart.before}, s`, `${chart.what} under ${chart.now}, s`], rows: rows((v) => v) }) };
  }

  return { pairs };
})();
