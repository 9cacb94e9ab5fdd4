// node test.cjs FOLDER ADDRESS [keep]: every page of the folder, and the server at the address, in Chromium; `keep` a picture of each.
// node test.cjs FOLDER - renew|pictures: writes the kept pictures anew, or compares them alone (pictures.cjs).
const { chromium } = require("playwright-core");
const { existsSync, readFileSync, readdirSync, statSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { pictures } = require("./pictures.cjs");

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [folder, address, how] = process.argv.slice(2);
const keep = how === "keep";
const quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
/** The page of branch sites is only there where QEMU counts instructions, which a roofline needs. */
const counted = existsSync(join(folder, "sites.html"));
const ROOFLINE = counted ? ["Roofline"] : [];
/** Titles of the charts of each page, without the version of the compiler. */
const CHARTS = {
  "campaign.html": ["Differences", "Where it wins", "Every sample", "Limits of the machine", ...ROOFLINE],
  "hostile.html": ["Differences", "Where it wins", "Limits of the machine", ...ROOFLINE],
  "failed.html": ["Differences", "Every sample", "Limits of the machine"],
  "beside.html": ["Differences", "Where it wins", "Every sample", "Limits of the machine", ...ROOFLINE, "Differences", "Every sample", "Limits of the machine"],
  "sweep.html": ["Who wins where: short, gcc O1", "Times over units: short, gcc O1", "Who wins where: short, gcc O2", "Times over units: short, gcc O2", "Every sample"],
  "comparison.html": ["sh -c : relative to true", "Every sample"],
  "diary.html": ["Waterfall: push", "Waterfall: pop", "Every sample"],
  "history.html": ["go: BenchmarkDecodeWithTheLongestNameThatAnyBenchmarkHas/case_1"],
  "limits.html": ["Bandwidth, GB/s", "Latency, ns", "Time of one"],
  "sites.html": ["Mispredictions by site"],
  "other.html": [],
};
/** A page is sent by mail. */
const MOST_BYTES = 3_000_000;
/** Data without a page of their own: no answer, no chart. */
const OTHER = "other.html";

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
  await options.before?.(context);
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

/** Waits until the charts have followed a change of their width. A page that the browser does not draw gets no frames: it is not waited for. */
async function settled(page) {
  await page.evaluate(async () => {
    const frame = () => new Promise((next) => (requestAnimationFrame(next), setTimeout(next, 1000)));
    for (let count = 0; count < 3; count += 1) await frame();
  });
}

/** Waits until an element has stayed where it is for a while: what is above it may still be drawn anew. Says so where it never rests. */
async function atRest(element, name) {
  const rests = await element.evaluate(async (one) => {
    const begun = performance.now();
    let [last, since] = [NaN, begun];
    while (performance.now() - since < 300) {
      if (performance.now() - begun > 60_000) return false;
      await new Promise((next) => (requestAnimationFrame(next), setTimeout(next, 100)));
      const { top } = one.getBoundingClientRect();
      if (top !== last) [last, since] = [top, performance.now()];
    }
    return true;
  });
  check(rests, `${name}: a chart does not come to rest`);
}

/** What axe finds that is serious or critical. */
async function accessible(browser, url, name, schemes) {
  // Injected code is what the policy forbids, so it is left out here and tried everywhere else.
  const { page, context } = await open(browser, url, { bypass: true });
  await fold(page, true);
  await page.evaluate(axe);
  for (const scheme of schemes) {
    await page.emulateMedia({ colorScheme: scheme });
    const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    for (const violation of found.violations.filter((one) => ["serious", "critical"].includes(one.impact)))
      wrong.push(`${name}, ${scheme}: axe ${violation.id}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
    checked += 1;
  }
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
  await atRest(stage, name);
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
  // At its middle: the top of a tall chart may lie below the bar that stays on top of the window.
  const showAll = () => page.mouse.dblclick(box.x + box.width * 0.5, box.y + box.height / 2);
  await showAll();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
  const whole = await stage.innerHTML();
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -120);
  await page.keyboard.up("Control");
  await page.waitForFunction(([one, before]) => one.innerHTML !== before, [await stage.elementHandle(), whole], { timeout: 10_000 }).catch(() => {});
  check((await stage.innerHTML()) !== whole, `${name}: Ctrl and the wheel do not zoom`);
  await page.keyboard.press("Escape");
  await showAll();
  const select = page.locator(".filter select").first();
  if ((await select.count()) > 0) {
    await select.selectOption({ index: 1 });
    check((await page.locator(".shown-rows").first().textContent()) !== "", `${name}: the filter tells nothing`);
    await select.selectOption({ index: 0 });
  }
}

/** Two fingers that part zoom the first chart that has an axis; what they held is drawn wider. */
async function byTouch(page, name) {
  const stages = await page.locator(".stage:visible").all();
  for (const stage of stages) {
    if (await stage.evaluate((one) => one.parentElement.querySelector(".tools").hidden)) continue;
    await stage.evaluate((one) => one.scrollIntoView({ block: "center", behavior: "instant" }));
    await atRest(stage, name);
    const box = await stage.boundingBox();
    const before = await stage.innerHTML();
    const fingers = await page.context().newCDPSession(page);
    const touch = (type, shares) => fingers.send("Input.dispatchTouchEvent", { type, touchPoints: shares.map((share, id) => ({ x: box.x + box.width * share, y: box.y + box.height / 2, id })) });
    await touch("touchStart", [0.45, 0.6]);
    await touch("touchMove", [0.35, 0.7]);
    await touch("touchMove", [0.25, 0.8]);
    await touch("touchEnd", []);
    await settled(page);
    check((await stage.innerHTML()) !== before, `${name}: two fingers do not zoom`);
    check(await stage.evaluate((one) => one.style.overflow === "" && one.querySelector("svg").style.transform === ""), `${name}: a chart stays stretched`);
    return;
  }
}

/** Texts of charts end inside of them. */
async function inside(page, name) {
  const out = await page.evaluate(() =>
    [...document.querySelectorAll(".stage > svg")].flatMap((svg) => {
      const box = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter((text) => text.getBoundingClientRect().right > box.right + 2).map((text) => text.textContent);
    }),
  );
  check(out.length === 0, `${name}: texts leave their chart: ${out.slice(0, 4).join(" | ")}`);
}

/** What a page of a kind must say. */
async function content(page, name) {
  await inside(page, name);
  const twice = await page.evaluate(() =>
    [...document.querySelectorAll(".reason ul")].flatMap((list) => {
      const told = [...list.children].map((one) => one.textContent.replace(/\.$/, "").toLowerCase());
      return told.filter((one, at) => told.some((other, place) => place !== at && other.endsWith(one)));
    }),
  );
  check(twice.length === 0, `${name}: a reason is told twice: ${twice[0]}`);
  const altered = await page.evaluate(() => [...document.querySelectorAll(".filter option")].filter((one) => one.value !== "" && one.value !== one.textContent).map((one) => one.textContent));
  check(altered.length === 0, `${name}: the filter alters names: ${altered.join(", ")}`);
  if (name === OTHER) {
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    check(height < 6000, `${name}: ${height} pixels of raw data`);
  }
  if (["campaign.html", "sweep.html", "comparison.html", "diary.html"].includes(name)) {
    check((await page.getByText("Measure it again:").count()) === 1, `${name}: not told how it is repeated`);
    for (const fact of ["processor", "kernel"]) check((await page.locator("dt", { hasText: new RegExp(`^${fact}$`) }).count()) === 1, `${name}: its machine has no ${fact}`);
  }
  if (["campaign.html", "sweep.html", "diary.html", "comparison.html", "history.html"].includes(name)) check((await page.getByRole("columnheader", { name: "SHA-256" }).count()) > 0, `${name}: nothing is identified`);
  if (["campaign.html", "sweep.html"].includes(name)) check((await page.locator("dt", { hasText: /^flags$/ }).count()) === 1, `${name}: no flags`);
  if (name === "history.html") check((await page.getByText("Import it again:").count()) === 1, `${name}: not told how it is repeated`);
  if (name === "limits.html") check((await page.getByText("instructions per cycle at best").count()) > 0, `${name}: no answer`);
  if (name === "failed.html") check((await page.getByRole("heading", { name: "Not measured" }).count()) === 1, `${name}: nothing failed`);
  if (name === "beside.html") {
    const marks = await page.evaluate(() =>
      [...document.querySelectorAll("main > article")].map((one) => {
        const svg = one.querySelector(".stage > svg");
        const place = (text) => Math.round(text.getBoundingClientRect().left - svg.getBoundingClientRect().left);
        return [...svg.querySelectorAll("[aria-label='x-axis tick label'] text")].map((text) => `${text.textContent} at ${place(text)}`).join(", ");
      }),
    );
    check(marks[0] !== "" && marks[0] === marks[1], `${name}: axes of effects differ: ${marks.join(" and ")}`);
  }
  if (name === "diary.html") {
    const { steps, words, texts } = await page.evaluate(() => ({
      steps: JSON.parse(document.getElementById("data").textContent).shown[0].page.steps,
      words: [...document.querySelectorAll("[aria-label='What each step brought'] tbody tr")].map((row) => row.children[3].textContent),
      texts: [...document.querySelectorAll(".stage > svg text")].map((one) => one.textContent),
    }));
    check(words.every((word) => !["open", "nothing", "only counts"].includes(word)), `${name}: words of the data: ${words.join(", ")}`);
    for (const step of steps.filter((one) => one.against === "before" && one.time?.code)) {
      const percent = (step.time.code.ratio - 1) * 100;
      const said = texts.map((text) => /([+-]?\d[\d.]*) % [±(]/.exec(text)).filter(Boolean);
      check(said.some((found) => Math.abs(Number(found[1]) - percent) <= 0.5), `${name}: the waterfall does not say ${percent.toFixed(1)} % of ${step.stage}`);
    }
  }
}

/** The data of a page, and the page with others. @param {string} name */
function dataOf(name) {
  const text = readFileSync(join(folder, name), "utf8");
  const open_ = 'id="data">';
  const begin = text.indexOf(open_) + open_.length;
  const end = text.indexOf("<", begin);
  const with_ = (/** @type {any} */ data) => text.slice(0, begin) + JSON.stringify(data).replace(/</g, "\\u003c") + text.slice(end);
  return { data: JSON.parse(text.slice(begin, end)), with_ };
}

/** A history over runs, days and commits, by machine and by compiler: each choice shows something else. */
async function choices(browser) {
  const { data, with_ } = dataOf("history.html");
  data.shown[0].page.runs.forEach((run, at) => {
    run.revision = String(Math.floor(at / 2)).repeat(40).slice(0, 40);
    run.compilers = [at < 7 ? "gcc-12 12.2.0" : "gcc-13 13.1.0"];
  });
  const changed = join(folder, "choices.html");
  writeFileSync(changed, with_(data));
  const { page, context, seen } = await open(browser, `file://${changed}`);
  const ticks = () => page.evaluate(() => [...document.querySelectorAll(".stage [aria-label='x-axis tick label'] text")].map((one) => one.textContent).join(" "));
  const legend = () => page.locator("figure .legend li").allTextContents();
  const along = page.getByLabel("Along");
  const seenTicks = new Map();
  for (const option of await along.locator("option").allTextContents()) {
    await along.selectOption(option);
    await settled(page);
    seenTicks.set(option, await ticks());
    await inside(page, `history along ${option}`);
  }
  check([...seenTicks.keys()].join() === "run,day,commit", `a history can be shown along ${[...seenTicks.keys()].join()}`);
  check(new Set(seenTicks.values()).size === 3, `axes of a history are alike: ${[...seenTicks.values()].join(" | ")}`);
  check(/2026-10-\d\d/.test(seenTicks.get("day")) && /1111111/.test(seenTicks.get("commit")), `axes of a history: ${[...seenTicks.values()].join(" | ")}`);
  check((await legend()).length === 0, "one machine needs no legend");
  await page.getByLabel("Colours by").selectOption("compiler");
  check((await legend()).join() === "gcc-12 12.2.0,gcc-13 13.1.0", `colours by compiler: ${(await legend()).join()}`);
  await page.screenshot({ path: join(folder, "choices.png"), fullPage: true });
  for (const complaint of seen.complaints) wrong.push(`choices: console: ${complaint}`);
  await context.close();
}

/** A straggler among the samples is counted at the border, and the others keep their width: however slow it is, the axis is the same. */
async function straggler(browser) {
  const slowed = (factor) => {
    const { data, with_ } = dataOf("campaign.html");
    const strip = data.shown[0].samples.strips[0];
    const bytes = Buffer.from(strip[3], "base64");
    bytes.writeFloatLE(bytes.readFloatLE(0) * factor, 0);
    strip[3] = bytes.toString("base64");
    const changed = join(folder, `straggler_${factor}.html`);
    writeFileSync(changed, with_(data));
    return changed;
  };
  const marks = async (path) => {
    const { page, context } = await open(browser, `file://${path}`);
    const found = await page.evaluate(() => {
      const texts = [...document.querySelectorAll(".stage > svg")].find((svg) => svg.querySelector(".stroke")).querySelectorAll("text.mark");
      return [...texts].map((one) => one.textContent);
    });
    await context.close();
    const ticks = found.filter((one) => /^[\d.,]+ \S+$/.test(one));
    return { ticks, beyond: found.filter((one) => one.startsWith("▸")).length, last: ticks[ticks.length - 1] };
  };
  // Without one, the axis ends at the slowest sample, which may be a tick earlier.
  const [plain, slow, slower] = [await marks(join(folder, "campaign.html")), await marks(slowed(1000)), await marks(slowed(3000))];
  check(slow.ticks.join() === slower.ticks.join(), `a slower straggler changes the axis from ${slow.ticks.join(", ")} to ${slower.ticks.join(", ")}`);
  check(parseFloat(slow.last) < 10 * parseFloat(plain.last), `a straggler widens the axis from ${plain.last} to ${slow.last}`);
  check(slow.beyond > 0, "a straggler is not counted at the border");
  check(new Set(plain.ticks.map((one) => one.split(" ")[1])).size === 1, `an axis has several units: ${plain.ticks.join(", ")}`);
}

async function file(browser, name) {
  const url = `file://${join(folder, name)}`;
  const { page, context, seen } = await open(browser, url);
  const charts = await page.locator(".stage > svg").count();
  const titles = await page.evaluate(() => [...document.querySelectorAll("figure.chart")].filter((one) => one.querySelector(".stage > svg")).map((one) => one.querySelector("h3").textContent));
  const told = titles.map((title) => title.replace(/gcc-\d+/, "gcc"));
  check(CHARTS[name] !== undefined, `${name}: which charts it must have is not written here`);
  check(JSON.stringify(told) === JSON.stringify(CHARTS[name]), `${name}: its charts are ${told.join(", ")}; they must be ${CHARTS[name]?.join(", ")}`);
  const { size } = statSync(join(folder, name));
  check(size < MOST_BYTES, `${name}: ${size} bytes`);
  const marks = await page.evaluate(() => [...document.querySelectorAll(".stage > svg")].map((svg) => svg.querySelectorAll("circle, path[d], rect, line").length));
  check(marks.every((count) => count > 0), `${name}: an empty chart`);
  check((await page.locator(".chart details").count()) === charts, `${name}: a chart without its table`);
  const answer = await page.locator(name === OTHER ? ".answer h1" : ".answer .first").first().boundingBox();
  check(answer && answer.y < 300, `${name}: the answer is not what is seen first`);
  if (name === "hostile.html") check((await page.getByText("<script>alert(1)</script>").count()) > 0, `${name}: the variant's name is not shown as it is`);
  if (name === "campaign.html") {
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /as CSV/ }).click()]);
    const csv = readFileSync(await saved.path(), "utf8").trim().split("\r\n");
    const all = readFileSync(join(folder, "samples.csv"), "utf8").trim().split("\r\n");
    check(csv[0] === all[0] && csv.length === all.length, `${name}: its CSV has ${csv.length} rows, the ledger's ${all.length}`);
  }
  check((await page.locator("article script, article img").count()) === 0, `${name}: foreign text became markup`);
  await content(page, name);
  await fold(page, true);
  await byKeyboard(page, name);
  await fold(page, false);
  if (charts > 0) await byMouse(page, name);
  if (keep) await page.screenshot({ path: join(folder, name.replace(".html", ".png")), fullPage: true });
  const paper = await page.pdf({ format: "A4" });
  check(paper.length > 20_000, `${name}: nothing on paper`);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  check((await page.evaluate(() => getComputedStyle(document.body).backgroundColor)) === "rgb(255, 255, 255)", `${name}: paper is not white`);
  check(!(await page.locator(".filter").first().isVisible().catch(() => false)), `${name}: controls on paper`);
  // The width of A4 between its margins.
  await page.setViewportSize({ width: 718, height: 1000 });
  const lost = await page.evaluate(() => [...document.querySelectorAll(".scroll")].filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1).map((one) => one.getAttribute("aria-label")));
  check(lost.length === 0, `${name}: tables lose columns on paper: ${lost.join(", ")}`);
  await context.close();
  for (const complaint of seen.complaints) wrong.push(`${name}: console: ${complaint}`);
  check(seen.requests.length === 1 && seen.requests[0] === url, `${name}: asks for ${seen.requests.slice(1).join(", ")}`);
  // On a phone nothing is wider than the screen, dark or light.
  const phone = await open(browser, url, { context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } });
  const width = await phone.page.evaluate(() => document.documentElement.scrollWidth);
  check(width <= 390, `${name}: ${width} pixels wide on a phone`);
  await inside(phone.page, `${name}, phone`);
  for (const scheme of ["light", "dark"]) {
    await phone.page.emulateMedia({ colorScheme: scheme });
    const paper = await phone.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    check((paper === "rgb(255, 255, 255)") === (scheme === "light"), `${name}: ${scheme} is ${paper}`);
  }
  if (charts > 0) await byTouch(phone.page, name);
  if (keep) await phone.page.screenshot({ path: join(folder, name.replace(".html", "-phone.png")), fullPage: true });
  for (const complaint of phone.seen.complaints) wrong.push(`${name}, phone: console: ${complaint}`);
  await phone.context.close();
  await accessible(browser, url, name, ["light", "dark"]);
}

/** What is under way: its state follows, and what is known now can be shown. */
async function live(browser) {
  const { page, context, seen } = await open(browser, address);
  const row = page.locator("article tbody tr", { hasText: "under_way" });
  for (let time = 0; (await row.count()) === 0 && time < 240; time += 1) {
    await page.waitForTimeout(500);
    await page.reload();
    await page.waitForSelector("footer");
  }
  await page.goto(new URL(await row.locator("a").first().getAttribute("href"), address).href);
  await page.waitForSelector(".live");
  const state = page.locator(".live");
  await page.waitForFunction(() => /samples/.test(document.querySelector(".live").textContent));
  const first = await state.textContent();
  await page.waitForFunction((first) => document.querySelector(".live").textContent !== first, first);
  const link = page.getByRole("link", { name: "Show what is known now" });
  await link.waitFor();
  check(first.startsWith("Under way"), `what is under way says: ${first}`);
  await link.click();
  await page.waitForSelector("footer");
  process.kill(Number(process.env.LIVE), "SIGINT");
  await page.waitForFunction(() => /^Interrupted after/.test(document.querySelector(".live")?.textContent ?? ""));
  checked += 1;
  for (const complaint of seen.complaints) wrong.push(`live: console: ${complaint}`);
  await context.close();
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
  const list = await page.locator("article .scroll").evaluate((one) => ({ cut: one.scrollHeight - one.clientHeight, states: [...one.querySelectorAll("tbody tr")].map((row) => row.lastElementChild.textContent) }));
  check(list.cut <= 1, `the list hides ${list.cut} pixels of itself`);
  check(list.states.every((state) => !["rounds", "refined", "budget", "rotations", "points"].includes(state)), `the list spells states as the data do: ${list.states.join(", ")}`);
  const phone = await open(browser, address, { context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } });
  const answers = await phone.page.locator("article tbody td:nth-child(5)").evaluateAll((all) => all.filter((one) => one.textContent !== "").map((one) => one.getBoundingClientRect().right));
  check(answers.length > 0 && answers.every((right) => right <= 390), "a phone shows no answers in the list");
  await phone.context.close();
  // Everything of an experiment: its rows first, its history as soon as that is judged.
  await page.goto(new URL("/experiment/sums", address).href);
  await page.waitForSelector("footer");
  const paths = await page.locator("article table[aria-label='What the ledger has'] a, [aria-label='What the ledger has'] a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  check(paths.some((path) => path.startsWith("/campaign/")) && paths.every((path) => !path.startsWith("/comparison/")), `the experiment's page lists ${paths.join(", ")}`);
  check((await page.locator("article", { hasText: "Over the runs" }).count()) > 0, "the experiment's page has no history");
  await page.goto(address);
  await page.waitForSelector("footer");
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
  await accessible(browser, address, "the list", ["light"]);
}

/** As many of these at once as wait for each other's drawing; the whole takes as long as the browser is busy. */
const AT_ONCE = 3;

/** The browser may hang where no call has a limit of its own (in closing, in printing): then it is said in what. */
const MOST_MS = 15 * 60_000;
const underWay = new Set();

/** @param {string} name @param {() => Promise<unknown>} job */
async function named(name, job) {
  underWay.add(name);
  await job();
  underWay.delete(name);
}

/** @param {[string, () => Promise<void>][]} jobs */
async function sideBySide(jobs) {
  const left = [...jobs];
  const work = async () => {
    for (let job = left.shift(); job; job = left.shift()) await named(...job);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function main() {
  setTimeout(() => {
    for (const one of wrong) console.error(`test.sh: ${one}`);
    console.error(`test.sh: Chromium has not ended after ${MOST_MS / 60_000} minutes: ${[...underWay].join(", ")}`);
    process.exit(1);
  }, MOST_MS).unref();
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: quiet });
  const tools = { open, settled, dataOf, check, folder };
  try {
    if (how === "renew" || how === "pictures") await pictures(browser, tools, how === "renew");
    else {
      const files = readdirSync(folder).filter((one) => one.endsWith(".html"));
      const pages = files.map((name) => /** @type {[string, () => Promise<void>]} */ ([name, () => file(browser, name)]));
      await sideBySide([["live", () => live(browser)], ...pages, ["choices", () => choices(browser)], ["straggler", () => straggler(browser)], ["pictures", () => pictures(browser, tools, false)]]);
      await named("the server", () => served(browser));
    }
  } finally {
    await named("closing", () => browser.close());
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
