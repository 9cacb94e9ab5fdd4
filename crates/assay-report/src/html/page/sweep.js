// The page of a sweep: times and ratios over the key, crossovers, the sizes of the caches.

/** @param {any} shown @returns {Node[]} */
function sweepParts(shown) {
  const { page } = shown;
  const name = (/** @type {any} */ series) => `${series.input}, ${buildOf(series)}`;
  const rows = page.series.flatMap((/** @type {any} */ series) => series.curves.map((/** @type {any} */ curve) => ({ variant: curve.variant, series: name(series) })));
  const filter = filterOf(rows);
  const parts = page.series.map((/** @type {any} */ series) => {
    const node = section(name(series));
    if (page.series.length > 1) filter.followers.add(() => (node.hidden = !series.curves.some((/** @type {any} */ curve) => filter.has({ variant: curve.variant, series: name(series) }))));
    const traits = (/** @type {string} */ variant) => ({ variant, series: name(series) });
    const many = page.series.length > 1 ? `: ${name(series)}` : "";
    node.append(pairCharts(page, series, many), timesChart(page, series, (variant) => variant === page.baseline || filter.has(traits(variant)), many));
    return node;
  });
  return [
    filter.bar,
    ...parts,
    ...sampleParts(shown, filter),
    section(
      "How it was measured",
      repeat(shown),
      facts([
        ["sweep", `${page.measured.id}, ${page.measured.started}`],
        ["measuring", `${lasting(page.measured.seconds)} of ${lasting(page.measured.budget_seconds)}: ${plural(page.points.length, "point")}, ${plural(page.measured.rotations, "rotation")} each; ended because: ${ended(page.measured.stopped_because)}`],
        ["campaigns", page.measured.campaigns.join(", ")],
        ["intervals", `${confidence(page.measured.confidence)} each; effects below ${asked(page.measured.minimum_effect)} are equivalent`],
        ["control", page.measured.twin],
        ["processor", shown.repeats ? null : `${page.machine.cpu}${page.machine.pinned_cpu === null ? "" : `, pinned to ${page.machine.pinned_cpu}`}`],
        ["caches", shown.repeats ? null : page.machine.caches.map((/** @type {any} */ cache) => `${cache.name} ${sized(cache.bytes)}`).join(", ")],
        ["ledger", page.measured.ledger],
        ["program", shown.version ? `assay ${shown.version}` : null],
      ]),
      ...background(shown),
    ),
  ];
}

/** A value of the key as text. @param {any} page @param {number} value */
function keyText(page, value) {
  return page.key.percent ? asked(value) : page.key.whole ? whole(value) : digits(value);
}

/** The axis of the key. @param {any} page @param {[number, number] | null} zoom @param {number} width */
function keyAxis(page, zoom, width) {
  const ats = page.points.map((/** @type {any} */ point) => point.at);
  const log = page.key.scale === "geometric" && Math.min(...ats) > 0;
  return {
    type: log ? "log" : "linear",
    domain: zoom ?? [Math.min(...ats), Math.max(...ats)],
    label: page.key.label,
    labelAnchor: "center",
    grid: true,
    ticks: Math.max(3, Math.floor(width / 90)),
    tickFormat: (/** @type {number} */ value) => (page.key.percent ? asked(value) : value >= 1000 ? d3.format("~s")(value) : digits(value)),
  };
}

/** Where the input outgrows a cache, by the sizes at the points. @param {any} page */
function cacheMarks(page) {
  const points = page.points.filter((/** @type {any} */ point) => point.bytes !== null);
  return page.machine.caches.flatMap((/** @type {any} */ cache) => {
    const above = points.findIndex((/** @type {any} */ point) => point.bytes > cache.bytes);
    if (above < 1) return [];
    const [one, two] = [points[above - 1], points[above]];
    const part = Math.log(cache.bytes / one.bytes) / Math.log(two.bytes / one.bytes);
    const at = one.at > 0 ? one.at * (two.at / one.at) ** part : one.at + (two.at - one.at) * part;
    return Number.isFinite(at) ? [{ at, name: `${cache.name} ${sized(cache.bytes)}` }] : [];
  });
}

/** The marks of caches, for both charts. @param {any} page @param {string} fill */
function cacheRules(page, fill) {
  const caches = cacheMarks(page);
  return [
    Plot.ruleX(caches, { x: "at", stroke: fill, strokeDasharray: "3 4", clip: true }),
    Plot.text(caches, { x: "at", text: "name", frameAnchor: "top", rotate: -90, textAnchor: "end", dx: -7, dy: 4, fill, clip: true }),
  ];
}

/** @param {any} page @param {any} series @param {(variant: string) => boolean} keep @param {string} many */
function timesChart(page, series, keep, many) {
  const variants = series.curves.map((/** @type {any} */ curve) => curve.variant);
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const points = series.curves
      .filter((/** @type {any} */ curve) => keep(curve.variant))
      .flatMap((/** @type {any} */ curve) => curve.times.map((/** @type {any} */ one) => ({ variant: curve.variant, at: one.at, ...one.ns_per_unit })));
    if (points.length === 0) return null;
    const high = Math.max(...points.map((/** @type {any} */ point) => point.upper));
    const low = Math.min(...points.map((/** @type {any} */ point) => point.lower));
    const x = keyAxis(page, zoom, width);
    const y = low > 0 && high / low > 12 ? { type: "log", domain: [low / 1.1, high * 1.1] } : { type: "linear", domain: [0, high * 1.03] };
    Object.assign(y, { label: `↑ ns per ${page.unit}`, grid: y.type !== "log", ticks: 5, tickFormat: digits });
    const stroke = (/** @type {any} */ point) => colour(variants.indexOf(point.variant));
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: Math.min(420, Math.max(280, width * 0.5)),
      marginLeft: 50,
      marginTop: 24,
      marginBottom: 44,
      x,
      y,
      marks: [
        ...factorMarks("x", x),
        ...factorMarks("y", y),
        ...cacheRules(page, "var(--muted)"),
        Plot.areaY(points, { x: "at", y1: "lower", y2: "upper", z: "variant", fill: stroke, fillOpacity: 0.18, clip: true }),
        Plot.line(points, { x: "at", y: "median", z: "variant", stroke, strokeWidth: 2, clip: true }),
        Plot.dot(points, { x: "at", y: "median", r: 3, fill: stroke, clip: true }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = points.map((/** @type {any} */ point) => ({
      x: sx.apply(point.at),
      y: sy.apply(point.median),
      text: `${point.variant} at ${keyText(page, point.at)}\n${time(point.median)} per ${page.unit} (${time(point.lower)} to ${time(point.upper)})`,
    }));
    const inside = (/** @type {Spot} */ spot) => spot.x >= 40 && spot.x <= width;
    return { svg: plot, spots: spots.filter(inside), x: sx };
  };
  const rows = () => {
    const ats = unique(series.curves.flatMap((/** @type {any} */ curve) => curve.times.map((/** @type {any} */ one) => one.at))).sort((a, b) => Number(a) - Number(b));
    const time = (/** @type {any} */ curve, /** @type {any} */ at) => curve.times.find((/** @type {any} */ one) => one.at === at)?.ns_per_unit;
    const body = ats.map((at) => [keyText(page, Number(at)), ...series.curves.map((/** @type {any} */ curve) => (time(curve, at) ? digits(time(curve, at).median) : ""))]);
    return table([page.key.label, ...variants.map((/** @type {string} */ variant) => `${variant}, ns`)], body, `Times over ${page.key.label}`);
  };
  const steps = series.curves.flatMap((/** @type {any} */ curve) => curve.steps.map((/** @type {any} */ step) => el("li", {}, el("b", {}, curve.variant), `: ${step.note}`)));
  const node = chart({ title: `Times over ${page.key.label}${many}`, see: "The band is the interval. Dashed lines: the input outgrows a cache of this machine.", legend: colours(variants), draw, table: rows });
  return el("div", {}, node, steps.length > 0 ? el("ul", { class: "found" }, ...steps) : null);
}

/** The ratio of one pair, which can be chosen. @param {any} page @param {any} series @param {string} many */
function pairCharts(page, series, many) {
  // The one that has most to tell.
  let chosen = Math.max(0, series.pairs.findIndex((/** @type {any} */ one) => one.crossovers.length > 0));
  const margin = page.measured.minimum_effect;
  const pair = () => series.pairs[chosen];
  if (series.pairs.length === 0) return el("p", { class: "empty" }, "Nothing was compared.");
  /** @type {Record<string, string>} */
  const ofWinner = { candidate: "var(--faster)", baseline: "var(--slower)", neither: "var(--equivalent)" };
  const tint = (/** @type {any} */ row) => ofWinner[row.winner] ?? "var(--undecided)";
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const rows = pair().ratios.map((/** @type {any} */ one) => ({ at: one.at, winner: one.winner, shared: one.shared, ...one.ratio }));
    if (rows.length === 0) return null;
    const all = rows.flatMap((/** @type {any} */ row) => [row.ratio, row.lower, row.upper]).filter((/** @type {number} */ ratio) => ratio > 0);
    const x = keyAxis(page, zoom, width);
    const y = ratioAxis([...all, ...equivalentBand(margin)], null, 360, `↑ change in time, relative to ${pair().baseline}`);
    y.labelAnchor = "top";
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: Math.min(420, Math.max(300, width * 0.5)),
      marginLeft: 62,
      marginTop: 24,
      marginBottom: 44,
      x,
      y,
      marks: [
        ...factorMarks("x", x),
        ...factorMarks("y", y),
        Plot.rect([equivalentBand(margin)], { y1: "0", y2: "1", fill: "var(--margin)", clip: true }),
        Plot.rect(pair().crossovers, { x1: "lower", x2: "upper", fill: "var(--cross)", clip: true }),
        Plot.ruleX(pair().crossovers, { x: "at", stroke: "var(--crossing)", strokeWidth: 1.5, clip: true }),
        ...cacheRules(page, "var(--muted)"),
        Plot.ruleY([1], { stroke: "var(--ink)" }),
        Plot.line(rows, { x: "at", y: "ratio", stroke: "var(--muted)", clip: true }),
        Plot.link(rows, { x: "at", y1: "lower", y2: "upper", stroke: tint, strokeWidth: 2.5, clip: true }),
        Plot.dot(rows, { x: "at", y: "ratio", r: 4, fill: (/** @type {any} */ row) => (row.shared ? "var(--paper)" : tint(row)), stroke: tint, strokeWidth: 1.5, clip: true }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const who = (/** @type {any} */ row) => (row.winner === "candidate" ? `${pair().candidate} wins` : row.winner === "baseline" ? `${pair().baseline} wins` : spoken(row.winner));
    const spots = rows.map((/** @type {any} */ row) => ({
      x: sx.apply(row.at),
      y: sy.apply(row.ratio),
      text: `${page.key.label} ${keyText(page, row.at)}\n${pair().candidate}: ${changed(row)}\n${who(row)}${row.shared ? "; the sibling thread was busy" : ""}`,
    }));
    return { svg: plot, spots: spots.filter((/** @type {Spot} */ spot) => spot.x >= 60 && spot.x <= width), x: sx };
  };
  const rows = () =>
    table(
      [page.key.label, "code effect", "winner", "campaigns"],
      pair().ratios.map((/** @type {any} */ one) => [keyText(page, one.at), changed(one.ratio), spoken(one.winner), one.campaigns]),
      `${pair().candidate} relative to ${pair().baseline}`,
    );
  const told = el("div", { class: "found" });
  const tell = () => {
    const crossings = pair().crossovers.map((/** @type {any} */ one) =>
      el("li", {}, `Crossover at ${keyText(page, one.at)} (between ${keyText(page, one.lower)} and ${keyText(page, one.upper)}): ${one.faster_below} is faster below, ${one.faster_above} above${one.confirmed ? "" : "; measured in one campaign only"}.`),
    );
    told.replaceChildren(el("p", {}, pair().note), el("ul", {}, ...crossings));
  };
  tell();
  const signs = legend([
    ["less", "the candidate takes less time"],
    ["more", "more time"],
    ["cross", "crossover"],
    ["shade", "less than the minimum effect"],
  ]);
  const figure = chart({ title: `Who wins where${many}`, see: "Below the line the candidate takes less time. Hollow: measured beside a busy sibling thread.", legend: signs, draw, table: () => tableOf(rows) });
  const tables = new Set();
  const tableOf = (/** @type {() => Node} */ make) => {
    const place = el("div", {}, make());
    tables.add(() => place.replaceChildren(make()));
    return place;
  };
  if (series.pairs.length > 1) {
    const options = series.pairs.map((/** @type {any} */ one, /** @type {number} */ at) => /** @type {[string, string]} */ ([String(at), `${one.candidate} relative to ${one.baseline}`]));
    const pick = picker("pair", options, String(chosen), (value) => {
      chosen = Number(value);
      tell();
      for (const again of tables) again();
      redrawAll();
    });
    figure.querySelector(".above")?.prepend(pick);
  }
  return el("div", {}, figure, told);
}
