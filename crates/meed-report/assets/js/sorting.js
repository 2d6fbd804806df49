// Purpose: tables that the page holds already are sorted by a click on a heading: numbers by value, words by letter,
// empty cells last. A third click restores the order of the page.

Meed.sorting = (() => {
  const { h } = Meed.dom;
  const FEWEST = 3;

  function key(cell) {
    if (!cell) return null;
    if (cell.dataset.value !== undefined) { const v = Number(cell.dataset.value.replace("inf", "Infinity")); return Number.isNaN(v) ? null : v; }
    const text = cell.textContent.trim();
    return text === "" || text === "–" ? null : text;
  }
  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b, "en", { numeric: true });
  }

  function sortable(table) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    if (original.length < FEWEST) return;
    const heads = [...table.tHead.rows[0].cells];
    let state = { column: -1, down: false };
    function sort(column) {
      state = state.column !== column ? { column, down: false } : state.down ? { column: -1, down: false } : { column, down: true };
      let rows = original;
      if (state.column >= 0) {
        const keyed = original.map((row) => [key(row.cells[column]), row]);
        const known = keyed.filter(([k]) => k !== null).sort(([a], [b]) => (state.down ? compare(b, a) : compare(a, b)));
        rows = [...known, ...keyed.filter(([k]) => k === null)].map(([, row]) => row);
      }
      body.append(...rows);
      heads.forEach((head, i) => {
        head.setAttribute("aria-sort", i !== state.column ? "none" : state.down ? "descending" : "ascending");
        head.querySelector(".arrow").textContent = i !== state.column ? "" : state.down ? " ▼" : " ▲";
      });
    }
    heads.forEach((head, i) => {
      const button = h("button", { type: "button", class: "sort", title: "Sort by this column", onclick: () => sort(i) }, [...head.childNodes],
        h("span", { class: "arrow", "aria-hidden": "true" }));
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
    });
  }

  return { sortable };
})();
