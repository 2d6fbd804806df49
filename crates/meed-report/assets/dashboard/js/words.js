// Purpose: what the server says, in words: states, amounts, and why a job waits. Names are cleaned: what would turn or
// hide text around it is shown as a mark.

Meed.words = (() => {
  const { format } = Meed;
  const GIB = 2 ** 30;

  const clean = (text) => String(text ?? "").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, "\ufffd");

  const out = { isCluster: false };
  const job = () => (out.isCluster ? "Pod" : "Job");

  const TONE = { running: "good", waiting: "warn", after: "plain", held: "plain", done: "calm", failed: "bad", cancelled: "plain" };
  const state = (word) => Meed.dom.h("span", { class: "badge " + (TONE[word] || "plain") }, word);

  const UNITS = { cpu: ["core", "cores"], gpu: ["GPU", "GPUs"] };
  /** An amount with its unit; memory as GiB. */
  function amount(value, resource) {
    if (!format || !Number.isFinite(value)) return "–";
    if (resource === "memory") return format.num(value / GIB) + " GiB";
    const unit = UNITS[resource];
    return format.num(value) + " " + (unit ? unit[value === 1 ? 0 : 1] : resource);
  }
  /** Resource-seconds as hours. */
  function hours(seconds, resource) {
    if (!Number.isFinite(seconds)) return "";
    const natural = seconds / (resource === "memory" ? GIB : 1);
    return Math.abs(natural) < 36 ? format.num(natural, 2) + " s" : format.num(natural / 3600) + " h";
  }

  const when = (us) => (us ? new Date(us / 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }) : "");
  const ago = (us) => (us ? format.time(Math.max(0, Math.round(Date.now() / 1000 - us / 1e6))) + " ago" : "");
  const between = (a, b) => (a && b ? format.time(Math.max(0, (b - a) / 1e6)) : "");

  const bounds = (list) => (list || []).map((b) => `${amount(b.asks, b.resource)} of ${amount(b.has, b.resource)}`).join(", ");
  const plural = (n, one, many) => `${format.count(n)} ${n === 1 ? one : many}`;
  /** Which groups of a gang of several lack room: by themselves, or else besides the others. */
  function lacking(groups) {
    const missing = (key) => groups.filter((g) => g[key] != null && g[key] < g.tasks)
      .map((g) => `${g.tasks - g[key]} of ${g.tasks} of its group ${g.group + 1}`);
    const [alone, beside] = [missing("alone"), missing("beside")];
    if (alone.length) return `: ${alone.join(", ")} find no room`;
    return beside.length ? `: each group would fit by itself, but besides the others ${beside.join(" or ")} find no room` : "";
  }
  function obstacle(o) {
    switch (o.what) {
      case "quota": return `Queue ${clean(o.queue)} is at its maximum.`;
      case "size": return `A task asks for more than is free: ${bounds(o.short)}.`;
      case "place": return "Enough is free, but not in one place.";
      case "gang": return `Its ${o.together} tasks start together, and ${o.fit} of them would fit now${lacking(o.groups || [])}.`;
      case "no_node": return out.isCluster ? "It asks for more than any node has where it may run." : "A task asks for more than this machine has now.";
      case "blocked": return "A task that is first in turn does not fit, and the policy waits for it.";
      case "turn": return "Other queues are served first.";
      case "order": return `${plural(o.jobs, "job", "jobs")} with ${plural(o.tasks, "task", "tasks")} of its queue come first.`;
      default: return clean(o.what) + ".";
    }
  }

  /** Sentences that say why a job waits, the hardest reason first. */
  function why(told) {
    const said = [];
    const { job: it, standing } = told;
    if (it.why) said.push(clean(it.why));
    if (it.state === "held") said.push("It is held until somebody releases it.");
    if (told.waits_for.length) said.push(`It waits for the end of ${told.waits_for.map((n) => "job " + n).join(", ")}.`);
    if (told.waits_for_devices) said.push("Its turn has come; tasks that are being stopped still hold its devices.");
    if (told.at_most) said.push(`As many of its tasks run as may run at once: ${told.at_most}.`);
    for (const held of (standing && standing.reservations) || []) said.push(`Room is held for a task of it on ${held.nodes.map((n) => clean(n.node)).join(", ")}.`);
    for (const one of (standing && standing.obstacles) || []) said.push(obstacle(one));
    return said;
  }

  /** Who is served next among the queues, and by what. */
  function order(told) {
    const level = told && told.standing && told.standing.levels[0];
    if (!level || !level.children.length) return null;
    const [first, second] = level.children;
    const key = (c) => {
      if (!Number.isFinite(c.key) || level.order === "fifo") return "";
      return level.order === "long-term" ? ` (${hours(c.key, level.resource)} of ${level.resource} per weight 1)` : ` (${amount(c.key, level.resource)} per weight 1)`;
    };
    const than = second ? `, before ${clean(second.queue)}${key(second)}` : "";
    const measure = level.order === "fifo" ? "came first" : level.order === "long-term" ? "has used least for its weight so far" : "holds least for its weight now";
    const parked = first.parked ? " Nothing of it fits at this moment." : "";
    return `${clean(first.queue)}${key(first)} is served next: of those that wait it ${measure}${than}.${parked}`;
  }

  return Object.assign(out, { clean, state, amount, hours, when, ago, between, why, order, plural, job });
})();
