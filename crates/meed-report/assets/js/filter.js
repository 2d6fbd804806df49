// Purpose: of a page with many sections those that a reader asks for: by a word in them, by verdict.

Meed.filter = (() => {
  const { h } = Meed.dom;
  const { select } = Meed.figure;
  const FEWEST = 6;
  const ANY = "";

  function sections() {
    const links = [...document.querySelectorAll(".contents li")];
    if (links.length < FEWEST) return;
    const all = links.map((item) => {
      const anchor = item.querySelector("a");
      const section = document.getElementById(anchor.getAttribute("href").slice(1));
      const badge = item.querySelector(".badge");
      // What a reader can see of it, in small letters: made once.
      return { item, section, verdict: badge ? badge.textContent.trim() : ANY, text: section.textContent.toLowerCase() };
    });
    const verdicts = [...new Set(all.map((one) => one.verdict))].filter(Boolean);
    const status = h("span", { class: "note", role: "status" });
    let [words, verdict] = [[], ANY];
    function apply() {
      let shown = 0;
      for (const one of all) {
        const fits = (verdict === ANY || one.verdict === verdict) && words.every((word) => one.text.includes(word));
        one.item.hidden = one.section.hidden = !fits;
        shown += fits;
      }
      status.textContent = words.length || verdict !== ANY ? `${shown} of ${all.length} sections` : "";
    }
    const search = h("input", { type: "search", placeholder: "words in a section", oninput: () => { words = search.value.toLowerCase().split(/\s+/).filter(Boolean); apply(); } });
    const count = (v) => all.filter((one) => one.verdict === v).length;
    const controls = h("div", { class: "controls filter", role: "search" }, h("label", { class: "control" }, "Show sections with ", search),
      verdicts.length > 1 ? select("Verdict", [[ANY, "all"], ...verdicts.map((v) => [v, `${v} (${count(v)})`])], ANY, (v) => { verdict = v; apply(); }) : null, status);
    document.querySelector(".contents").before(controls);
  }

  return { sections };
})();
