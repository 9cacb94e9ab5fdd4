// Pictures of pages, compared with kept ones: every kind of page of invented data (kept/*.json, whose test is in assay-report), on a
// desk in the light and on a phone in the dark, one of them on paper. `renew` writes the kept ones instead.
// The letters are of the font that lies in the repository: no two machines have the same ones, and nothing else differs between them.
const { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { read, write, difference } = require("./png.cjs");

const KEPT = join(__dirname, "kept");
const FONTS = join(__dirname, "../../crates/assay-report/src/picture/fonts");
/** Pixels that may differ, in all: letters of other fonts, which stand for signs that the kept one lacks. */
const MOST_PIXELS = 400;
/** Pixels by which a page may be taller or shorter. */
const MOST_HEIGHT = 4;
/** What lies below is not kept: the pictures are to be small, and soon drawn. */
const TALLEST = 4000;
/** All of them together. */
const MOST_BYTES = 2_000_000;
const VIEWS = [
  { name: "desk", scheme: "light", context: { viewport: { width: 1180, height: 900 } } },
  { name: "phone", scheme: "dark", context: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } },
];
/** Between the margins of A4. */
const PAPER = { width: 718, height: 1000 };

/** What runs ahead of the page: its letters are the kept ones. @param {string[]} faces in base 64 */
function withKeptFont(faces) {
  faces.forEach((face, at) => {
    const bytes = Uint8Array.from(atob(face), (letter) => letter.charCodeAt(0));
    document.fonts.add(new FontFace("kept", bytes.buffer, { weight: at === 0 ? "100 500" : "501 900" }));
  });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { font-family: kept !important; caret-color: transparent !important; } html { scrollbar-width: none; }");
  document.adoptedStyleSheets = [sheet];
}

/** The comparing itself: what was altered is found, what was not, or only at its edges, is not. @param {import("./png.cjs").Picture} picture @param {(is: boolean, what: string) => void} check */
function comparerWorks(picture, check) {
  const again = read(write(picture));
  check(difference(picture, again).count === 0, "a picture that was written and read is another");
  const altered = { ...picture, rgb: Buffer.from(picture.rgb) };
  for (let y = 300; y < 320; y += 1) for (let x = 100; x < 140; x += 1) altered.rgb.fill(again.rgb[0] > 127 ? 0 : 255, (y * picture.width + x) * 3, (y * picture.width + x) * 3 + 3);
  check(difference(picture, altered).count > MOST_PIXELS, "a patch of 40 by 20 pixels is overlooked");
  const moved = { ...picture, rgb: Buffer.concat([picture.rgb.subarray(3), picture.rgb.subarray(0, 3)]) };
  check(difference(picture, moved).count <= MOST_PIXELS, "a picture that moved by a pixel is another");
}

/** @param {any} browser @param {any} tools of test.cjs @param {boolean} renew */
async function pictures(browser, { open, settled, dataOf, check, folder }, renew) {
  const faces = ["DejaVuSans.subset.ttf", "DejaVuSans-Bold.subset.ttf"].map((name) => readFileSync(join(FONTS, name)).toString("base64"));
  const names = readdirSync(KEPT).filter((one) => one.endsWith(".json")).map((one) => one.slice(0, -5));
  check(names.length >= 7, `${names.length} kinds of page have kept pictures`);
  const { data, with_ } = dataOf("other.html");
  const place = join(folder, "pictures");
  mkdirSync(place, { recursive: true });
  let tried = false;
  const compare = (/** @type {string} */ name, /** @type {Buffer} */ shot) => {
    const now = read(shot);
    const file = join(KEPT, `${name}.png`);
    if (renew) return writeFileSync(file, write(now));
    writeFileSync(join(place, `${name}.png`), shot);
    if (!tried) comparerWorks(now, check);
    tried = true;
    if (!existsSync(file)) return check(false, `there is no picture of ${name}; scripts/page/test.sh --renew draws it`);
    const kept = read(readFileSync(file));
    const sizes = `${kept.width} by ${kept.height}, then ${now.width} by ${now.height} pixels`;
    if (kept.width !== now.width || Math.abs(kept.height - now.height) > MOST_HEIGHT) return check(false, `the picture of ${name} has another size: ${sizes}`);
    const { count, first } = difference(kept, now);
    check(count <= MOST_PIXELS, `the picture of ${name} differs in ${count} pixels, the first at ${first}; if it is meant so: scripts/page/test.sh --renew`);
  };
  // Side by side, as far as the browser draws them so.
  await Promise.all(
    VIEWS.map(async ({ name: view, scheme, context: options }) => {
      for (const name of names) {
        const file = join(place, `${name}-${view}.html`);
        writeFileSync(file, with_({ ...data, made: "", shown: [JSON.parse(readFileSync(join(KEPT, `${name}.json`), "utf8"))] }));
        const { page, context } = await open(browser, `file://${file}`, { scheme, context: options, before: (/** @type {any} */ one) => one.addInitScript(withKeptFont, faces) });
        const shoot = async () => {
          await settled(page);
          const { width, height } = await page.evaluate(() => ({ width: document.documentElement.clientWidth, height: document.documentElement.scrollHeight }));
          return page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width, height: Math.min(height, TALLEST) }, animations: "disabled" });
        };
        check(await page.evaluate(() => document.fonts.check("16px kept")), `${name}: the kept letters were not loaded`);
        compare(`${name}-${view}`, await shoot());
        if (view === "desk" && name === "campaign") {
          await page.emulateMedia({ media: "print", colorScheme: "light" });
          await page.setViewportSize(PAPER);
          compare(`${name}-paper`, await shoot());
        }
        await context.close();
      }
    }),
  );
  const drawn = readdirSync(KEPT).filter((one) => one.endsWith(".png"));
  const bytes = drawn.reduce((sum, one) => sum + statSync(join(KEPT, one)).size, 0);
  check(bytes < MOST_BYTES, `the kept pictures have ${bytes} bytes`);
  const strange = drawn.filter((one) => !names.some((name) => one.startsWith(`${name}-`)));
  check(strange.length === 0, `pictures of no page: ${strange.join(", ")}`);
}

module.exports = { pictures };
