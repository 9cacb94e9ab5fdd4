//! A file's bytes as memory.

const std = @import("std");
const posix = std.posix;

/// The bytes of a file, for as long as the process lives.
pub fn open(path: []const u8) ![]align(std.heap.page_size_min) const u8 {
    const fd = try posix.open(path, .{ .CLOEXEC = true }, 0);
    defer posix.close(fd);
    const stat = try posix.fstat(fd);
    if (!posix.S.ISREG(stat.mode)) return error.NotAFile;
    if (stat.size == 0) return &.{};
    return posix.mmap(null, @intCast(stat.size), posix.PROT.READ, .{ .TYPE = .SHARED }, fd, 0);
}
