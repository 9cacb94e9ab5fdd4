// A chart with what every chart here can do: zoom, move, read its points by mouse and by keyboard, show its table.

/**
 * A point that can be read, in the drawing's own coordinates.
 * @typedef {{x: number, y: number, text: string}} Spot
 *
 * @typedef {object} Drawing
 * @property {SVGSVGElement | HTMLElement} svg
 * @property {Spot[]} spots in the order in which the keyboard walks over them
 * @property {any} [x] Plot's scale that is zoomed
 * @property {(x: number, y: number) => Spot | null} [near] the point under the pointer, where there are more than `spots`
 *
 * @typedef {object} ChartSpec
 * @property {string} title
 * @property {string} [see] what to see in it: one sentence
 * @property {Node | null} [legend]
 * @property {(width: number, zoom: [number, number] | null) => Drawing | null} draw nothing where the filter leaves nothing
 * @property {() => Node} [table]
 * @property {() => [number, number] | null} [start] what is shown at first, where that is not everything
 */

/** Class of Plot's drawings; the page's policy allows the style that Plot writes for it. */
const PLOT_CLASS = "plot";
/** The share of the range that a step of zoom keeps. */
const STEP = 0.6;
/** Pointers farther than this from a point read nothing. */
const REACH = 40;
/** Fingers closer than this to each other zoom nothing, pixels. */
const LEAST_PINCH = 8;

/** All charts, drawn again when the filter or the width changes. @type {Set<() => void>} */
const charts = new Set();

/** Where the pointer was last. */
let pointer = { x: NaN, y: NaN };
// A chart's own listeners come before the window's.
addEventListener("pointermove", (event) => (pointer = { x: event.clientX, y: event.clientY }));
/** Browsers also tell when the page moves under a pointer at rest: that ends no reading by keyboard. @param {PointerEvent} event */
function moved(event) {
  return event.clientX !== pointer.x || event.clientY !== pointer.y;
}

/** @param {ChartSpec} spec */
function chart(spec) {
  const id = freshId(spec.title);
  const tip = el("div", { class: "tip", role: "status" });
  const band = el("div", { class: "band" });
  const stage = el("div", {
    class: "stage",
    tabindex: "0",
    role: "group",
    "aria-roledescription": "chart",
    "aria-labelledby": id,
    "aria-describedby": "chart-keys",
  });
  const button = (/** @type {string} */ label, /** @type {string} */ sign, /** @type {() => void} */ act) =>
    el("button", { type: "button", "aria-label": `${label}: ${spec.title}`, title: label, onclick: act }, sign);
  const tools = el(
    "div",
    { class: "tools", role: "group", "aria-label": `Zoom: ${spec.title}` },
    button("Zoom in", "+", () => zoomBy(STEP)),
    button("Zoom out", "−", () => zoomBy(1 / STEP)),
    button("Show everything", "↔", () => reset()),
  );
  const figure = el(
    "figure",
    { class: "chart" },
    el("figcaption", {}, el("h3", { id }, spec.title), spec.see ? el("p", {}, spec.see) : null),
    el("div", { class: "above" }, spec.legend ?? el("span"), tools),
    stage,
    spec.table ? folded("Table", spec.table) : null,
  );

  /** @type {[number, number] | null} */
  let zoom = spec.start ? spec.start() : null;
  /** @type {[number, number] | null} */
  let all = null;
  /** @type {Drawing | null} */
  let drawing = null;
  let at = -1;
  let drawnWidth = 0;

  const redraw = () => {
    const width = Math.floor(stage.clientWidth);
    if (width < 50) return;
    drawnWidth = width;
    const whole = all ? null : spec.draw(width, null);
    if (!all) all = domain(whole);
    drawing = whole && zoom === null ? whole : spec.draw(width, zoom);
    tools.hidden = !drawing || !drawing.x;
    if (drawing) {
      drawing.svg.setAttribute("aria-hidden", "true");
      stage.replaceChildren(drawing.svg, band, tip);
    } else {
      stage.replaceChildren(el("p", { class: "empty" }, "Nothing fits the filter."));
    }
    at = -1;
    hide();
  };
  const domain = (/** @type {Drawing | null} */ found) => {
    if (!found || !found.x) return null;
    const ends = found.x.domain.map(Number);
    return /** @type {[number, number]} */ ([ends[0], ends[ends.length - 1]]);
  };
  const hide = () => {
    tip.classList.remove("shown");
    stage.querySelector(".ring")?.remove();
  };
  /** Pixels of the screen per unit of the drawing. */
  const scale = () => {
    const box = drawing?.svg.getBoundingClientRect();
    return box && drawing ? box.width / Number(drawing.svg.getAttribute("width") ?? box.width) : 1;
  };
  const show = (/** @type {Spot | null | undefined} */ spot) => {
    hide();
    if (!spot || !drawing) return;
    drawing.svg.append(drawn("circle", { class: "ring", cx: spot.x, cy: spot.y, r: 8 }));
    tip.textContent = spot.text;
    tip.classList.add("shown");
    const room = stage.clientWidth;
    const factor = scale();
    const left = Math.max(0, Math.min(spot.x * factor + 12, room - tip.offsetWidth - 4));
    const below = spot.y * factor + 14;
    tip.style.left = `${left}px`;
    tip.style.top = `${below + tip.offsetHeight > stage.clientHeight ? Math.max(0, spot.y * factor - tip.offsetHeight - 12) : below}px`;
  };
  /** The range [from, to] of pixels becomes the whole width. */
  const take = (/** @type {number} */ from, /** @type {number} */ to) => {
    if (!drawing?.x || !all || to - from < 2) return;
    const ends = [drawing.x.invert(from), drawing.x.invert(to)].map(Number);
    const [low, high] = [Math.max(all[0], Math.min(...ends)), Math.min(all[1], Math.max(...ends))];
    zoom = low <= all[0] && high >= all[1] ? null : [low, high];
    if (high > low) redraw();
  };
  const ends = () => {
    const range = drawing?.x?.range ?? [0, 1];
    return [Math.min(...range), Math.max(...range)];
  };
  const zoomBy = (/** @type {number} */ factor, /** @type {number | null} */ centre = null) => {
    const [from, to] = ends();
    const middle = centre ?? (at >= 0 && drawing ? drawing.spots[at].x : (from + to) / 2);
    take(middle - (middle - from) * factor, middle + (to - middle) * factor);
  };
  const move = (/** @type {number} */ part) => {
    const [from, to] = ends();
    const by = (to - from) * part;
    if (zoom) take(from + by, to + by);
  };
  const reset = () => {
    zoom = null;
    redraw();
  };
  const read = (/** @type {number} */ step) => {
    const spots = drawing?.spots ?? [];
    if (spots.length === 0) return;
    at = at < 0 ? (step > 0 ? 0 : spots.length - 1) : Math.min(spots.length - 1, Math.max(0, at + step));
    show(spots[at]);
  };

  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowRight: () => read(1),
    ArrowDown: () => read(1),
    ArrowLeft: () => read(-1),
    ArrowUp: () => read(-1),
    Home: () => ((at = -1), read(1)),
    End: () => ((at = -1), read(-1)),
    "+": () => zoomBy(STEP),
    "=": () => zoomBy(STEP),
    "-": () => zoomBy(1 / STEP),
    "0": reset,
    "<": () => move(-0.25),
    ">": () => move(0.25),
    ",": () => move(-0.25),
    ".": () => move(0.25),
    Escape: hide,
  };
  stage.addEventListener("keydown", (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  stage.addEventListener("blur", hide);

  /** Where the pointer is in the drawing. */
  const place = (/** @type {PointerEvent | WheelEvent} */ event) => {
    const box = stage.getBoundingClientRect();
    return { x: (event.clientX - box.left) / scale(), y: (event.clientY - box.top) / scale() };
  };
  /** @type {number | null} */
  let pressed = null;
  stage.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button === 0) pressed = place(event).x;
  });
  stage.addEventListener("pointermove", (event) => {
    if (!moved(event)) return;
    const { x, y } = place(event);
    if (pressed !== null && drawing?.x) {
      const [from, to] = [Math.min(pressed, x), Math.max(pressed, x)];
      band.style.left = `${from * scale()}px`;
      band.style.width = `${(to - from) * scale()}px`;
      band.classList.toggle("shown", to - from > 4);
      return;
    }
    show(drawing?.near ? drawing.near(x, y) : nearest(drawing?.spots ?? [], x, y));
  });
  stage.addEventListener("pointerleave", (event) => moved(event) && hide());
  addEventListener("pointerup", (event) => {
    if (pressed === null) return;
    const { x } = place(event);
    if (Math.abs(x - pressed) > 4) take(Math.min(pressed, x), Math.max(pressed, x));
    band.classList.remove("shown");
    pressed = null;
  });
  stage.addEventListener("dblclick", reset);
  stage.addEventListener(
    "wheel",
    (event) => {
      // Without a key the wheel scrolls the page, as everywhere.
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      zoomBy(event.deltaY + event.deltaX < 0 ? STEP : 1 / STEP, place(event).x);
    },
    { passive: false },
  );

  /** Two fingers: what lies under them stays there. A stretched picture shows it until they leave; then it is drawn. @type {{unit: number, start: number[], now: number[]} | null} */
  let pinch = null;
  const fingers = (/** @type {TouchEvent} */ event, /** @type {number} */ unit) => {
    const { left } = stage.getBoundingClientRect();
    return Array.from(event.touches, (touch) => (touch.clientX - left) / unit).sort((one, other) => one - other);
  };
  /** How a pixel of the picture moves: by a factor, then so far. */
  const stretch = ({ start, now } = { start: [0, 1], now: [0, 1] }) => {
    const factor = (now[1] - now[0]) / (start[1] - start[0]);
    return { factor, shift: now[0] - start[0] * factor };
  };
  stage.addEventListener(
    "touchstart",
    (event) => {
      if (event.touches.length !== 2 || !drawing?.x) return;
      event.preventDefault();
      hide();
      const unit = scale();
      const start = fingers(event, unit);
      if (start[1] - start[0] >= LEAST_PINCH) pinch = { unit, start, now: start };
    },
    { passive: false },
  );
  stage.addEventListener(
    "touchmove",
    (event) => {
      if (!pinch || !drawing || event.touches.length !== 2) return;
      event.preventDefault();
      const now = fingers(event, pinch.unit);
      if (now[1] - now[0] < LEAST_PINCH) return;
      pinch.now = now;
      const { factor, shift } = stretch(pinch);
      stage.style.overflow = "hidden";
      drawing.svg.style.transformOrigin = "0 0";
      drawing.svg.style.transform = `translateX(${shift * pinch.unit}px) scaleX(${factor})`;
    },
    { passive: false },
  );
  const release = () => {
    if (!pinch || !drawing) return;
    const { factor, shift } = stretch(pinch);
    pinch = null;
    stage.style.overflow = "";
    drawing.svg.style.transform = "";
    const [from, to] = ends();
    take((from - shift) / factor, (to - shift) / factor);
  };
  stage.addEventListener("touchend", release);
  stage.addEventListener("touchcancel", release);

  charts.add(() => {
    all = null;
    zoom = spec.start ? spec.start() : null;
    redraw();
  });
  new ResizeObserver(() => {
    if (Math.floor(stage.clientWidth) === drawnWidth) return;
    // What is being read stays: a table that opens beside it may have made the chart narrower.
    const reading = tip.classList.contains("shown") ? tip.textContent : null;
    redraw();
    at = reading === null ? -1 : (drawing?.spots ?? []).findIndex((spot) => spot.text === reading);
    show(drawing?.spots[at]);
  }).observe(stage);
  return figure;
}

/** The nearest of the points. @param {Spot[]} spots @param {number} x @param {number} y */
function nearest(spots, x, y) {
  let found = null;
  let least = REACH;
  for (const spot of spots) {
    const distance = Math.hypot(spot.x - x, spot.y - y);
    if (distance < least) [found, least] = [spot, distance];
  }
  return found;
}

/** Draws all charts again. */
function redrawAll() {
  for (const again of charts) again();
}

/** Signs with their meaning. @param {[string, string][]} signs a class of the style sheet and what it stands for */
function legend(signs) {
  return el("ul", { class: "legend" }, ...signs.map(([sign, means]) => el("li", {}, el("span", { class: `sign ${sign}` }), means)));
}

/** Names with their colours. @param {string[]} names */
function colours(names) {
  return el("ul", { class: "legend" }, ...names.map((name, at) => el("li", {}, el("span", { class: `sign c${at % 8}` }), name)));
}

/** The colour of the nth name. @param {number} at */
function colour(at) {
  return `var(--c${at % 8})`;
}

/**
 * Marks of an axis by factors: Plot leaves out most of its labels where a function writes them.
 * @param {"x" | "y"} which
 * @param {any} scale options of the scale, its domain among them
 */
function factorMarks(which, scale) {
  if (scale.type !== "log") return [];
  const ticks = Array.isArray(scale.ticks) ? scale.ticks : decimalTicks(scale.domain, scale.ticks);
  const [axis, grid] = which === "x" ? [Plot.axisX, Plot.gridX] : [Plot.axisY, Plot.gridY];
  return [grid(ticks), axis(ticks, { text: scale.tickFormat, label: scale.label, labelAnchor: scale.labelAnchor })];
}

/** 1, 2, 5 and their tenfolds, as many as fit. @param {number[]} ends @param {number} most */
function decimalTicks(ends, most) {
  const powers = d3.range(Math.floor(Math.log10(ends[0])), Math.ceil(Math.log10(ends[1])) + 1);
  for (const digits of [[1, 1.5, 2, 3, 4, 5, 6, 8], [1, 2, 5], [1]]) {
    const ticks = powers.flatMap((/** @type {number} */ power) => digits.map((digit) => Number((digit * 10 ** power).toPrecision(3))));
    const inside = ticks.filter((/** @type {number} */ tick) => tick >= ends[0] && tick <= ends[1]);
    if (inside.length >= 2 && inside.length <= most + 2) return inside;
  }
  return d3.ticks(ends[0], ends[1], most);
}

/** Weights of the texts of charts. */
const PLAIN = 400;
const BOLD = 600;
/** @type {CanvasRenderingContext2D | null} */
let ruler = null;

/** Pixels that a text of a chart takes, in the page's own font: fonts differ by a fifth. @param {string} text @param {number} weight */
function widthOf(text, weight = PLAIN) {
  ruler ??= document.createElement("canvas").getContext("2d");
  if (ruler === null) return 8 * text.length;
  ruler.font = `${weight} 12px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(text).width;
}

/** Room for the longest of the texts, pixels. @param {string[]} texts @param {number} most */
function roomFor(texts, most, weight = PLAIN) {
  return Math.min(most, 14 + Math.ceil(Math.max(0, ...texts.map((text) => widthOf(text, weight)))));
}

/** A text that takes at most so many pixels. @param {string} text @param {number} room */
function cut(text, room) {
  const width = widthOf(text);
  if (width <= room) return text;
  let most = Math.max(4, Math.floor((text.length * room) / width));
  while (most > 4 && widthOf(`${text.slice(0, most - 1)}…`) > room) most -= 1;
  return `${text.slice(0, most - 1)}…`;
}
