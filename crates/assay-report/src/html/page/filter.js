// What part of a page is shown: one filter for all charts and tables of a column.

/**
 * @typedef {Record<string, string>} Traits what a row is of: variant, input, build, verdict
 * @typedef {object} Filter
 * @property {(traits: Traits) => boolean} has
 * @property {HTMLElement} bar
 * @property {Set<() => void>} followers
 */

/**
 * The filter of some rows: a choice for each trait that has several values, and a search.
 * @param {Traits[]} rows
 * @returns {Filter}
 */
function filterOf(rows) {
  /** @type {Record<string, string>} */
  const chosen = {};
  let words = "";
  /** @type {Set<() => void>} */
  const followers = new Set();
  const shown = el("span", { class: "shown-rows", role: "status" });
  const has = (/** @type {Traits} */ traits) =>
    Object.entries(chosen).every(([name, value]) => value === "" || traits[name] === undefined || traits[name] === value) &&
    (words === "" || Object.values(traits).join(" ").toLowerCase().includes(words));
  const apply = () => {
    const count = rows.filter(has).length;
    shown.textContent = count === rows.length ? "" : `${count} of ${rows.length} shown`;
    for (const follower of followers) follower();
    redrawAll();
  };
  const traits = unique(rows.flatMap((row) => Object.keys(row)));
  const choices = traits
    .map((name) => ({ name, values: unique(rows.map((row) => row[name]).filter((value) => value !== undefined && value !== "")) }))
    .filter(({ values }) => values.length > 1);
  const fields = choices.map(({ name, values }) =>
    picker(name, [["", `every ${name}`], ...values.map((value) => /** @type {[string, string]} */ ([value, value]))], "", (value) => {
      chosen[name] = value;
      apply();
    }),
  );
  const search = el("input", { type: "search", placeholder: "part of a name", "aria-label": "Show rows that contain" });
  search.addEventListener("input", () => {
    words = /** @type {HTMLInputElement} */ (search).value.trim().toLowerCase();
    apply();
  });
  const bar = el("form", { class: "filter", role: "search", "aria-label": "Filter", onsubmit: (/** @type {Event} */ event) => event.preventDefault() });
  if (rows.length > 1) bar.append(...fields, el("label", {}, "search ", search), shown);
  return { has, bar, followers };
}

/**
 * A labelled choice.
 * @param {string} name
 * @param {[string, string][]} options value and text
 * @param {string} chosen its value
 * @param {(value: string) => void} act
 */
function picker(name, options, chosen, act) {
  const select = /** @type {HTMLSelectElement} */ (el("select", {}, ...options.map(([value, text]) => el("option", { value }, text))));
  select.value = chosen;
  select.addEventListener("change", () => act(select.value));
  return el("label", {}, `${name} `, select);
}

/** A table that follows a filter. @param {Filter} filter @param {() => Node} make */
function following(filter, make) {
  const place = el("div", {}, make());
  filter.followers.add(() => place.replaceChildren(make()));
  return place;
}
