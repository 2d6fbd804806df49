// What every report and page of results must hold, in a real browser: `report.mjs` calls it.
//
// Links land where they point, no text stands on another, nobody is kept out (axe-core), what is saved is whole, paper
// cuts nothing, and a report of many tenants is small and drawn within a second.

import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const WIDTHS = [390, 768, 1440];
/** How far from where it should a link may land, in pixels. */
const NEAR = 20;
const settle = (page) => page.waitForTimeout(500);

/** Each link of the contents, from the top of the page and from a fresh one. */
async function anchors(page, demand, what, width) {
  const links = await page.evaluate(() => [...document.querySelectorAll("nav a[href^='#']")].filter((a) => a.offsetParent).map((a) => a.getAttribute("href").slice(1)));
  demand(links.length > 1, `${what}: there are links`);
  const off = [];
  for (const id of links.slice(0, 14)) {
    await page.evaluate(() => { window.scrollTo({ top: 0, behavior: "instant" }); });
    await page.locator(`nav a[href="#${id}"]`).first().click();
    await page.waitForTimeout(350);
    const far = await page.evaluate((target) => {
      const bar = document.querySelector(".bar");
      const box = bar && bar.getBoundingClientRect();
      const under = box && getComputedStyle(bar).position === "sticky" && box.top <= 1 ? box.bottom : 0;
      const top = document.getElementById(target).getBoundingClientRect().top - under;
      // The last ones cannot come to the top.
      const atEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
      return atEnd && top > 0 ? 0 : top;
    }, id);
    if (Math.abs(far) > NEAR) off.push(`${id}: ${Math.round(far)}`);
  }
  demand(off.length === 0, `${what}: links land within ${NEAR} pixels at ${width}` + (off.length ? ": " + off.join(", ") : ""));
}

/** Texts that stand on others: those of drawings, and of the page where they can be seen. */
const overlaps = (page) => page.evaluate(() => {
  const boxes = [];
  for (const svg of document.querySelectorAll("svg")) {
    const own = [...svg.querySelectorAll("text")].map((t) => [t.textContent, t.getBoundingClientRect()]).filter(([t, b]) => t.trim() && b.width);
    own.forEach(([a, p], i) => own.slice(i + 1).forEach(([b, q]) => {
      if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4) boxes.push(`${a} on ${b}`);
    }));
  }
  const seen = [...document.querySelectorAll("h1, h2, h3, h4, p, summary, label, button, .entry .name, .entry .value, th, td")]
    .filter((e) => !e.closest(".bar, .table-scroll, [hidden]") && e.getClientRects().length && !e.querySelector("select, input, label, button, p"))
    .map((e) => { const range = document.createRange(); range.selectNodeContents(e); return [e, range.getBoundingClientRect()]; }).filter(([, b]) => b.width > 0 && b.height > 0)
    .sort(([, a], [, b]) => a.top - b.top);
  seen.forEach(([e, p], i) => {
    for (let k = i + 1; k < seen.length && seen[k][1].top < p.bottom; k++) {
      const [f, q] = seen[k];
      if (!e.contains(f) && !f.contains(e) && Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4) boxes.push(`${e.textContent.slice(0, 30)} on ${f.textContent.slice(0, 30)}`);
    }
  });
  return boxes.slice(0, 8);
});

async function barriers(page, demand, what, folder) {
  const axe = fs.readFileSync(path.join(folder, "node_modules/axe-core/axe.min.js"), "utf8");
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.map((v) => `${v.id} (${v.nodes.length}: ${v.nodes[0].html.slice(0, 120)})`);
  });
  demand(found.length === 0, `${what}: axe-core finds nothing` + (found.length ? ": " + found.join("; ") : ""));
}

/**
 * What a chart's buttons hand out. Chromium drops the eleventh download of a burst, and nobody presses so fast: the
 * button is pressed again then.
 */
async function saved(page, button) {
  for (let left = 10; ; left -= 1) {
    const comes = page.waitForEvent("download", { timeout: left ? 4000 : 60000 }).catch((error) => { if (!left) throw error; return null; });
    await button.click();
    const download = await comes;
    if (download) return [download.suggestedFilename(), fs.readFileSync(await download.path(), "utf8")];
  }
}

async function takenAway(page, demand, what) {
  const wrong = [];
  let pictures = 0;
  for (const figure of await page.locator(".figure:visible").all()) {
    const id = await figure.getAttribute("id");
    const [file, svg] = await saved(page, figure.getByRole("button", { name: "Save picture" }));
    const about = await page.evaluate((text) => {
      const svg = new DOMParser().parseFromString(text, "image/svg+xml");
      return { whole: !svg.querySelector("parsererror"), drawn: svg.querySelectorAll("path, rect, line, polygon, circle, image").length, texts: svg.querySelectorAll("text").length };
    }, svg);
    const [, csv] = await saved(page, figure.getByRole("button", { name: "Save table" }));
    const lines = csv.trimEnd().split("\n");
    pictures += 1;
    if (!file.endsWith(".svg") || !about.whole || about.drawn < 3 || about.texts < 3) wrong.push(`picture of ${id}: ${JSON.stringify(about)}`);
    if (lines.length < 2 || /NaN|undefined|Infinity/.test(csv)) wrong.push(`table of ${id}`);
  }
  demand(pictures > 2 && wrong.length === 0, `${what}: ${pictures} charts are saved as pictures and tables` + (wrong.length ? ": " + wrong.join(", ") : ""));
}

/** On paper no drawing is wider than what it stands in, and all are drawn. */
async function paper(page, demand, what, pictures) {
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  await settle(page);
  const wrong = await page.evaluate(() => {
    const wide = [...document.querySelectorAll(".panel canvas, .panel svg, .rows svg")].filter((c) => c.getClientRects().length && c.getBoundingClientRect().right > document.body.getBoundingClientRect().right + 1).length;
    const empty = [...document.querySelectorAll(".figure")].filter((f) => f.getClientRects().length && !f.querySelector(".panels").children.length).map((f) => f.id);
    return { wide, empty, theme: document.documentElement.dataset.theme };
  });
  demand(wrong.wide === 0 && wrong.empty.length === 0 && wrong.theme === "light", `${what}: paper has all charts, whole and light: ${JSON.stringify(wrong)}`);
  await page.screenshot({ path: path.join(pictures, `${what}-paper.png`) });
  await page.emulateMedia({ media: "screen" });
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
}

/** The report of few tenants, that of many, and a page of results. */
export async function pages(page, demand, env) {
  const { REPORT: report, MANY: many, PAGE: results, PICTURES: pictures, PLAYWRIGHT: folder } = env;
  for (const [what, file] of [["few", report], ["many", many], ["results", results]]) {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(pathToFileURL(file).href);
      await settle(page);
      await page.screenshot({ path: path.join(pictures, `${what}-${width}.png`) });
      await anchors(page, demand, what, width);
      const on = await overlaps(page);
      demand(on.length === 0, `${what}: no text stands on another at ${width}` + (on.length ? ": " + on.join("; ") : ""));
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      demand(over <= 0, `${what}: nothing is cut off at ${width}`);
    }
    await barriers(page, demand, what, folder);
    await page.evaluate(() => { const theme = [...document.querySelectorAll("select")].find((s) => s.closest("label").textContent.startsWith("Theme")); theme.value = "dark"; theme.dispatchEvent(new Event("change")); });
    await settle(page);
    await barriers(page, demand, what + " in the dark", folder);
    await page.screenshot({ path: path.join(pictures, `${what}-dark.png`) });
    await takenAway(page, demand, what);
    await paper(page, demand, what, pictures);
    const text = await page.evaluate(() => document.body.innerText);
    demand(/Made by Meed \d/.test(text) && /meed (simulate|audit)/.test(text), `${what}: version and command stand on it`);
    demand(!text.includes(path.dirname(file)), `${what}: it names no folder of this machine`);
  }
  // Many tenants over a year that began with 2024.
  const size = fs.statSync(many).size;
  demand(size < 4e6, `many: ${(size / 1e6).toFixed(1)} MB are below 4 MB`);
  await page.setViewportSize({ width: 1440, height: 900 });
  // The best of three: the machine may be busy.
  const times = [];
  for (let i = 0; i < 3; i++) {
    await page.goto("about:blank");
    await page.goto(pathToFileURL(many).href);
    times.push(await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd));
  }
  demand(Math.min(...times) < 1000, `many: drawn within a second (${times.map(Math.round).join(", ")} ms)`);
  await settle(page);
  demand((await page.locator(".scatter svg").count()) > 0 && (await page.locator(".scatter svg :is(circle, polygon)").count()) > 300, "many: a point for each tenant, before and after");
  demand(/1 Jan 2024 00:00 to/.test(await page.locator(".facts").innerText()), "many: dates stand where the clock is known");
  const [, holders] = await saved(page, page.locator("#holders").getByRole("button", { name: "Save table" }));
  const rows = holders.trimEnd().split("\n").map((line) => line.split(","));
  demand(rows[0][1] === "date (UTC)" && rows[1][1].startsWith("2024-01-01T00:00:00") && rows[0].some((head) => /others/.test(head)), "many: who holds the cluster is saved with dates");
  // A page of many sections is cut down to those that are asked for.
  await page.goto(pathToFileURL(results).href);
  await settle(page);
  const shown = () => page.locator("main > section.part:visible").count();
  const all = await shown();
  const first = (await page.locator(".contents a").nth(1).innerText()).trim();
  await page.getByRole("search").getByRole("searchbox").fill(first);
  const some = await shown();
  demand(some > 0 && some < all, `results: "${first}" leaves ${some} of ${all} sections`);
  await page.getByRole("search").getByRole("searchbox").fill("");
  demand((await shown()) === all, "results: without words all sections are there");
}
