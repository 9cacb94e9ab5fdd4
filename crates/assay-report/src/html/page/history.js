// The page of a history: what the gate says, what changed, and a chart for each series with its change points.

/** Charts that are drawn; the table below has every series. */
const MOST_SERIES = 60;

/** @param {any} shown @returns {(Node | null)[]} */
function historyParts(shown) {
  const { page } = shown;
  const told = page.series.flatMap((/** @type {any} */ series) => series.changes).sort((/** @type {any} */ one, /** @type {any} */ other) => other.at - one.at);
  // A plain link that does as the code does has nothing to add.
  const worth = page.series.filter((/** @type {any} */ series) => series.kind !== "contrast_as_built" || series.changes.length > 0);
  const drawn = [...worth].sort((one, other) => Number(other.changes.length > 0) - Number(one.changes.length > 0)).slice(0, MOST_SERIES);
  const left = worth.length - drawn.length;
  return [
    page.gate ? gatePart(page) : null,
    told.length > 0 ? section("What changed", el("ul", { class: "found" }, ...told.map((/** @type {any} */ change) => el("li", {}, change.sentence)))) : null,
    section("Over the runs", ...drawn.map((series) => seriesChart(page, series)), left > 0 ? el("p", {}, `${plural(left, "more chart")} left out; the table has them.`) : null),
    section("Series", seriesTable(page)),
    section("Runs", runsTable(page)),
  ];
}

/** @param {any} page */
function gatePart(page) {
  const rows = page.gate.checks.map((/** @type {any} */ check) => [check.series, spoken(check.reading), check.note]);
  const notes = page.gate.notes.map((/** @type {string} */ note) => el("p", {}, note));
  const of = page.gate.run === null ? "" : ` of run ${page.runs[page.gate.run].id}`;
  return section(`Gate ${page.gate.gate}${of}`, ...notes, rows.length > 0 ? table(["series", "gate", "what it rests on"], rows, "What the gate says") : null);
}

/** A value in the unit of its series. @param {any} series @param {number} value */
function valueOf(series, value) {
  if (series.unit === "ratio") return change(value);
  return series.unit.startsWith("ns") ? time(value) : `${digits(value)} ${series.unit}`;
}

/** The mean of each stretch between changes and machines, as lines. @param {any} page @param {any} series */
function levels(page, series) {
  /** @type {{machine: number, from: number, to: number, sum: number, count: number}[]} */
  const found = [];
  for (const point of series.points) {
    const { machine } = page.runs[point.run];
    const last = found.findLast((one) => one.machine === machine);
    const begins = series.changes.some((/** @type {any} */ change) => change.at === point.run);
    if (last && !begins) Object.assign(last, { to: point.run, sum: last.sum + Math.log(point.value), count: last.count + 1 });
    else found.push({ machine, from: point.run, to: point.run, sum: Math.log(point.value), count: 1 });
  }
  return found.map((one) => ({ ...one, level: Math.exp(one.sum / one.count) }));
}

/** @param {any} page @param {any} series */
function seriesChart(page, series) {
  const machines = unique(series.points.map((/** @type {any} */ point) => page.runs[point.run].machine));
  const names = machines.map((machine) => page.machines[Number(machine)].name);
  const tint = (/** @type {number} */ machine) => colour(machines.indexOf(machine));
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const points = series.points.map((/** @type {any} */ point) => ({ ...point, machine: page.runs[point.run].machine }));
    const ends = points.flatMap((/** @type {any} */ point) => [point.value, point.lower ?? point.value, point.upper ?? point.value]);
    const x = {
      type: "linear",
      domain: zoom ?? [points[0].run - 0.5, points[points.length - 1].run + 0.5],
      label: "run",
      labelAnchor: "center",
      ticks: Math.max(2, Math.floor(width / 90)),
      tickFormat: (/** @type {number} */ at) => (Number.isInteger(at) && page.runs[at] ? page.runs[at].id : ""),
    };
    const isRatio = series.unit === "ratio";
    const y = isRatio
      ? ratioAxis(ends, null, 360, `↑ time of ${series.variant}, relative to ${series.baseline}`)
      : { type: "linear", domain: d3.nice(Math.min(...ends) * 0.99, Math.max(...ends) * 1.01, 5), label: `↑ ${series.unit}`, grid: true, ticks: 5, tickFormat: digits };
    Object.assign(y, { labelAnchor: "top" });
    const stroke = (/** @type {any} */ point) => tint(point.machine);
    const steps = series.changes.map((/** @type {any} */ step) => ({ at: step.at - 0.5, slower: step.ratio > 1, name: change(step.ratio) }));
    const sign = (/** @type {any} */ step) => (step.slower ? "var(--slower)" : "var(--faster)");
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: Math.min(300, Math.max(220, width * 0.35)),
      marginLeft: 62,
      marginTop: 24,
      marginBottom: 44,
      x,
      y,
      marks: [
        ...factorMarks("y", y),
        Plot.ruleX(steps, { x: "at", stroke: sign, strokeDasharray: "4 3", strokeWidth: 1.5, clip: true }),
        Plot.text(steps, { x: "at", text: "name", frameAnchor: "top", textAnchor: "start", dx: 5, dy: 2, fill: sign, clip: true }),
        Plot.link(levels(page, series), { x1: (/** @type {any} */ one) => one.from - 0.4, x2: (/** @type {any} */ one) => one.to + 0.4, y1: "level", y2: "level", stroke, strokeWidth: 1.5, strokeOpacity: 0.6, clip: true }),
        Plot.link(points.filter((/** @type {any} */ point) => point.lower !== null), { x: "run", y1: "lower", y2: "upper", stroke, strokeWidth: 2, clip: true }),
        Plot.dot(points, { x: "run", y: "value", r: 3.5, fill: stroke, clip: true }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = points.map((/** @type {any} */ point) => ({ x: sx.apply(point.run), y: sy.apply(point.value), text: pointText(page, series, point) }));
    return { svg: plot, spots: spots.filter((/** @type {Spot} */ spot) => spot.x >= 60 && spot.x <= width), x: sx };
  };
  const rows = () =>
    table(
      ["run", "when", "machine", "value", "interval"],
      series.points.map((/** @type {any} */ point) => {
        const run = page.runs[point.run];
        return [run.id, run.at, page.machines[run.machine].name, valueOf(series, point.value), point.lower === null ? "" : `${valueOf(series, point.lower)} to ${valueOf(series, point.upper)}`];
      }),
      `${series.label} over the runs`,
    );
  const see = series.unexamined ? `${sentenceCase(series.unexamined)}.` : series.changes.length > 0 ? "Dashed: a change. Lines: the mean between changes." : "No change. The line is the mean.";
  return chart({ title: series.label, see, legend: names.length > 1 ? colours(names) : null, draw, table: rows });
}

/** @param {string} text */
function sentenceCase(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @param {any} page @param {any} series @param {any} point */
function pointText(page, series, point) {
  const run = page.runs[point.run];
  const interval = point.lower === null ? "" : ` (${valueOf(series, point.lower)} to ${valueOf(series, point.upper)})`;
  const commit = run.revision ? `, commit ${run.revision.slice(0, 10)}` : "";
  return `run ${run.id}, ${run.at.slice(0, 10)}${commit}\n${valueOf(series, point.value)}${interval}\n${page.machines[run.machine].name}`;
}

/** @param {any} page */
function seriesTable(page) {
  const rows = page.series.map((/** @type {any} */ series) => [series.label, spoken(series.kind), series.points.length, series.noise === null ? "" : share(series.noise), series.unexamined ? "" : series.changes.length]);
  return table(["series", "of", "runs", "noise", "changes"], rows, "All series");
}

/** @param {any} page */
function runsTable(page) {
  const rows = page.runs.map((/** @type {any} */ run) => [run.id, run.at, page.machines[run.machine].name, run.compilers.join(", "), run.revision ? run.revision.slice(0, 10) + (run.changed ? ", changed" : "") : "", run.tool]);
  return table(["run", "when", "machine", "compilers", "commit", "tool"], rows, "All runs");
}
