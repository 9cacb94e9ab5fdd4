// node words.cjs: numbers and plurals of a page (html/page/dom.js) read as those of assay_numbers::words: the table of both is
// crates/assay-numbers/src/words/table.tsv, which a test of that crate reads too.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { runInNewContext } = require("node:vm");

const crates = join(__dirname, "../../crates");
const page = runInNewContext(`${readFileSync(join(crates, "assay-report/src/html/page/dom.js"), "utf8")}
;({ change, changeWithin, share, asked, confidence, plural })`);
const rows = readFileSync(join(crates, "assay-numbers/src/words/table.tsv"), "utf8").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
const wrong = [];
for (const row of rows) {
  const [name, values, expected] = row.split("\t");
  const [number, lower, upper] = values.split(" ").map(Number);
  const written = {
    change: () => page.change(number),
    within: () => page.changeWithin({ ratio: number, lower, upper }),
    fraction: () => page.share(number),
    asked: () => page.asked(number),
    confidence: () => page.confidence(number),
    plural: () => page.plural(number, values.slice(values.indexOf(" ") + 1)),
  }[name]();
  if (written !== expected) wrong.push(`${name} of ${values} is "${written}" on a page, not "${expected}"`);
}
if (rows.length < 50) wrong.push(`the table has ${rows.length} rows`);
for (const one of wrong) console.error(`words.cjs: ${one}`);
process.exit(wrong.length > 0 ? 1 : 0);
