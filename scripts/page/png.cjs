// PNG files as far as kept pictures need them (W3C, Portable Network Graphics, 3rd edition): read what Chromium and this file write,
// write small ones, say where two pictures differ. Checked by pictures.cjs, which first compares ones that it altered itself.
const { deflateSync, inflateSync } = require("node:zlib");

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
/** Bytes of a pixel by colour type, at 8 bits each. @type {Record<number, number>} */
const BYTES = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** Colours that a written picture has at most: a palette's. */
const COLOURS = 256;
/** Pixels whose brightness or colour differs by less than this look alike. */
const ALIKE = 48;

/** @typedef {{width: number, height: number, rgb: Buffer}} Picture three bytes for each pixel */

/** The three neighbours' guess (9.4). @param {number} left @param {number} up @param {number} corner */
function paeth(left, up, corner) {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** @param {Buffer} file @returns {Picture} */
function read(file) {
  if (!file.subarray(0, 8).equals(SIGNATURE)) throw new Error("this is no PNG file");
  let [width, height, type] = [0, 0, 0];
  let palette = Buffer.alloc(0);
  const parts = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const name = file.toString("latin1", at + 4, at + 8);
    const data = file.subarray(at + 8, at + 8 + length);
    if (name === "IHDR") {
      [width, height, type] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9]];
      if (data[8] !== 8 || data[12] !== 0 || !(type in BYTES)) throw new Error("only PNG files of 8 bits that are not interlaced are read");
    }
    if (name === "PLTE") palette = data;
    if (name === "IDAT") parts.push(data);
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const bytes = BYTES[type];
  const row = width * bytes;
  const rgb = Buffer.alloc(width * height * 3);
  let above = Buffer.alloc(row);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (row + 1)];
    const line = raw.subarray(y * (row + 1) + 1, (y + 1) * (row + 1));
    for (let at = 0; at < row; at += 1) {
      const left = at >= bytes ? line[at - bytes] : 0;
      const up = above[at];
      const guess = filter === 0 ? 0 : filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : paeth(left, up, at >= bytes ? above[at - bytes] : 0);
      line[at] = (line[at] + guess) & 255;
    }
    for (let x = 0; x < width; x += 1) {
      const to = (y * width + x) * 3;
      for (let part = 0; part < 3; part += 1) rgb[to + part] = type === 3 ? palette[line[x] * 3 + part] : line[x * bytes + (bytes > 2 ? part : 0)];
    }
    above = line;
  }
  return { width, height, rgb };
}

/** CRC-32 (annex D). @param {Buffer} bytes */
function crc(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/** @param {string} name @param {Buffer} data */
function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc(body), body.length + 4);
  return whole;
}

/** The colour of a pixel with four bits of each part. @param {Buffer} rgb @param {number} at */
function coarse(rgb, at) {
  const part = (/** @type {number} */ value) => Math.round(value / 17);
  return (part(rgb[at]) << 8) | (part(rgb[at + 1]) << 4) | part(rgb[at + 2]);
}

/** A small file: at most 256 colours, the most frequent of those with four bits of each part; others take the nearest. @param {Picture} picture */
function write({ width, height, rgb }) {
  const counts = new Map();
  for (let at = 0; at < rgb.length; at += 3) counts.set(coarse(rgb, at), (counts.get(coarse(rgb, at)) ?? 0) + 1);
  const colours = [...counts].sort((one, other) => other[1] - one[1] || one[0] - other[0]).map(([colour]) => colour);
  const kept = colours.slice(0, COLOURS);
  const parts = (/** @type {number} */ colour) => [colour >> 8, (colour >> 4) & 15, colour & 15];
  const far = (/** @type {number} */ one, /** @type {number} */ other) => parts(one).reduce((sum, part, at) => sum + (part - parts(other)[at]) ** 2, 0);
  const index = new Map(kept.map((colour, at) => [colour, at]));
  for (const colour of colours.slice(COLOURS)) index.set(colour, kept.reduce((best, other, at) => (far(colour, other) < far(colour, kept[best]) ? at : best), 0));
  const raw = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) raw[y * (width + 1) + 1 + x] = index.get(coarse(rgb, (y * width + x) * 3)) ?? 0;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const palette = Buffer.from(kept.flatMap((colour) => parts(colour).map((part) => part * 17)));
  return Buffer.concat([SIGNATURE, chunk("IHDR", head), chunk("PLTE", palette), chunk("IDAT", deflateSync(raw, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

/**
 * Pixels of one picture that have nothing alike in the other, at their place or beside it: what edges of letters and lines do, which
 * another version of the browser draws a little differently, is left out, and what moved by more than a pixel is not.
 * @param {Picture} one @param {Picture} other
 * @returns {{count: number, first: [number, number] | null}} how many, and where the highest is
 */
function lacking(one, other) {
  const [width, height] = [Math.min(one.width, other.width), Math.min(one.height, other.height)];
  const near = (/** @type {number} */ from, /** @type {number} */ to) => Math.abs(one.rgb[from] - other.rgb[to]) + Math.abs(one.rgb[from + 1] - other.rgb[to + 1]) + Math.abs(one.rgb[from + 2] - other.rgb[to + 2]) < ALIKE;
  let count = 0;
  /** @type {[number, number] | null} */
  let first = null;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const from = (y * one.width + x) * 3;
      let found = near(from, (y * other.width + x) * 3);
      for (let beside = 0; !found && beside < 9; beside += 1) {
        const [column, row] = [x + (beside % 3) - 1, y + Math.floor(beside / 3) - 1];
        found = column >= 0 && column < width && row >= 0 && row < height && near(from, (row * other.width + column) * 3);
      }
      if (found) continue;
      count += 1;
      first ??= [x, y];
    }
  }
  return { count, first };
}

/** How two pictures differ: both ways, for something may be gone or be new. @param {Picture} one @param {Picture} other */
function difference(one, other) {
  const [gone, fresh] = [lacking(one, other), lacking(other, one)];
  return { count: Math.max(gone.count, fresh.count), first: (gone.count >= fresh.count ? gone : fresh).first };
}

module.exports = { read, write, difference };
