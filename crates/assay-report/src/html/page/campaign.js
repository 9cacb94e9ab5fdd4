// The page of a campaign: effects, samples, heat map, limits, why, and how it was measured.

/** @param {any} of a cell or a contrast */
function buildOf(of) {
  return [of.compiler, of.flags].filter(Boolean).join(" ");
}

/** @param {any} contrast */
function contrastLabel(contrast, manyBuilds = true) {
  const build = manyBuilds || contrast.against ? `, ${buildOf(contrast)}` : "";
  if (contrast.axis === "variant") return `${contrast.candidate} on ${contrast.input}${build}`;
  const against = contrast.against ? ` against ${buildOf(contrast.against)}` : "";
  return `${contrast.candidate} on ${contrast.input}${build}${against}`;
}

/** @param {any} shown @returns {Node[]} */
function campaignParts(shown) {
  const page = shown.page;
  const builds = unique(page.contrasts.map(buildOf));
  const effects = page.contrasts.map((/** @type {any} */ contrast) => ({
    label: contrastLabel(contrast, builds.length > 1),
    traits: { variant: contrast.candidate, input: contrast.input, build: buildOf(contrast), verdict: contrast.verdict },
    code: contrast.code,
    built: contrast.as_built,
    verdict: contrast.verdict,
    says: contrast.as_built_says,
    proven: contrast.proven,
    sides: [contrast.candidate, contrast.baseline].map((name, at) => (contrast.against ? `${name}, ${buildOf(at === 0 ? contrast : contrast.against)}` : name)),
    unit: `ns per ${page.unit}`,
    contrast,
  }));
  const filter = filterOf(effects.map((/** @type {any} */ effect) => effect.traits));
  const kept = () => effects.filter((/** @type {any} */ effect) => filter.has(effect.traits));
  const fields = () =>
    kept()
      .filter((/** @type {any} */ effect) => effect.contrast.axis === "variant")
      .map((/** @type {any} */ effect) => ({ ...effect.traits, ratio: effect.code, verdict: effect.verdict }));
  const margin = page.campaign.minimum_effect;
  const parts = [filter.bar];
  if (effects.length > 0) {
    const axis = `change in time, relative to ${unique(page.contrasts.map((/** @type {any} */ one) => one.baseline)).join(" or ")}`;
    parts.push(section("Effects", forest("Differences", kept, margin, axis, sharedReach(shown))));
    if (fields().length > 2) parts[parts.length - 1].append(heat(fields));
  }
  parts.push(...sampleParts(shown, filter));
  const limited = page.cells.filter((/** @type {any} */ cell) => cell.limits.length > 0);
  if (limited.length > 0) parts.push(section("Bottleneck", ...limitCharts(page, limited, filter)));
  parts.push(section("Times", following(filter, () => cellTable(page, filter))));
  parts.push(section("Why", following(filter, () => reasons(kept()))));
  if (page.claims.length > 0) parts.push(claims(page.claims));
  parts.push(section("How it was measured", ...measured(shown)));
  return parts;
}

/** The strips with their CSV. @param {any} shown @param {Filter} filter @returns {HTMLElement[]} */
function sampleParts(shown, filter) {
  const samples = shown.samples;
  if (!samples || samples.strips.length === 0) return [];
  const all = strips(samples);
  const node = section("Samples", stripChart(samples, all, filter), el("p", { class: "note" }, samples.note));
  node.append(
    el(
      "p",
      {},
      download(`Save the ${samples.drawn < samples.total ? "drawn samples" : "samples"} as CSV`, "samples.csv", "text/csv", () => stripsCsv(samples, all)),
      samples.all ? el("span", { class: "note" }, samples.drawn < samples.total ? " All of them: " : " The same from the ledger: ", el("code", {}, samples.all)) : null,
    ),
  );
  return [node];
}

/** @param {any} page @param {Filter} filter */
function cellTable(page, filter) {
  const traits = (/** @type {any} */ cell) => ({ variant: cell.variant, input: cell.input, build: buildOf(cell) });
  const rows = page.cells.filter((/** @type {any} */ cell) => cell.variant === page.baseline || filter.has(traits(cell)));
  const events = unique(rows.flatMap((/** @type {any} */ cell) => Object.keys(cell.per_unit)));
  return table(
    ["variant", "input", "build", `median, ns per ${page.unit}`, "GB/s", "million units/s", "fastest placement", "slowest placement", "as built", ...events.map((event) => `${event} per ${page.unit}`)],
    rows.map((/** @type {any} */ cell) => [
      cell.variant,
      cell.input,
      buildOf(cell),
      cell.ns_per_unit ? digits(cell.ns_per_unit.median) : "not measured",
      cell.throughput ? digits(cell.throughput.gigabytes_per_second) : "",
      cell.throughput ? digits(cell.throughput.million_units_per_second) : "",
      cell.range ? digits(cell.range.fastest_ns) : "",
      cell.range ? digits(cell.range.slowest_ns) : "",
      cell.as_built_ns === null ? "" : digits(cell.as_built_ns),
      ...events.map((event) => (cell.per_unit[event] ? digits(cell.per_unit[event].value) : "")),
    ]),
    "Times by variant, input and build",
  );
}

/** Reasons in their order, those that are a cause's evidence with its name. @param {string[]} reasons @param {any[]} causes */
function toldOnce(reasons, causes) {
  // A reason is a sentence, evidence a part of one.
  const bare = (/** @type {string} */ text) => text.replace(/\.$/, "").toLowerCase();
  const isReason = (/** @type {any} */ cause) => reasons.some((reason) => bare(reason) === bare(cause.evidence ?? ""));
  const named = (/** @type {any} */ cause, /** @type {string} */ text) => el("li", {}, el("b", {}, spoken(cause.cause)), `: ${text}`);
  const lines = reasons.map((reason) => {
    const cause = causes.find((one) => bare(one.evidence ?? "") === bare(reason));
    return cause ? named(cause, cause.evidence) : el("li", {}, reason);
  });
  return [...lines, ...causes.filter((cause) => !isReason(cause)).map((cause) => named(cause, cause.evidence ?? ""))];
}

/** Both sides of a contrast that runs at two speeds, mode by mode. @param {any} effect */
function modeTable({ contrast, sides, unit }) {
  const { modes } = contrast;
  const shares = modes.slow_share_difference;
  const points = (/** @type {number} */ part) => signed(part * 100, 0);
  const side = (/** @type {any} */ one, /** @type {number} */ at) => [sides[at], digits(one.fast), one.slow === null ? "" : digits(one.slow), share(one.slow_share), digits(one.mean), whole(one.visits), one.offsets.join(", ")];
  return table(
    [unit, "fast", "slow", "slow in", "mean, as a long run reports", "visits", "both at offsets"],
    [side(modes.candidate, 0), side(modes.baseline, 1), ["difference", changeWithin(modes.fast), modes.slow ? changeWithin(modes.slow) : "", `${points(shares.lower)} to ${points(shares.upper)} points`, change(modes.candidate.mean / modes.baseline.mean), "", ""]],
    "Times by mode",
  );
}

/** What each verdict rests on. @param {any[]} effects */
function reasons(effects) {
  const one = (/** @type {any} */ effect) => {
    const found = effect.contrast;
    return el("div", { class: "reason" }, el("h3", {}, verdictMark(effect), ` ${effect.label}`), el("ul", {}, ...toldOnce(found.reasons ?? [], found.causes ?? [])), found.modes ? modeTable(effect) : null);
  };
  const first = effects.slice(0, 6).map(one);
  const rest = effects.slice(6, MOST_ROWS);
  return el("div", {}, ...first, rest.length > 0 ? folded(`${rest.length} more`, () => el("div", {}, ...rest.map(one))) : null);
}

/** What somebody said, with what was found. @param {any[]} all */
function claims(all) {
  const rows = all.map((claim) => [el("span", { class: `verdict ${claim.status}` }, claim.status), `“${claim.text}”${claim.source ? ` (${claim.source})` : ""}`, claim.found]);
  return section("Claims", table(["status", "claim", "found"], rows, "Claims"));
}

/** What could not be measured. @param {any[]} all */
function failures(all) {
  if (all.length === 0) return null;
  return section("Not measured", ...all.map((one) => el("div", { class: "reason" }, el("h3", {}, `${spoken(one.kind)}: ${one.what}`), /\n/.test(one.reason) ? verbatim(one.reason, one.what) : el("p", {}, one.reason))));
}

/** Machine, compilers, flags, inputs and how to repeat it. @param {any} shown @returns {(HTMLElement | null)[]} */
function measured(shown) {
  const { page } = shown;
  const { machine, campaign } = page;
  const inputs = page.inputs.map((/** @type {any} */ input) => [input.name, input.summary ?? "", input.recipe ?? "", sized(input.bytes), whole(input.units), el("code", { class: "digest" }, input.digest)]);
  return [
    repeat(shown),
    facts([
      ["campaign", `${campaign.id}, ${campaign.started}`],
      ["measuring", `${lasting(campaign.measured_seconds)} of ${lasting(campaign.budget_seconds)}: ${plural(campaign.rounds, "round")}, ${plural(campaign.rotations, "rotation")}; ended because: ${ended(campaign.stopped_because)}`],
      ["samples", `${whole(campaign.samples)}, ${whole(campaign.flagged_samples)} left out (interrupted, or the sibling thread was busy)`],
      ["verdicts", `${confidence(campaign.confidence)} sure for all contrasts together; effects below ${asked(campaign.minimum_effect)} are equivalent`],
      ["control", page.twin_control.note],
      ["processor", `${machine.cpu}, ${plural(machine.cores, "core")}${machine.pinned_cpu === null ? ", not pinned" : `, pinned to ${machine.pinned_cpu}`}`],
      ["kernel", machine.kernel],
      ...Object.entries(machine.facts).map(([name, value]) => /** @type {[string, string]} */ ([name, String(value)])),
      ["caches", (shown.caches ?? []).map((/** @type {any} */ cache) => `${cache.name} ${sized(cache.bytes)}`).join(", ")],
      ["clock", `${spoken(machine.clock)}; a read costs ${time(machine.clock === "thread_cpu" ? machine.timer.cpu_read_ns : machine.timer.wall_read_ns)}`],
      ["flags", flagText(page.flag_sets)],
      ["seed", String(campaign.seed)],
      ["ledger", campaign.ledger],
      ["program", shown.version ? `assay ${shown.version}` : null],
    ]),
    ...compilerTable(machine.compilers),
    el("h3", {}, "Inputs"),
    table(["name", "about", "made by", "size", `${page.unit}s`, "SHA-256"], inputs, "Inputs"),
  ];
}

/** @param {any[]} sets */
function flagText(sets) {
  return sets.map((set) => (set.flags.length > 0 ? `${set.name}: ${set.flags.join(" ")}` : set.name)).join("; ");
}

/** @param {any[]} compilers @returns {HTMLElement[]} */
function compilerTable(compilers) {
  if (compilers.length === 0) return [];
  const rows = compilers.map((compiler) => [compiler.name, compiler.version, compiler.target, el("code", { class: "digest" }, compiler.sha256)]);
  return [el("h3", {}, "Compilers"), table(["name", "version", "target", "SHA-256"], rows, "Compilers")];
}

/** Machine, compilers, flags and inputs, where the data of the page have less. @param {any} shown @param {string} [files] what the files are @returns {HTMLElement[]} */
function background(shown, files = "Inputs") {
  const found = shown.repeats;
  if (!found) return [];
  const inputs = found.inputs.map((/** @type {any} */ input) => [input.name, input.recipe ?? "a file", input.bytes === null ? "" : sized(input.bytes), el("code", { class: "digest" }, input.digest)]);
  return [
    facts([...found.machine, ["flags", flagText(found.flags)]]),
    ...compilerTable(found.compilers),
    ...(inputs.length > 0 ? [el("h3", {}, files), table(["name", "made by", "size", "SHA-256"], inputs, files)] : []),
  ];
}

/** The command that repeats it, and the file that it needs. @param {any} shown */
function repeat(shown) {
  const file = shown.file;
  if (!shown.command && !file) return null;
  return el(
    "div",
    { class: "repeat" },
    ...(shown.command ? [el("p", {}, shown.command.startsWith("assay import ") ? "Import it again:" : "Measure it again:"), verbatim(shown.command, "Command that repeats it")] : []),
    file ? folded("The experiment file, as measured", () => el("div", {}, verbatim(file.text, file.name), el("p", {}, download(`Save ${file.name}`, file.name, "text/plain", () => file.text)))) : null,
  );
}

/** Least times by limit beside the measured one, and the roofline. @param {any} page @param {any[]} cells @param {Filter} filter @returns {HTMLElement[]} */
function limitCharts(page, cells, filter) {
  const manyBuilds = unique(cells.map(buildOf)).length > 1;
  const label = (/** @type {any} */ cell) => `${cell.variant} on ${cell.input}${manyBuilds ? `, ${buildOf(cell)}` : ""}`;
  const traits = (/** @type {any} */ cell) => ({ variant: cell.variant, input: cell.input, build: buildOf(cell) });
  const kept = () => cells.filter((cell) => cell.variant === page.baseline || filter.has(traits(cell))).slice(0, MOST_ROWS);
  const kinds = unique(cells.flatMap((cell) => cell.limits.map((/** @type {any} */ limit) => limit.limit)));
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const rows = kept().flatMap((cell, at) => cell.limits.map((/** @type {any} */ limit) => ({ ...limit, cell, at: String(at), label: label(cell) })));
    if (rows.length === 0) return null;
    const names = unique(rows.map((row) => row.at));
    const labelOf = new Map(rows.map((row) => [row.at, row.label]));
    const narrow = width < NARROW;
    const left = narrow ? 6 : roomFor([...labelOf.values()], width * 0.38);
    const one = narrow ? 40 : 26;
    const lift = narrow ? 6 : 0;
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: 60 + names.length * one,
      marginLeft: left,
      marginRight: NARROW_RIGHT,
      marginTop: 8,
      marginBottom: 44,
      x: { domain: zoom ?? [0, Math.max(1.05, ...rows.map((row) => row.share * 1.05))], label: "least time by the limit, share of the measured time", labelAnchor: "center", tickFormat: share, grid: true, ticks: Math.max(3, Math.floor(width / 110)) },
      y: { type: "point", domain: names, axis: null, padding: 0.7 },
      marks: [
        Plot.ruleX([1], { stroke: "var(--ink)" }),
        Plot.ruleY(names, { x1: 0, x2: 1, y: (/** @type {string} */ at) => at, stroke: "var(--grid)", dy: lift, clip: true }),
        Plot.dot(rows, {
          x: "share",
          y: "at",
          dy: lift,
          r: (/** @type {any} */ row) => (row.standing === "binds" ? 6 : 4.5),
          fill: (/** @type {any} */ row) => (row.standing === "binds" ? colour(kinds.indexOf(row.limit)) : "var(--paper)"),
          stroke: (/** @type {any} */ row) => colour(kinds.indexOf(row.limit)),
          strokeWidth: 1.6,
          clip: true,
        }),
        Plot.text(names, { y: (/** @type {string} */ at) => at, text: (/** @type {string} */ at) => cut(labelOf.get(at) ?? "", narrow ? width - 14 : left), frameAnchor: "left", textAnchor: "start", dx: narrow ? 0 : -left + 4, dy: narrow ? -12 : 0, fill: "var(--ink)" }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = rows.map((row) => ({ x: sx.apply(row.share), y: sy.apply(row.at) + lift, text: `${row.label}\n${row.limit}: at least ${time(row.ns)}, ${share(row.share)} of the time\n${row.made_of}; ${spoken(row.standing)}` }));
    return { svg: plot, spots, x: sx };
  };
  const rows = () =>
    table(
      ["cell", "limit", "least time", "share of the time", "", "made of"],
      kept().flatMap((cell) => cell.limits.map((/** @type {any} */ limit) => [label(cell), limit.limit, time(limit.ns), share(limit.share), spoken(limit.standing), limit.made_of])),
      "Limits by cell",
    );
  const see = "A filled point is the bottleneck: the work cannot take less time than that. With nothing near the line at 100 %, the bottleneck is something else, usually a dependency chain.";
  const first = chart({ title: "Limits of the machine", see, legend: colours(kinds), draw, table: rows });
  const roofs = rooflineRows(page, cells);
  return roofs.length > 0 ? [first, roofline(roofs, (row) => filter.has(traits(row.cell)) || row.cell.variant === page.baseline)] : [first];
}

/** Cells of which both the bytes and the instructions are known. @param {any} page @param {any[]} cells */
function rooflineRows(page, cells) {
  return cells.flatMap((cell) => {
    const of = (/** @type {string} */ kind) => cell.limits.find((/** @type {any} */ limit) => limit.limit === kind);
    const [bytes, instructions] = [of("bytes"), of("instructions")];
    const input = page.inputs.find((/** @type {any} */ one) => one.name === cell.input);
    const count = cell.per_unit.instructions?.value;
    if (!bytes || !instructions || !input || !count || !cell.ns_per_unit) return [];
    const perUnit = input.bytes / input.units;
    // "3.00 bytes read, 100 per ns from L2"
    const level = / from (\S.*)$/.exec(bytes.made_of)?.[1] ?? "memory";
    const [bandwidth, issue] = [perUnit / bytes.ns, count / instructions.ns];
    return [{ cell, intensity: count / perUnit, rate: perUnit / cell.ns_per_unit.median, level, bandwidth, issue, roof: `${level}, ${digits(bandwidth)} bytes per ns` }];
  });
}

/** The roofline: rate of bytes by instructions per byte. @param {any[]} all @param {(row: any) => boolean} keep */
function roofline(all, keep) {
  const inputs = unique(all.map((row) => row.cell.input));
  const shape = (/** @type {any} */ row) => SHAPES[inputs.indexOf(row.cell.input) % SHAPES.length];
  const own = (/** @type {any} */ row) => Math.min(row.bandwidth, row.issue / row.intensity);
  const variants = unique(all.map((row) => row.cell.variant));
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const rows = all.filter(keep);
    if (rows.length === 0) return null;
    const bandwidth = Math.max(...rows.map((row) => row.bandwidth));
    const issue = Math.max(...rows.map((row) => row.issue));
    const intensities = [...rows.map((row) => row.intensity), issue / bandwidth];
    const ends = zoom ?? [Math.min(...intensities) / 1.6, Math.max(...intensities) * 1.6];
    // One for each level and way of reaching it, the highest first; the shade is above all of them.
    const roofs = unique(rows.map((row) => row.roof))
      .map((name) => rows.find((row) => row.roof === name))
      .sort((one, other) => other.bandwidth - one.bandwidth);
    const steps = d3.range(81).map((/** @type {number} */ step) => ends[0] * (ends[1] / ends[0]) ** (step / 80));
    const line = roofs.flatMap(({ roof, bandwidth }) => steps.map((/** @type {number} */ intensity) => ({ roof, intensity, rate: Math.min(bandwidth, issue / intensity) })));
    // A name stands on the flat part of its roof, if that is not left of what is shown.
    const named = (/** @type {any} */ row) => (roofs.filter(({ level }) => level === row.level).length > 1 ? row.roof : row.level);
    const names = roofs.filter(({ bandwidth }) => issue / bandwidth > ends[0]).map((row) => ({ bandwidth: row.bandwidth, at: ends[0], name: named(row) }));
    const x = { type: "log", domain: ends, label: "instructions per byte", labelAnchor: "center", tickFormat: digits, ticks: Math.max(3, Math.floor(width / 90)) };
    const y = { type: "log", domain: [Math.min(...rows.map((row) => row.rate)) / 1.5, bandwidth * 1.3], label: "↑ bytes per nanosecond", tickFormat: digits, ticks: 6 };
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: Math.min(400, Math.max(280, width * 0.5)),
      marginLeft: 52,
      marginBottom: 44,
      marginTop: 22,
      x,
      y,
      marks: [
        ...factorMarks("x", x),
        ...factorMarks("y", y),
        Plot.areaY(line.filter((/** @type {any} */ at) => at.roof === roofs[0].roof), { x: "intensity", y1: (/** @type {any} */ at) => at.rate, y2: bandwidth * 1.3, fill: "var(--margin)", clip: true }),
        Plot.line(line, { x: "intensity", y: "rate", z: "roof", stroke: "var(--ink)", strokeWidth: 2, clip: true }),
        Plot.text(names, { x: "at", y: "bandwidth", text: "name", textAnchor: "start", lineAnchor: "top", dx: 4, dy: 5, fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 3, clip: true }),
        Plot.dot(rows, { x: "intensity", y: "rate", r: 5, symbol: shape, fill: (/** @type {any} */ row) => colour(variants.indexOf(row.cell.variant)), stroke: "var(--paper)", clip: true }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = rows.map((row) => ({
      x: sx.apply(row.intensity),
      y: sy.apply(row.rate),
      text: `${row.cell.variant} on ${row.cell.input}, ${buildOf(row.cell)}\n${digits(row.rate)} bytes per ns with ${digits(row.intensity)} instructions per byte\n${share(row.rate / own(row))} of its roof: ${own(row) < row.bandwidth ? "instructions" : row.roof}`,
    }));
    return { svg: plot, spots, x: sx };
  };
  const rows = () =>
    table(
      ["cell", "instructions per byte", "bytes per ns", "level", "roof: memory", "roof: instructions", "of its roof"],
      all.filter(keep).map((row) => [`${row.cell.variant} on ${row.cell.input}, ${buildOf(row.cell)}`, digits(row.intensity), digits(row.rate), row.level, digits(row.bandwidth), digits(row.issue / row.intensity), share(row.rate / own(row))]),
      "Roofline",
    );
  const see = "A line is a roof: flat where a level of the memory limits, falling where instructions do. Points far below their roof wait for something else, mispredictions or a dependency chain; above it the limit's model is wrong.";
  return chart({ title: "Roofline", see, legend: el("div", {}, colours(variants), inputs.length > 1 ? shapes(inputs) : null), draw, table: rows });
}

/** Shapes of points, as D3 and Plot call them. */
const SHAPES = ["circle", "square", "triangle", "diamond", "star", "cross", "wye"];

/** Names with their shapes. @param {string[]} names */
function shapes(names) {
  const sign = (/** @type {number} */ at) => {
    const shape = SHAPES[at % SHAPES.length];
    const path = d3.symbol(d3[`symbol${shape.charAt(0).toUpperCase()}${shape.slice(1)}`], 70)();
    return drawn("svg", { viewBox: "-7 -7 14 14", width: 12, height: 12, "aria-hidden": "true" }, drawn("path", { d: path, fill: "var(--muted)" }));
  };
  return el("ul", { class: "legend" }, ...names.map((name, at) => el("li", {}, sign(at), name)));
}
