//! What one role was given, turn by turn, so that its code can be run again alone: no other role, no sockets, no clock.
//!
//! A turn is a time, the datagrams that arrive, and then one `poll`. The trail mixes the checksums of all that the role
//! sent: a replay whose trail differs did something else.
//! In memory and in files: words of 8 bytes, little-endian; the header as below, then turns (time, datagrams), each
//! datagram (length, bytes, zeros up to a word).

const std = @import("std");

pub const Header = extern struct {
    magic: u64 = expected,
    /// What the role was started with.
    window: u64,
    drop: u64,
    seed: u64,
    /// What it did.
    turns: u64 = 0,
    sent: u64 = 0,
    trail: u64 = 0,

    const expected = 0x31_74_70_69_72_63_73_74; // "tscript1"
};

/// Mixes a datagram that was sent into a trail, by its checksum.
pub fn follow(trail: u64, datagram: []const u8) u64 {
    return std.math.rotl(u64, trail, 5) ^ std.mem.readInt(u32, datagram[4..8], .little);
}

/// Writes a script while a role runs.
pub const Recorder = struct {
    gpa: std.mem.Allocator,
    words: std.ArrayList(u64) = .empty,
    header: Header,
    /// Where the count of the turn under way is.
    open: usize = 0,

    pub fn begin(self: *Recorder, now: u64) !void {
        try self.words.appendSlice(self.gpa, &.{ now, 0 });
        self.open = self.words.items.len - 1;
        self.header.turns += 1;
    }

    pub fn arrived(self: *Recorder, bytes: []const u8) !void {
        self.words.items[self.open] += 1;
        try self.words.append(self.gpa, bytes.len);
        const at = self.words.items.len;
        try self.words.appendNTimes(self.gpa, 0, (bytes.len + 7) / 8);
        @memcpy(std.mem.sliceAsBytes(self.words.items[at..])[0..bytes.len], bytes);
    }

    pub fn sent(self: *Recorder, bytes: []const u8) void {
        self.header.sent += 1;
        self.header.trail = follow(self.header.trail, bytes);
    }

    pub fn deinit(self: *Recorder) void {
        self.words.deinit(self.gpa);
    }
};

pub const Outcome = enum { finished, failed, other_trail, damaged };

/// Runs a role through a script. `peer` is the address that all datagrams come from.
pub fn replay(role: anytype, out: anytype, header: Header, words: []const u64, peer: u64) Outcome {
    if (header.magic != Header.expected) return .damaged;
    var at: usize = 0;
    var trail: u64 = 0;
    var sent: u64 = 0;
    for (0..@intCast(header.turns)) |_| {
        if (words.len - at < 2) return .damaged;
        const now = words[at];
        const arriving = words[at + 1];
        at += 2;
        for (0..@intCast(arriving)) |_| {
            if (at == words.len) return .damaged;
            const length: usize = @intCast(words[at]);
            const size = (length + 7) / 8;
            if (words.len - at - 1 < size) return .damaged;
            role.receive(now, peer, std.mem.sliceAsBytes(words[at + 1 ..])[0..length]);
            at += 1 + size;
        }
        out.count = 0;
        role.poll(now, out);
        for (0..out.count) |index| trail = follow(trail, out.datagram(index));
        sent += out.count;
    }
    if (sent != header.sent or trail != header.trail) return .other_trail;
    return if (role.state == .done) .finished else .failed;
}
