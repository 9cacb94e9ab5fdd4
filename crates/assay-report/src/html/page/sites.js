// The page of branch sites: what each costs, how often it is taken, its source and its code.

/** @param {any} shown @returns {(Node | null)[]} */
function sitesParts(shown) {
  const { page } = shown;
  const where = (/** @type {any} */ site) => `${site.function ?? site.address}${site.line ? `:${site.line}` : ""}`;
  const traits = (/** @type {any} */ site) => ({ function: site.function ?? "", class: site.class, module: site.module ?? "" });
  const filter = filterOf(page.sites.map(traits));
  const kept = () => page.sites.filter((/** @type {any} */ site) => filter.has(traits(site)));
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const rows = kept().slice(0, 60).map((/** @type {any} */ site) => ({ site, at: String(site.rank), value: site.share ?? 0, taken: site.executed > 0 ? site.taken / site.executed : 0 }));
    if (rows.length === 0) return null;
    const narrow = width < NARROW;
    const label = (/** @type {any} */ row) => `${row.site.rank}. ${where(row.site)}`;
    const left = narrow ? 6 : roomFor(rows.map(label), width * 0.4);
    const right = narrow ? NARROW_RIGHT : 190;
    const inset = narrow ? { insetTop: 15, insetBottom: 2 } : { insetTop: 2, insetBottom: 2 };
    const told = (/** @type {any} */ row) => `${share(row.value)}, taken ${share(row.taken)}`;
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: 56 + rows.length * (narrow ? 40 : 26),
      marginLeft: left,
      marginRight: right,
      marginTop: 6,
      marginBottom: 44,
      x: { domain: zoom ?? [0, Math.max(0.01, ...rows.map((/** @type {any} */ row) => row.value)) * 1.03], label: "share of all mispredictions", labelAnchor: "center", tickFormat: (/** @type {number} */ value) => asked(value), grid: true, ticks: Math.max(3, Math.floor(width / 110)) },
      y: { type: "band", domain: rows.map((/** @type {any} */ row) => row.at), axis: null, padding: 0.08 },
      marks: [
        Plot.barX(rows, { x1: 0, x2: "value", y: "at", fill: "var(--margin)", stroke: "var(--c0)", ...inset, clip: true }),
        // The filled part of a bar is what is taken.
        Plot.barX(rows, { x1: 0, x2: (/** @type {any} */ row) => row.value * row.taken, y: "at", fill: "var(--c0)", ...inset, clip: true }),
        Plot.ruleX([0]),
        Plot.text(rows, { y: "at", text: (/** @type {any} */ row) => (narrow ? cut(`${label(row)}: ${told(row)}`, width - 14) : cut(label(row), left)), frameAnchor: "left", textAnchor: "start", dx: narrow ? 0 : -left + 4, dy: narrow ? -11 : 0, fill: "var(--ink)" }),
        narrow ? null : Plot.text(rows, { y: "at", text: told, frameAnchor: "right", textAnchor: "start", dx: 8, fill: "var(--ink)" }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = rows.map((/** @type {any} */ row) => ({ x: sx.apply(row.value), y: sy.apply(row.at) + sy.bandwidth / 2, text: `${label(row)}\n${told(row)} of ${whole(row.site.executed)} executions\n${row.site.instruction ?? row.site.class}` }));
    return { svg: plot, spots, x: sx };
  };
  const rows = () =>
    following(filter, () =>
      table(
        ["rank", "site", "file", "kind", "executed", "taken", "cost", "share", ...page.predictors.map((/** @type {any} */ one) => one.name)],
        kept().map((/** @type {any} */ site) => [
          site.rank,
          where(site),
          site.file ?? site.module ?? "",
          site.class,
          whole(site.executed),
          share(site.executed > 0 ? site.taken / site.executed : 0),
          whole(site.cost),
          share(site.share),
          ...page.predictors.map((/** @type {any} */ one) => {
            const found = site.mispredictions.find((/** @type {any} */ miss) => miss.predictor === one.name);
            return found ? whole(found.misses) : "";
          }),
        ]),
        "Branch sites",
      ),
    );
  const parts = [filter.bar];
  if (page.sites.length > 0) {
    const signs = legend([["taken", "taken"], ["untaken", "not taken"]]);
    parts.push(section("Branch sites", chart({ title: "Mispredictions by site", see: "Long bars cost most. A bar that is half filled is taken half of the time.", legend: signs, draw, table: rows })));
    parts.push(section("Source and code", following(filter, () => el("div", {}, ...kept().slice(0, MOST_ROWS).map((/** @type {any} */ site, /** @type {number} */ at) => siteCode(site, where(site), at < 3))))));
  }
  if (page.hints && page.hints.list.length > 0) {
    const hints = page.hints.list.map((/** @type {any} */ hint) => [el("span", { class: `verdict ${hint.verdict}` }, spoken(hint.verdict)), el("code", {}, hint.text), `${hint.file ?? ""}${hint.line ? `:${hint.line}` : ""}`, whole(hint.likely), whole(hint.unlikely), hint.remedy ?? hint.reason ?? ""]);
    parts.push(section("Hints", table(["verdict", "hint", "where", "likely side", "unlikely side", "remedy"], hints, "Hints")));
  }
  const modules = page.modules.map((/** @type {any} */ one) => [one.path, whole(one.executed), one.share === null ? "" : share(one.share), one.lines, el("code", { class: "digest" }, one.build_id ?? "")]);
  parts.push(
    section(
      "How it was traced",
      repeat(shown),
      facts([
        ["command", page.command.join(" ")],
        ["emulator", page.emulator || null],
        ["executed", `${whole(page.totals.instructions)} instructions, ${whole(page.totals.branches)} branches at ${whole(page.totals.sites)} sites`],
        ["left out", page.left_out.sites > 0 ? `${plural(page.left_out.sites, "site")} with ${share(page.left_out.share)} of the cost` : null],
        ["predictors", page.predictors.map((/** @type {any} */ one) => `${one.name}: ${one.what}`).join("; ")],
        ["program", shown.version ? `assay ${shown.version}` : null],
      ]),
      table(["file", "branches executed", "share of the cost", "source lines", "build id"], modules, "Files"),
    ),
  );
  return parts;
}

/** Source and disassembly around a site. @param {any} site @param {string} where @param {boolean} open */
function siteCode(site, where, open) {
  const inlined = site.inlined_into.map((/** @type {any} */ frame) => `${frame.function ?? "unknown"}${frame.line ? `:${frame.line}` : ""}`).join(", in ");
  const lines = (/** @type {any[]} */ all, /** @type {(line: any) => string} */ number) =>
    el(
      "pre",
      { tabindex: "0", role: "region", "aria-label": `Code of ${where}` },
      ...all.map((line) => el("span", { class: line.here ? "line here" : line.target ? "line target" : "line" }, `${line.here ? "▶" : line.target ? "→" : " "} ${number(line)}  ${line.text}\n`)),
    );
  const width = Math.max(0, ...site.source.map((/** @type {any} */ line) => String(line.line).length));
  const taken = site.executed > 0 ? site.taken / site.executed : 0;
  return folded(
    `${site.rank}. ${where}: ${share(site.share)} of the cost, taken ${share(taken)}`,
    () =>
      el(
        "div",
        {},
        el("p", { class: "note" }, [site.file ?? site.module ?? "", inlined ? `inlined into ${inlined}` : "", site.instruction ?? site.class].filter(Boolean).join("; ")),
        site.source.length > 0 ? lines(site.source, (line) => String(line.line).padStart(width)) : null,
        site.code.length > 0 ? lines(site.code, (line) => line.address) : null,
        site.source.length + site.code.length === 0 ? el("p", { class: "empty" }, "No source or code was kept for this site.") : null,
      ),
    open,
  );
}
