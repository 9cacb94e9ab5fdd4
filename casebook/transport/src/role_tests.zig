//! What a role does with a single packet that is not quite right.

const std = @import("std");
const bodies = @import("bodies.zig");
const channel = @import("channel.zig");
const packet = @import("packet.zig");
const timer = @import("timer.zig");
const Channel = channel.Channel(255);
const gpa = std.testing.allocator;
const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;

const piece = 10_208;
const pieces = 150;

/// A transfer that has begun: both know the session, nothing of the file has arrived.
fn begun(window: u64) !*Channel {
    const it = try Channel.create(gpa, &file, .{ .window = std.math.ceilPowerOfTwoAssert(u64, window) });
    while (it.receiver.state != .receiving) _ = try it.step(null, null);
    while (it.sender.state != .sending) _ = try it.step(null, null);
    it.sender.window = window;
    // What the step has sent does not travel on: the test says what arrives.
    while (it.there.next() != std.math.maxInt(u64)) gpa.free(it.there.take());
    return it;
}

var buffer: [packet.header_length + piece + 64]u8 = undefined;

fn toSender(it: *Channel, one: packet.Packet) void {
    it.sender.receive(it.now, 0, buffer[0..packet.Wire(255).encode(one, &buffer)]);
}

fn toReceiver(it: *Channel, one: packet.Packet) void {
    it.receiver.receive(it.now, channel.sender_peer, buffer[0..packet.Wire(255).encode(one, &buffer)]);
}

fn poll(it: *Channel) usize {
    it.out.count = 0;
    it.sender.poll(it.now, &it.out);
    return it.out.count;
}

const file: [pieces * piece - 5]u8 = @splat(3);

test "an acknowledgement of what was never sent is refused" {
    const it = try begun(100);
    defer it.destroy();
    while (it.sender.eager()) _ = poll(it);
    const session = it.sender.session;
    try expectEqual(@as(u64, 100), it.sender.next);
    toSender(it, .{ .kind = .ack, .session = session, .seq = 101, .tx = 5 });
    toSender(it, .{ .kind = .ack, .session = session, .seq = 5, .tx = it.sender.next_tx });
    toSender(it, .{ .kind = .ack, .session = session, .seq = 5, .tx = 5, .payload = &([1]u8{0} ** 129) });
    toSender(it, .{ .kind = .ack, .session = session + 1, .seq = 5, .tx = 5 });
    try expectEqual(@as(u64, 4), it.sender.refused);
    try expectEqual(@as(u64, 0), it.sender.base);
    toSender(it, .{ .kind = .ack, .session = session, .seq = 100, .tx = 100 });
    try expectEqual(@as(u64, 100), it.sender.base);
}

test "bits for packets never sent mark nothing" {
    const it = try begun(32);
    defer it.destroy();
    while (it.sender.eager()) _ = poll(it);
    // Packets 3, 4 and 19 to 31 are there; 32 to 34 cannot be.
    toSender(it, .{ .kind = .ack, .session = it.sender.session, .seq = 2, .tx = 32, .payload = &.{ 0b11, 0, 0xff, 0xff } });
    for (it.sender.slots[0..64], 0..) |slot, seq| {
        const held = seq == 3 or seq == 4 or (seq >= 19 and seq < 32);
        try expectEqual(held, slot.state == .held);
    }
}

test "packets that were given up and are then acknowledged are not sent again" {
    const it = try begun(100);
    defer it.destroy();
    while (it.sender.eager()) _ = poll(it);
    it.now = it.sender.due;
    try expectEqual(@as(usize, 48), poll(it)); // the timer ended: as many again as one burst takes
    try expectEqual(@as(u64, 52), it.sender.lost);
    toSender(it, .{ .kind = .ack, .session = it.sender.session, .seq = 100, .tx = 100 });
    try expectEqual(@as(u64, 0), it.sender.lost);
    try expectEqual(@as(usize, 48), poll(it));
    try expectEqual(@as(u64, 48), it.sender.repeats);
    try expectEqual(@as(u64, 148), it.sender.next);
}

test "a packet is sent again once eight sent after it have arrived, and no earlier" {
    const it = try begun(32);
    defer it.destroy();
    while (it.sender.eager()) _ = poll(it);
    // Packet 0 bears transmission 1.
    toSender(it, .{ .kind = .ack, .session = it.sender.session, .seq = 0, .tx = 8, .payload = &.{0b0111_1111} });
    try expectEqual(@as(u64, 0), it.sender.lost);
    toSender(it, .{ .kind = .ack, .session = it.sender.session, .seq = 0, .tx = 9, .payload = &.{0b1111_1111} });
    try expectEqual(@as(u64, 1), it.sender.lost);
    try expectEqual(@as(usize, 1), poll(it));
    const again = try packet.Wire(255).decode(it.out.datagram(0));
    try expect(again.seq == 0 and again.tx == 33);
}

test "silence doubles the timer, and each packet on its way is sent again once" {
    const it = try begun(16);
    defer it.destroy();
    while (it.sender.eager()) _ = poll(it);
    var waited: u64 = 0;
    for (0..4) |_| {
        const wait = it.sender.due - it.now;
        try expect(wait >= waited and wait <= timer.Timer.highest);
        waited = wait;
        it.now = it.sender.due;
        try expectEqual(@as(usize, 16), poll(it));
    }
    try expect(waited >= 8 * timer.Timer.lowest);
}

test "a packet of another length than its place in the file has is refused" {
    const it = try begun(64);
    defer it.destroy();
    const session = it.receiver.session;
    for ([_]usize{ 0, 1, piece - 1 }) |length| {
        toReceiver(it, .{ .kind = .data, .session = session, .seq = 0, .tx = 1, .payload = file[0..length] });
    }
    try expectEqual(@as(u64, 3), it.receiver.refused);
    try expectEqual(@as(u64, 0), it.receiver.highest);
    toReceiver(it, .{ .kind = .data, .session = session, .seq = 0, .tx = 1, .payload = file[0..piece] });
    try expectEqual(@as(u64, 1), it.receiver.expected);
}

test "a packet beyond the window or beyond the file is refused, the last within is taken" {
    const it = try begun(64);
    defer it.destroy();
    const session = it.receiver.session;
    for ([_]u64{ 64, 65, pieces, 1 << 60, std.math.maxInt(u64) }) |seq| {
        toReceiver(it, .{ .kind = .data, .session = session, .seq = seq, .tx = 1, .payload = file[0..piece] });
    }
    try expectEqual(@as(u64, 5), it.receiver.refused);
    toReceiver(it, .{ .kind = .data, .session = session, .seq = 63, .tx = 1, .payload = file[0..piece] });
    try expectEqual(@as(u64, 64), it.receiver.highest);
}

test "data from another address or of another session is refused" {
    const it = try begun(64);
    defer it.destroy();
    const length = packet.Wire(255).encode(.{ .kind = .data, .session = it.receiver.session, .seq = 0, .payload = file[0..piece] }, &buffer);
    it.receiver.receive(it.now, channel.sender_peer + 1, buffer[0..length]);
    toReceiver(it, .{ .kind = .data, .session = it.receiver.session + 1, .seq = 0, .payload = file[0..piece] });
    try expectEqual(@as(u64, 2), it.receiver.refused);
    try expectEqual(@as(u64, 0), it.receiver.expected);
}

test "an end that comes too early ends nothing" {
    const it = try begun(64);
    defer it.destroy();
    var body: [24]u8 = undefined;
    const fin = bodies.Fin{ .length = file.len, .digest = .{ 1, 2, 3, 4 } };
    toReceiver(it, .{ .kind = .fin, .session = it.receiver.session, .payload = fin.write(&body) });
    try expectEqual(.receiving, it.receiver.state);
    const length = it.receiver.length;
    it.receiver.expected = it.receiver.total;
    it.receiver.written = it.receiver.total;
    toReceiver(it, .{ .kind = .fin, .session = it.receiver.session, .payload = fin.write(&body) });
    try expectEqual(.verifying, it.receiver.state);
    // ... and one with another checksum keeps nothing, though the length is right.
    try expectEqual(length, fin.length);
    for (0..2) |_| {
        it.out.count = 0;
        it.receiver.poll(it.now, &it.out);
    }
    try expectEqual(bodies.Status.wrong_checksum, it.receiver.status);
    try expect(!it.sink.kept);
}

test "being written is said once: saying it for ever keeps no sender waiting" {
    const it = try begun(64);
    defer it.destroy();
    it.sender.state = .closing;
    const pending = packet.Packet{ .kind = .done, .session = it.sender.session, .payload = &.{@intFromEnum(bodies.Status.pending)} };
    toSender(it, pending);
    const deadline = it.sender.progress + 60_000_000;
    for (0..100) |_| {
        it.now += 1_000_000;
        toSender(it, pending);
        _ = poll(it);
        if (it.now < deadline) try expect(!it.sender.finished());
    }
    try expectEqual(bodies.Status.silent, it.sender.status);
}
