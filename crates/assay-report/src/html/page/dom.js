// What all parts of the page are made of: elements, figures as text, tables, downloads.
// Foreign text becomes text nodes and attribute values, never markup.

/**
 * An element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] names that begin with "on" are listeners
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElement}
 */
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}

/**
 * An element of a drawing.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
function drawn(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

let lastId = 0;
/** An id that no other element has. @param {string} about */
function freshId(about) {
  lastId += 1;
  return `${about.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 30)}-${lastId}`;
}

/** Three digits that count, without an exponent. @param {number} value */
function digits(value) {
  if (!Number.isFinite(value)) return "unknown";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  const places = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(size))));
  return String(Number(value.toFixed(places)));
}

/** A unit of time with its nanoseconds. @typedef {[string, number]} TimeUnit */

/** The unit in which a time is written. @param {number} ns @returns {TimeUnit} */
function unitOf(ns) {
  const size = Math.abs(ns);
  return size >= 1e9 ? ["s", 1e9] : size >= 1e6 ? ["ms", 1e6] : size >= 1e4 ? ["µs", 1e3] : ["ns", 1];
}

/** A time in the unit of its axis. @param {number} ns @param {TimeUnit} unit */
function inUnit(ns, [name, size]) {
  return `${digits(ns / size)} ${name}`;
}

/** "1.32 ns", "4.5 µs". @param {number | null | undefined} ns */
function time(ns) {
  return ns === null || ns === undefined ? "unknown" : inUnit(ns, unitOf(ns));
}

// Changes, fractions and plurals as crates/assay-numbers/src/words writes them; scripts/page/words.cjs compares both.

/** With its sign, but "0.0" where the digits shown are all zero. @param {number} value @param {number} decimals */
function signed(value, decimals) {
  const text = Math.abs(value).toFixed(decimals);
  return /[1-9]/.test(text) ? `${value < 0 ? "-" : "+"}${text}` : text;
}

/** "+2.4 %" of a ratio of 1.024. @param {number} ratio */
function change(ratio) {
  return `${signed((ratio - 1) * 100, 1)} %`;
}

/** A change at a mark of an axis: "-10 %". @param {number} ratio */
function changeMark(ratio) {
  return change(ratio).replace(".0 %", " %");
}

/**
 * "-71.8 % ± 0.7": the longer side of the interval, and digits that follow it. Where that would reach over 0 and the interval
 * does not, both ends: "+84 % (+12 to +203)".
 * @param {{ratio: number, lower: number, upper: number}} interval
 */
function changeWithin({ ratio, lower, upper }) {
  const percent = (/** @type {number} */ of) => (of - 1) * 100;
  const centre = percent(ratio);
  const half = Math.max(percent(upper) - centre, centre - percent(lower));
  const decimals = half >= 9.95 ? 0 : half >= 0.095 ? 1 : 2;
  // As they are printed: 9.96 is 10 too.
  const shown = (/** @type {number} */ value, /** @type {number} */ places) => Number(Math.abs(value).toFixed(places));
  if ((lower > 1 || upper < 1) && shown(half, decimals) >= shown(centre, decimals)) {
    const nearest = Math.min(Math.abs(percent(lower)), Math.abs(percent(upper)));
    let places = decimals;
    while (places < 2 && shown(nearest, places) === 0) places += 1;
    return `${signed(centre, places)} % (${signed(percent(lower), places)} to ${signed(percent(upper), places)})`;
  }
  return `${signed(centre, decimals)} % ± ${half.toFixed(decimals)}`;
}

/** "+2.4 % (+0.8 % to +4.0 %)". @param {{ratio: number, lower: number, upper: number} | null | undefined} interval */
function changed(interval) {
  return interval ? `${change(interval.ratio)} (${change(interval.lower)} to ${change(interval.upper)})` : "not measured";
}

/** A measured fraction without sign: "12 %", "2.1 %", "0.42 %"; what is not nothing is never "0 %". @param {number | null | undefined} fraction */
function share(fraction) {
  if (fraction === null || fraction === undefined) return "unknown";
  const percent = Math.abs(fraction * 100);
  if (percent > 0 && percent < 0.005) return "<0.01 %";
  return `${Number(percent.toFixed(percent >= 9.95 ? 0 : percent >= 0.995 ? 1 : 2))} %`;
}

/** A fraction as it was asked for, with all its digits: "1.25 %". @param {number} fraction */
function asked(fraction) {
  return `${Number((100 * fraction).toFixed(4))} %`;
}

/** A confidence with as many nines as it has: "95 %", "99.98 %". @param {number} level */
function confidence(level) {
  return `${Number((100 * level).toFixed(level >= 0.9999 ? 4 : level >= 0.99 ? 2 : 1))} %`;
}

/** "9,010". @param {number} count */
function whole(count) {
  return Math.round(count).toLocaleString("en-US");
}

/** Units that are symbols have no plural: 3 KiB, 5 ns. */
const SYMBOLS = ["B", "b", "s", "ms", "us", "µs", "ns", "h", "min", "%"];

/** What no rule gives, as ends of words. @type {[string, string][]} */
const IRREGULAR = [
  ["epoch", "epochs"],
  ["matrix", "matrices"],
  ["vertex", "vertices"],
  ["analysis", "analyses"],
  ["basis", "bases"],
  ["child", "children"],
  ["half", "halves"],
  ["leaf", "leaves"],
  ["lens", "lenses"],
];

/** "1 sample", "9,010 samples", "3 queries". @param {number} count @param {string} what */
function plural(count, what) {
  return `${whole(count)} ${count === 1 ? what : pluralNoun(what)}`;
}

/** "hash" is "hashes", "kind of call" "kinds of call"; a plural ("bytes") and a symbol ("KiB") stay. @param {string} singular @returns {string} */
function pluralNoun(singular) {
  for (const between of [" of ", " per ", " in ", " to "]) {
    const at = singular.indexOf(between);
    if (at >= 0) return pluralNoun(singular.slice(0, at)) + singular.slice(at);
  }
  const start = Math.max(singular.lastIndexOf(" "), singular.lastIndexOf("-")) + 1;
  return singular.slice(0, start) + pluralWord(singular.slice(start));
}

/** @param {string} word */
function pluralWord(word) {
  for (const [end, many] of IRREGULAR) if (word.endsWith(end)) return word.slice(0, -end.length) + many;
  if (word === "" || SYMBOLS.includes(word) || /^.+\p{Lu}/su.test(word)) return word;
  if (/\p{L}y$/u.test(word) && !/[aeiou]y$/i.test(word)) return `${word.slice(0, -1)}ies`;
  if (/[suiao]s$/.test(word)) return `${word}es`;
  if (word.endsWith("s")) return word;
  return /([xz]|[cs]h)$/.test(word) ? `${word}es` : `${word}s`;
}

/** "256 KiB". @param {number} bytes */
function sized(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let at = 0;
  while (bytes >= 1024 && at < 3) {
    bytes /= 1024;
    at += 1;
  }
  return `${digits(bytes)} ${units[at]}`;
}

/** "1 min 2 s". @param {number | null | undefined} seconds */
function lasting(seconds) {
  if (seconds === null || seconds === undefined) return "unknown";
  if (seconds < 60) return `${digits(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** "half_way" as a reader writes it. @param {string} word */
function spoken(word) {
  return word.replace(/[_-]/g, " ");
}

/** Why something ended, as the data spell it and as a reader understands it. @type {Record<string, string>} */
const ENDED = {
  decided: "everything decided",
  budget: "budget spent",
  rotations: "all rotations done",
  rounds: "all rounds done",
  refined: "nothing left to refine",
  points: "all points measured",
  nothing: "nothing could be measured",
  interrupted: "interrupted",
};

/** @param {string | null | undefined} why */
function ended(why) {
  return why ? (ENDED[why] ?? spoken(why)) : "killed, or still running";
}

/** The values of a list, each once. @template T @param {T[]} values @returns {T[]} */
function unique(values) {
  return [...new Set(values)];
}

/** Rows of a table that needs no box. */
const MOST_WHOLE = 40;

/**
 * A table. Numbers are right-aligned.
 * @param {string[]} heads
 * @param {(string | number | Node | null | undefined)[][]} rows
 * @param {string} [about] what it shows, for who cannot see it
 */
function table(heads, rows, about) {
  const isNumber = heads.map((_, at) => rows.length > 0 && rows.every((row) => /^([<+-]?[\d.,]+( %| ns| µs| ms| s)?|unknown|not measured|)$/.test(String(row[at] ?? ""))));
  const kind = (/** @type {any} */ value) => (value instanceof Node ? null : String(value).length <= 20 ? "short" : "text");
  const cell = (/** @type {any} */ value, /** @type {number} */ at, tag = "td") =>
    el(tag, { class: isNumber[at] ? "number" : tag === "td" ? kind(value) : null, scope: tag === "th" ? "col" : null }, value instanceof Node ? value : String(value ?? ""));
  const inner = el(
    "table",
    {},
    about ? el("caption", { class: "unseen" }, about) : null,
    el("thead", {}, el("tr", {}, ...heads.map((head, at) => cell(head, at, "th")))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((value, at) => cell(value, at))))),
  );
  // A wide table scrolls by itself, and by keyboard; a long one in a box, under its heads.
  return el("div", { class: rows.length > MOST_WHOLE ? "scroll long" : "scroll", tabindex: "0", role: "region", "aria-label": about ?? heads.join(", ") }, inner);
}

/**
 * Names with their values.
 * @param {[string, string | Node | null | undefined][]} facts those without a value are left out
 */
function facts(facts) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("dl", {}, ...known.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, /** @type {any} */ (value))]));
}

/**
 * A part of the page that is opened on demand.
 * @param {string} title
 * @param {() => Node} content made when it is opened for the first time
 * @param {boolean} [open]
 */
function folded(title, content, open = false) {
  const node = /** @type {HTMLDetailsElement} */ (el("details", { open }, el("summary", {}, title)));
  const fill = () => {
    if (node.childElementCount === 1) node.append(content());
  };
  if (open) fill();
  node.addEventListener("toggle", () => node.open && fill());
  return node;
}

/** Foreign text as it is, scrolled by keyboard too. @param {string} text @param {string} about */
function verbatim(text, about) {
  return el("pre", { tabindex: "0", role: "region", "aria-label": about }, text);
}

/**
 * A link that saves a text as a file.
 * @param {string} label
 * @param {string} name
 * @param {string} type
 * @param {() => string} content
 */
function download(label, name, type, content) {
  const button = el("button", { type: "button", class: "save" }, label);
  button.addEventListener("click", () => {
    const address = URL.createObjectURL(new Blob([content()], { type }));
    const link = el("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  });
  return button;
}

/** A row of CSV (RFC 4180); a text that a spreadsheet would compute gets a quote. @param {(string | number | null)[]} values */
function csvRow(values) {
  const field = (/** @type {string | number | null} */ value) => {
    const text = value === null ? "" : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  };
  return `${values.map(field).join(",")}\r\n`;
}

/** A section with its heading; the navigation lists it. @param {string} title @param {...(Node | string | null)} children */
function section(title, ...children) {
  const id = freshId(title);
  return el("section", { id, "aria-labelledby": `${id}-h`, "data-title": title }, el("h2", { id: `${id}-h` }, title), ...children);
}
