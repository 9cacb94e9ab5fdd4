//! Where a receiver puts the file: a folder. Under its name it appears at once, whole and on the disk, or not at all.
//!
//! Method: an unnamed file (O_TMPFILE, open(2)), which vanishes with the process however that ends; when all is right it is
//! synchronised, linked to a temporary name and renamed over whatever had the final one; then the folder is synchronised.
//! Limits: where the file system has no unnamed files, a hidden one `.NAME.SESSION.part` is left behind by SIGKILL.

const std = @import("std");
const posix = std.posix;
const linux = std.os.linux;
const bodies = @import("bodies.zig");
const Status = bodies.Status;

pub const FileSink = struct {
    folder: i32,
    fd: i32 = -1,
    named: bool = false,
    name: [bodies.longest_name + 1:0]u8 = undefined,
    part: [bodies.longest_name + 32:0]u8 = undefined,
    /// Bytes taken so far.
    used: u64 = 0,

    pub fn begin(self: *FileSink, name: []const u8, _: u64, session: u64) Status {
        _ = std.fmt.bufPrintZ(&self.name, "{s}", .{name}) catch return .bad_name;
        _ = std.fmt.bufPrintZ(&self.part, ".{s}.{x}.part", .{ name, session }) catch return .bad_name;
        self.fd = posix.openat(self.folder, ".", .{ .ACCMODE = .WRONLY, .TMPFILE = true, .DIRECTORY = true, .CLOEXEC = true }, 0o644) catch
            posix.openatZ(self.folder, self.partName(), .{ .ACCMODE = .WRONLY, .CREAT = true, .EXCL = true, .CLOEXEC = true }, 0o644) catch |problem| return statusOf(problem);
        const flags = linux.fcntl(self.fd, linux.F.GETFL, 0);
        self.named = flags & @as(u32, @bitCast(posix.O{ .TMPFILE = true })) == 0;
        return .ok;
    }

    pub fn write(self: *FileSink, bytes: []const u8) Status {
        var rest = bytes;
        while (rest.len > 0) {
            const count = linux.write(self.fd, rest.ptr, rest.len);
            switch (linux.E.init(count)) {
                .SUCCESS => rest = rest[count..],
                .INTR => {},
                .NOSPC, .DQUOT => return .disk_full,
                .FBIG => return .too_large,
                else => return .cannot_write,
            }
        }
        self.used += bytes.len;
        return .ok;
    }

    pub fn finish(self: *FileSink) Status {
        if (linux.fsync(self.fd) != 0) return .cannot_write; // what a disk refuses late it says here
        if (!self.named) {
            var buffer: [32]u8 = undefined;
            const own = std.fmt.bufPrintZ(&buffer, "/proc/self/fd/{d}", .{self.fd}) catch unreachable; // 32 is enough
            const linked = linux.linkat(linux.AT.FDCWD, own, self.folder, self.partName(), linux.AT.SYMLINK_FOLLOW);
            if (linked != 0) return .cannot_write;
            self.named = true;
        }
        posix.renameatZ(self.folder, self.partName(), self.folder, @ptrCast(&self.name)) catch |problem| return statusOf(problem);
        self.named = false;
        return if (linux.fsync(self.folder) == 0) .ok else .cannot_write;
    }

    pub fn abandon(self: *FileSink) void {
        if (self.fd >= 0) posix.close(self.fd);
        self.fd = -1;
        if (self.named) _ = linux.unlinkat(self.folder, self.partName(), 0);
        self.named = false;
    }

    fn partName(self: *const FileSink) [*:0]const u8 {
        return @ptrCast(&self.part);
    }
};

fn statusOf(problem: anyerror) Status {
    return switch (problem) {
        error.NoSpaceLeft, error.DiskQuota => .disk_full,
        error.FileTooBig => .too_large,
        else => .cannot_write,
    };
}
