// Every sample: a row for each variant and entry offset, in it a line for each rotation, a stroke for each sample.

/**
 * One variant at one placement.
 * @typedef {object} Strip
 * @property {number} cell
 * @property {number | null} rotation nothing: as built
 * @property {number} offset of the entry in its 64-byte line
 * @property {Float32Array} times nanoseconds per unit, as the ledger's order has them
 * @property {Uint16Array} rounds the highest bit: left out of the estimates
 */

/** Set in a round's number where the sample was left out. */
const LEFT_OUT = 0x8000;
/** Samples farther from a row's quartiles than this many times their distance lie beyond the border at first. */
const FAR = 3;
/** Room for the arrow with the number of a row's samples beyond the border, pixels. */
const BEYOND = 46;

/** The strips of a page. @param {any} samples @returns {Strip[]} */
function strips(samples) {
  return samples.strips.map((/** @type {any[]} */ [cell, rotation, offset, packed]) => {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const count = bytes.length / 6;
    const view = new DataView(bytes.buffer);
    const times = new Float32Array(count);
    const rounds = new Uint16Array(count);
    for (let at = 0; at < count; at += 1) {
      times[at] = view.getFloat32(at * 4, true);
      rounds[at] = view.getUint16(count * 4 + at * 2, true);
    }
    return { cell, rotation, offset, times, rounds };
  });
}

/** The strips as CSV. @param {any} samples @param {Strip[]} all */
function stripsCsv(samples, all) {
  let text = csvRow([...samples.columns, "rotation", "entry_offset", "round", samples.quantity.replace(/ /g, "_"), "left_out"]);
  for (const strip of all) {
    const names = samples.cells[strip.cell];
    for (let at = 0; at < strip.times.length; at += 1) {
      const out = (strip.rounds[at] & LEFT_OUT) !== 0;
      text += csvRow([...names, strip.rotation ?? "as built", strip.offset, strip.rounds[at] & ~LEFT_OUT, Number(strip.times[at].toPrecision(6)), out ? 1 : 0]);
    }
  }
  return text;
}

/** What counts in some strips, the fastest first; all samples where none counts. @param {Strip[]} some */
function sortedTimes(some) {
  const counts = some.flatMap((strip) => Array.from(strip.times).filter((_, at) => (strip.rounds[at] & LEFT_OUT) === 0));
  return Float32Array.from(counts.length > 0 ? counts : some.flatMap((strip) => Array.from(strip.times))).sort();
}

/** The median of what counts in some strips. @param {Strip[]} some */
function middle(some) {
  const sorted = sortedTimes(some);
  return sorted[Math.floor(sorted.length / 2)];
}

/**
 * What shows every row but for its stragglers: Tukey's outer fences of each row, as far as there are samples.
 * One sample in a thousand may be ten times as slow, and would squeeze the others into a tenth of the width.
 * @param {StripRow[]} rows
 * @returns {[number, number] | null}
 */
function usual(rows) {
  const all = rows.flatMap((row) => row.strips);
  if (all.length === 0) return null;
  let [low, high] = [Infinity, -Infinity];
  for (const row of rows) {
    const times = sortedTimes(row.strips);
    const at = (/** @type {number} */ part) => times[Math.floor((times.length - 1) * part)];
    const fence = FAR * (at(0.75) - at(0.25));
    low = Math.min(low, times.find((time) => time >= at(0.25) - fence) ?? times[0]);
    high = Math.max(high, times.findLast((time) => time <= at(0.75) + fence) ?? times[times.length - 1]);
  }
  const room = (high - low) * 0.04 || Math.abs(low) * 0.01;
  const [first, last] = extent(all);
  return [Math.max(first, low - room), Math.min(last, high + room)];
}

/** The fastest and the slowest sample. @param {Strip[]} some @returns {[number, number]} */
function extent(some) {
  let [low, high] = [Infinity, -Infinity];
  for (const strip of some) for (const time of strip.times) [low, high] = [Math.min(low, time), Math.max(high, time)];
  return [low, high];
}

/**
 * The strips of one input and build.
 * @param {any} samples
 * @param {Strip[]} all
 * @param {Filter} filter
 */
function stripChart(samples, all, filter) {
  // The first column of a cell's names is what is compared; the others choose the chart.
  const group = (/** @type {Strip} */ strip) => samples.cells[strip.cell].slice(1).filter(Boolean).join(", ");
  const groups = unique(all.map(group));
  let chosen = groups[0];
  const traits = (/** @type {Strip} */ strip) => ({ variant: samples.cells[strip.cell][0] });
  const rowsOf = () => {
    const own = all.filter((strip) => group(strip) === chosen && filter.has(traits(strip)));
    const names = unique(own.map((strip) => samples.cells[strip.cell][0]));
    const key = (/** @type {Strip} */ strip) => (strip.rotation === null ? -1 : strip.offset);
    const rows = names.flatMap((name) => {
      const of = own.filter((strip) => samples.cells[strip.cell][0] === name);
      const keys = unique(of.map(key)).sort((a, b) => a - b);
      return keys.map((offset) => ({ name, offset, strips: of.filter((strip) => key(strip) === offset).sort((a, b) => (a.rotation ?? 0) - (b.rotation ?? 0)) }));
    });
    return { names, rows };
  };
  const start = () => usual(rowsOf().rows);
  const draw = (/** @type {number} */ width, /** @type {[number, number] | null} */ zoom) => drawStrips(rowsOf(), width, zoom, samples);
  const node = chart({
    title: "Every sample",
    see:
      `A stroke is a sample, a line of strokes one rotation (another order of the functions), a row ` +
      `${samples.columns[0] === "variant" ? "the place where the function starts" : "the padding in front of the code, or of the process where nothing is relinked"}. ` +
      "Rows that lie apart differ only by placement. The number at an arrow counts the row's samples off the chart.",
    draw,
    start,
    table: () => following(filter, () => stripTable(rowsOf())),
  });
  const pick = picker("shown", groups.map((name) => [name, name]), chosen, (value) => {
    chosen = value;
    for (const follower of filter.followers) follower();
    redrawAll();
  });
  if (groups.length > 1) node.querySelector(".above")?.prepend(pick);
  return node;
}

/** A measured value as text: times with the unit that fits. @param {any} samples @param {number} value */
function valueText(samples, value) {
  return samples.quantity.startsWith("ns") ? `${time(value)}${samples.quantity.slice(2)}` : `${digits(value)} ${samples.quantity}`;
}

/** @typedef {{name: string, offset: number, strips: Strip[]}} StripRow */

/** @param {StripRow} row */
function rowLabel(row) {
  return `${row.name}, ${row.offset < 0 ? "as built" : `at ${row.offset}`}`;
}

/** @param {{names: string[], rows: StripRow[]}} shown */
function stripTable({ rows }) {
  return table(
    ["variant and offset", "placements", "samples", "fastest", "median", "slowest"],
    rows.map((row) => {
      const times = row.strips.flatMap((strip) => Array.from(strip.times)).sort((a, b) => a - b);
      return [rowLabel(row), row.strips.length, whole(times.length), digits(times[0]), digits(times[Math.floor(times.length / 2)]), digits(times[times.length - 1])];
    }),
    "Samples by variant and offset",
  );
}

/**
 * @param {{names: string[], rows: StripRow[]}} shown
 * @param {number} width
 * @param {[number, number] | null} zoom
 * @param {any} samples
 */
function drawStrips({ names, rows }, width, zoom, samples) {
  if (rows.length === 0) return null;
  const narrow = width < NARROW;
  const left = narrow ? 8 : roomFor(rows.map(rowLabel), width * 0.3);
  const [top, right, bottom] = [8, BEYOND, 42];
  const above = narrow ? 15 : 0;
  const gap = 7;
  const tall = (/** @type {StripRow} */ row) => Math.max(14, Math.min(66, row.strips.length * 5)) + above;
  const height = top + bottom + rows.reduce((sum, row) => sum + tall(row) + gap, 0);
  const [low, high] = extent(rows.flatMap((row) => row.strips));
  const scale = d3.scaleLinear(zoom ?? [low, high === low ? low + 1 : high], [left, width - right]);
  const svg = drawn("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, "font-size": 12 });
  const ticks = scale.ticks(Math.max(3, Math.floor(width / 110)));
  const unit = unitOf(Math.max(...scale.domain().map(Math.abs)));
  for (const tick of ticks) {
    const x = scale(tick);
    svg.append(drawn("line", { x1: x, x2: x, y1: top, y2: height - bottom, class: "grid" }), drawn("text", { x, y: height - bottom + 16, class: "mark", "text-anchor": "middle" }, samples.quantity.startsWith("ns") ? inUnit(tick, unit) : digits(tick)));
  }
  svg.append(drawn("text", { x: (left + width - right) / 2, y: height - 8, class: "mark", "text-anchor": "middle" }, samples.quantity.replace(/^ns/, "time")));
  // A few samples are drawn broad enough to be seen.
  const count = rows.reduce((sum, row) => sum + row.strips.reduce((part, strip) => part + strip.times.length, 0), 0);
  const broad = count < 600 ? " few" : "";
  /** @type {Spot[]} */
  const spots = [];
  /** @type {{top: number, step: number, row: StripRow}[]} */
  const lines = [];
  let y = top;
  for (const row of rows) {
    const [begin, step] = [y + above, (tall(row) - above) / row.strips.length];
    lines.push({ top: begin, step, row });
    svg.append(drawn("text", { x: narrow ? left : 4, y: narrow ? y + 10 : begin + (tall(row) - above) / 2 + 4, class: "name" }, cut(rowLabel(row), narrow ? width - 14 : left)));
    let [used, unused] = ["", ""];
    let [before, beyond] = [0, 0];
    row.strips.forEach((strip, at) => {
      const line = begin + at * step;
      for (let one = 0; one < strip.times.length; one += 1) {
        const x = scale(strip.times[one]);
        if (x < left - 0.5) before += 1;
        else if (x > width - right + 0.5) beyond += 1;
        if (x < left - 0.5 || x > width - right + 0.5) continue;
        const stroke = `M${x.toFixed(1)} ${line.toFixed(1)}v${(step * 0.86).toFixed(1)}`;
        if ((strip.rounds[one] & LEFT_OUT) !== 0) unused += stroke;
        else used += stroke;
      }
      const typical = middle([strip]);
      const spot = { x: scale(typical), y: line + step / 2, text: `${rowLabel(row)}${strip.rotation === null ? "" : `, rotation ${strip.rotation}`}\nmedian of ${plural(strip.times.length, "sample")}: ${valueText(samples, typical)}` };
      if (spot.x >= left && spot.x <= width - right) spots.push(spot);
    });
    svg.append(drawn("path", { d: unused, class: `stroke unused${broad}` }), drawn("path", { d: used, class: `stroke s${names.indexOf(row.name) % 8}${broad}` }));
    const centre = begin + (tall(row) - above) / 2 + 4;
    if (beyond > 0) svg.append(drawn("text", { x: width - right + 4, y: centre, class: "mark" }, `▸ ${whole(beyond)}`));
    if (before > 0) svg.append(drawn("text", { x: left + 2, y: centre, class: "mark" }, `◂ ${whole(before)}`));
    const typical = scale(middle(row.strips));
    if (typical >= left && typical <= width - right) svg.append(drawn("line", { x1: typical, x2: typical, y1: begin - 2, y2: begin + tall(row) - above + 2, class: "median" }));
    y += tall(row) + gap;
  }
  const near = (/** @type {number} */ px, /** @type {number} */ py) => {
    const line = lines.find((one) => py >= one.top && py < one.top + one.step * one.row.strips.length);
    if (!line) return null;
    const at = Math.floor((py - line.top) / line.step);
    const strip = line.row.strips[at];
    let found = -1;
    let least = 12;
    strip.times.forEach((time, one) => {
      const distance = Math.abs(scale(time) - px);
      if (distance < least) [found, least] = [one, distance];
    });
    if (found < 0) return null;
    const round = strip.rounds[found];
    const where = strip.rotation === null ? "" : `, rotation ${strip.rotation}`;
    const out = (round & LEFT_OUT) !== 0 ? "\nleft out: interrupted, or the sibling thread was busy" : "";
    return { x: scale(strip.times[found]), y: line.top + (at + 0.5) * line.step, text: `${rowLabel(line.row)}${where}, round ${round & ~LEFT_OUT}\n${valueText(samples, strip.times[found])}${out}` };
  };
  return { svg: /** @type {any} */ (svg), spots, near, x: { domain: scale.domain(), range: scale.range(), invert: scale.invert, apply: scale } };
}
