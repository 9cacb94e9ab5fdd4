// The page of a comparison: its benchmarks as effects, every figure, the functions that changed, what the spread comes from.

/** @param {any} shown @returns {(Node | null)[]} */
function comparisonParts(shown) {
  const { page } = shown;
  const effects = page.benchmarks.map((/** @type {any} */ one) => ({
    label: one.benchmark,
    traits: { benchmark: one.benchmark, verdict: one.verdict ?? "" },
    code: one.code,
    built: one.as_built,
    verdict: one.verdict,
    says: one.as_built_says,
    proven: one.proven,
    sides: page.sides.map((/** @type {any} */ side) => side.name).reverse(),
    unit: one.unit,
    contrast: one,
  }));
  const filter = filterOf(effects.map((/** @type {any} */ effect) => effect.traits));
  const kept = () => effects.filter((/** @type {any} */ effect) => filter.has(effect.traits));
  const names = page.sides.map((/** @type {any} */ side) => side.name);
  const parts = [filter.bar];
  const figures = () => {
    const side = (/** @type {any} */ figure) => (figure ? [digits(figure.median), figure.as_built === null ? "" : digits(figure.as_built), digits(figure.best), digits(figure.worst)] : ["", "", "", ""]);
    const heads = names.flatMap((/** @type {string} */ name) => [`${name}: median`, "as built", "best", "worst"]);
    return table(
      ["benchmark", "unit", ...heads],
      kept().map((/** @type {any} */ { contrast }) => [contrast.benchmark, contrast.unit, ...side(contrast.baseline), ...(names.length > 1 ? side(contrast.candidate) : [])]),
      "Figures by benchmark",
    );
  };
  if (names.length > 1) parts.push(section("Effects", forest(`${names[1]} relative to ${names[0]}`, kept, page.measured.minimum_effect, "change of the figure", sharedReach(shown))));
  else parts.push(section("Placement alone", spreads(page, kept)));
  parts.push(...sampleParts(shown, filter));
  parts.push(section("Figures", following(filter, figures)));
  if (names.length > 1) parts.push(section("Why", following(filter, () => el("div", {}, reasons(kept()), changedFunctions(kept())))));
  if (page.factors?.rows.length > 0) parts.push(section("What the spread comes from", el("p", {}, page.factors.sentence), factorTable(page.factors)));
  const measured = page.measured;
  const sides = page.sides.map((/** @type {any} */ side) => [side.name, el("code", { class: "digest" }, side.revision ?? ""), side.links.join(", "), side.text_bytes ? sized(side.text_bytes) : ""]);
  parts.push(
    section(
      "How it was measured",
      repeat(shown),
      facts([
        ["comparison", `${page.comparison}, ${measured.started}`],
        ["build", page.build],
        ["benchmark", page.bench.join("; ")],
        ["figures read by", page.adapter],
        ["varied", spoken(page.method)],
        ["measuring", `${lasting(measured.seconds)}: ${plural(measured.visits, "visit")}, ${plural(measured.rounds, "round")}, ${plural(measured.rotations, "rotation")}; ended because: ${ended(measured.stopped_because)}`],
        ["verdicts", `${confidence(measured.confidence)} sure for all benchmarks together; effects below ${asked(measured.minimum_effect)} are equivalent`],
        ["control", page.twin_control.note],
        ["gate", page.gate ? `${page.gate.gate}: ${page.gate.passed ? "passed" : page.gate.failed.length > 0 ? "failed" : "undecided"}${page.gate.failed.length > 0 ? ` (${page.gate.failed.join(", ")})` : ""}` : null],
        ["peak memory", page.memory ? `${sized(page.memory.baseline_bytes)}${page.memory.candidate_bytes === null ? "" : ` before, ${sized(page.memory.candidate_bytes)} after`}` : null],
        ["processor", shown.repeats ? null : `${measured.cpu}${measured.pinned_cpu === null ? "" : `, pinned to ${measured.pinned_cpu}`}`],
        ["seed", String(measured.seed)],
        ["ledger", measured.ledger],
        ["program", shown.version ? `assay ${shown.version}` : null],
      ]),
      ...background(shown, "Binaries and files"),
      el("h3", {}, "Sides"),
      table(["name", "revision", "links", "code"], sides, "Sides"),
      page.spoilt.length > 0 ? table(["side", "visits without figures", "reason"], page.spoilt.map((/** @type {any} */ one) => [one.side, one.visits, one.reason]), "Visits without figures") : null,
    ),
  );
  return parts;
}

/** Best, median and worst placement of each benchmark, where one build is compared with itself. @param {any} page @param {() => any[]} kept */
function spreads(page, kept) {
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const rows = kept()
      .slice(0, MOST_ROWS)
      .map((effect) => ({ name: effect.label, ...effect.contrast.baseline }))
      .map((row) => ({ ...row, low: row.best / row.median, high: row.worst / row.median }));
    if (rows.length === 0) return null;
    const narrow = width < NARROW;
    const left = narrow ? 6 : roomFor(rows.map((row) => row.name), width * 0.38);
    const x = ratioAxis([...rows.flatMap((row) => [row.low, row.high]), ...equivalentBand(page.measured.minimum_effect)], zoom, width - left, "best and worst placement, relative to the median");
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: 56 + rows.length * (narrow ? 40 : 26),
      marginLeft: left,
      marginRight: NARROW_RIGHT,
      marginBottom: 44,
      marginTop: 8,
      x,
      y: { type: "point", domain: rows.map((row) => row.name), axis: null, padding: 0.6 },
      marks: [
        ...factorMarks("x", x),
        Plot.rect([equivalentBand(page.measured.minimum_effect)], { x1: "0", x2: "1", fill: "var(--margin)", clip: true }),
        Plot.ruleX([1], { stroke: "var(--ink)" }),
        Plot.link(rows, { x1: "low", x2: "high", y: "name", stroke: "var(--c0)", strokeWidth: 4, dy: narrow ? 6 : 0, clip: true }),
        Plot.text(rows, { y: "name", text: (/** @type {any} */ row) => cut(row.name, narrow ? width - 14 : left), frameAnchor: "left", textAnchor: "start", dx: narrow ? 0 : -left + 4, dy: narrow ? -11 : 0, fill: "var(--ink)" }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = rows.map((row) => ({ x: sx.apply(row.high), y: sy.apply(row.name) + (narrow ? 6 : 0), text: `${row.name}\nbest ${change(row.low)}, worst ${change(row.high)} of ${digits(row.median)}` }));
    return { svg: plot, spots, x: sx };
  };
  const rows = () => table(["benchmark", "best", "median", "worst"], kept().map(({ contrast }) => [contrast.benchmark, digits(contrast.baseline.best), digits(contrast.baseline.median), digits(contrast.baseline.worst)]), "Placement alone");
  return chart({ title: "What placement alone does", see: "The same code, linked in other places: a difference shorter than its bar cannot be seen by timing one build against another.", draw, table: rows });
}

/** @param {any[]} effects */
function changedFunctions(effects) {
  const rows = effects.flatMap(({ contrast }) =>
    contrast.functions.map((/** @type {any} */ one) => [contrast.benchmark, el("code", {}, one.name), spoken(one.change), one.baseline_instructions === null ? "" : digits(one.baseline_instructions), one.candidate_instructions === null ? "" : digits(one.candidate_instructions), one.per, (one.share ?? null) === null ? "" : share(one.share), one.same_source === null ? "" : one.same_source ? "yes" : "no"]),
  );
  if (rows.length === 0) return null;
  return el("div", {}, el("h3", {}, "Functions that differ"), table(["benchmark", "function", "change", "instructions before", "after", "per", "share of all", "same source"], rows, "Functions that differ"));
}

/** @param {any} factors */
function factorTable(factors) {
  return table(["benchmark", "factor", "share of the variance", "deviation"], factors.rows.map((/** @type {any} */ row) => [row.benchmark, row.factor, share(row.share), share(row.deviation)]), "Factors");
}
