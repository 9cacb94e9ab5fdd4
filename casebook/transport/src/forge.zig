//! Packets that no sender or receiver of ours sends, from a seed: for tests and for `transport attack`.
//!
//! Method: a packet of any kind with fields near those of a real transfer, then faults: bits, bytes, length, pieces of other
//! packets. Every second one gets a right version, length and checksum again, or nothing but the checks would be tested.

const std = @import("std");
const packet = @import("packet.zig");

pub const longest = 66_000;

pub const Forge = struct {
    random: std.Random.DefaultPrng,
    /// What a forger who reads the network would know: 0 is used for who does not.
    session: u64 = 0,
    /// Sequence numbers are mostly below this.
    near: u64 = 64,
    /// The payload of full packets.
    payload: usize = 992,

    pub fn init(seed: u64) Forge {
        return .{ .random = std.Random.DefaultPrng.init(seed) };
    }

    /// One datagram, in `buffer`.
    pub fn make(self: *Forge, buffer: *[longest]u8) []u8 {
        const random = self.random.random();
        var length = self.base(buffer);
        for (0..random.uintLessThan(u32, 4)) |_| length = self.spoil(buffer, length);
        if (random.boolean() and length >= packet.header_length) mend(buffer[0..length]);
        return buffer[0..length];
    }

    fn base(self: *Forge, buffer: *[longest]u8) usize {
        const random = self.random.random();
        const kind = random.enumValue(packet.Kind);
        const length = switch (random.uintLessThan(u32, 8)) {
            0 => random.uintLessThan(usize, 64),
            1 => random.uintLessThan(usize, 1500),
            2 => 0,
            else => switch (kind) {
                .hello => 32,
                .cookie => 0,
                .open => 12 + random.uintLessThan(usize, 20),
                .accept => 4,
                .data => self.payload,
                .ack => random.uintLessThan(usize, 130),
                .fin => 24,
                .done => 1,
            },
        };
        var payload: [1500]u8 = undefined;
        var long: [10_240]u8 = undefined;
        const body = if (length <= payload.len) payload[0..length] else long[0..@min(length, long.len)];
        // Zeros are sums, lengths and bit sets that mean something more often than noise does.
        if (random.boolean()) random.bytes(body) else @memset(body, 0);
        return packet.Wire(255).encode(.{
            .kind = kind,
            .session = if (random.uintLessThan(u32, 8) == 0) random.int(u64) else self.session,
            .seq = self.number(),
            .tx = self.number(),
            .payload = body,
        }, buffer);
    }

    fn number(self: *Forge) u64 {
        const random = self.random.random();
        return switch (random.uintLessThan(u32, 8)) {
            0 => random.int(u64),
            1 => std.math.maxInt(u64) - random.uintLessThan(u64, 3),
            2 => @as(u64, 1) << random.int(u6),
            else => random.uintLessThan(u64, self.near),
        };
    }

    fn spoil(self: *Forge, buffer: *[longest]u8, length: usize) usize {
        const random = self.random.random();
        switch (random.uintLessThan(u32, 6)) {
            0 => if (length > 0) {
                buffer[random.uintLessThan(usize, length)] ^= @as(u8, 1) << random.int(u3);
            },
            1 => if (length > 0) {
                buffer[random.uintLessThan(usize, @min(length, 32))] = random.int(u8);
            },
            2 => return random.uintLessThan(usize, length + 1),
            3 => {
                const more = @min(longest - length, random.uintLessThan(usize, 100));
                random.bytes(buffer[length..][0..more]);
                return length + more;
            },
            4 => if (random.uintLessThan(u32, 16) == 0) {
                const end = 65_507 - random.uintLessThan(usize, 10);
                if (end > length) @memset(buffer[length..end], 0x5a);
                return @max(length, end);
            },
            else => if (length > 16) {
                const to = random.uintLessThan(usize, length - 8);
                const from = random.uintLessThan(usize, length - 8);
                std.mem.copyForwards(u8, buffer[to..][0..8], &@as([8]u8, buffer[from..][0..8].*));
            },
        }
        return length;
    }
};

/// Makes a datagram one that `decode` accepts.
pub fn mend(bytes: []u8) void {
    bytes[0] = @as(u8, packet.version) << 3 | (bytes[0] & 7);
    bytes[1] = 0;
    std.mem.writeInt(u16, bytes[2..4], @truncate(bytes.len - packet.header_length), .little);
    std.mem.writeInt(u32, bytes[4..8], packet.sumOf(bytes), .little);
}
