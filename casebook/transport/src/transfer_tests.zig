//! Does the file arrive bit-identical in every stage, whatever the network does, or is it said why not?

const std = @import("std");
const stages = @import("stage.zig");
const script = @import("script.zig");
const channel = @import("channel.zig");
const Channel = channel.Channel;
const Faults = @import("shim.zig").Faults;
const Status = @import("bodies.zig").Status;
const gpa = std.testing.allocator;

/// Bytes that no shift, repetition or stale tail leaves unnoticed.
fn sample(length: usize) ![]u8 {
    const bytes = try gpa.alloc(u8, length);
    var random = std.Random.DefaultPrng.init(length);
    random.fill(bytes);
    return bytes;
}

fn expectArrives(comptime steps: stages.Steps, file: []const u8, setting: channel.Setting) !void {
    const it = try Channel(steps).create(gpa, file, setting);
    defer it.destroy();
    try it.run(null, null);
    errdefer std.debug.print("steps {d}, {d} bytes, {any}: sender {any} {any}, receiver {any} {any}\n", .{ steps, file.len, setting, it.sender.state, it.sender.status, it.receiver.state, it.receiver.status });
    try std.testing.expectEqual(.done, it.receiver.state);
    try std.testing.expectEqual(.done, it.sender.state);
    try std.testing.expect(it.sink.kept);
    try std.testing.expectEqual(file.len, it.sink.used);
    try std.testing.expect(std.mem.eql(u8, file, it.sink.memory));
}

test "the file arrives bit-identical in every stage at 0 to 30 % loss" {
    const file = try sample(400_003);
    defer gpa.free(file);
    inline for (0..stages.count + 1) |number| {
        for ([_]u32{ 0, 1, 5, 30 }) |loss| {
            try expectArrives(comptime stages.first(number), file, .{ .faults = .{ .loss = loss, .seed = 7 } });
        }
    }
}

test "the file arrives bit-identical in every stage though packets are lost, repeated and overtaken" {
    const file = try sample(300_001);
    defer gpa.free(file);
    inline for (0..stages.count + 1) |number| {
        for ([_]u32{ 0, 5, 30 }) |loss| {
            try expectArrives(comptime stages.first(number), file, .{ .faults = .{ .loss = loss, .duplicate = 20, .reorder = 25, .seed = 11 } });
        }
    }
}

test "each step alone moves the same file" {
    const file = try sample(100_000);
    defer gpa.free(file);
    inline for (0..stages.bits) |bit| try expectArrives(1 << bit, file, .{ .faults = .{ .loss = 5 } });
}

test "files of every awkward length arrive, with no byte of the buffer after them" {
    inline for (.{ 0, 255 }) |steps| {
        const piece = stages.Stage.of(steps).payload();
        for ([_]usize{ 0, 1, 31, 32, 33, piece - 1, piece, piece + 1, 3 * piece, 64 * piece, 64 * piece + 1, 200 * piece - 7 }) |length| {
            const file = try sample(length);
            defer gpa.free(file);
            try expectArrives(steps, file, .{});
        }
    }
}

test "any window moves the file, one packet at a time too" {
    const file = try sample(123_456);
    defer gpa.free(file);
    for ([_]u64{ 1, 2, 8, 1024 }) |window| {
        try expectArrives(1, file, .{ .window = window, .faults = .{ .loss = 5, .reorder = 10 } });
    }
}

test "a network that lets nothing through ends both sides with a reason" {
    const file = try sample(50_000);
    defer gpa.free(file);
    const it = try Channel(255).create(gpa, file, .{ .faults = .{ .loss = 100 } });
    defer it.destroy();
    try it.run(null, null);
    try std.testing.expectEqual(.failed, it.sender.state);
    try std.testing.expectEqual(Status.silent, it.sender.status);
    try std.testing.expectEqual(.failed, it.receiver.state);
    try std.testing.expect(!it.sink.kept);
}

test "either side alone gives up once the other is gone, wherever that happens" {
    const file = try sample(400_000);
    defer gpa.free(file);
    for ([_]bool{ true, false }) |sender_dies| {
        var steps_done: usize = 0;
        while (steps_done < 60) : (steps_done += 1) {
            const it = try Channel(255).create(gpa, file, .{ .window = 8, .faults = .{ .loss = 5 } });
            defer it.destroy();
            var more = true;
            for (0..steps_done) |_| if (more) {
                more = try it.step(null, null);
            };
            if (!more) break;
            // Killed: it neither hears nor speaks again.
            if (sender_dies) it.sender.state = .failed else it.receiver.state = .failed;
            const kept = it.sink.kept;
            try it.run(null, null);
            if (sender_dies) {
                // It may have the whole file by now; otherwise it keeps nothing.
                try std.testing.expect(it.receiver.finished());
                if (it.sink.kept) try std.testing.expect(std.mem.eql(u8, file, it.sink.memory));
                try std.testing.expectEqual(it.sink.kept, it.receiver.state == .done);
            } else {
                try std.testing.expect(it.sender.finished());
                if (it.sender.state == .failed) try std.testing.expectEqual(Status.silent, it.sender.status) else try std.testing.expect(kept);
            }
        }
        try std.testing.expect(steps_done > 20);
    }
}

test "a full disk is told to the sender and nothing is kept" {
    const file = try sample(200_000);
    defer gpa.free(file);
    for ([_]usize{ 0, 10_000, 199_999 }) |limit| {
        const it = try Channel(255).create(gpa, file, .{ .window = 4, .faults = .{ .loss = 5 } });
        defer it.destroy();
        it.sink.limit = limit;
        try it.run(null, null);
        try std.testing.expectEqual(.failed, it.receiver.state);
        try std.testing.expectEqual(Status.disk_full, it.receiver.status);
        try std.testing.expectEqual(.failed, it.sender.state);
        try std.testing.expectEqual(Status.disk_full, it.sender.status);
        try std.testing.expect(it.sink.abandoned and !it.sink.kept);
    }
}

test "a file that changes while it is sent is not kept" {
    const file = try sample(200_000);
    defer gpa.free(file);
    const it = try Channel(255).create(gpa, file, .{ .window = 4 });
    defer it.destroy();
    // The last packet's bytes change between the checksum of the file and that of the packet.
    while (it.sender.next < it.sender.total) _ = try it.step(null, null);
    it.sender.digest.update("x");
    try it.run(null, null);
    try std.testing.expectEqual(Status.wrong_checksum, it.receiver.status);
    try std.testing.expectEqual(Status.wrong_checksum, it.sender.status);
    try std.testing.expect(!it.sink.kept);
}

test "names that lead elsewhere and packets of another size are refused with the reason" {
    const file = try sample(1000);
    defer gpa.free(file);
    for ([_]struct { []const u8, Status }{ .{ "../up", .bad_name }, .{ "", .bad_name }, .{ ".x", .bad_name } }) |case| {
        const it = try Channel(255).create(gpa, file, .{});
        defer it.destroy();
        it.sender.name = case[0];
        try it.run(null, null);
        try std.testing.expectEqual(case[1], it.sender.status);
        try std.testing.expectEqual(.failed, it.receiver.state);
    }
}

test "a role replayed alone does what it did, and a changed script is noticed" {
    const file = try sample(100_000);
    defer gpa.free(file);
    inline for (.{ 0, 1, 15, 31, 255 }) |steps| {
        const header = script.Header{ .window = 16, .drop = 5, .seed = 0 };
        var of_sender = script.Recorder{ .gpa = gpa, .header = header };
        defer of_sender.deinit();
        var of_receiver = script.Recorder{ .gpa = gpa, .header = header };
        defer of_receiver.deinit();
        const it = try Channel(steps).create(gpa, file, .{ .window = 16, .faults = .{ .loss = 5, .seed = 3 } });
        defer it.destroy();
        try it.run(&of_sender, &of_receiver);

        const drop: u32 = if (steps == 0) 5 else 0;
        it.sender.init(0, "file.bin", file, channel.nonce, .{ .window = 16, .drop = drop, .seed = 1003 });
        const words = of_sender.words.items;
        try std.testing.expectEqual(script.Outcome.finished, script.replay(&it.sender, &it.out, of_sender.header, words, channel.receiver_peer));
        it.sink.used = 0;
        it.receiver.init(0, &it.sink, it.ring, channel.key, .{ .window = 16, .drop = drop, .seed = 3 });
        try std.testing.expectEqual(script.Outcome.finished, script.replay(&it.receiver, &it.out, of_receiver.header, of_receiver.words.items, channel.sender_peer));

        it.sender.init(0, "file.bin", file, channel.nonce, .{ .window = 16, .drop = drop, .seed = 1003 });
        try std.testing.expectEqual(script.Outcome.damaged, script.replay(&it.sender, &it.out, of_sender.header, words[0 .. words.len - 1], channel.receiver_peer));
        it.sender.init(0, "file.bin", file[1..], channel.nonce, .{ .window = 16, .drop = drop, .seed = 1003 });
        try std.testing.expectEqual(script.Outcome.other_trail, script.replay(&it.sender, &it.out, of_sender.header, words, channel.receiver_peer));
    }
}

test "stages with packets of the same size are given the same and send the same" {
    const file = try sample(150_000);
    defer gpa.free(file);
    var trails: [2][2]u64 = undefined;
    inline for (1..stages.count + 1) |number| {
        const header = script.Header{ .window = 16, .drop = 5, .seed = 0 };
        var of_sender = script.Recorder{ .gpa = gpa, .header = header };
        defer of_sender.deinit();
        var of_receiver = script.Recorder{ .gpa = gpa, .header = header };
        defer of_receiver.deinit();
        const it = try Channel(comptime stages.first(number)).create(gpa, file, .{ .window = 16, .faults = .{ .loss = 5, .seed = 3 } });
        defer it.destroy();
        try it.run(&of_sender, &of_receiver);
        const found = [2]u64{ of_sender.header.trail, of_receiver.header.trail };
        const large = @intFromBool(number >= 5);
        if (number == 1 or number == 5) trails[large] = found else try std.testing.expectEqual(trails[large], found);
    }
}
