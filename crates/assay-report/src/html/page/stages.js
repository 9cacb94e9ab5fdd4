// The page of a diary: each role as a waterfall, and what each step brought.

/** What a waterfall can show. @type {[string, string, (cell: any) => number | null | undefined][]} */
const QUANTITIES = [
  ["time", "ns", (cell) => cell.time?.ns_per_unit],
  ["instructions", "instructions", (cell) => cell.counts?.instructions_per_unit],
  ["branches", "branches", (cell) => cell.counts?.branches_per_unit],
  ["mispredictions", "mispredictions", (cell) => cell.counts?.misses_per_unit],
];

/** What a step brought, in the words of its verdict. */
const BROUGHT = /** @type {Record<string, string>} */ ({ only_counts: "counts only", nothing: "no change", open: "undecided" });

/** @param {any} step */
function broughtWord(step) {
  // Of a reference there is no step that could have changed nothing.
  if (step.against === "reference" && (step.brought === "nothing" || step.brought === "only_counts")) return "equivalent";
  return BROUGHT[step.brought] ?? step.brought;
}

/** @param {any} shown @returns {Node[]} */
function diaryParts(shown) {
  const { page } = shown;
  const filter = filterOf(page.entrants.map((/** @type {any} */ entrant) => ({ variant: entrant.name, kind: entrant.kind })));
  const kinds = new Map(page.entrants.map((/** @type {any} */ entrant) => [entrant.name, entrant]));
  const parts = page.roles.map((/** @type {any} */ role) =>
    section(page.roles.length > 1 ? role.name : "Stages", role.note ? el("p", {}, role.note) : null, waterfall(page, role, kinds, filter)),
  );
  const steps = () =>
    table(
      ["stage", "relative to", "role", "brought", "code effect", "as built"],
      page.steps
        .filter((/** @type {any} */ step) => filter.has({ variant: step.stage }))
        .map((/** @type {any} */ step) => [step.stage, step.baseline, step.role, broughtWord(step), changed(step.time?.code), changed(step.time?.as_built)]),
      "What each step brought",
    );
  const traps = unique(page.steps.flatMap((/** @type {any} */ step) => step.traps.map((/** @type {string} */ trap) => `${step.stage}: ${trap}`)));
  const entrants = page.entrants.map((/** @type {any} */ one) => [one.name, one.kind, one.note ?? "", one.flags ?? "", el("code", { class: "digest" }, one.revision ?? ""), one.text_bytes === null ? "" : sized(one.text_bytes), el("code", { class: "digest" }, one.artifact ?? ""), one.failed ?? ""]);
  const sessions = page.sessions.map((/** @type {any} */ one) => [one.session, one.started, one.cpu, one.entrants.length, one.rounds, one.rotations, lasting(one.seconds), ended(one.stopped_because)]);
  return [
    filter.bar,
    ...parts,
    section("Steps", following(filter, steps), traps.length > 0 ? el("ul", { class: "found" }, ...traps.map((trap) => el("li", {}, String(trap)))) : null),
    ...(page.claims.length > 0 ? [claims(page.claims)] : []),
    ...sampleParts(shown, filter),
    section(
      "How it was measured",
      repeat(shown),
      facts([
        ["verdicts", `${confidence(page.confidence)} sure for a session together; effects below ${asked(page.minimum_effect)} are equivalent`],
        ["predictor", page.predictor],
        ["ledger", page.ledger],
        ["program", shown.version ? `assay ${shown.version}` : null],
      ]),
      ...background(shown),
      el("h3", {}, "Stages and references"),
      table(["name", "kind", "note", "flags", "revision", "code", "SHA-256", "failed"], entrants, "Stages and references"),
      el("h3", {}, "Sessions"),
      table(["session", "began", "processor", "entrants", "rounds", "rotations", "measuring", "ended"], sessions, "Sessions"),
    ),
  ];
}

/** @param {any} page @param {any} role @param {Map<any, any>} kinds @param {Filter} filter */
function waterfall(page, role, kinds, filter) {
  const known = QUANTITIES.filter(([, , of]) => role.cells.some((/** @type {any} */ cell) => typeof of(cell) === "number"));
  if (known.length === 0) return el("p", { class: "empty" }, "Nothing was measured in this role.");
  let [quantity, unit, value] = known[0];
  const steps = page.steps.filter((/** @type {any} */ step) => step.role === role.name && step.against === "before");
  const rowsOf = () => {
    const times = new Map(role.cells.map((/** @type {any} */ cell) => [cell.entrant, value(cell)]));
    let first = true;
    return role.cells
      .filter((/** @type {any} */ cell) => typeof value(cell) === "number" && filter.has({ variant: cell.entrant, kind: kinds.get(cell.entrant)?.kind ?? "" }))
      .map((/** @type {any} */ cell) => {
        const now = /** @type {number} */ (value(cell));
        const isStage = kinds.get(cell.entrant)?.kind === "stage";
        const step = steps.find((/** @type {any} */ one) => one.stage === cell.entrant);
        const before = isStage ? times.get(kinds.get(cell.entrant)?.after ?? "") : null;
        const row = { name: cell.entrant, now, from: typeof before === "number" ? before : 0, isStage, isFirst: first || typeof before !== "number", step, cell };
        if (isStage) first = false;
        return row;
      });
  };
  const verdict = (/** @type {any} */ row) => {
    if (!row.isStage || row.isFirst) return "equivalent";
    if (quantity === "time") return row.step?.time?.verdict ?? "undecided";
    return row.now === row.from ? "equivalent" : row.now < row.from ? "faster" : "slower";
  };
  // A bar is drawn from median to median; what a step changed is judged over placements, by rotations in which both took turns.
  const brings = (/** @type {any} */ row) => {
    if (!row.isStage || row.isFirst) return "";
    if (quantity !== "time") return row.now === row.from ? "same" : row.from > 0 ? change(row.now / row.from) : "from 0";
    const code = row.step?.time?.code;
    return code ? `${changeWithin(code)} ${broughtWord(row.step)}` : "not compared";
  };
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const rows = rowsOf();
    if (rows.length === 0) return null;
    const narrow = width < NARROW;
    const left = narrow ? 6 : roomFor(rows.map((/** @type {any} */ row) => row.name), width * 0.3);
    const told = (/** @type {any} */ row) => [digits(row.now), brings(row)].filter(Boolean).join("  ");
    const right = narrow ? NARROW_RIGHT : roomFor(rows.map(told), 240);
    const one = narrow ? 44 : 30;
    const most = Math.max(...rows.map((/** @type {any} */ row) => Math.max(row.now, row.from)));
    const inset = narrow ? { insetTop: 16, insetBottom: 3 } : { insetTop: 3, insetBottom: 3 };
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: 56 + rows.length * one,
      marginLeft: left,
      marginRight: right,
      marginTop: 6,
      marginBottom: 44,
      x: { domain: zoom ?? [0, most * 1.02], label: `${unit} per ${page.unit}`, labelAnchor: "center", grid: true, tickFormat: digits, ticks: Math.max(3, Math.floor(width / 110)) },
      y: { type: "band", domain: rows.map((/** @type {any} */ row) => row.name), axis: null, padding: 0.06 },
      marks: [
        // What is left, faint behind the step that changed it.
        Plot.barX(rows, { x1: 0, x2: (/** @type {any} */ row) => Math.min(row.now, row.from || row.now), y: "name", fill: "var(--muted)", fillOpacity: 0.22, ...inset, clip: true }),
        Plot.barX(
          rows.filter((/** @type {any} */ row) => row.isStage && !row.isFirst),
          { x1: "from", x2: "now", y: "name", fill: (/** @type {any} */ row) => verdictColour(verdict(row)), ...inset, clip: true },
        ),
        Plot.barX(
          rows.filter((/** @type {any} */ row) => row.isFirst && row.isStage),
          { x1: 0, x2: "now", y: "name", fill: "var(--equivalent)", ...inset, clip: true },
        ),
        Plot.barX(
          rows.filter((/** @type {any} */ row) => !row.isStage),
          { x1: 0, x2: "now", y: "name", fill: "none", stroke: "var(--ink)", strokeDasharray: "4 3", ...inset, clip: true },
        ),
        Plot.ruleX([0]),
        Plot.text(rows, {
          y: "name",
          text: (/** @type {any} */ row) => (narrow ? cut(`${row.name}: ${told(row)}`, width - 14) : cut(row.name, left)),
          frameAnchor: "left",
          textAnchor: "start",
          dx: narrow ? 0 : -left + 4,
          dy: narrow ? -12 : 0,
          fill: "var(--ink)",
        }),
        narrow ? null : Plot.text(rows, { y: "name", text: told, frameAnchor: "right", textAnchor: "start", dx: 8, fill: "var(--ink)" }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = rows.map((/** @type {any} */ row) => ({
      x: Math.max(left, Math.min(width - right, sx.apply(row.now))),
      y: sy.apply(row.name) + sy.bandwidth / 2,
      text: `${row.name}: ${digits(row.now)} ${unit} per ${page.unit}${row.step && quantity === "time" ? `\n${broughtWord(row.step)}; code ${changed(row.step.time?.code)}` : ""}`,
    }));
    return { svg: plot, spots, x: sx };
  };
  const rows = () =>
    following(filter, () =>
      table(
        ["stage", ...known.map(([, of]) => `${of} per ${page.unit}`), "failed"],
        role.cells.map((/** @type {any} */ cell) => [cell.entrant, ...known.map(([, , of]) => (typeof of(cell) === "number" ? digits(/** @type {number} */ (of(cell))) : "")), cell.failed ?? ""]),
        `Stages of ${role.name}`,
      ),
    );
  const signs = legend([
    ["less", "a step that saved"],
    ["more", "a step that cost"],
    ["undecided", "undecided"],
    ["same", "no change, or the first stage"],
    ["dashed", "reference"],
  ]);
  const figure = chart({ title: page.roles.length > 1 ? `Waterfall: ${role.name}` : "Waterfall", see: "A bar ends at the median of its stage; the coloured part is what the step took away or added. The change beside it is that of the code, over placements, and compares only builds that took turns.", legend: signs, draw, table: rows });
  if (known.length > 1) {
    const pick = picker("shows", known.map(([name]) => [name, name]), quantity, (name) => {
      [quantity, unit, value] = known.find(([other]) => other === name) ?? known[0];
      redrawAll();
    });
    figure.querySelector(".above")?.prepend(pick);
  }
  return figure;
}
