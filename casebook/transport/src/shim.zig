//! A bad network between the socket and a role: packets lost, repeated, overtaken, by a seed.
//!
//! Method: each arriving datagram is dropped, or else passed on, perhaps twice, perhaps only after up to `farthest`
//! others. Loss has dice of its own, so that the same packets are lost whether or not others are repeated.

const std = @import("std");
const Dice = @import("dice.zig").Dice;

pub const Faults = struct {
    /// Per cent of arriving datagrams.
    loss: u32 = 0,
    duplicate: u32 = 0,
    reorder: u32 = 0,
    seed: u64 = 1,

    pub fn any(faults: Faults) bool {
        return faults.loss != 0 or faults.duplicate != 0 or faults.reorder != 0;
    }
};

pub const longest = 10 * 1024;
const farthest = 12;
const places = 8;

pub const Shim = struct {
    const Held = struct { wait: u32, peer: u64, length: usize, bytes: [longest]u8 };

    faults: Faults,
    losing: Dice,
    choosing: Dice,
    held: [places]Held,

    pub fn init(self: *Shim, faults: Faults) void {
        self.faults = faults;
        self.losing = Dice.init(faults.seed);
        self.choosing = Dice.init(faults.seed +% 1);
        for (&self.held) |*held| held.wait = 0;
    }

    /// Hands a datagram to `role.receive`, and those before it whose time has come.
    pub fn pass(self: *Shim, role: anytype, now: u64, peer: u64, bytes: []const u8) void {
        if (self.losing.throw(self.faults.loss)) return;
        const times: u32 = if (self.choosing.throw(self.faults.duplicate)) 2 else 1;
        for (0..times) |_| {
            if (bytes.len <= longest and self.choosing.throw(self.faults.reorder) and self.hold(peer, bytes)) continue;
            role.receive(now, peer, bytes);
        }
        for (&self.held) |*held| {
            if (held.wait == 0) continue;
            held.wait -= 1;
            if (held.wait == 0) role.receive(now, held.peer, held.bytes[0..held.length]);
        }
    }

    fn hold(self: *Shim, peer: u64, bytes: []const u8) bool {
        for (&self.held) |*held| {
            if (held.wait != 0) continue;
            held.wait = 2 + self.choosing.random.random().uintLessThan(u32, farthest);
            held.peer = peer;
            held.length = bytes.len;
            @memcpy(held.bytes[0..bytes.len], bytes);
            return true;
        }
        return false; // all places taken
    }
};

test "a shim loses, repeats and reorders as often as it is told" {
    const Log = struct {
        seen: [4000]u16 = undefined,
        count: usize = 0,
        pub fn receive(self: *@This(), _: u64, _: u64, bytes: []const u8) void {
            self.seen[self.count] = std.mem.readInt(u16, bytes[0..2], .little);
            self.count += 1;
        }
    };
    const shim = try std.testing.allocator.create(Shim);
    defer std.testing.allocator.destroy(shim);
    var log = Log{};
    shim.init(.{ .loss = 10, .duplicate = 20, .reorder = 10, .seed = 3 });
    var number: u16 = 0;
    while (number < 2000) : (number += 1) shim.pass(&log, 0, 0, &std.mem.toBytes(number));
    var late: usize = 0;
    var twice: usize = 0;
    var seen: [2000]u8 = @splat(0);
    for (log.seen[0..log.count], 0..) |value, place| {
        if (place > 0 and value < log.seen[place - 1]) late += 1;
        seen[value] += 1;
    }
    var lost: usize = 0;
    for (seen) |times| {
        if (times == 0) lost += 1;
        if (times == 2) twice += 1;
    }
    // Binomial: four standard deviations around the mean.
    try std.testing.expect(lost > 200 - 54 and lost < 200 + 54 + 8);
    try std.testing.expect(twice > 360 - 68 and twice < 360 + 68);
    try std.testing.expect(late > 100);
}
