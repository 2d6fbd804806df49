// Purpose: what the page asks the server, and what the server tells it. Nothing else is asked anybody.

Meed.ask = (() => {
  /** Why an answer is none: `status` and the server's own words. */
  class Refused extends Error {
    constructor(status, detail) { super(detail); this.status = status; }
  }

  // Cookies go to every port of a host; what is kept here belongs to this one alone. Neither is good without the other.
  const KEY = "meed-key";
  const own = () => { const key = localStorage.getItem(KEY); return key ? { [KEY]: key } : {}; };
  const keep = (key) => { if (key) localStorage.setItem(KEY, key); else localStorage.removeItem(KEY); };

  async function send(method, path, body) {
    const options = { method, credentials: "same-origin", headers: own() };
    if (body !== undefined) {
      options.headers["content-type"] = "application/json";
      options.body = JSON.stringify(body);
    }
    let answer;
    try { answer = await fetch(path, options); } catch { throw new Refused(0, "The server does not answer."); }
    if (answer.ok) return answer;
    let detail = `The server answers ${answer.status}.`;
    try { detail = (await answer.json()).detail || detail; } catch { /* no words */ }
    throw new Refused(answer.status, detail);
  }

  const get = async (path) => (await send("GET", path)).json();
  const change = async (method, path, body) => (await send(method, path, body)).json();
  const part = (name) => encodeURIComponent(name);

  /** The end of a task's output, and how long all of it is. */
  async function tail(job, index, bytes) {
    const answer = await send("GET", `/v1/jobs/${part(job)}/tasks/${index}/log?tail=${bytes}`);
    return { text: await answer.text(), size: Number(answer.headers.get("meed-log-size")), offset: Number(answer.headers.get("meed-log-offset")) };
  }

  const PAUSE = 2000;
  /** Follows what happens: `happened()` after each event, `state(live)` as the stream comes and goes. */
  function follow(happened, state) {
    let [stopped, last, abort] = [false, null, null];
    async function once() {
      abort = new AbortController();
      const headers = last ? { ...own(), "last-event-id": last } : own();
      const answer = await fetch("/v1/events", { headers, credentials: "same-origin", signal: abort.signal });
      if (!answer.ok) return;
      state(true);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const events = (rest + value).split("\n\n");
        rest = events.pop();
        for (const event of events) {
          const id = /^id: (.+)$/m.exec(event);
          if (id) last = id[1];
          if (/^event: (job|queues|reset)$/m.test(event)) happened();
        }
      }
    }
    (async () => {
      for (;;) {
        try { await once(); } catch { /* it is gone; it may come back */ }
        if (stopped) return;
        state(false);
        await new Promise((done) => { setTimeout(done, PAUSE); });
        if (stopped) return;
        // Whether somebody is still signed in is seen by asking.
        happened();
      }
    })();
    return () => { stopped = true; if (abort) abort.abort(); };
  }

  return { Refused, get, change, part, tail, follow, keep };
})();
