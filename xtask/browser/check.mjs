// The dashboard in a real browser: `cargo xtask browser` starts a server and calls this.
//
// It fails on: an error on the console, anything that the page's content security policy forbids,
// a request to anywhere else, and every look that is not what is said below.
//
// Environment: MEED (the program), MEED_SOCKET, MEED_URL, CHROMIUM, PLAYWRIGHT (the folder of
// playwright-core), PICTURES (a folder), PROFILE (an empty folder).

import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";

const env = process.env;
const { chromium } = createRequire(path.join(env.PLAYWRIGHT, "x.js"))("playwright-core");
const meed = (...args) => execFileSync(env.MEED, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
const problems = [];
const say = (text) => process.stdout.write(text + "\n");
const done = (what) => say("  ok: " + what);
function demand(is, what) {
  if (!is) throw new Error("not so: " + what);
  done(what);
}
/** What is to be so soon: a page that draws late on a busy machine is not wrong. */
async function until(what, is) {
  const end = Date.now() + 30000;
  while (!(await is())) {
    if (Date.now() > end) throw new Error("not so within 30 s: " + what);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  done(what);
}

const ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
  "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

const browser = await chromium.launchPersistentContext(env.PROFILE, {
  executablePath: env.CHROMIUM, headless: true, args: ARGS, viewport: { width: 1440, height: 1000 },
});

/** A page that notes what must not be. `known`: errors that belong to the test. */
async function page(known = []) {
  const one = await browser.newPage();
  one.known = known;
  const note = (text) => { if (!known.some((word) => text.includes(word))) problems.push(text); };
  one.on("console", (message) => { if (["error", "warning"].includes(message.type())) note(`console: ${message.text()}`); });
  one.on("pageerror", (error) => note(`script: ${error.stack || error}`));
  one.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(env.MEED_URL + "/") && !url.startsWith("data:")) problems.push("asked elsewhere: " + url);
  });
  await one.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  return one;
}

const shoot = (one, name, all = true) => one.screenshot({ path: path.join(env.PICTURES, name + ".png"), fullPage: all });
const text = (one, selector) => one.locator(selector).innerText();
const wide = (one) => one.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

async function signIn() {
  // Without anybody signed in the page asks for it, and the server's refusal is on the console.
  const stranger = await page(["401"]);
  await stranger.goto(env.MEED_URL + "/");
  await stranger.getByRole("heading", { name: "Sign in" }).waitFor();
  await stranger.getByLabel("Token").fill("meed_wrong");
  await stranger.getByRole("button", { name: "Sign in" }).click();
  await stranger.getByRole("alert").filter({ hasText: "unknown" }).waitFor();
  done("a wrong token is refused, with words");
  await shoot(stranger, "sign-in");
  await stranger.close();

  const link = meed("dashboard");
  const one = await page();
  await one.goto(link);
  await one.getByRole("heading", { name: "Who holds what" }).waitFor();
  demand(!one.url().includes("code"), "the link's code is out of the address");
  await one.locator("#live", { hasText: "live" }).waitFor();
  done("a link signs in, and the page is live");
  const cookies = await browser.cookies();
  demand(cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === "Strict", "the cookie is HttpOnly and SameSite=Strict");

  const second = await page(["401"]);
  await browser.clearCookies();
  await second.goto(link);
  await second.getByRole("alert").filter({ hasText: "link was used" }).waitFor();
  done("a link works once");
  await second.close();
  await browser.addCookies(cookies);
  return one;
}

async function firstScreen(one) {
  demand((await one.locator(".now > svg").getAttribute("aria-label")).includes("vision"), "the bar names who holds");
  await one.locator(".uplot canvas").waitFor();
  const colours = () => one.evaluate(() => {
    const canvas = document.querySelector(".uplot canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Map();
    for (let i = 0; i < data.length; i += 4) { const key = data.slice(i, i + 3).join(); if (data[i + 3] === 255) seen.set(key, (seen.get(key) || 0) + 1); }
    return [...seen].filter(([, count]) => count > canvas.width * canvas.height * 0.05).map(([key]) => key);
  });
  await until("the chart over time has an area for each queue", async () => {
    const seen = await colours();
    return ["0,114,178", "213,94,0", "0,138,100"].every((colour) => seen.includes(colour));
  });
  for (const head of ["Now", "Queues", "Waiting", "Running", "Lately ended"]) await one.getByRole("heading", { name: head, exact: true }).waitFor();
  await until("every waiting job has its reason", async () => {
    const why = await one.locator("td.why").allInnerTexts();
    return why.length > 0 && why.every((words) => words.length > 10);
  });
  await until("it is said who is served next", async () => /served next/.test(await text(one, ".lead")));
  const hidden = await one.locator("text=\u202e").count();
  demand(hidden === 0 && (await one.locator("text=evil\ufffdname").count()) > 0, "a name cannot turn the text around it");
  demand((await one.locator("img, b").count()) === 0, "a name is text, not markup");
  for (const width of [390, 768, 1440]) {
    await one.setViewportSize({ width, height: 900 });
    // The plot is drawn anew for the width.
    await one.waitForTimeout(400);
    await until(`nothing is cut off at ${width} pixels`, async () => (await wide(one)) <= 0);
    await shoot(one, `first-${width}`);
  }
}

async function darkAndKeyboard(one) {
  await one.getByLabel("Theme").selectOption("dark");
  demand((await one.evaluate(() => document.documentElement.dataset.theme)) === "dark", "dark is chosen");
  await one.waitForTimeout(1500);
  await shoot(one, "dark-1440");
  await one.getByLabel("Theme").selectOption("light");
  // A chart that is drawn anew keeps the focus, but no longer what was read.
  await one.locator(".plot").focus();
  await until("the chart reads by keyboard", async () => {
    await one.keyboard.press("ArrowLeft");
    return (await text(one, ".readout")).includes(":");
  });
  await one.getByLabel(/^Time/).selectOption("month");
  await one.locator("summary", { hasText: "Show as table" }).click();
  await until("the chart is a table too", async () => (await one.locator(".as-table table").count()) === 1);
  await one.getByLabel(/^Time/).selectOption("day");
}

async function live(one) {
  await one.evaluate(() => { window.stayed = true; });
  const number = meed("submit", "--queue", "robots", "--name", "while you watch", "--", "true");
  await one.getByRole("link", { name: `Job ${number}`, exact: true }).waitFor();
  demand(await one.evaluate(() => window.stayed === true), "a job that comes while the page is open appears without a reload");
  meed("cancel", number);
  await one.locator("tr", { hasText: `Job ${number}` }).filter({ hasText: "cancelled" }).waitFor();
  done("and its end as well");
}

async function clicks(one) {
  await one.getByRole("link", { name: "robots", exact: true }).first().click();
  await one.getByRole("heading", { name: "Queue robots" }).waitFor();
  await one.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
  await one.waitForTimeout(600);
  await shoot(one, "queue");
  await one.goBack();
  await one.getByRole("heading", { name: "Who holds what" }).waitFor();
  const first = meed("submit", "--queue", "vision", "--hold", "--name", "to be cancelled", "--", "sh", "-c", "echo never");
  await one.getByRole("link", { name: `Job 1`, exact: true }).first().click();
  await one.getByRole("heading", { name: "Job 1", exact: true }).waitFor();
  await one.locator("pre.log", { hasText: "line" }).waitFor();
  done("a job's page shows its output");
  await shoot(one, "job");
  await one.goto(env.MEED_URL + `/#/job/${first}`);
  await one.getByRole("button", { name: "Release" }).waitFor();
  await one.getByRole("button", { name: "Cancel" }).click();
  await one.locator(".facts", { hasText: "cancelled" }).waitFor();
  done("a job is cancelled by a click");
  await one.setViewportSize({ width: 390, height: 844 });
  await one.goto(env.MEED_URL + "/#/job/1");
  await one.getByRole("heading", { name: "Job 1", exact: true }).waitFor();
  await until("a job's page fits a phone", async () => (await wide(one)) <= 0);
  await shoot(one, "job-390");
  await one.goto(env.MEED_URL + "/#/queue/..%2F..%2Fetc");
  await one.locator("text=There is no such queue").waitFor();
  done("a queue that is not there is said not to be");
}

async function signOut(one) {
  await one.goto(env.MEED_URL + "/#/");
  // What the page asked for a moment before is refused, and the browser says so.
  one.known.push("401");
  await one.getByRole("button", { name: "Sign out" }).click();
  await one.getByRole("heading", { name: "Sign in" }).waitFor();
  await until("signing out takes the cookie back", async () => (await browser.cookies()).length === 0);
}

try {
  const one = await signIn();
  await firstScreen(one);
  await darkAndKeyboard(one);
  await live(one);
  await clicks(one);
  await signOut(one);
} catch (error) {
  problems.push(String(error.stack || error));
  for (const one of browser.pages()) await shoot(one, "failed").catch(() => {});
}
await browser.close();
for (const problem of problems) say("WRONG: " + problem);
process.exit(problems.length ? 1 : 0);
