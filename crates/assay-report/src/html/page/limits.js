// The page of a machine's limits: what its memory gives by working set, how long a load takes, what single things cost.

/** What moves bytes, as the data spell it. */
const WAYS = ["read", "write", "copy"];

/** @param {any} shown @returns {(Node | null)[]} */
function limitsParts(shown) {
  const limits = shown.page;
  const { clock, machine } = limits;
  const ghz = (/** @type {number} */ ns) => (1 / ns).toFixed(2);
  const frequency = () =>
    section(
      "Clock frequency",
      el(
        "p",
        {},
        `${ghz(clock.cycle_ns.median)} GHz, measured with dependent additions of one cycle each; 80 % of the windows between ${ghz(clock.slowest_ns)} and ${ghz(clock.fastest_ns)} GHz` +
          `${clock.first_ns === null ? "" : `; ${ghz(clock.first_ns)} in the first millisecond after being idle`}.`,
      ),
    );
  const [bandwidth, latency] = [bandwidthCurves(limits), limits.latency.filter((/** @type {any} */ curve) => curve.points.length > 0)];
  return [
    limits.levels.length > 0 ? section("Memory, one core", levelTable(limits), el("p", { class: "note" }, "GB/s (bytes per nanosecond) of the fastest loop; a copied byte counts once. Latency: of a load that depends on the one before.")) : null,
    bandwidth.length > 0 || latency.length > 0
      ? section(
          "By working set",
          bandwidth.length > 0 ? curvesChart(limits, { title: "Bandwidth", see: "The fastest way of each size. Of a copy the working set is source and target together.", unit: "GB/s", curves: bandwidth, all: () => everyWay(limits) }) : null,
          latency.length > 0 ? curvesChart(limits, { title: "Latency", see: "Time of a load that waits for the one before it: this limits pointer chasing.", unit: "ns", curves: latency.map((/** @type {any} */ one) => ({ name: `${one.pages.replace(/ pages$/, "")} pages`, points: one.points })), all: null }) : null,
        )
      : null,
    limits.costs.length > 0 ? section("What things cost", costChart(limits)) : null,
    clock ? frequency() : null,
    section(
      "How it was measured",
      facts([
        ["processor", `${machine.cpu}${machine.virtual_machine ? ", a virtual machine" : ""}; measured on core ${limits.cpu} alone`],
        ["caches", machine.caches.join(", ")],
        ["kernel", machine.kernel],
        ["governor", machine.governor],
        ["when", `${new Date(limits.measured_at * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC, in ${lasting(Math.round(limits.took_seconds))}${limits.quick ? ", --quick" : ""}`],
        ["windows", `${whole(limits.windows)}; left out: ${whole(limits.interrupted)} interrupted, ${whole(limits.shared)} with a busy sibling thread`],
        ["program", `assay ${limits.assay}`],
      ]),
    ),
  ];
}

/** Best of the ways of each operation, by size. @param {any} limits @returns {{name: string, points: any[]}[]} */
function bandwidthCurves(limits) {
  const curves = WAYS.map((name) => {
    /** @type {Map<number, any>} */
    const best = new Map();
    for (const way of limits.bandwidth.filter((/** @type {any} */ one) => one.operation === name))
      for (const point of way.points) if (!(best.get(point.bytes)?.figure.median >= point.figure.median)) best.set(point.bytes, { ...point, by: way.by });
    return { name, points: [...best.values()].sort((one, other) => one.bytes - other.bytes) };
  });
  return curves.filter((curve) => curve.points.length > 0);
}

/** @param {any} limits */
function levelTable(limits) {
  const rate = (/** @type {any} */ found) => (found ? digits(found.bytes_per_ns.median) : "");
  const ns = (/** @type {any} */ figure) => (figure ? digits(figure.median) : "");
  const cycles = (/** @type {any} */ figure) => (figure && limits.clock ? whole(figure.median / limits.clock.cycle_ns.median) : "");
  return table(
    ["level", "size", "measured end", "read", "write", "copy", "latency, ns", "cycles", "huge pages, ns", "fastest by (read, write, copy)"],
    limits.levels.map((/** @type {any} */ level) => [
      level.name,
      level.bytes === null ? "" : sized(level.bytes),
      level.ends_at_bytes === null ? "" : sized(level.ends_at_bytes),
      ...WAYS.map((way) => rate(level[way])),
      ns(level.latency_ns),
      cycles(level.latency_ns),
      ns(level.latency_huge_ns),
      WAYS.map((way) => level[way]?.by ?? "-").join(", "),
    ]),
    "Memory by level",
  );
}

/** Figures of several curves by working set. @param {{name: string, points: any[]}[]} curves @param {string} about */
function curveTable(curves, about) {
  const sizes = unique(curves.flatMap((curve) => curve.points.map((point) => point.bytes))).sort((one, other) => one - other);
  const figure = (/** @type {any} */ curve, /** @type {number} */ bytes) => curve.points.find((/** @type {any} */ point) => point.bytes === bytes)?.figure;
  return table(["working set", ...curves.map((curve) => curve.name)], sizes.map((bytes) => [sized(bytes), ...curves.map((curve) => (figure(curve, bytes) ? digits(figure(curve, bytes).median) : ""))]), about);
}

/** Every way of moving bytes, an operation at a time. @param {any} limits */
function everyWay(limits) {
  const of = (/** @type {string} */ name) => limits.bandwidth.filter((/** @type {any} */ one) => one.operation === name).map((/** @type {any} */ one) => ({ name: one.by, points: one.points }));
  return el("div", {}, ...WAYS.filter((name) => of(name).length > 0).flatMap((name) => [el("h3", {}, `${sentenceCase(name)}, GB/s`), curveTable(of(name), `${name}, GB/s by working set`)]));
}

/**
 * Curves over the working set, with the caches.
 * @param {any} limits
 * @param {{title: string, see: string, unit: string, curves: {name: string, points: any[]}[], all: (() => Node) | null}} what
 */
function curvesChart(limits, { title, see, unit, curves, all }) {
  const points = curves.flatMap((curve, at) => curve.points.map((point) => ({ at, name: curve.name, by: point.by, bytes: point.bytes, ...point.figure })));
  const [smallest, largest] = d3.extent(points, (/** @type {any} */ point) => point.bytes);
  const [low, high] = [Math.min(...points.map((point) => point.lower)), Math.max(...points.map((point) => point.upper))];
  const caches = limits.levels.filter((/** @type {any} */ level) => level.bytes > smallest && level.bytes < largest).map((/** @type {any} */ level) => ({ at: level.bytes, name: level.name }));
  const named = (/** @type {number[]} */ ends) => caches.filter((/** @type {any} */ cache) => cache.at >= ends[0] && cache.at <= ends[1]);
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    const ends = zoom ?? [smallest / 1.15, largest * 1.15];
    const powers = d3.range(0, 48).map((/** @type {number} */ power) => 2 ** power).filter((/** @type {number} */ size) => size >= ends[0] && size <= ends[1]);
    const step = Math.max(1, Math.ceil(powers.length / Math.max(2, Math.floor(width / 80))));
    const ticks = powers.length > 1 ? powers.filter((/** @type {number} */ _, /** @type {number} */ at) => at % step === 0) : d3.ticks(ends[0], ends[1], 3);
    const x = { type: "log", domain: ends, label: "working set", labelAnchor: "center", ticks, tickFormat: sized };
    const y = { type: "log", domain: [low / 1.2, high * 1.2], label: `↑ ${unit}`, tickFormat: digits, ticks: 6 };
    const stroke = (/** @type {any} */ point) => colour(point.at);
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: Math.min(400, Math.max(260, width * 0.45)),
      marginLeft: 52,
      marginRight: 20,
      marginTop: 36,
      marginBottom: 44,
      x,
      y,
      marks: [
        ...factorMarks("x", x),
        ...factorMarks("y", y),
        Plot.ruleX(caches, { x: "at", stroke: "var(--muted)", strokeDasharray: "3 4", clip: true }),
        Plot.text(named(ends), { x: "at", text: "name", frameAnchor: "top", dy: -9, fill: "var(--muted)" }),
        Plot.areaY(points, { x: "bytes", y1: "lower", y2: "upper", z: "name", fill: stroke, fillOpacity: 0.18, clip: true }),
        Plot.line(points, { x: "bytes", y: "median", z: "name", stroke, strokeWidth: 2, clip: true }),
        Plot.dot(points, { x: "bytes", y: "median", r: 3, fill: stroke, clip: true }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = points.map((point) => ({
      x: sx.apply(point.bytes),
      y: sy.apply(point.median),
      text: `${point.name}${point.by ? ` (${point.by})` : ""}, ${sized(point.bytes)}\n${digits(point.median)} ${unit} (${digits(point.lower)} to ${digits(point.upper)})`,
    }));
    return { svg: plot, spots: spots.filter((/** @type {Spot} */ spot) => spot.x >= 50 && spot.x <= width), x: sx };
  };
  const rows = () => el("div", {}, curveTable(curves, `${title} by working set, ${unit}`), all ? folded("Every way", all) : null);
  return chart({ title: `${title}, ${unit}`, see: `${see} Dashed: the size of a cache. The band is the interval.`, legend: colours(curves.map((curve) => curve.name)), draw, table: rows });
}

/** The costs of single things, the cheapest first. @param {any} limits */
function costChart(limits) {
  const cycle = limits.clock?.cycle_ns.median;
  const cycles = (/** @type {number} */ ns) => (cycle ? `${digits(ns / cycle)} ${digits(ns / cycle) === "1" ? "cycle" : "cycles"}` : "");
  const all = [...limits.costs].filter((cost) => cost.ns.median > 0).sort((one, other) => one.ns.median - other.ns.median);
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => {
    if (all.length === 0) return null;
    const rows = all.slice(0, MOST_ROWS).map((cost) => ({ name: cost.name, ...cost.ns }));
    const narrow = width < NARROW;
    const told = (/** @type {any} */ row) => [time(row.median), cycles(row.median)].filter(Boolean).join(", ");
    const left = narrow ? 6 : roomFor(rows.map((row) => row.name), width * 0.38);
    const right = narrow ? NARROW_RIGHT + 4 : roomFor(rows.map(told), 220);
    const x = {
      type: "log",
      domain: zoom ?? [rows[0].median / 2, rows[rows.length - 1].median * 1.3],
      label: "time of one",
      labelAnchor: "center",
      ticks: Math.max(3, Math.floor((width - left - right) / 90)),
      tickFormat: time,
    };
    const lift = narrow ? 6 : 0;
    const plot = Plot.plot({
      className: PLOT_CLASS,
      width,
      height: 56 + rows.length * (narrow ? 40 : 24),
      marginLeft: left,
      marginRight: right,
      marginTop: 8,
      marginBottom: 44,
      x,
      y: { type: "point", domain: rows.map((row) => row.name), axis: null, padding: 0.6 },
      marks: [
        ...factorMarks("x", x),
        Plot.link(rows, { x1: "lower", x2: "upper", y: "name", stroke: "var(--c0)", strokeWidth: 3, dy: lift, clip: true }),
        Plot.dot(rows, { x: "median", y: "name", r: 4.5, dy: lift, fill: "var(--c0)", clip: true }),
        Plot.text(rows, { y: "name", text: (/** @type {any} */ row) => (narrow ? cut(`${row.name}: ${told(row)}`, width - 14) : cut(row.name, left)), frameAnchor: "left", textAnchor: "start", dx: narrow ? 0 : -left + 4, dy: narrow ? -11 : 0, fill: "var(--ink)" }),
        narrow ? null : Plot.text(rows, { y: "name", text: told, frameAnchor: "right", textAnchor: "start", dx: 8, fill: "var(--ink)" }),
      ],
    });
    const [sx, sy] = [plot.scale("x"), plot.scale("y")];
    const spots = rows.map((row) => ({ x: sx.apply(row.median), y: sy.apply(row.name) + lift, text: `${row.name}: ${told(row)}\n${time(row.lower)} to ${time(row.upper)}` }));
    return { svg: plot, spots: spots.filter((spot) => spot.x >= left - 1 && spot.x <= width - right + 1), x: sx };
  };
  const rows = () =>
    table(
      ["", "time", "95 %", "cycles", "measured by"],
      limits.costs.map((/** @type {any} */ cost) => [cost.name, time(cost.ns.median), `${time(cost.ns.lower)} to ${time(cost.ns.upper)}`, cycle ? digits(cost.ns.median / cycle) : "", cost.how]),
      "Costs",
    );
  return chart({ title: "Time of one", see: "Each mark to the right is several times as expensive.", draw, table: rows });
}
