//! Can anything that arrives break a role, or a file? A seeded fuzzer; how many inputs depends on the mode.
//!
//! Build it with safety checks (Debug, ReleaseSafe): then every overflow and every index out of bounds ends it.

const std = @import("std");
const channel = @import("channel.zig");
const packet = @import("packet.zig");
const stages = @import("stage.zig");
const Channel = channel.Channel;
const Forge = @import("forge.zig").Forge;
const forge = @import("forge.zig");
const gpa = std.testing.allocator;

/// Thorough in the slow lane, where optimised code makes it cheap.
const thorough = @import("builtin").mode != .Debug;
const parsed = if (thorough) 5_000_000 else 100_000;
const transfers = if (thorough) 1500 else 25;

test "whatever arrives, the first stage and the last read the same packet or refuse it for the same reason" {
    var it = Forge.init(1);
    const buffer = try gpa.create([forge.longest]u8);
    defer gpa.destroy(buffer);
    var accepted: usize = 0;
    for (0..parsed) |_| {
        const bytes = it.make(buffer);
        const first = packet.Wire(0).decode(bytes);
        const last = packet.Wire(255).decode(bytes);
        if (first) |one| {
            const other = try last;
            accepted += 1;
            try std.testing.expect(one.kind == other.kind and one.session == other.session and one.seq == other.seq and one.tx == other.tx);
            try std.testing.expect(one.payload.ptr == other.payload.ptr and one.payload.len == other.payload.len);
        } else |problem| try std.testing.expectError(problem, last);
    }
    // Neither all refused nor all accepted: the fuzzer reaches both sides of the checks.
    try std.testing.expect(accepted > parsed / 4 and accepted < parsed - parsed / 8);
}

/// Moves a file while forged packets arrive at both sides. Returns whether it arrived.
fn attacked(comptime steps: stages.Steps, seed: u64, knows: bool, file: []const u8) !bool {
    const it = try Channel(steps).create(gpa, file, .{ .window = 16, .faults = .{ .loss = 5, .seed = seed } });
    defer it.destroy();
    var forger = Forge.init(seed);
    forger.payload = stages.Stage.of(steps).payload();
    const buffer = try gpa.create([forge.longest]u8);
    defer gpa.destroy(buffer);
    var more = true;
    while (more) {
        more = try it.step(null, null);
        forger.session = if (knows) it.sender.session else 0;
        forger.near = it.sender.next + 4;
        for (0..12) |_| {
            const bytes = forger.make(buffer);
            if (!knows and bytes.len >= packet.header_length) {
                // Who does not read the network neither knows the session nor the nonce.
                const session = std.mem.readInt(u64, bytes[8..16], .little);
                const number = std.mem.readInt(u64, bytes[16..24], .little);
                if (session == it.sender.session or number == channel.nonce) continue;
            }
            if (forger.random.random().boolean())
                it.receiver.receive(it.now, channel.sender_peer, bytes)
            else
                it.sender.receive(it.now, channel.receiver_peer, bytes);
        }
    }
    if (it.sink.kept) try std.testing.expect(it.sink.used == file.len and std.mem.eql(u8, file, it.sink.memory));
    // Neither side ends without an outcome, and a sender is told of success only if there was one.
    try std.testing.expect(it.sender.finished() and it.receiver.finished());
    if (it.sender.state == .failed) try std.testing.expect(it.sender.status != .ok);
    if (!knows) try std.testing.expect(it.sender.state == .done and it.receiver.state == .done);
    return it.sink.kept;
}

test "a transfer survives any number of forged packets whose sender does not know the session" {
    var file: [50_000]u8 = undefined;
    var random = std.Random.DefaultPrng.init(5);
    random.fill(&file);
    for (0..transfers) |seed| {
        try std.testing.expect(try attacked(0, seed, false, &file));
        try std.testing.expect(try attacked(255, seed, false, &file));
    }
}

test "a forger who knows the session can end a transfer but not change the file" {
    var file: [50_000]u8 = undefined;
    var random = std.Random.DefaultPrng.init(6);
    random.fill(&file);
    var arrived: usize = 0;
    for (0..transfers) |seed| {
        arrived += @intFromBool(try attacked(0, seed, true, &file));
        arrived += @intFromBool(try attacked(255, seed, true, &file));
    }
    try std.testing.expect(arrived < 2 * transfers);
}

test "a whole session sent again to the same receiver, or to another one, begins nothing" {
    var file: [30_000]u8 = undefined;
    var random = std.Random.DefaultPrng.init(8);
    random.fill(&file);
    const script = @import("script.zig");
    var recorder = script.Recorder{ .gpa = gpa, .header = .{ .window = 16, .drop = 0, .seed = 0 } };
    defer recorder.deinit();
    const it = try Channel(255).create(gpa, &file, .{ .window = 16 });
    defer it.destroy();
    try it.run(null, &recorder);
    for ([_]u8{ 7, 8 }) |secret| {
        // Even with the same secret an address of its own makes another cookie.
        it.sink.kept = false;
        it.sink.used = 0;
        it.receiver.init(0, &it.sink, it.ring, @splat(secret), .{ .window = 16 });
        _ = script.replay(&it.receiver, &it.out, recorder.header, recorder.words.items, channel.sender_peer + @as(u64, @intFromBool(secret == 7)));
        try std.testing.expectEqual(.waiting, it.receiver.state);
        try std.testing.expect(it.sink.used == 0 and !it.sink.kept);
    }
}
