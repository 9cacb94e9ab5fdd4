// Differences with their intervals: as built hollow, of the code solid, the margin shaded.

/**
 * @typedef {{ratio: number, lower: number, upper: number}} Ratio
 * @typedef {object} Effect
 * @property {string} label
 * @property {Traits} traits
 * @property {Ratio | null} code
 * @property {Ratio | null} built
 * @property {string | null} verdict
 * @property {string | null} says what the as-built comparison amounts to
 * @property {boolean} proven
 */

/** Rows drawn at once; a filter finds the others. */
const MOST_ROWS = 150;
/** Below this width names stand above their row. */
const NARROW = 620;
/** There the right margin: half of a mark of the axis. */
const NARROW_RIGHT = 22;
/** Ratios that span more than this are drawn by factors, so that half and double lie equally far out. */
const BY_FACTORS = 1.8;

/** @param {Effect} effect */
function verdictOf(effect) {
  const word = effect.verdict ?? "not judged";
  return effect.proven ? `${word} by proof` : word;
}

/** @param {string | null | undefined} verdict */
function verdictColour(verdict) {
  return `var(--${verdict ?? "undecided"})`;
}

/** A verdict with its colour. @param {Effect} effect */
function verdictMark(effect) {
  return el("span", { class: `verdict ${effect.verdict ?? "undecided"}` }, verdictOf(effect));
}

/** The ends of an axis that shows all of these ratios, with a margin. @param {number[]} ratios @param {boolean} factors */
function around(ratios, factors) {
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
  if (factors) return [low / (high / low) ** 0.04, high * (high / low) ** 0.04];
  return [low - (high - low) * 0.05, high + (high - low) * 0.05];
}

/** Ratios at which an axis by factors has its marks. @param {number[]} ends @param {number} width */
function factorTicks(ends, width) {
  const steps = [0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 7, 10, 20, 50, 100];
  const inside = steps.filter((step) => step >= ends[0] && step <= ends[1]);
  const room = Math.max(2, Math.floor(width / 64));
  const distance = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(Math.log(a / b));
  // No difference first, then whatever is not too near to a mark that is there.
  const least = distance(ends[1], ends[0]) / room;
  /** @type {number[]} */
  const taken = inside.includes(1) ? [1] : [];
  for (const step of inside) if (taken.every((other) => distance(step, other) >= least)) taken.push(step);
  return inside.length < 2 ? d3.ticks(ends[0], ends[1], room) : taken;
}

/** An axis of ratios, shown as changes. @param {number[]} ratios @param {[number, number] | null} zoom @param {number} width @param {string} label */
function ratioAxis(ratios, zoom, width, label) {
  const factors = Math.max(...ratios) / Math.min(...ratios) > BY_FACTORS && Math.min(...ratios) > 0;
  const ends = zoom ?? around(ratios, factors);
  const count = Math.max(3, Math.floor(width / 90));
  const ticks = factors && ends[1] / ends[0] > BY_FACTORS ? factorTicks(ends, width) : factors ? d3.ticks(ends[0], ends[1], count) : count;
  return { type: factors ? "log" : "linear", domain: ends, label, ticks, tickFormat: changeMark, grid: true, labelAnchor: "center" };
}

/** The ratios between which two times are equivalent: alike in both directions. @param {number} margin a fraction @returns {[number, number]} */
function equivalentBand(margin) {
  return [1 / (1 + margin), 1 + margin];
}

/** What an axis of effects has to show: estimates, ends of the code's intervals, the margin. @param {{code: Ratio | null, built: Ratio | null}[]} effects @param {number} margin */
function reach(effects, margin) {
  const values = effects.flatMap(({ code, built }) => [...(code ? [code.ratio, code.lower, code.upper] : []), ...(built ? [built.ratio] : [])]);
  return [...values.filter((value) => value > 0), ...equivalentBand(margin)];
}

/** The reach of both of two pages that stand side by side: effects of one length are drawn as long. @param {any} shown @returns {number[]} */
function sharedReach(shown) {
  const of = (/** @type {any} */ page) => {
    const effects = page.contrasts ?? (page.sides?.length > 1 ? page.benchmarks : []) ?? [];
    return effects.length === 0 ? [] : reach(effects.map((/** @type {any} */ one) => ({ code: one.code, built: one.as_built })), (page.campaign ?? page.measured).minimum_effect);
  };
  const other = shown.beside ? of(shown.beside) : [];
  return other.length > 0 ? [...of(shown.page), ...other] : [];
}

/**
 * The forest plot.
 * @param {string} title
 * @param {() => Effect[]} shown
 * @param {number} margin the equivalence margin, a fraction
 * @param {string} axis
 * @param {number[]} also ratios that the axis has to show too
 */
function forest(title, shown, margin, axis, also) {
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const rows = shown()
      .slice(0, MOST_ROWS)
      .map((effect, at) => ({ ...effect, at: String(at) }));
    if (!rows.some((row) => row.code || row.built)) return null;
    const narrow = width < NARROW;
    const height = narrow ? 48 : 34;
    const left = narrow ? 6 : roomFor(rows.map((row) => row.label), width * 0.38);
    const told = (/** @type {any} */ row) => `${verdictOf(row)}${row.code && !row.proven ? ` ${change(row.code.ratio)}` : ""}`;
    const ratios = [...reach(rows, margin), ...also];
    // Half of the last mark's text stands beyond the axis.
    const last = Math.ceil(widthOf(changeMark(Math.max(...ratios))) / 2) + 2;
    const right = narrow ? Math.max(NARROW_RIGHT, last) : Math.max(80, roomFor(rows.map(told), 190, BOLD));
    const x = ratioAxis(ratios, zoom, width - left - right, axis);
    const name = (/** @type {any} */ row) =>
      narrow ? cut(`${row.label}: ${verdictOf(row)} ${row.code ? change(row.code.ratio) : ""}`, width - 8) : cut(row.label, left);
    const of = (/** @type {"code" | "built"} */ which) => rows.filter((row) => row[which]);
    const bar = (/** @type {"code" | "built"} */ which, /** @type {number} */ dy, /** @type {number} */ strokeWidth) =>
      Plot.link(of(which), {
        x1: (/** @type {any} */ row) => Math.max(row[which].lower, x.type === "log" ? 1e-3 : -Infinity),
        x2: (/** @type {any} */ row) => row[which].upper,
        y: "at",
        stroke: (/** @type {any} */ row) => (which === "code" ? verdictColour(row.verdict) : "var(--muted)"),
        strokeWidth,
        dy,
        clip: true,
      });
    const lift = narrow ? 6 : 0;
    // Beside a hollow point the solid one stands a little lower, alone in the middle.
    const below = rows.some((row) => row.built) ? 5 : 0;
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: 40 + rows.length * height + 34,
      marginLeft: left,
      marginRight: right,
      marginTop: 8,
      marginBottom: 44,
      x,
      y: { type: "point", domain: rows.map((row) => row.at), axis: null, padding: 0.7 },
      marks: [
        ...factorMarks("x", x),
        Plot.rect([equivalentBand(margin)], { x1: "0", x2: "1", fill: "var(--margin)", clip: true }),
        Plot.ruleX([1], { stroke: "var(--ink)", clip: true }),
        bar("built", lift - 6, 1.2),
        Plot.dot(of("built"), { x: (/** @type {any} */ row) => row.built.ratio, y: "at", r: 4, dy: lift - 6, stroke: "var(--ink)", fill: "var(--paper)", clip: true }),
        bar("code", lift + below, 3),
        Plot.dot(of("code"), { x: (/** @type {any} */ row) => row.code.ratio, y: "at", r: 5, dy: lift + below, fill: (/** @type {any} */ row) => verdictColour(row.verdict), clip: true }),
        Plot.text(rows, {
          y: "at",
          text: name,
          frameAnchor: "left",
          textAnchor: "start",
          dx: narrow ? 0 : -left + 4,
          dy: narrow ? -14 : 0,
          fill: "var(--ink)",
        }),
        narrow
          ? null
          : Plot.text(rows, {
              y: "at",
              text: told,
              frameAnchor: "right",
              textAnchor: "start",
              dx: 8,
              fill: (/** @type {any} */ row) => verdictColour(row.verdict),
              fontWeight: 600,
            }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = rows.flatMap((row) => {
      const say = (/** @type {Ratio} */ ratio, /** @type {string} */ kind) => `${row.label}\n${kind}: ${changed(ratio)}\n${verdictOf(row)}`;
      const spot = (/** @type {Ratio} */ ratio, /** @type {number} */ dy, /** @type {string} */ kind) => ({
        x: sx.apply(ratio.ratio),
        y: sy.apply(row.at) + lift + dy,
        text: say(ratio, kind),
      });
      return [...(row.code ? [spot(row.code, below, "code")] : []), ...(row.built ? [spot(row.built, -6, "as built")] : [])];
    });
    return { svg: plot, spots, x: sx };
  };
  const built = shown().some((row) => row.built);
  const rows = () =>
    table(
      ["compared", "verdict", "code effect", ...(built ? ["as built", "as built says"] : [])],
      shown().map((row) => [row.label, verdictMark(row), changed(row.code), ...(built ? [changed(row.built), spoken(row.says ?? "")] : [])]),
      title,
    );
  /** @type {[string, string][]} */
  const ofBuilt = built ? [["hollow", "as built: one ordinary link"]] : [];
  const signs = legend([
    ["solid", "the code, over all placements"],
    ...ofBuilt,
    ["shade", `less than the minimum effect (${asked(margin)})`],
  ]);
  return chart({ title, see: "Left of the line takes less time, right of it more. What lies inside the shade is too small to matter.", legend: signs, draw, table: rows });
}

/**
 * The heat map: candidates by inputs, a field for each build.
 * @param {() => {variant: string, input: string, build: string, ratio: Ratio | null, verdict: string | null}[]} shown
 */
function heat(shown) {
  const draw = (/** @type {number} */ width) => {
    const cells = shown().filter((cell) => cell.ratio);
    if (cells.length === 0) return null;
    const of = (/** @type {"variant" | "input" | "build"} */ key) => unique(cells.map((cell) => cell[key]));
    const [variants, inputs, builds] = [of("variant"), of("input"), of("build")];
    const left = roomFor(variants, width * 0.3);
    const across = (width - left) / inputs.length;
    // Builds side by side where there is room for the figures.
    const beside = across / builds.length >= 66;
    const wide = beside ? across / builds.length : across;
    const tilted = inputs.some((input) => input.length * 6.6 > wide - 6);
    const bottom = tilted ? 16 + 4.2 * Math.min(24, Math.max(...inputs.map((input) => input.length))) : 30;
    const most = Math.max(1.05, ...cells.map((cell) => Math.exp(Math.abs(Math.log(cell.ratio?.ratio ?? 1)))));
    const strength = (/** @type {any} */ cell) => Math.min(1, Math.abs(Math.log(cell.ratio.ratio)) / Math.log(most));
    const tall = 30 * variants.length + 22;
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: beside ? tall + bottom + 30 : (tall + 8) * builds.length + bottom + 12,
      marginLeft: left,
      marginTop: beside ? 28 : 10,
      marginBottom: bottom,
      marginRight: beside ? 6 : Math.min(110, roomFor(builds, 110)),
      x: { domain: inputs, label: null, tickRotate: tilted ? -28 : 0, tickFormat: (/** @type {string} */ input) => cut(input, 170), tickSize: 0, padding: 0.04 },
      y: { domain: variants, label: null, tickFormat: (/** @type {string} */ variant) => cut(variant, left - 10), tickSize: 0, padding: 0.06 },
      fx: beside ? { domain: builds, label: null, padding: 0.03 } : undefined,
      fy: beside ? undefined : { domain: builds, label: null, padding: 0.08, tickFormat: (/** @type {string} */ build) => cut(build, 92) },
      marks: [
        Plot.cell(cells, {
          x: "input",
          y: "variant",
          [beside ? "fx" : "fy"]: "build",
          fill: (/** @type {any} */ cell) => (cell.verdict === "faster" || cell.verdict === "slower" ? `var(--${cell.verdict})` : "var(--muted)"),
          fillOpacity: (/** @type {any} */ cell) => 0.12 + 0.38 * strength(cell),
          rx: 3,
        }),
        Plot.text(cells, {
          x: "input",
          y: "variant",
          [beside ? "fx" : "fy"]: "build",
          text: (/** @type {any} */ cell) => (cell.verdict === "undecided" ? `${change(cell.ratio.ratio)} ?` : cell.verdict === "equivalent" ? "≈" : change(cell.ratio.ratio)),
          fill: "var(--ink)",
        }),
      ],
    });
    const scales = { x: plot.scale("x"), y: plot.scale("y"), f: plot.scale(beside ? "fx" : "fy") };
    const centre = (/** @type {any} */ scale, /** @type {string} */ value) => scale.apply(value) + scale.bandwidth / 2;
    const spots = cells.map((cell) => ({
      x: centre(scales.x, cell.input) + (beside && scales.f ? scales.f.apply(cell.build) - left : 0),
      y: centre(scales.y, cell.variant) + (!beside && scales.f ? scales.f.apply(cell.build) - 10 : 0),
      text: `${cell.variant} on ${cell.input}, ${cell.build}\n${changed(cell.ratio)}\n${cell.verdict ?? ""}`,
    }));
    return { svg: plot, spots };
  };
  const rows = () =>
    table(
      ["variant", "input", "build", "code effect", "verdict"],
      shown().map((cell) => [cell.variant, cell.input, cell.build, changed(cell.ratio), cell.verdict ?? ""]),
      "Differences by input and build",
    );
  const signs = legend([
    ["less", "takes less time"],
    ["more", "takes more time"],
    ["shade", "≈ equivalent, ? undecided"],
  ]);
  return chart({ title: "Where it wins", see: "Rows are variants, columns inputs, one field for each build. A row of one colour holds everywhere.", legend: signs, draw, table: rows });
}
