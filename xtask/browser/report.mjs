// The report of a simulation in a real browser: `cargo xtask browser` makes one and calls this.
//
// It fails on: an error on the console, a request to anywhere, anything that is cut off at three widths or in print,
// and a first screen that does not say who gains and who loses.
//
// Environment: REPORT, EARLY, MANY and PAGE (files: a report, one of a run that ends early, one of many tenants, and a
// page of results), CHROMIUM, PLAYWRIGHT (the folder
// of playwright-core and axe-core), PICTURES (a folder), PROFILE (an empty folder).

import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { pages } from "./pages.mjs";

const env = process.env;
const { chromium } = createRequire(path.join(env.PLAYWRIGHT, "x.js"))("playwright-core");
const problems = [];
const say = (text) => process.stdout.write(text + "\n");
const demand = (is, what) => (is ? say("  ok: " + what) : problems.push("not so: " + what));

const browser = await chromium.launchPersistentContext(env.PROFILE, {
  executablePath: env.CHROMIUM, headless: true, viewport: { width: 1440, height: 1000 },
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
});
try {
  const page = await browser.newPage();
  const [address, early, ...others] = [env.REPORT, env.EARLY, env.MANY, env.PAGE].map((file) => pathToFileURL(file).href);
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) problems.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => problems.push(`script: ${error.stack || error}`));
  page.on("request", (request) => { if (![address, early, ...others, "blob:", "about:"].some((own) => request.url().startsWith(own)) && !request.url().startsWith("data:")) problems.push("asked: " + request.url()); });
  await page.goto(address);
  const heading = page.getByRole("heading", { name: "Who gains, who loses" });
  await heading.waitFor();
  demand((await heading.boundingBox()).y < 400, "who gains stands on the first screen");
  const words = page.locator(".gains-words li");
  const compared = async (name) => {
    await page.getByLabel("Compared with").selectOption({ label: name });
    return (await words.allInnerTexts()).join(" ");
  };
  const against = await compared("fair");
  demand(/^long-term instead of fair: 2 of 4 tenants finish sooner .*, 1 later, 1 about the same\. billing \(.*, now .*\) gains most/.test(against), "it is said who gains most: " + against);
  demand(!against.includes("static"), "nothing is said of static, which nobody asked for");
  demand(/^fair instead of static: .* long-term instead of static: /.test(await compared("static")), "another policy to compare with gives other sentences");
  await page.locator("#gains select").nth(1).selectOption({ label: "longest wait" });
  demand(/tenants wait less \(longest wait shorter by 5 % or more\)/.test(await words.first().innerText()), "another quantity as well");
  const rows = await page.locator("table.gains tbody tr th").allInnerTexts();
  demand(rows.length === 4 && rows.includes("science"), "every tenant has a row");
  for (const width of [390, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(500);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    demand(over <= 0, `nothing is cut off at ${width} pixels`);
    await page.screenshot({ path: path.join(env.PICTURES, `report-${width}.png`) });
  }
  // The width of A4 between its margins.
  await page.setViewportSize({ width: 718, height: 1000 });
  await page.emulateMedia({ media: "print" });
  await page.waitForTimeout(500);
  const cut = await page.evaluate(() => [...document.querySelectorAll(".table-scroll")]
    .filter((box) => box.clientHeight > 0 && (box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1)).map((box) => `${box.getAttribute("aria-label")} (${box.scrollWidth} of ${box.clientWidth} wide, ${box.scrollHeight} of ${box.clientHeight} high)`));
  await page.screenshot({ path: path.join(env.PICTURES, "report-print.png"), fullPage: true });
  demand(cut.length === 0, "no table is cut in print" + (cut.length ? ": " + cut.join(", ") : ""));
  const short = await page.evaluate(() => {
    const names = [...document.querySelectorAll("tbody th, .entry .name")].filter((name) => name.clientWidth > 0);
    names.forEach((name) => { name.textContent = "a-name-that-is-longer-than-any-column-".repeat(4); });
    return names.filter((name) => name.scrollWidth > name.clientWidth + 1 && getComputedStyle(name).overflowX !== "visible").length;
  });
  demand(short === 0, "no name is cut in print" + (short ? `: ${short} are` : ""));
  // Of a run that ends early: a tenant of whom no job has ended has lost most, and is not left out.
  await page.setViewportSize({ width: 1440, height: 1000 });
  await page.emulateMedia({ media: "screen" });
  await page.goto(early);
  const lost = await compared("static");
  demand(/fair instead of static: 0 of 0 tenants .* No job ended under fair, but some did under static: 1 \(narrow\)\. Jobs ended under fair, but none did under static: 1 \(wide\)\./.test(lost), "who has no ended job is named: " + lost);
  const shown = (await page.locator("table.gains tbody tr").allInnerTexts()).join(" ");
  demand(/wide.*none ended before.*narrow.*no job ended/s.test(shown), "and has a row: " + shown);
  demand(/No job of 1 more has ended/.test(await page.locator("table.gains caption").innerText()), "who ended none at all is counted");
  await pages(page, demand, env);
} catch (error) {
  problems.push(String(error.stack || error));
}
await browser.close();
for (const problem of problems) say("WRONG: " + problem);
process.exit(problems.length ? 1 : 0);
