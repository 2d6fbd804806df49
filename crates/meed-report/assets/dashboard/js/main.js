// Purpose: which page is shown, and when it is asked for again: after an event, at most once a second.

(() => {
  const { h } = Meed.dom;
  const { ask, views, sign, theme, words } = Meed;
  const [root, title, live, who, tools] = ["main", "title", "live", "who", "tools"].map((id) => document.getElementById(id));
  const PAUSE = 1000;
  const SLOW = 15000;
  let [me, view, stop, busy, again, last, drawn] = [null, null, null, false, false, 0, 0];
  /** Whether the page of `view` stands there, and whether the last answer did not come. */
  let [shown, unanswered] = [false, false];

  Meed.say = (text) => { document.getElementById("foot").textContent = text; };

  function tone(word, kind) {
    live.textContent = word;
    live.className = "badge " + kind;
  }

  /** The page that the address names. */
  function route() {
    const at = window.location.hash.split("?")[0];
    const [, kind, name] = /^#\/(queue|job)\/(.+)$/.exec(at) || [];
    if (kind === "queue") return views.queue(decodeURIComponent(name), me);
    if (kind === "job") return views.job(decodeURIComponent(name), me);
    return views.overview(me);
  }

  async function open() {
    shown = false;
    const mine = route();
    view = mine;
    title.textContent = mine.title;
    document.title = mine.title + " - Meed";
    try {
      await mine.load();
      if (view !== mine) return;
      mine.show(root);
      shown = true;
      drawn = Date.now();
      root.dataset.page = window.location.hash || "#/";
    } catch (error) { failed(error); }
  }

  function failed(error) {
    if (error.status === 401) { signedOut(); return; }
    // What passes leaves the page as it is.
    if (error.status === 0 || (shown && [429, 503].includes(error.status))) { unanswered = true; tone("no answer", "bad"); return; }
    shown = false;
    root.replaceChildren(h("p", { class: "empty", role: "alert" }, words.clean(error.message)), h("p", {}, h("a", { href: "#/" }, "All queues")));
  }

  /** Asks again and fills the page; the keyboard stays where it was. */
  async function refresh() {
    if (!view || !me) return;
    if (busy) { again = true; return; }
    const wait = last + PAUSE - Date.now();
    busy = true;
    if (wait > 0) await new Promise((done) => { setTimeout(done, wait); });
    const mine = view;
    try {
      await mine.load();
      if (view === mine) {
        const key = document.activeElement && document.activeElement.dataset.key;
        if (shown) mine.update(); else { mine.show(root); shown = true; }
        if (unanswered) { unanswered = false; tone("live", "good"); }
        const focused = key && root.querySelector(`[data-key="${CSS.escape(key)}"]`);
        if (focused) focused.focus({ preventScroll: true });
        if (mine.slow && Date.now() - drawn > SLOW) { drawn = Date.now(); mine.slow(); }
      }
    } catch (error) { failed(error); }
    last = Date.now();
    busy = false;
    if (again) { again = false; refresh(); }
  }

  function signedOut(said) {
    if (stop) { stop(); stop = null; }
    [me, view] = [null, null];
    tone("signed out", "plain");
    who.textContent = "";
    title.textContent = "Dashboard";
    tools.replaceChildren(themes());
    sign.page(root, said, begin);
  }

  const themes = () => Meed.figure.select("Theme", [["auto", "as the system"], ["light", "light"], ["dark", "dark"]], theme.choice(), theme.choose);

  async function begin() {
    try { me = await ask.get("/v1/me"); } catch (error) { failed(error); return; }
    // A cluster calls jobs pods, and keeps neither what has ended nor output.
    words.isCluster = me.world === "kubernetes";
    who.textContent = `${words.clean(me.user)}, ${me.role}${me.reads_only ? ", reads only" : ""}`;
    tools.replaceChildren(themes(), " ", h("button", { type: "button", onclick: async () => { await sign.leave().catch(() => {}); signedOut(); } }, "Sign out"));
    await open();
    if (!stop && me) stop = ask.follow(refresh, (is) => (is ? tone("live", "good") : tone("reconnecting", "warn")));
  }

  window.addEventListener("hashchange", () => {
    if (me && window.location.hash.startsWith("#/")) { open().then(() => root.focus({ preventScroll: true })); window.scrollTo(0, 0); }
  });
  // Output grows without events, and so does the time since something happened.
  const PACE = 3000;
  setInterval(() => { if (view && view.grows && view.grows() && !document.hidden) refresh(); }, PACE);
  setInterval(() => { if (view && !document.hidden) refresh(); }, 20 * PACE);
  theme.onChange(() => { if (view && view.slow) view.slow(); if (view && me) refresh(); });

  (async () => {
    const code = sign.code();
    if (code) {
      try { await sign.enter({ code }); } catch (error) { signedOut(error.message); return; }
    }
    begin();
  })();
})();
