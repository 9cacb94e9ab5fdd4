// The page of a history: what the gate says, what changed, and a chart for each series with its change points.

/** Charts that are drawn; the table below has every series. */
const MOST_SERIES = 60;

/**
 * What the charts of a history have in common, as the reader chose it.
 * @typedef {object} HistoryView
 * @property {string} along what the axis is: "run", "day" or "commit"
 * @property {string} by what colours are: "machine" (its kind), "host" (the single one) or "compiler"
 * @property {Set<() => void>} followers what follows a choice beside the charts
 */

/** @param {any} shown @returns {(Node | null)[]} */
function historyParts(shown) {
  const { page } = shown;
  /** @type {HistoryView} */
  const view = { along: "run", by: "machine", followers: new Set() };
  const told = page.series.flatMap((/** @type {any} */ series) => series.changes).sort((/** @type {any} */ one, /** @type {any} */ other) => other.at - one.at);
  // A plain link that does as the code does has nothing to add.
  const worth = page.series.filter((/** @type {any} */ series) => series.kind !== "contrast_as_built" || series.changes.length > 0);
  const drawn = [...worth].sort((one, other) => Number(other.changes.length > 0) - Number(one.changes.length > 0)).slice(0, MOST_SERIES);
  const left = worth.length - drawn.length;
  // Of machines with one run each there is nothing over time: their times stand in a table.
  const once = page.machines.length > 1 && unique(page.runs.map((/** @type {any} */ run) => run.machine)).length === page.runs.length;
  return [
    page.gate ? gatePart(page) : null,
    page.across?.length > 0 ? machinesPart(page) : null,
    page.alike.length > 0 || page.left_out.length > 0 ? alikePart(page) : null,
    told.length > 0 ? section("What changed", el("ul", { class: "found" }, ...told.map((/** @type {any} */ change) => el("li", {}, change.sentence)))) : null,
    once ? timesPart(page) : section("Over the runs", historyPickers(page, view), ...drawn.map((series) => seriesChart(page, series, view)), left > 0 ? el("p", {}, `${plural(left, "more chart")} left out; the table has them.`) : null),
    once ? null : section("Series", seriesTable(page)),
    section("Runs", runsTable(page)),
    shown.repeats ? section("How the newest was measured", repeat(shown), ...background(shown, "Files")) : null,
  ];
}

/** Contrasts that are drawn by machine; the table below has every one of them. */
const MOST_ACROSS = 3;

/** What each machine says, and what limits it. @param {any} page */
function machinesPart(page) {
  const differing = page.across.filter((/** @type {any} */ one) => one.disagree);
  const drawn = (differing.length > 0 ? differing : page.across).slice(0, MOST_ACROSS);
  const charts = drawn.map((/** @type {any} */ one) => {
    const series = page.series[one.series];
    const effects = one.said.map((/** @type {any} */ said) => {
      const code = { ratio: said.ratio, lower: said.lower ?? said.ratio, upper: said.upper ?? said.ratio };
      return { label: page.machines[said.machine].called, traits: {}, code, built: null, verdict: said.verdict, says: null, proven: false };
    });
    return forest(series.label, () => effects, page.minimum_effect, `time of ${series.variant}, relative to ${series.baseline}`, []);
  });
  return section("By machine", ...charts.slice(0, 1), machinesTable(page), ...charts.slice(1));
}

/** @param {any} page */
function machinesTable(page) {
  const said = (/** @type {any} */ one, /** @type {number} */ machine) => {
    const found = one.said.find((/** @type {any} */ said) => said.machine === machine);
    if (!found) return "not measured";
    const text = found.verdict === "equivalent" ? "equivalent" : found.verdict === "undecided" ? `${change(found.ratio)}, undecided` : change(found.ratio);
    return el("span", { class: `verdict ${found.verdict}` }, text);
  };
  const cycles = (/** @type {any} */ limits) => (limits?.misprediction_ns && limits.cycle_ns ? `, ${digits(Math.round(limits.misprediction_ns / limits.cycle_ns))} cycles` : "");
  // What is short stands ahead of the contrasts: a table of many scrolls.
  /** @type {[string, (machine: any, at: number) => string | Node][]} */
  const columns = [
    ["machine", (machine) => machine.called],
    ["instructions", (machine) => machine.instructions ?? ""],
    ["misprediction", ({ limits }) => (limits ? time(limits.misprediction_ns) + cycles(limits) : "")],
    ["load from memory", ({ limits }) => (limits ? time(limits.memory_ns) : "")],
    ...page.across.map((/** @type {any} */ one) => [page.series[one.series].label, (/** @type {any} */ _, /** @type {number} */ at) => said(one, at)]),
    ["cycle", ({ limits }) => (limits ? time(limits.cycle_ns) : "")],
    ["memory read", ({ limits }) => (limits?.memory_read ? `${digits(limits.memory_read)} GB/s` : "")],
    ["caches", (machine) => machine.caches.join(", ")],
  ];
  const filled = columns.map(([head, of]) => ({ head, cells: page.machines.map(of) })).filter(({ cells }) => cells.some((/** @type {any} */ cell) => cell !== ""));
  const rows = page.machines.map((/** @type {any} */ _, /** @type {number} */ at) => filled.map(({ cells }) => cells[at]));
  return table(filled.map(({ head }) => head), rows, "What each machine says, and what limits it");
}

/** Times of machines that ran once each. @param {any} page */
function timesPart(page) {
  const times = page.series.filter((/** @type {any} */ series) => series.kind === "time");
  if (times.length === 0) return null;
  const of = (/** @type {any} */ series, /** @type {number} */ machine) => {
    const point = series.points.find((/** @type {any} */ point) => page.runs[point.run].machine === machine);
    return point ? time(point.value) : "not measured";
  };
  const rows = page.machines.map((/** @type {any} */ machine, /** @type {number} */ at) => [machine.called, ...times.map((/** @type {any} */ series) => of(series, at))]);
  return section("Times of one unit", table(["machine", ...times.map((/** @type {any} */ series) => series.label)], rows, "Times of one unit on each machine"));
}

/** What can be chosen, where it would show anything else. @param {any} page @param {HistoryView} view */
function historyPickers(page, view) {
  const knows = (/** @type {(run: any) => boolean} */ of) => page.runs.some(of);
  /** @type {[string, string][]} */
  const along = [["run", "run"], ["day", "day"]];
  if (knows((run) => run.revision)) along.push(["commit", "commit"]);
  /** @type {[string, string][]} */
  const by = [["machine", "machine"]];
  if (knows((run) => run.host !== null)) by.push(["host", "single machine"]);
  if (knows((run) => run.compilers.length > 0)) by.push(["compiler", "compiler"]);
  const again = () => {
    for (const follower of view.followers) follower();
    redrawAll();
  };
  return el(
    "div",
    { class: "choices" },
    picker("Along", along, view.along, (value) => ((view.along = value), again())),
    by.length > 1 ? picker("Colours by", by, view.by, (value) => ((view.by = value), again())) : null,
  );
}

/** What the colour of a run says. @param {any} page @param {HistoryView} view @param {number} run */
function tintOf(page, view, run) {
  const { machine, host, compilers } = page.runs[run];
  if (view.by === "host") return host ?? "machine unknown";
  return view.by === "machine" ? page.machines[machine].name : compilers.join(", ") || "compiler unknown";
}

/** Commits in the order in which they were measured first. @param {any} page @returns {string[]} */
function commitsOf(page) {
  return unique(page.runs.flatMap((/** @type {any} */ run) => (run.revision ? [run.revision] : [])));
}

/**
 * An axis over the runs: where a run lies on it, and what its marks are. Of runs without a commit nothing is known along commits.
 * @param {any} page @param {HistoryView} view @param {number} width
 * @returns {{at: (run: number) => number | null, pad: number, options: Record<string, any>}}
 */
function runAxis(page, view, width) {
  const most = Math.max(2, Math.floor(width / 90));
  const last = page.runs.length - 1;
  if (view.along === "day") {
    const span = Math.max(page.runs[last].unix - page.runs[0].unix, 86_400);
    const ends = [page.runs[0].unix - span * 0.03, page.runs[last].unix + span * 0.03];
    const days = d3.utcTicks(...ends.map((second) => new Date(second * 1000)), most).map((/** @type {Date} */ day) => Number(day) / 1000);
    const every = Math.ceil(days.length / most);
    const text = (/** @type {number} */ second) => new Date(second * 1000).toISOString().slice(0, 10);
    return { at: (run) => page.runs[run].unix, pad: span * 0.01, options: { domain: ends, label: "day", ticks: days.filter((/** @type {number} */ _, /** @type {number} */ at) => at % every === 0), tickFormat: text } };
  }
  if (view.along === "commit") {
    const commits = commitsOf(page);
    const place = (/** @type {number} */ run) => (page.runs[run].revision ? commits.indexOf(page.runs[run].revision) : null);
    const text = (/** @type {number} */ at) => commits[at]?.slice(0, 7) ?? "";
    return { at: place, pad: 0.4, options: { domain: [-0.5, commits.length - 0.5], label: "commit, as first measured", ticks: most, tickFormat: text } };
  }
  const text = (/** @type {number} */ at) => (Number.isInteger(at) && page.runs[at] ? page.runs[at].id : "");
  return { at: (run) => run, pad: 0.4, options: { domain: [-0.5, last + 0.5], label: "run", ticks: most, tickFormat: text } };
}

/** @param {any} page */
function gatePart(page) {
  const rows = page.gate.checks.map((/** @type {any} */ check) => [check.series, spoken(check.reading), check.note]);
  const notes = page.gate.notes.map((/** @type {string} */ note) => el("p", {}, note));
  const of = page.gate.run === null ? "" : ` of run ${page.runs[page.gate.run].id}`;
  return section(`Gate ${page.gate.gate}${of}`, ...notes, rows.length > 0 ? table(["series", "gate", "what it rests on"], rows, "What the gate says") : null);
}

/** Machines of one kind: who is out of line, and how often that is wrong. @param {any} page */
function alikePart(page) {
  const said = page.alike.flatMap((/** @type {any} */ kind) => kind.sentences);
  const rows = page.alike.flatMap((/** @type {any} */ kind) =>
    kind.findings.map((/** @type {any} */ one) => [kind.hosts[one.host].name, one.from === null ? "most of them" : kind.hosts[one.from].name, one.label, change(one.ratio), change(one.at_least)]),
  );
  const notes = [page.alike_note ?? "", page.left_out.length > 0 ? `Left out as asked: ${page.left_out.join(", ")}.` : ""];
  return section(
    "Machines of one kind",
    el("ul", { class: "found" }, ...said.map((/** @type {string} */ text) => el("li", {}, text))),
    rows.length > 0 ? table(["machine", "beside", "figure", "effect", "at least"], rows, "What is out of line") : null,
    ...notes.filter((text) => text).map((text) => el("p", {}, text)),
  );
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

/** @param {any} page @param {any} series @param {HistoryView} view */
function seriesChart(page, series, view) {
  const names = () => /** @type {string[]} */ (unique(series.points.map((/** @type {any} */ point) => tintOf(page, view, point.run))));
  const tint = (/** @type {number} */ run) => colour(names().indexOf(tintOf(page, view, run)));
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const axis = runAxis(page, view, width);
    const points = series.points.map((/** @type {any} */ point) => ({ ...point, x: axis.at(point.run) })).filter((/** @type {any} */ point) => point.x !== null);
    if (points.length === 0) return null;
    const ends = points.flatMap((/** @type {any} */ point) => [point.value, point.lower ?? point.value, point.upper ?? point.value]);
    // Of runs those of the series, so that a series that began late has the whole width.
    const own = view.along === "run" ? [points[0].x - 0.5, points[points.length - 1].x + 0.5] : axis.options.domain;
    const x = { type: "linear", labelAnchor: "center", ...axis.options, domain: zoom ?? own };
    const isRatio = series.unit === "ratio";
    const y = isRatio
      ? ratioAxis(ends, null, 360, `↑ time of ${series.variant}, relative to ${series.baseline}`)
      : { type: "linear", domain: d3.nice(Math.min(...ends) * 0.99, Math.max(...ends) * 1.01, 5), label: `↑ ${series.unit}`, grid: true, ticks: 5, tickFormat: digits };
    Object.assign(y, { labelAnchor: "top" });
    const stroke = (/** @type {any} */ point) => tint(point.run);
    // Between the run of the step and the one before it.
    const between = (/** @type {any} */ step) => {
      const [old, now] = [axis.at(Math.max(0, step.at - 1)), axis.at(step.at)];
      return now === null ? null : ((old ?? now) + now) / 2;
    };
    const steps = series.changes.map((/** @type {any} */ step) => ({ at: between(step), slower: step.ratio > 1, name: change(step.ratio) }));
    const stretches = levels(page, series).flatMap((one) => {
      const [from, to] = [axis.at(one.from), axis.at(one.to)];
      return from === null || to === null ? [] : [{ run: one.from, level: one.level, from: Math.min(from, to) - axis.pad, to: Math.max(from, to) + axis.pad }];
    });
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
        Plot.link(stretches, { x1: "from", x2: "to", y1: "level", y2: "level", stroke, strokeWidth: 1.5, strokeOpacity: 0.6, clip: true }),
        Plot.link(points.filter((/** @type {any} */ point) => point.lower !== null), { x: "x", y1: "lower", y2: "upper", stroke, strokeWidth: 2, clip: true }),
        Plot.dot(points, { x: "x", y: "value", r: 3.5, fill: stroke, clip: true }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = points.map((/** @type {any} */ point) => ({ x: sx.apply(point.x), y: sy.apply(point.value), text: pointText(page, series, point) }));
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
  const legend = el("div", {});
  const tell = () => legend.replaceChildren(...(names().length > 1 ? [colours(names())] : []));
  view.followers.add(tell);
  tell();
  return chart({ title: series.label, see, legend, draw, table: rows });
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
  const rows = page.runs.map((/** @type {any} */ run) => [run.id, run.at, run.host ?? "", page.machines[run.machine].name, run.compilers.join(", "), run.revision ? run.revision.slice(0, 10) + (run.changed ? ", changed" : "") : "", run.tool]);
  return table(["run", "when", "machine", "kind", "compilers", "commit", "tool"], rows, "All runs");
}
