//! A checksum of packets and of whole files, the same work in every stage and mode.
//!
//! Method: 32-byte stripes go alternately to two accumulators of eight 32-bit lanes; a lane adds the word times a
//! constant, rotates, multiplies (the round of XXH32, https://github.com/Cyan4973/xxHash, written anew for vectors). A round is
//! one-to-one in the word, so a change within one aligned word is always found, any other with 2^-32 for packets, 2^-128 for files.
//! Limits: no protection against who means harm; input but for its end in whole stripes; little-endian machines.
//! Checked by: every single bit, every swap of neighbouring words, any cut into updates.

const std = @import("std");
const Lanes = @Vector(8, u32);

comptime {
    if (@import("builtin").cpu.arch.endian() != .little) @compileError("the wire format is read as it lies in memory");
}

/// Bytes taken at once. All updates but the last are multiples of it.
pub const stripe = 32;

const one: Lanes = @splat(2654435761);
const two: Lanes = @splat(2246822519);

pub const Checksum = struct {
    even: Lanes = .{ 1, 2, 3, 4, 5, 6, 7, 8 },
    odd: Lanes = .{ 11, 12, 13, 14, 15, 16, 17, 18 },
    length: u64 = 0,

    pub fn update(self: *Checksum, bytes: []const u8) void {
        @setRuntimeSafety(false); // the same work whatever the mode: it is no part of the diary
        var at = bytes.ptr;
        var pairs = bytes.len / (2 * stripe);
        var even = self.even;
        var odd = self.odd;
        while (pairs != 0) : (pairs -= 1) {
            even = round(even, load(at));
            odd = round(odd, load(at + stripe));
            at += 2 * stripe;
        }
        if (bytes.len & stripe != 0) {
            // Alternately: the next update begins with the other accumulator.
            const before = odd;
            odd = round(even, load(at));
            even = before;
            at += stripe;
        }
        const rest = bytes.len % stripe;
        if (rest != 0) {
            var tail: [stripe]u8 = @splat(0);
            for (0..rest) |place| tail[place] = at[place];
            even = round(even, load(&tail));
        }
        self.even = even;
        self.odd = odd;
        self.length += bytes.len;
    }

    /// 128 bits, for files.
    pub fn finish(self: *const Checksum) [4]u32 {
        @setRuntimeSafety(false);
        const lanes = self.even +% std.math.rotl(Lanes, self.odd, 7) *% two;
        const mixed = avalanche(lanes +% @as(Lanes, @splat(@truncate(self.length))));
        const pairs = mixed *% one;
        return .{
            pairs[0] ^ std.math.rotl(u32, pairs[4], 11), pairs[1] ^ std.math.rotl(u32, pairs[5], 11),
            pairs[2] ^ std.math.rotl(u32, pairs[6], 11), pairs[3] ^ std.math.rotl(u32, pairs[7], 11),
        };
    }

    /// 32 bits, for packets.
    pub fn short(self: *const Checksum) u32 {
        @setRuntimeSafety(false);
        const words = self.finish();
        return words[0] ^ std.math.rotl(u32, words[1], 8) ^ std.math.rotl(u32, words[2], 16) ^ std.math.rotl(u32, words[3], 24);
    }
};

inline fn load(at: [*]const u8) Lanes {
    return @as(*align(1) const Lanes, @ptrCast(at)).*;
}

inline fn round(lanes: Lanes, words: Lanes) Lanes {
    @setRuntimeSafety(false);
    return std.math.rotl(Lanes, lanes +% words *% two, 13) *% one;
}

inline fn avalanche(lanes: Lanes) Lanes {
    @setRuntimeSafety(false);
    const first = (lanes ^ (lanes >> @splat(15))) *% two;
    return first ^ (first >> @splat(13));
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
