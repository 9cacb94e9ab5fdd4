//! A checksum of packets and of whole files, the same work in every stage and mode.
//!
//! Method: four accumulators of 64 bits take 8 bytes each of a 32-byte stripe: exclusive or, rotate, multiply by an odd
//! number. That is one-to-one in the word, so a change within one aligned word is always found, any other one with
//! about 2^-32 (packets) or 2^-128 (files). Whole words and no vectors: zig's own code generator, which makes Debug builds,
//! turns a vector's shift into a loop over its lanes, and the checksum would then be most of what is counted.
//! Limits: no protection against who means harm; input but for its end in whole stripes; little-endian machines.
//! Checked by: every single bit, every swap of neighbouring words, any cut into updates.

const std = @import("std");

comptime {
    if (@import("builtin").cpu.arch.endian() != .little) @compileError("the wire format is read as it lies in memory");
}

/// Bytes taken at once. All updates but the last are multiples of it.
pub const stripe = 32;

/// Odd, with as many ones as zeros: the fraction of the golden ratio, and of the square root of 3.
const one: u64 = 0x9e3779b97f4a7c15;
const two: u64 = 0xbb67ae8584caa73b;

pub const Checksum = struct {
    lanes: [4]u64 = .{ one, two, ~one, ~two },
    length: u64 = 0,

    pub fn update(self: *Checksum, bytes: []const u8) void {
        @setRuntimeSafety(false); // the same work whatever the mode: it is no part of the diary
        const rest = bytes.len % stripe;
        self.lanes = absorb(self.lanes, bytes.ptr, bytes.len / stripe);
        if (rest != 0) {
            var tail: [stripe]u8 = @splat(0);
            for (0..rest) |place| tail[place] = bytes[bytes.len - rest + place];
            self.lanes = absorb(self.lanes, &tail, 1);
        }
        self.length += bytes.len;
    }

    /// 128 bits, for files.
    pub fn finish(self: *const Checksum) [4]u32 {
        @setRuntimeSafety(false);
        const a = mix(self.lanes[0] ^ mix(self.lanes[1] ^ self.length));
        const b = mix(self.lanes[2] ^ mix(self.lanes[3] ^ a));
        const c = a ^ mix(b);
        return .{ @truncate(c), @truncate(c >> 32), @truncate(b), @truncate(b >> 32) };
    }

    /// 32 bits, for packets.
    pub fn short(self: *const Checksum) u32 {
        @setRuntimeSafety(false);
        const words = self.finish();
        return words[0] ^ words[1];
    }
};

fn absorb(lanes: [4]u64, bytes: [*]const u8, stripes: usize) [4]u64 {
    @setRuntimeSafety(false);
    var a = lanes[0];
    var b = lanes[1];
    var c = lanes[2];
    var d = lanes[3];
    var words: [*]align(1) const u64 = @ptrCast(bytes);
    var left = stripes;
    while (left != 0) : (left -= 1) {
        a ^= words[0];
        b ^= words[1];
        c ^= words[2];
        d ^= words[3];
        a = (a << 29 | a >> 35) *% one;
        b = (b << 29 | b >> 35) *% one;
        c = (c << 29 | c >> 35) *% one;
        d = (d << 29 | d >> 35) *% one;
        words += 4;
    }
    return .{ a, b, c, d };
}

/// One-to-one; every bit of the result depends on every bit of the word.
inline fn mix(word: u64) u64 {
    @setRuntimeSafety(false);
    const first = (word ^ word >> 32) *% one;
    const second = (first ^ first >> 29) *% two;
    return second ^ second >> 32;
}

fn of(bytes: []const u8) [4]u32 {
    var sum = Checksum{};
    sum.update(bytes);
    return sum.finish();
}

test "a changed bit, wherever it is, changes both sums" {
    var bytes: [200]u8 = undefined;
    var random = std.Random.DefaultPrng.init(1);
    random.fill(&bytes);
    var whole = Checksum{};
    whole.update(&bytes);
    for (0..bytes.len * 8) |bit| {
        bytes[bit / 8] ^= @as(u8, 1) << @intCast(bit % 8);
        defer bytes[bit / 8] ^= @as(u8, 1) << @intCast(bit % 8);
        var other = Checksum{};
        other.update(&bytes);
        try std.testing.expect(!std.meta.eql(whole.finish(), other.finish()));
        try std.testing.expect(whole.short() != other.short());
    }
}

test "words in another order and zeros appended change the sum" {
    var bytes: [256]u8 = undefined;
    for (&bytes, 0..) |*byte, place| byte.* = @truncate(place * 7);
    const whole = of(&bytes);
    for (0..bytes.len / 4 - 1) |word| {
        var other = bytes;
        std.mem.copyForwards(u8, other[word * 4 ..][0..4], bytes[word * 4 + 4 ..][0..4]);
        std.mem.copyForwards(u8, other[word * 4 + 4 ..][0..4], bytes[word * 4 ..][0..4]);
        try std.testing.expect(!std.meta.eql(whole, of(&other)));
    }
    const zeros: [100]u8 = @splat(0);
    for (1..zeros.len) |length| try std.testing.expect(!std.meta.eql(of(zeros[0..length]), of(zeros[0 .. length - 1])));
}

test "the sum does not depend on how the bytes are cut into updates" {
    var bytes: [1000]u8 = undefined;
    var random = std.Random.DefaultPrng.init(2);
    random.fill(&bytes);
    const whole = of(&bytes);
    for (1..20) |stripes| {
        var sum = Checksum{};
        var at: usize = 0;
        while (at < bytes.len) {
            const end = @min(at + stripes * stripe, bytes.len);
            sum.update(bytes[at..end]);
            at = end;
        }
        try std.testing.expectEqual(whole, sum.finish());
    }
}
