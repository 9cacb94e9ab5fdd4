//! What travels: a header of 32 bytes, little-endian, and a payload.
//!
//!     0  version (5 bits), kind (3 bits)      8  session: what the receiver gave the sender to prove its address
//!     1  zero                                16  sequence number: of data, or (ack) what is expected next
//!     2  length of the payload               24  transmission: counts what was sent; acks echo the highest seen
//!     4  checksum of header and payload
//!
//! Every stage writes the same bytes. `decode` accepts nothing that `encode` cannot have written, whatever the stage.
//! Checked by: fuzz.zig, all stages against each other.

const std = @import("std");
const Checksum = @import("checksum.zig").Checksum;
const Stage = @import("stage.zig").Stage;
const Steps = @import("stage.zig").Steps;

pub const header_length = 32;
pub const version = 19;

/// All values of three bits have a name, so that a conversion without a check cannot go wrong.
pub const Kind = enum(u3) {
    /// Sender: I have a file; my nonce is the sequence number. Padded, so that no answer is longer than the question.
    hello,
    /// Receiver: prove that you read this, it is your session.
    cookie,
    /// Sender: name, length, size of payloads.
    open,
    /// Receiver: go on, so many packets at once.
    accept,
    /// Sender: a piece of the file.
    data,
    /// Receiver: all below the sequence number is here; the payload is a bit for each packet after it.
    ack,
    /// Sender: that was all, and this is its checksum.
    fin,
    /// Both: the outcome.
    done,
};

pub const Packet = struct {
    kind: Kind,
    session: u64,
    seq: u64 = 0,
    tx: u64 = 0,
    payload: []const u8 = "",
};

pub const Malformed = error{ Short, Version, Reserved, Length, Checksum };

/// Writes and reads packets as a stage does.
pub fn Wire(comptime steps: Steps) type {
    const stage = Stage.of(steps);
    return struct {
        /// Writes a packet into a buffer that has room for it; returns its length.
        pub fn encode(packet: Packet, buffer: []u8) usize {
            const length = header_length + packet.payload.len;
            const bytes = buffer[0..length];
            if (stage.overlay) {
                const over: *Over = @ptrCast(bytes.ptr);
                over.* = .{ .first = firstByte(packet.kind), .length = @intCast(packet.payload.len), .session = packet.session, .seq = packet.seq, .tx = packet.tx };
                copy(bytes[header_length..], packet.payload);
                over.checksum = sumInPlace(bytes);
                return length;
            }
            if (stage.direct) writeDirect(packet, bytes) else writeStream(packet, bytes) catch unreachable; // it has room
            copy(bytes[header_length..], packet.payload);
            std.mem.writeInt(u32, bytes[4..8], sumOf(bytes), .little);
            return length;
        }

        /// Reads a packet; its payload lies in `bytes`.
        pub fn decode(bytes: []const u8) Malformed!Packet {
            if (bytes.len < header_length) {
                @branchHint(if (stage.hinted) .unlikely else .none);
                return error.Short;
            }
            const header = if (stage.overlay) readOver(bytes) else if (stage.direct) readDirect(bytes) else try readStream(bytes);
            if (header.first >> 3 != version) return error.Version;
            if (header.reserved != 0) return error.Reserved;
            if (header_length + @as(usize, header.length) != bytes.len) return error.Length;
            if (header.checksum != sumOf(bytes)) {
                @branchHint(if (stage.hinted) .unlikely else .none);
                return error.Checksum;
            }
            return .{
                .kind = kindOf(@truncate(header.first)),
                .session = header.session,
                .seq = header.seq,
                .tx = header.tx,
                .payload = bytes[header_length..],
            };
        }

        /// Moves memory as the stage does; neither overlaps the other.
        pub fn copy(to: []u8, from: []const u8) void {
            if (stage.builtin) @memcpy(to, from) else std.mem.copyForwards(u8, to, from);
        }

        fn kindOf(bits: u3) Kind {
            if (stage.unchecked) return @enumFromInt(bits);
            return std.meta.intToEnum(Kind, bits) catch unreachable; // three bits are always a kind
        }

        fn writeStream(packet: Packet, bytes: []u8) !void {
            var stream = std.Io.fixedBufferStream(bytes);
            const writer = stream.writer();
            try writer.writeInt(u8, firstByte(packet.kind), .little);
            try writer.writeInt(u8, 0, .little);
            try writer.writeInt(u16, @intCast(packet.payload.len), .little);
            try writer.writeInt(u32, 0, .little);
            try writer.writeInt(u64, packet.session, .little);
            try writer.writeInt(u64, packet.seq, .little);
            try writer.writeInt(u64, packet.tx, .little);
        }

        fn writeDirect(packet: Packet, bytes: []u8) void {
            bytes[0] = firstByte(packet.kind);
            bytes[1] = 0;
            std.mem.writeInt(u16, bytes[2..4], @intCast(packet.payload.len), .little);
            std.mem.writeInt(u32, bytes[4..8], 0, .little);
            std.mem.writeInt(u64, bytes[8..16], packet.session, .little);
            std.mem.writeInt(u64, bytes[16..24], packet.seq, .little);
            std.mem.writeInt(u64, bytes[24..32], packet.tx, .little);
        }

        const Header = struct { first: u8, reserved: u8, length: u16, checksum: u32, session: u64, seq: u64, tx: u64 };

        fn readStream(bytes: []const u8) Malformed!Header {
            var stream = std.Io.fixedBufferStream(bytes);
            const reader = stream.reader();
            return .{
                .first = reader.readInt(u8, .little) catch return error.Short,
                .reserved = reader.readInt(u8, .little) catch return error.Short,
                .length = reader.readInt(u16, .little) catch return error.Short,
                .checksum = reader.readInt(u32, .little) catch return error.Short,
                .session = reader.readInt(u64, .little) catch return error.Short,
                .seq = reader.readInt(u64, .little) catch return error.Short,
                .tx = reader.readInt(u64, .little) catch return error.Short,
            };
        }

        /// The header as it lies in memory, of little-endian machines as everything here.
        const Over = extern struct { first: u8, reserved: u8 = 0, length: u16 align(1), checksum: u32 align(1) = 0, session: u64 align(1), seq: u64 align(1), tx: u64 align(1) };

        fn readOver(bytes: []const u8) Header {
            const over: *const Over = @ptrCast(bytes.ptr);
            return .{ .first = over.first, .reserved = over.reserved, .length = over.length, .checksum = over.checksum, .session = over.session, .seq = over.seq, .tx = over.tx };
        }

        fn readDirect(bytes: []const u8) Header {
            return .{
                .first = bytes[0],
                .reserved = bytes[1],
                .length = std.mem.readInt(u16, bytes[2..4], .little),
                .checksum = std.mem.readInt(u32, bytes[4..8], .little),
                .session = std.mem.readInt(u64, bytes[8..16], .little),
                .seq = std.mem.readInt(u64, bytes[16..24], .little),
                .tx = std.mem.readInt(u64, bytes[24..32], .little),
            };
        }
    };
}

fn firstByte(kind: Kind) u8 {
    return @as(u8, version) << 3 | @intFromEnum(kind);
}

/// The checksum of a datagram of at least a header, its own field taken as zero.
pub fn sumOf(bytes: []const u8) u32 {
    var header: [header_length]u8 = bytes[0..header_length].*;
    std.mem.writeInt(u32, header[4..8], 0, .little);
    var sum = Checksum{};
    sum.update(&header);
    sum.update(bytes[header_length..]);
    return sum.short();
}

/// The same, where the checksum's field is still zero.
fn sumInPlace(bytes: []const u8) u32 {
    var sum = Checksum{};
    sum.update(bytes);
    return sum.short();
}

test "all stages write the same bytes and read them back" {
    const payload = "some bytes of a file, not a multiple of anything";
    const sent = Packet{ .kind = .data, .session = 0x1122334455667788, .seq = 77, .tx = 1 << 40, .payload = payload };
    var expected: [100]u8 = undefined;
    const length = Wire(0).encode(sent, &expected);
    try std.testing.expectEqualSlices(u8, &.{ 19 << 3 | 4, 0, payload.len, 0 }, expected[0..4]);
    try std.testing.expectEqualSlices(u8, &.{ 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 77, 0 }, expected[8..18]);
    const stages = @import("stage.zig");
    inline for (0..stages.count + 2) |number| {
        const wire = Wire(comptime if (number <= stages.count) stages.first(number) else 1024);
        var bytes: [100]u8 = undefined;
        try std.testing.expectEqual(length, wire.encode(sent, &bytes));
        try std.testing.expectEqualSlices(u8, expected[0..length], bytes[0..length]);
        const read = try wire.decode(bytes[0..length]);
        try std.testing.expectEqualDeep(sent, read);
    }
}

test "what is cut, too long, of another version or changed is refused by name" {
    const wire = Wire(255);
    var bytes: [80]u8 = undefined;
    const length = wire.encode(.{ .kind = .fin, .session = 1, .payload = "0123456789" }, &bytes);
    for (0..header_length) |cut| try std.testing.expectError(error.Short, wire.decode(bytes[0..cut]));
    for (header_length..length) |cut| try std.testing.expectError(error.Length, wire.decode(bytes[0..cut]));
    try std.testing.expectError(error.Length, wire.decode(bytes[0 .. length + 1]));
    bytes[1] = 1;
    try std.testing.expectError(error.Reserved, wire.decode(bytes[0..length]));
    bytes[1] = 0;
    bytes[0] ^= 0x80;
    try std.testing.expectError(error.Version, wire.decode(bytes[0..length]));
    bytes[0] ^= 0x80;
    for (8..length) |place| {
        bytes[place] ^= 4;
        try std.testing.expectError(error.Checksum, wire.decode(bytes[0..length]));
        bytes[place] ^= 4;
    }
    _ = try wire.decode(bytes[0..length]);
}
