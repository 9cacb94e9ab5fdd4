//! Is this UTF-8? Five validators; each says yes or no for the whole text.

const std = @import("std");

/// The standard library's.
pub fn standard(text: []const u8) bool {
    return std.unicode.utf8ValidateSlice(text);
}

/// The same, but every call of it ends behind the letters beyond ASCII: so the search for them begins again.
pub fn resumed(text: []const u8) bool {
    var rest = text;
    while (true) {
        rest = rest[asciiPrefix(rest)..];
        if (rest.len == 0) return true;
        // To the end of this word, that is of its letters beyond ASCII.
        var end: usize = 0;
        while (end < rest.len and rest[end] >= 0x80) end += 1;
        if (!byBranches(rest[0..end])) return false;
        rest = rest[end..];
    }
}

/// How many bytes at the start are ASCII, at least to within one vector.
fn asciiPrefix(text: []const u8) usize {
    const Chunk = @Vector(16, u8);
    var at: usize = 0;
    while (text.len - at >= 16) : (at += 16) {
        const chunk: Chunk = text[at..][0..16].*;
        const high: u16 = @bitCast(chunk >= @as(Chunk, @splat(0x80)));
        if (high != 0) return at + @ctz(high);
    }
    while (at < text.len and text[at] < 0x80) at += 1;
    return at;
}

/// A jump on the kind of each letter's first byte.
pub fn branches(text: []const u8) bool {
    return byBranches(text);
}

inline fn byBranches(text: []const u8) bool {
    var at: usize = 0;
    while (at < text.len) {
        const first = text[at];
        if (first < 0x80) {
            at += 1;
            continue;
        }
        const left = text.len - at;
        if (first < 0xe0) {
            if (first < 0xc2 or left < 2 or !continues(text[at + 1])) return false;
            at += 2;
        } else if (first < 0xf0) {
            if (left < 3 or !continues(text[at + 1]) or !continues(text[at + 2])) return false;
            const second = text[at + 1];
            // Overlong, and halves of surrogates.
            if ((first == 0xe0 and second < 0xa0) or (first == 0xed and second > 0x9f)) return false;
            at += 3;
        } else {
            if (left < 4 or first > 0xf4) return false;
            const second = text[at + 1];
            if (!continues(second) or !continues(text[at + 2]) or !continues(text[at + 3])) return false;
            // Overlong, and beyond U+10FFFF.
            if ((first == 0xf0 and second < 0x90) or (first == 0xf4 and second > 0x8f)) return false;
            at += 4;
        }
    }
    return true;
}

inline fn continues(byte: u8) bool {
    return byte & 0xc0 == 0x80;
}

/// Two table lookups a byte and no jump on the data: what the last bytes leave to be expected is a state.
/// After Björn Höhrmann's "Flexible and Economical UTF-8 Decoder".
pub fn automaton(text: []const u8) bool {
    var state: u8 = start;
    for (text) |byte| state = next[state + class[byte]];
    return state == start;
}

const classes = 12;
const start = 0;
const failed = 1 * classes;

/// Kinds of bytes: those of one kind may always stand for each other.
const class: [256]u8 = made: {
    var of: [256]u8 = undefined;
    for (&of, 0..) |*kind, byte| kind.* = switch (byte) {
        0x00...0x7f => 0,
        0x80...0x8f => 1,
        0x90...0x9f => 9,
        0xa0...0xbf => 7,
        0xc0, 0xc1, 0xf5...0xff => 8,
        0xc2...0xdf => 2,
        0xe0 => 10,
        0xe1...0xec, 0xee, 0xef => 3,
        0xed => 4,
        0xf0 => 11,
        0xf1...0xf3 => 6,
        0xf4 => 5,
        else => unreachable,
    };
    break :made of;
};

/// From a state and a kind of byte to the next state.
const next: [9 * classes]u8 = made: {
    const one_more = 2 * classes;
    const two_more = 3 * classes;
    const after_e0 = 4 * classes;
    const after_ed = 5 * classes;
    const after_f0 = 6 * classes;
    const three_more = 7 * classes;
    const after_f4 = 8 * classes;
    var to = [_]u8{failed} ** (9 * classes);
    to[start + 0] = start;
    to[start + 2] = one_more;
    to[start + 3] = two_more;
    to[start + 4] = after_ed;
    to[start + 5] = after_f4;
    to[start + 6] = three_more;
    to[start + 10] = after_e0;
    to[start + 11] = after_f0;
    for ([_]usize{ 1, 7, 9 }) |continuation| {
        to[one_more + continuation] = start;
        to[two_more + continuation] = one_more;
        to[three_more + continuation] = two_more;
    }
    to[after_e0 + 7] = one_more;
    to[after_ed + 1] = one_more;
    to[after_ed + 9] = one_more;
    to[after_f0 + 7] = two_more;
    to[after_f0 + 9] = two_more;
    to[after_f4 + 1] = two_more;
    break :made to;
};

const V = @Vector(16, u8);

/// Sixteen bytes at once, no jump on the data: three lookups by halves of bytes, by `pshufb`, find every wrong pair of bytes.
/// After John Keiser and Daniel Lemire, "Validating UTF-8 in less than one instruction per byte" (2021).
pub fn vectors(text: []const u8) bool {
    var wrong: V = @splat(0);
    var before: V = @splat(0);
    var at: usize = 0;
    while (text.len - at >= 16) : (at += 16) {
        const chunk: V = text[at..][0..16].*;
        wrong |= errors(chunk, before);
        before = chunk;
    }
    // What is left, and zeros: a letter that is not complete is an error there.
    var last = [_]u8{0} ** 16;
    @memcpy(last[0 .. text.len - at], text[at..]);
    wrong |= errors(last, before);
    return @reduce(.Or, wrong) == 0;
}

/// Not zero where something is wrong: with the two bytes before included.
inline fn errors(chunk: V, before: V) V {
    const previous = shifted(chunk, before, 1);
    const special = lookUp(by_first_high, previous >> @splat(4)) &
        lookUp(by_first_low, previous & @as(V, @splat(15))) &
        lookUp(by_second_high, chunk >> @splat(4));
    // Third and fourth bytes follow a first one of three or four.
    const third = shifted(chunk, before, 2) -| @as(V, @splat(0xe0 - 0x80));
    const fourth = shifted(chunk, before, 3) -| @as(V, @splat(0xf0 - 0x80));
    return ((third | fourth) & @as(V, @splat(0x80))) ^ special;
}

/// The bytes so many places earlier.
inline fn shifted(chunk: V, before: V, comptime places: i32) V {
    const places_of_both = comptime made: {
        var places_: [16]i32 = undefined;
        for (&places_, 0..) |*place, i| {
            const from = @as(i32, @intCast(i)) - places;
            place.* = if (from < 0) ~(16 + from) else from;
        }
        break :made places_;
    };
    return @shuffle(u8, chunk, before, places_of_both);
}

inline fn lookUp(table: V, index: V) V {
    return asm ("pshufb %[index], %[table]"
        : [table] "=x" (-> V),
        : [_] "0" (table),
          [index] "x" (index),
    );
}

const too_short = 1 << 0; // a first byte, and no continuation behind it
const too_long = 1 << 1; // ASCII, and a continuation behind it
const overlong_3 = 1 << 2;
const too_large = 1 << 3;
const surrogate = 1 << 4;
const overlong_2 = 1 << 5;
const overlong_4 = 1 << 6;
const too_large_1000 = 1 << 6;
const two_continuations = 1 << 7;
const carry = too_short | too_long | two_continuations;

const by_first_high: V = .{
    too_long,                           too_long,
    too_long,                           too_long,
    too_long,                           too_long,
    too_long,                           too_long,
    two_continuations,                  two_continuations,
    two_continuations,                  two_continuations,
    too_short | overlong_2,             too_short,
    too_short | overlong_3 | surrogate, too_short | too_large | too_large_1000 | overlong_4,
};

const by_first_low: V = .{
    carry | overlong_3 | overlong_2 | overlong_4, carry | overlong_2,
    carry,                                        carry,
    carry | too_large,                            carry | too_large | too_large_1000,
    carry | too_large | too_large_1000,           carry | too_large | too_large_1000,
    carry | too_large | too_large_1000,           carry | too_large | too_large_1000,
    carry | too_large | too_large_1000,           carry | too_large | too_large_1000,
    carry | too_large | too_large_1000,           carry | too_large | too_large_1000 | surrogate,
    carry | too_large | too_large_1000,           carry | too_large | too_large_1000,
};

const by_second_high: V = .{
    too_short,                                                                            too_short,
    too_short,                                                                            too_short,
    too_short,                                                                            too_short,
    too_short,                                                                            too_short,
    too_long | overlong_2 | two_continuations | overlong_3 | too_large_1000 | overlong_4, too_long | overlong_2 | two_continuations | overlong_3 | too_large,
    too_long | overlong_2 | two_continuations | surrogate | too_large,                    too_long | overlong_2 | two_continuations | surrogate | too_large,
    too_short,                                                                            too_short,
    too_short,                                                                            too_short,
};

const all = [_]*const fn ([]const u8) bool{ standard, resumed, branches, automaton, vectors };

fn expectAll(text: []const u8) !void {
    const valid = standard(text);
    for (all, 0..) |validate, which| {
        if (validate(text) != valid) {
            std.debug.print("validator {d} says {} of {x}\n", .{ which, !valid, text });
            return error.Differs;
        }
    }
}

test "all agree on every pair of bytes before others, at every place of a vector" {
    var text: [40]u8 = undefined;
    const behind = [_][2]u8{ .{ 'a', 'b' }, .{ 0x80, 'a' }, .{ 0x80, 0x80 }, .{ 0xbf, 0xbf } };
    for (0..256) |first| for (0..256) |second| for (behind) |others| for ([_]usize{ 0, 13, 14, 15, 36 }) |at| {
        @memset(&text, 'x');
        text[at..][0..4].* = .{ @intCast(first), @intCast(second), others[0], others[1] };
        try expectAll(&text);
    };
}

test "all agree on texts of every length, whole and with one byte changed" {
    var random = std.Random.DefaultPrng.init(1);
    const draw = random.random();
    var text: [64]u8 = undefined;
    for (0..200_000) |_| {
        const length = draw.uintLessThan(usize, text.len + 1);
        var at: usize = 0;
        while (at < length) {
            const letter: u21 = switch (draw.uintLessThan(u8, 5)) {
                0 => draw.uintLessThan(u21, 0x80),
                1 => draw.intRangeLessThan(u21, 0x80, 0x800),
                2 => draw.intRangeLessThan(u21, 0x800, 0xd800),
                3 => draw.intRangeLessThan(u21, 0xe000, 0x10000),
                else => draw.intRangeAtMost(u21, 0x10000, 0x10ffff),
            };
            var bytes: [4]u8 = undefined;
            const size = try std.unicode.utf8Encode(letter, &bytes);
            const room = @min(size, length - at);
            @memcpy(text[at..][0..room], bytes[0..room]);
            at += room;
        }
        try expectAll(text[0..length]);
        if (length != 0) text[draw.uintLessThan(usize, length)] = draw.int(u8);
        try expectAll(text[0..length]);
    }
}
