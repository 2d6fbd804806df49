// Purpose: which tenants have lines of their own in the charts. With few tenants all have; with many the reader picks,
// and the two with the lowest and the two with the highest rho are picked at the start.

Meed.picker = (() => {
  const { h, swatch } = Meed.dom;
  const { data, theme } = Meed;
  const MOST = 8;
  const listeners = [];

  function initial() {
    if (data.few) return data.tenants.map((t) => t.index);
    const run = data.runs[data.runs.length - 1];
    const rho = (t) => (run.outcome[t] ? run.outcome[t].rho : null);
    const known = data.order(rho).filter((t) => data.number(rho(t)));
    return known.length ? [...new Set([...known.slice(0, 2), ...known.slice(-2)])] : [0];
  }
  let picked = initial();

  function toggle(tenant) {
    if (picked.includes(tenant)) picked = picked.filter((t) => t !== tenant);
    else picked = [...picked, tenant].slice(-MOST);
    listeners.forEach((run) => run());
  }

  /** Look of a tenant's line: its place among the picked ones decides. */
  const look = (tenant) => theme.tenant(Math.max(0, picked.indexOf(tenant)));

  /** The control: a search box with suggestions and a button per picked tenant. */
  function element() {
    if (data.few) return null;
    const message = h("span", { class: "note", role: "status" });
    const input = h("input", { type: "search", list: "tenant-names", id: "pick", placeholder: "name of a tenant", autocomplete: "off" });
    const add = () => {
      const name = input.value.trim();
      if (!name) return;
      const exact = data.tenantNamed(name);
      const matches = exact !== null ? [exact] : data.tenants.filter((t) => t.name.toLowerCase().includes(name.toLowerCase())).map((t) => t.index);
      if (matches.length === 0) message.textContent = "No tenant has this name.";
      else if (matches.length > 1) message.textContent = `${matches.length} tenants match; go on typing.`;
      else {
        message.textContent = "";
        input.value = "";
        if (!picked.includes(matches[0])) toggle(matches[0]);
      }
    };
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); add(); } });
    input.addEventListener("change", add);
    const chips = h("ul", { class: "chips" });
    const render = () => chips.replaceChildren(...picked.map((t) => h("li", {},
      h("button", { type: "button", title: "Take out " + data.tenants[t].name, onclick: () => toggle(t) },
        swatch(look(t)), h("span", { class: "name" }, data.tenants[t].name), h("span", { "aria-label": "take out" }, " ×")))));
    listeners.push(render);
    theme.onChange(render);
    render();
    return h("div", { class: "picker" },
      h("label", { for: "pick" }, "Tenants with lines of their own "), input,
      h("datalist", { id: "tenant-names" }, data.tenants.map((t) => h("option", { value: t.name }))), message, chips);
  }

  return { picked: () => picked, toggle, look, element, onChange: (run) => listeners.push(run) };
})();
