// The page: for each thing that is shown a column with its answer first, then its parts.

/** By the schema's name. @type {Record<string, (shown: any) => (Node | null)[]>} */
const PARTS = {
  "assay.campaign": campaignParts,
  "assay.comparison": comparisonParts,
  "assay.sweep": sweepParts,
  "assay.stages": diaryParts,
  "assay.sites": sitesParts,
  "assay.history": historyParts,
  "assay.limits": limitsParts,
};

/** Pages without pictures: everything that they say, as nested lists. @param {any} shown @returns {Node[]} */
function otherParts(shown) {
  return [section("All data", tree(shown.page))];
}

/** Members of a list, or rows of a table, that are shown without being asked for. */
const MOST_LISTED = 12;
const MOST_COLUMNS = 10;

/** The fields of data with the fields inside of them, as "figure median"; nothing where one is a list. @param {any} one @returns {Record<string, any> | null} */
function flat(one, deep = 2) {
  if (one === null || typeof one !== "object" || Array.isArray(one)) return null;
  /** @type {Record<string, any>} */
  const found = {};
  for (const [key, value] of Object.entries(one)) {
    if (value === null || typeof value !== "object") found[key] = value;
    else {
      const inner = deep > 0 ? flat(value, deep - 1) : null;
      if (!inner) return null;
      for (const [name, field] of Object.entries(inner)) found[`${key} ${name}`] = field;
    }
  }
  return found;
}

/** Data as nested lists and tables. @param {any} value @returns {Node | string} */
function tree(value) {
  if (value === null || typeof value !== "object") return typeof value === "number" ? digits(value) : String(value ?? "");
  if (Array.isArray(value)) {
    const short = (/** @type {() => Node} */ make) => (value.length > MOST_LISTED ? folded(plural(value.length, "row"), make) : make());
    const rows = value.map((one) => flat(one));
    const keys = unique(rows.flatMap((row) => Object.keys(row ?? {})));
    // A table of more columns fits no paper.
    if (value.length > 0 && keys.length <= MOST_COLUMNS && rows.every((row) => row !== null)) {
      const text = (/** @type {any} */ field) => (typeof field === "number" ? digits(field) : String(field ?? ""));
      return short(() => table(keys.map(spoken), rows.map((row) => keys.map((key) => text(row?.[key])))));
    }
    return short(() => el("ul", {}, ...value.slice(0, 500).map((one) => el("li", {}, tree(one)))));
  }
  const skipped = ["schema", "question", "answer", "next", "warnings"];
  return el("dl", {}, ...Object.entries(value).filter(([key, one]) => !skipped.includes(key) && one !== null).flatMap(([key, one]) => [el("dt", {}, spoken(key)), el("dd", {}, tree(one))]));
}

/** What it is, in the words of the ledger. @param {any} page */
function titleOf(page) {
  const kind = String(page.schema).split("/")[0];
  if (kind === "assay.campaign") return `campaign ${page.campaign.id}, ${page.experiment}`;
  if (kind === "assay.comparison") return `comparison ${page.comparison}`;
  if (kind === "assay.sweep") return `sweep ${page.measured.id}, ${page.experiment}: ${page.key.sweep}`;
  if (kind === "assay.stages") return `diary ${page.diary}`;
  if (kind === "assay.sites") return `branch sites of ${page.command[0] ?? "a command"}`;
  if (kind === "assay.history") return `history of ${page.name}`;
  if (kind === "assay.limits") return `limits of ${page.machine.cpu}`;
  return spoken(kind.replace("assay.", ""));
}

/** One column: the answer, what to know before believing it, then the parts. @param {any} shown */
function column(shown) {
  const { page } = shown;
  const question = page.question || shown.question || (page.sides?.length > 1 ? `Is ${page.sides[1].name} slower or faster than ${page.sides[0].name}?` : page.sides ? "What does placement alone change?" : null);
  const doubts = [...(page.findings ?? []).map((/** @type {any} */ one) => `${spoken(one.kind)}: ${one.saw}. ${one.why} ${one.remedy}`), ...(page.warnings ?? [])];
  const notes = [...(page.notes ?? []), ...(page.limits && Array.isArray(page.limits) ? page.limits.map((/** @type {string} */ limit) => `Cannot tell ${limit}.`) : [])];
  // A busy neighbour is told first on a terminal. Here it is the first warning, and the answer is what stands out.
  const disturbed = page.neighbour && page.answer?.startsWith(page.neighbour) ? page.neighbour : "";
  if (disturbed) doubts.unshift(disturbed);
  const [first, ...rest] = sentences((page.answer ?? shown.answer ?? "").slice(disturbed.length).trim());
  const head = el(
    "header",
    { class: "answer" },
    question ? el("p", { class: "kind" }, titleOf(page)) : null,
    el("h1", {}, question ?? titleOf(page)),
    first ? el("p", { class: "first" }, first) : null,
    rest.length > 0 ? el("p", { class: "rest" }, rest.join(" ")) : null,
    shown.next ? el("p", { class: "next" }, el("b", {}, "Next: "), shown.next) : null,
    page.prediction ? el("p", { class: "note" }, el("b", {}, "Expected before measuring: "), page.prediction) : null,
    doubts.length > 0 ? el("ul", { class: "doubts", "aria-label": "Warnings" }, ...doubts.map((doubt) => el("li", {}, doubt))) : null,
    notes.length > 0 ? folded(plural(notes.length, "note"), () => el("ul", {}, ...notes.map((note) => el("li", {}, note)))) : null,
  );
  const make = PARTS[String(page.schema).split("/")[0]] ?? otherParts;
  const parts = make(shown).filter((part) => part !== null);
  const failed = page.failures ? failures(page.failures) : null;
  const links = [...parts, failed].flatMap((part) => (part instanceof HTMLElement && part.dataset.title ? [el("a", { href: `#${part.id}` }, part.dataset.title)] : []));
  const contents = links.length > 2 ? el("nav", { "aria-label": `Parts of ${titleOf(page)}` }, ...links) : null;
  const data = section(
    "Data",
    el("p", {}, download("Save everything on this page as JSON", "page.json", "application/json", () => JSON.stringify(page, null, 2))),
  );
  data.classList.add("data");
  return el("article", { "aria-label": titleOf(page) }, head, contents, ...parts, failed, data);
}

/** A text as its sentences. @param {string} text */
function sentences(text) {
  return text.split(/(?<=[.!?])\s+(?=[A-Z0-9“"])/).filter(Boolean);
}

/** What both pages compared, side by side. @param {any} one @param {any} other */
function bothSides(one, other) {
  const of = (/** @type {any} */ page) =>
    new Map(
      page.contrasts
        ? page.contrasts.map((/** @type {any} */ contrast) => [contrastLabel(contrast), contrast])
        : (page.benchmarks ?? []).map((/** @type {any} */ benchmark) => [benchmark.benchmark, benchmark]),
    );
  const [left, right] = [of(one.page), of(other.page)];
  const both = [...left.keys()].filter((label) => right.has(label));
  if (both.length === 0) return null;
  const mark = (/** @type {any} */ contrast) => verdictMark({ verdict: contrast.verdict, proven: contrast.proven, label: "", traits: {}, code: null, built: null, says: null });
  const rows = both.map((label) => [String(label), changed(left.get(label).code), mark(left.get(label)), changed(right.get(label).code), mark(right.get(label))]);
  return folded(`What both compared (${both.length})`, () => table(["compared", titleOf(one.page), "verdict", titleOf(other.page), "verdict"], rows, "What both compared"));
}

/** The look: as the system has it, or the other one. */
function themeButton() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = el("button", { type: "button", class: "theme" });
  const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const name = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  dark.addEventListener("change", name);
  name();
  return button;
}

/** What is told of a thing that is being measured, asked for again and again. @param {string} address @param {HTMLElement} place */
function follow(address, place) {
  const ask = async () => {
    try {
      const found = await (await fetch(address)).json();
      place.textContent = found.text;
      if (found.changed && found.changed !== place.dataset.changed) {
        if (place.dataset.changed) place.append(" ", el("a", { href: location.href }, "Show what is known now"));
        place.dataset.changed = found.changed;
      }
      if (found.over) return;
    } catch {
      place.textContent = "The server does not answer; it may have been ended.";
    }
    setTimeout(ask, 2000);
  };
  ask();
}

/** What is known of a thing before its page has come. @param {any} shown */
function awaited({ page, question, answer }) {
  return el(
    "article",
    { "aria-busy": "true" },
    el("header", { class: "answer" }, question ? el("p", { class: "kind" }, page.title) : null, el("h1", {}, question || page.title), answer ? el("p", { class: "first" }, answer) : null),
    el("p", { class: "note", role: "status" }, "Its samples are being judged; the rest of the page follows."),
  );
}

/** All columns of a page, the list first where there is one, and what stands above two of them. @param {any[]} shown @param {HTMLElement[]} list @returns {Node[]} */
function parts(shown, list) {
  if (shown.length === 2) shown.forEach((/** @type {any} */ one, /** @type {number} */ at) => (one.beside = shown[1 - at].page));
  const columns = [...list, ...shown.map(column)];
  const both = shown.length === 2 ? bothSides(shown[0], shown[1]) : null;
  return [...(both ? [both] : []), el("main", { class: shown.length > 1 ? "beside" : null }, ...columns)];
}

/** What was not there when the document was sent. @param {string} address @returns {Promise<any>} */
async function later(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** Puts the page together. */
async function main() {
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "{}");
  document.querySelector("noscript")?.remove();
  const live = data.live ? el("p", { class: "live", role: "status" }) : null;
  const experiment = data.home && data.shown.length === 1 ? data.shown[0].page.experiment : null;
  const top = el(
    "div",
    { class: "top" },
    data.home ? el("a", { href: data.home }, "Everything in the ledger") : el("span", { class: "brand" }, "assay"),
    experiment ? el("a", { href: experimentPath(experiment) }, `Everything of ${experiment}`) : null,
    themeButton(),
  );
  document.body.append(top, ...(live ? [live] : []));
  if (live) follow(data.live, live);
  const list = data.listing ? [listing(data.listing)] : [];
  let shown = data.shown;
  if (data.data) {
    const waiting = el("main", { class: shown.length > 1 ? "beside" : null }, ...list, ...shown.map(awaited));
    document.body.append(waiting);
    try {
      shown = (await later(data.data)).shown;
    } catch (error) {
      waiting.querySelectorAll("[role=status]").forEach((one) => (one.textContent = `The rest of the page failed to load: ${error instanceof Error ? error.message : error}`));
      return;
    }
    waiting.remove();
  }
  document.body.append(...parts(shown, list));
  const keys = el(
    "p",
    { id: "chart-keys", class: "keys" },
    "Charts: arrow keys read points, + and − zoom, < and > move, 0 shows everything, Escape ends reading. With a mouse: drag over a range, or Ctrl and wheel; double-click shows everything. On a touch screen: two fingers.",
  );
  document.body.append(el("footer", {}, charts.size > 0 ? keys : null, el("p", { class: "note" }, data.made)));
  // On paper there is one size, whatever the window has.
  addEventListener("beforeprint", redrawAll);
  addEventListener("afterprint", redrawAll);
}

main();
