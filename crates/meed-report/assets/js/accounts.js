// Purpose: statements of account, where tenants contribute the nodes: a row for each tenant and policy.

Meed.accounts = (() => {
  const { h } = Meed.dom;
  const { data, format } = Meed;
  const MOST_ROWS = 200;
  const runs = data.runs.filter((run) => run.accounts);
  const some = runs.length > 0;
  const number = (value) => format.num(value, 5);

  function parts() {
    const { entitled, value } = runs[0].accounts;
    const rows = runs[0].accounts.accounts.flatMap((_, at) => runs.map((run) => [run, run.accounts.accounts[at]]));
    const words = [
      `Hours are unit-hours of ${data.measured}, the rest is money. Tenants are entitled by what they have ${entitled}. `,
      value === "price" ? "A unit that was received counts what the pool's units cost then. " : "A unit that was received counts the same at all times. ",
      "Worth divides all that was paid by what was received. Balance: what the pool owes the tenant; below zero the tenant owes the pool.",
    ];
    return [
      h("p", { class: "explain" }, words.join("")),
      h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Statements of account" }, Meed.figure.table({
        caption: rows.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${rows.length} statements.` : "One row for each tenant and policy.",
        words: runs.length > 1 ? 2 : 1,
        head: ["Tenant", ...(runs.length > 1 ? ["Policy"] : []), "Paid", "Contributed, h", "Entitled, h", "Received, h", "Worth", "Balance"],
        rows: rows.slice(0, MOST_ROWS).map(([run, one]) => [one.queue, ...(runs.length > 1 ? [run.policy] : []),
          number(one.paid), number(one.contributed), number(one.entitled), number(one.received), number(one.worth), number(one.balance)]),
      })),
    ];
  }

  return { some, parts };
})();
