// The report of a simulation in a real browser: `cargo xtask browser` makes one and calls this.
//
// It fails on: an error on the console, a request to anywhere, anything that is cut off at three widths or in print,
// and a first screen that does not say who gains and who loses.
//
// Environment: REPORT, EARLY, MANY, PAGE and ADVICE (files: a report, one of a run that ends early, one of many tenants, a
// page of results, and one of advice), CHROMIUM, PLAYWRIGHT (the folder
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
  const [address, early, ...others] = [env.REPORT, env.EARLY, env.MANY, env.PAGE, env.ADVICE].map((file) => pathToFileURL(file).href);
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) problems.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => problems.push(`script: ${error.stack || error}`));
  page.on("request", (request) => { if (![address, early, ...others, "blob:", "about:"].some((own) => request.url().startsWith(own)) && !request.url().startsWith("data:")) problems.push("asked: " + request.url()); });
  await page.goto(address);
  const heading = page.getByRole("heading", { name: "Who gains, who loses" });
  await heading.waitFor();
  demand((await heading.boundingBox()).y < 400, "who gains stands on the first screen");
  // The README's picture.
  await page.waitForTimeout(500);
  await page.screenshot({ path: path.join(env.PICTURES, "report.png"), clip: { x: 0, y: 0, width: 1440, height: 730 } });
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
  // The picture is as wide as the table has room, has an axis, and its marks are named.
  const picture = page.locator(".gains tbody .change svg").first();
  const [drawn, table] = [await picture.boundingBox(), await page.locator("table.gains").boundingBox()];
  demand(table.width > 1300 && drawn.width > table.width / 2, `the picture is as wide as there is room: ${Math.round(drawn.width)} of ${Math.round(table.width)}`);
  demand((await page.locator(".gains thead svg text").allInnerTexts()).length > 2, "it has an axis");
  const named = await page.locator(".gains-key").innerText();
  demand(["static", "fair", "long-term", "shorter", "longer"].every((word) => named.includes(word)), "its marks are named: " + named);
  for (const width of [390, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(500);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    demand(over <= 0, `nothing is cut off at ${width} pixels`);
    await page.screenshot({ path: path.join(env.PICTURES, `report-${width}.png`) });
  }
  // On a phone the picture comes before the words, on the first screen, as wide as the screen.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.waitForTimeout(500);
  const [onPhone, said] = [await picture.boundingBox(), await page.locator(".gains-words").boundingBox()];
  demand(onPhone.y + onPhone.height < 844 && onPhone.y < said.y && onPhone.width > 330, `on a phone the picture stands on the first screen, before the words: ${JSON.stringify(onPhone)}`);
  // On paper.
  const paper = await page.pdf({ format: "A4", path: path.join(env.PICTURES, "report.pdf") });
  const sheets = paper.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g).length;
  demand(sheets > 1 && sheets <= 8, `a report of four tenants has at most 8 pages on paper: ${sheets}`);
  // The width of A4 between its margins.
  await page.setViewportSize({ width: 718, height: 1000 });
  await page.emulateMedia({ media: "print" });
  await page.waitForTimeout(500);
  const cut = await page.evaluate(() => [...document.querySelectorAll(".table-scroll")]
    .filter((box) => box.clientHeight > 0 && (box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1)).map((box) => `${box.getAttribute("aria-label")} (${box.scrollWidth} of ${box.clientWidth} wide, ${box.scrollHeight} of ${box.clientHeight} high)`));
  const alone = await page.evaluate(() => {
    const of = (selector, key) => [...document.querySelectorAll(selector)].filter((e) => e.offsetHeight > 0 && getComputedStyle(e)[key] !== "avoid").map((e) => e.textContent.slice(0, 30));
    return [...of("h2, h3, h4, .figure > .explain", "breakAfter"), ...of(".figure, .panel, .rows", "breakInside")];
  });
  demand(alone.length === 0, "on paper headings stay with their charts, and charts whole" + (alone.length ? ": " + alone.join(", ") : ""));
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
  demand(/fair instead of static: no tenant has ended jobs under both. No job ended under fair, but some did under static: 1 \(narrow\)\. Jobs ended under fair, but none did under static: 1 \(wide\)\./.test(lost), "who has no ended job is named: " + lost);
  const shown = (await page.locator("table.gains tbody tr").allInnerTexts()).join(" ");
  demand(/wide.*none ended before.*narrow.*no job ended/s.test(shown), "and has a row: " + shown);
  demand(/No job of 1 more has ended/.test(await page.locator("table.gains caption").innerText()), "who ended none at all is counted");
  // Advice: what to write, and each tenant before and after, on the first screen.
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 1440, height: 1000 });
  const advice = others[2];
  await page.goto(advice);
  await page.locator(".scatter svg").waitFor();
  const answer = await page.locator(".lead.answer").innerText();
  demand(/^Choose long-term,.*: in slurm.conf PriorityDecayHalfLife=/.test(answer), "the answer says what to write: " + answer);
  const dots = await page.locator(".scatter").boundingBox();
  demand(dots.y + dots.height < 1000, `the picture stands on the first screen: ${JSON.stringify(dots)}`);
  await page.screenshot({ path: path.join(env.PICTURES, "advice-1440.png") });
  for (const address of [advice, others[0]]) {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(address);
    await page.waitForTimeout(1000);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    demand(over <= 0, `nothing is cut off on a phone: ${address.split("/").pop()}`);
    await page.screenshot({ path: path.join(env.PICTURES, `${path.basename(address, ".html")}-390.png`) });
  }
  await pages(page, demand, env);
} catch (error) {
  problems.push(String(error.stack || error));
}
await browser.close();
for (const problem of problems) say("WRONG: " + problem);
process.exit(problems.length ? 1 : 0);
