// What a ledger has: everything that was asked, of all experiments or of one, two of which can be chosen to stand side by side.

/** @param {{ledger: string, rows: any[], experiment: string | null, now: Record<string, string>}} found */
function listing({ ledger, rows, experiment, now }) {
  /** How something stands: why it ended, or how far it has come. @param {any} row */
  const standing = (row) => el("span", { class: row.state === "under way or killed" ? "verdict" : null }, now[row.path] ?? ended(row.state));
  const traits = (/** @type {any} */ row) => ({ experiment: row.name, kind: row.kind, state: ended(row.state) });
  const filter = filterOf(rows.map(traits));
  /** @type {string[]} */
  let chosen = [];
  const beside = /** @type {HTMLButtonElement} */ (el("button", { type: "button", disabled: true }, "Show two side by side"));
  beside.addEventListener("click", () => (location.href = `/beside${chosen.map((path) => `/${path}`).join("")}`));
  const choose = (/** @type {any} */ row) => {
    const box = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", "aria-label": `Choose ${row.path}` }));
    box.checked = chosen.includes(row.path);
    box.addEventListener("change", () => {
      chosen = box.checked ? [...chosen, row.path] : chosen.filter((path) => path !== row.path);
      beside.disabled = chosen.length !== 2;
    });
    return box;
  };
  const shown = () => {
    const kept = rows.filter((row) => filter.has(traits(row)));
    if (kept.length === 0) return el("p", { class: "empty" }, rows.length === 0 ? "The ledger is empty; `assay run` adds a campaign." : "Nothing fits the filter.");
    const list = table(
      ["", "what", "experiment", "question", "answer", "began, UTC", "state"],
      kept.slice(0, 1000).map((row) => [choose(row), el("a", { href: `/${row.path}` }, row.path), experiment === null ? el("a", { href: experimentPath(row.name) }, row.name) : row.name, row.question, row.answer ? row.answer.text : "", row.began.slice(0, 16).replace("T", " "), standing(row)]),
      "What the ledger has",
    );
    // The page is the list: it scrolls, and nothing in it.
    list.classList.remove("long");
    return el("div", { class: "kept" }, list);
  };
  const experiments = unique(rows.map((row) => row.name)).length;
  const many = experiment === null ? `${plural(rows.length, "measurement")} of ${plural(experiments, "experiment")}` : `${plural(rows.length, "measurement")} of ${experiment}`;
  return el(
    "article",
    {},
    el("header", { class: "answer" }, el("h1", {}, ledger), el("p", { class: "first" }, rows.length === 0 ? "Nothing was measured yet" : many)),
    filter.bar,
    el("p", {}, beside),
    following(filter, shown),
  );
}

/** Where everything that was asked of an experiment is. @param {string} name */
function experimentPath(name) {
  return `/experiment/${encodeURIComponent(name)}`;
}
