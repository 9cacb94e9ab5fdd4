//! What the first stage says of each packet, to standard error.

const std = @import("std");
const packet = @import("packet.zig");

/// Whether to print at all: set once when the program starts, asked for each packet.
pub var verbose: bool = true;

/// Prints a packet.
pub fn print(role: []const u8, what: []const u8, it: packet.Packet) void {
    if (@import("builtin").is_test) {
        // Formatted all the same, but to nobody.
        var buffer: [160]u8 = undefined;
        _ = std.fmt.bufPrint(&buffer, "{s} {s} {s} seq={d} tx={d} length={d}\n", .{ role, what, @tagName(it.kind), it.seq, it.tx, it.payload.len }) catch unreachable;
    } else {
        std.debug.print("{s} {s} {s} seq={d} tx={d} length={d}\n", .{ role, what, @tagName(it.kind), it.seq, it.tx, it.payload.len });
    }
}
