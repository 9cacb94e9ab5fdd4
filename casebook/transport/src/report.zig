//! What the first stage says of each packet, to standard error.
//!
//! The document's way writes each line at once. The others keep the text, or the packets themselves and make the text of
//! many in a row, as the document proposes; they write when there is much and when the program ends.
//! Limit: what is kept is lost when the program is killed.

const std = @import("std");
const packet = @import("packet.zig");
const Printing = @import("stage.zig").Printing;

/// Whether to print at all: set once when the program starts, asked for each packet.
pub var verbose: bool = true;

const line = "{s} {s} {s} seq={d} tx={d} length={d}\n";
const longest_line = 160;

/// Prints a packet.
pub fn print(comptime way: Printing, role: []const u8, what: []const u8, it: packet.Packet) void {
    switch (way) {
        .at_once => if (@import("builtin").is_test) {
            // Formatted all the same, but to nobody.
            var buffer: [longest_line]u8 = undefined;
            _ = std.fmt.bufPrint(&buffer, line, .{ role, what, @tagName(it.kind), it.seq, it.tx, it.payload.len }) catch unreachable;
        } else {
            std.debug.print(line, .{ role, what, @tagName(it.kind), it.seq, it.tx, it.payload.len });
        },
        .collected => collect(.{ .role = role, .what = what, .kind = it.kind, .seq = it.seq, .tx = it.tx, .length = it.payload.len }),
        .deferred => {
            if (kept == entries.len) format();
            entries[kept] = .{ .role = role, .what = what, .kind = it.kind, .seq = it.seq, .tx = it.tx, .length = it.payload.len };
            kept += 1;
        },
    }
}

/// Writes what was kept. To be called when the program ends.
pub fn flush(comptime way: Printing) void {
    if (way == .at_once) return;
    if (way == .deferred) format();
    write();
}

const Entry = struct { role: []const u8, what: []const u8, kind: packet.Kind, seq: u64, tx: u64, length: usize };

var entries: [256]Entry = undefined;
var kept: usize = 0;
var text: [64 << 10]u8 = undefined;
var used: usize = 0;

fn collect(it: Entry) void {
    if (text.len - used < longest_line) write();
    const made = std.fmt.bufPrint(text[used..], line, .{ it.role, it.what, @tagName(it.kind), it.seq, it.tx, it.length }) catch unreachable;
    used += made.len;
}

fn format() void {
    for (entries[0..kept]) |it| collect(it);
    kept = 0;
}

fn write() void {
    if (!@import("builtin").is_test) std.fs.File.stderr().writeAll(text[0..used]) catch {}; // as std.debug.print does
    used = 0;
}

test "no line is longer than there is room for" {
    var buffer: [longest_line]u8 = undefined;
    const most = std.math.maxInt(u64);
    _ = try std.fmt.bufPrint(&buffer, line, .{ "receiver", "sends", "accept", most, most, @as(usize, 65_507) });
}
