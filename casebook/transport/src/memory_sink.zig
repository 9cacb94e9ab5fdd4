//! Where a receiver puts the file when nothing is to be written: memory.

const std = @import("std");
const Status = @import("bodies.zig").Status;

pub const MemorySink = struct {
    memory: []u8,
    used: usize = 0,
    /// The answer to a write that would exceed this.
    limit: usize = std.math.maxInt(usize),
    kept: bool = false,
    abandoned: bool = false,

    pub fn begin(self: *MemorySink, _: []const u8, length: u64, _: u64) Status {
        return if (length > self.memory.len) .too_large else .ok;
    }

    pub fn write(self: *MemorySink, bytes: []const u8) Status {
        if (self.used + bytes.len > self.limit) return .disk_full;
        @memcpy(self.memory[self.used..][0..bytes.len], bytes);
        self.used += bytes.len;
        return .ok;
    }

    pub fn finish(self: *MemorySink) Status {
        self.kept = true;
        return .ok;
    }

    pub fn abandon(self: *MemorySink) void {
        self.abandoned = true;
    }
};
