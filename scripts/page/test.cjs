// node test.cjs FOLDER ADDRESS: every page of the folder, and the server at the address, in Chromium.
const { chromium } = require("playwright-core");
const { readFileSync, readdirSync } = require("node:fs");
const { join } = require("node:path");

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [folder, address] = process.argv.slice(2);
const quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
/** Charts of each page at least. */
const CHARTS = { "campaign.html": 3, "hostile.html": 2, "sweep.html": 2, "comparison.html": 2, "diary.html": 2, "sites.html": 1, "beside.html": 6 };

const wrong = [];
let checked = 0;
const check = (is, what) => {
  checked += 1;
  if (!is) wrong.push(what);
};

/** A page that keeps account of what is complained of and asked for. */
async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: options.bypass ?? false, colorScheme: options.scheme ?? "light", ...options.context });
  // An unoptimised assay beside other tests is slow.
  context.setDefaultTimeout(180_000);
  const page = await context.newPage();
  const seen = { complaints: [], requests: [] };
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && seen.complaints.push(message.text()));
  page.on("pageerror", (error) => seen.complaints.push(String(error)));
  page.on("dialog", (dialog) => (seen.complaints.push(`a dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => !request.url().startsWith("blob:") && seen.requests.push(request.url()));
  await page.goto(url);
  await page.waitForSelector("footer");
  await page.waitForFunction(() => [...document.querySelectorAll(".stage")].every((stage) => stage.childElementCount > 0));
  return { page, context, seen };
}

/** Opens or closes all tables, and waits until the page has its new measures. */
async function fold(page, open) {
  await page.evaluate((open) => document.querySelectorAll("details").forEach((details) => (details.open = open)), open);
  await settled(page);
}

/** Waits until the charts have followed a change of their width. */
async function settled(page) {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 3; frame += 1) await new Promise((next) => requestAnimationFrame(next));
  });
}

/** Waits until an element has stayed where it is for a while: what is above it may still be drawn anew. */
async function atRest(element) {
  await element.evaluate(async (one) => {
    let [last, since] = [NaN, performance.now()];
    while (performance.now() - since < 300) {
      await new Promise((next) => requestAnimationFrame(next));
      const { top } = one.getBoundingClientRect();
      if (top !== last) [last, since] = [top, performance.now()];
    }
  });
}

/** What axe finds that is serious or critical. */
async function accessible(browser, url, name, scheme) {
  // Injected code is what the policy forbids, so it is left out here and tried everywhere else.
  const { page, context } = await open(browser, url, { bypass: true, scheme });
  await fold(page, true);
  await page.evaluate(axe);
  const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  for (const violation of found.violations.filter((one) => ["serious", "critical"].includes(one.impact)))
    wrong.push(`${name}, ${scheme}: axe ${violation.id}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  checked += 1;
  await context.close();
}

/** Everything that can be acted on is reached by Tab, and charts answer to keys. */
async function byKeyboard(page, name) {
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button, select, input, summary, .stage, .scroll, pre[tabindex]")];
    const shown = all.filter((one) => one.checkVisibility() && !one.disabled);
    shown.forEach((one, at) => (one.dataset.at = String(at)));
    document.activeElement?.blur();
    scrollTo(0, 0);
    return shown.length;
  });
  const reached = new Set();
  for (let step = 0; step < wanted + 10 && reached.size < wanted; step += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => document.activeElement?.dataset?.at ?? null);
    if (at !== null) reached.add(at);
  }
  check(reached.size === wanted, `${name}: ${reached.size} of ${wanted} controls are reached by Tab`);
  const stages = await page.locator(".stage:visible").all();
  for (const stage of stages) {
    await stage.focus();
    await page.keyboard.press("ArrowRight");
    const text = await stage.locator(".tip.shown").textContent({ timeout: 10_000 }).catch(() => "");
    check(text !== "", `${name}: a chart reads no point by keyboard`);
    await stage.evaluate((one) => (one.style.width = `${one.clientWidth - 30}px`));
    await settled(page);
    check((await stage.locator(".tip.shown").textContent({ timeout: 1000 }).catch(() => "")) === text, `${name}: a narrower chart forgets which point is read: "${text}", then "${await stage.locator(".tip").textContent()}"`);
    await stage.evaluate((one) => (one.style.width = ""));
    await settled(page);
    const before = await stage.innerHTML();
    if (await stage.evaluate((one) => !one.parentElement.querySelector(".tools").hidden)) {
      await page.keyboard.press("+");
      const zoomed = await stage.innerHTML();
      check(zoomed !== before, `${name}: + does not zoom`);
      await page.keyboard.press("0");
    }
  }
}

/** Hover, drag, filter and table by mouse. */
async function byMouse(page, name) {
  const stage = page.locator(".stage").first();
  await stage.evaluate((one) => one.scrollIntoView({ block: "center", behavior: "instant" }));
  await atRest(stage);
  const dot = stage.locator("circle").first();
  if ((await dot.count()) > 0) {
    await dot.hover({ force: true });
    // A busy machine draws it later.
    await stage.locator(".tip.shown").waitFor({ timeout: 10_000 }).catch(() => {});
    check((await stage.locator(".tip.shown").count()) === 1, `${name}: hovering a point reads nothing`);
  }
  const box = await stage.boundingBox();
  const before = await stage.innerHTML();
  await page.mouse.move(box.x + box.width * 0.45, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2, { steps: 4 });
  await page.mouse.up();
  check((await stage.innerHTML()) !== before, `${name}: dragging does not zoom`);
  await stage.dblclick({ position: { x: 5, y: 5 } });
  const select = page.locator(".filter select").first();
  if ((await select.count()) > 0) {
    await select.selectOption({ index: 1 });
    check((await page.locator(".shown-rows").first().textContent()) !== "", `${name}: the filter tells nothing`);
    await select.selectOption({ index: 0 });
  }
}

async function file(browser, name) {
  const url = `file://${join(folder, name)}`;
  const { page, context, seen } = await open(browser, url);
  const charts = await page.locator(".stage > svg").count();
  check(charts >= (CHARTS[name] ?? 0), `${name}: ${charts} charts`);
  const marks = await page.evaluate(() => [...document.querySelectorAll(".stage > svg")].map((svg) => svg.querySelectorAll("circle, path[d], rect, line").length));
  check(marks.every((count) => count > 0), `${name}: an empty chart`);
  check((await page.locator(".chart details").count()) === charts, `${name}: a chart without its table`);
  const answer = await page.locator(".answer .first").first().boundingBox();
  check(answer && answer.y < 300, `${name}: the answer is not what is seen first`);
  if (name === "hostile.html") check((await page.getByText("<script>alert(1)</script>").count()) > 0, `${name}: the variant's name is not shown as it is`);
  if (name === "campaign.html") {
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /as CSV/ }).click()]);
    const csv = readFileSync(await saved.path(), "utf8").trim().split("\r\n");
    const all = readFileSync(join(folder, "samples.csv"), "utf8").trim().split("\r\n");
    check(csv[0] === all[0] && csv.length === all.length, `${name}: its CSV has ${csv.length} rows, the ledger's ${all.length}`);
  }
  check((await page.locator("article script, article img").count()) === 0, `${name}: foreign text became markup`);
  await fold(page, true);
  await byKeyboard(page, name);
  await fold(page, false);
  await byMouse(page, name);
  await page.screenshot({ path: join(folder, name.replace(".html", ".png")), fullPage: true });
  const paper = await page.pdf({ format: "A4" });
  check(paper.length > 20_000, `${name}: nothing on paper`);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  check((await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === "rgb(255, 255, 255)", `${name}: paper is not white`);
  check(!(await page.locator(".filter").first().isVisible().catch(() => false)), `${name}: controls on paper`);
  await context.close();
  for (const complaint of seen.complaints) wrong.push(`${name}: console: ${complaint}`);
  check(seen.requests.length === 1 && seen.requests[0] === url, `${name}: asks for ${seen.requests.slice(1).join(", ")}`);
  // On a phone nothing is wider than the screen, dark or light.
  for (const scheme of ["light", "dark"]) {
    const phone = await open(browser, url, { scheme, context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } });
    const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
    check(width <= 390, `${name}: ${width} pixels wide on a phone`);
    const paper = await phone.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    check((paper === "rgb(255, 255, 255)") === (scheme === "light"), `${name}: ${scheme} is ${paper}`);
    if (scheme === "dark") await phone.page.screenshot({ path: join(folder, name.replace(".html", "-phone.png")), fullPage: true });
    for (const complaint of phone.seen.complaints) wrong.push(`${name}, phone: console: ${complaint}`);
    await phone.context.close();
    await accessible(browser, url, name, scheme);
  }
}

async function served(browser) {
  const { page, context, seen } = await open(browser, address);
  const links = await page.locator("article table a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  check(links.length >= 4, `the list has ${links.length} rows`);
  for (const kind of ["campaign", "comparison", "sweep", "diary"]) {
    const link = links.find((one) => one.startsWith(`/${kind}/`));
    check(link !== undefined, `the list has no ${kind}`);
    if (!link) continue;
    await page.goto(new URL(link, address).href);
    await page.waitForSelector("footer");
    check((await page.locator(".stage > svg").count()) > 0, `${link} draws nothing`);
    await page.goto(address);
    await page.waitForSelector("footer");
  }
  const boxes = await page.locator("article input[type=checkbox]").all();
  await boxes[0].check();
  await boxes[1].check();
  await page.getByRole("button", { name: "Show two side by side" }).click();
  await page.waitForSelector("main.beside");
  check((await page.locator("main.beside > article").count()) === 2, "two do not stand side by side");
  for (const complaint of seen.complaints) wrong.push(`served: console: ${complaint}`);
  const foreign = seen.requests.filter((url) => !url.startsWith(address));
  check(foreign.length === 0, `served pages ask for ${foreign.join(", ")}`);
  await context.close();
  await accessible(browser, address, "the list", "light");
}

async function main() {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: quiet });
  try {
    for (const name of readdirSync(folder).filter((one) => one.endsWith(".html"))) await file(browser, name);
    await served(browser);
  } finally {
    await browser.close();
  }
  for (const one of wrong) console.error(`test.sh: ${one}`);
  console.log(`pages in Chromium: ${checked} checks, ${wrong.length} failed`);
  process.exit(wrong.length > 0 ? 1 : 0);
}

main().catch((error) => {
  for (const one of wrong) console.error(`test.sh: ${one}`);
  console.error(error);
  process.exit(1);
});
