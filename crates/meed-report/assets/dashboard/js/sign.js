// Purpose: how a browser signs in: by a link of `meed dashboard`, or by a token that is pasted. Neither is kept by the
// page: the server answers with a cookie that no script can read, and a key that only this page can.

Meed.sign = (() => {
  const { h } = Meed.dom;
  const { ask } = Meed;

  /** The code of a link, which is taken out of the address before anything else. */
  function code() {
    const found = /^#code=([\w]+)$/.exec(window.location.hash);
    if (!found) return null;
    history.replaceState(null, "", "/#/");
    return found[1];
  }

  const enter = async (what) => ask.keep((await ask.change("POST", "/v1/session", what)).key);
  async function leave() { ask.keep(null); await ask.change("DELETE", "/v1/session"); }

  function page(root, said, done) {
    const field = h("input", { type: "password", id: "token", autocomplete: "off", required: true });
    const note = h("p", { class: "said", role: "alert" }, said || "");
    const form = h("form", {
      onsubmit: async (event) => {
        event.preventDefault();
        try { await enter({ token: field.value }); } catch (error) { note.textContent = error.message; return; }
        field.value = "";
        done();
      },
    }, h("label", { for: "token" }, "Token", field), h("button", { type: "submit" }, "Sign in"));
    root.replaceChildren(h("section", { class: "sign", "aria-labelledby": "sign-title" }, h("h2", { id: "sign-title" }, "Sign in"),
      h("p", {}, "Run ", h("code", {}, "meed dashboard"), " on this machine and open the link that it prints. It signs this browser in as you."),
      h("p", {}, "Or paste a token of ", h("code", {}, "meed token create"), "; of a Kubernetes cluster, one of ", h("code", {}, "kubectl create token"), "."), note, form));
    field.focus();
  }

  return { code, enter, leave, page };
})();
