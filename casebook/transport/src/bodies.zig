//! The payloads of the packets that open and end a transfer.

const std = @import("std");

/// How a transfer ended, or why it cannot begin. Travels as a byte; unknown ones are shown as numbers.
pub const Status = enum(u8) {
    ok,
    /// The receiver has all bytes and is writing them to the disk.
    pending,
    busy,
    incompatible,
    bad_name,
    too_large,
    disk_full,
    cannot_write,
    wrong_checksum,
    silent,
    refused,
    file_changed,
    interrupted,
    _,

    pub fn text(status: Status) []const u8 {
        return switch (status) {
            .ok => "done",
            .pending => "being written",
            .busy => "the receiver is receiving another file",
            .incompatible => "the other side uses packets of another size; build both at the same stage",
            .bad_name => "the file's name is empty, too long, or no plain name",
            .too_large => "the file is larger than the receiving side may write",
            .disk_full => "no space is left where the receiver writes",
            .cannot_write => "the receiver cannot write into its folder",
            .wrong_checksum => "the file's checksum does not fit what arrived; nothing was kept",
            .silent => "no answer within the time allowed (--patience)",
            .refused => "nobody listens there any more",
            .file_changed => "the file changed while it was sent",
            .interrupted => "the other side gave up",
            _ => "the other side gave up for a reason not known here",
        };
    }
};

pub const longest_name = 200;
/// Bytes of a greeting: not less than any answer to it.
pub const greeting_length = 32;

pub const Open = struct {
    length: u64,
    payload: u32,
    name: []const u8,

    pub fn write(open: Open, buffer: *[12 + longest_name]u8) []const u8 {
        std.mem.writeInt(u64, buffer[0..8], open.length, .little);
        std.mem.writeInt(u32, buffer[8..12], open.payload, .little);
        const name = open.name[0..@min(open.name.len, longest_name)];
        @memcpy(buffer[12..][0..name.len], name);
        return buffer[0 .. 12 + name.len];
    }

    pub fn read(bytes: []const u8) ?Open {
        if (bytes.len < 12 or bytes.len > 12 + longest_name) return null;
        return .{
            .length = std.mem.readInt(u64, bytes[0..8], .little),
            .payload = std.mem.readInt(u32, bytes[8..12], .little),
            .name = bytes[12..],
        };
    }

    /// A name that stays in the receiver's folder and hides from nobody.
    pub fn hasPlainName(open: Open) bool {
        if (open.name.len == 0 or open.name[0] == '.') return false;
        for (open.name) |byte| if (byte < ' ' or byte == '/' or byte == 127) return false;
        return true;
    }
};

pub const Fin = struct {
    length: u64,
    digest: [4]u32,

    pub fn write(fin: Fin, buffer: *[24]u8) []const u8 {
        std.mem.writeInt(u64, buffer[0..8], fin.length, .little);
        for (fin.digest, 0..) |word, place| std.mem.writeInt(u32, buffer[8 + 4 * place ..][0..4], word, .little);
        return buffer;
    }

    pub fn read(bytes: []const u8) ?Fin {
        if (bytes.len != 24) return null;
        var digest: [4]u32 = undefined;
        for (&digest, 0..) |*word, place| word.* = std.mem.readInt(u32, bytes[8 + 4 * place ..][0..4], .little);
        return .{ .length = std.mem.readInt(u64, bytes[0..8], .little), .digest = digest };
    }
};

test "a name leads nowhere but into the folder" {
    const expect = std.testing.expect;
    for ([_][]const u8{ "a", "a.bin", "two words", "ä" }) |name| {
        try expect((Open{ .length = 0, .payload = 0, .name = name }).hasPlainName());
    }
    for ([_][]const u8{ "", ".", "..", ".hidden", "a/b", "/a", "../a", "a\x00b", "a\nb", "\x7f" }) |name| {
        try expect(!(Open{ .length = 0, .payload = 0, .name = name }).hasPlainName());
    }
}

test "bodies are read back, and those of another length refused" {
    var buffer: [12 + longest_name]u8 = undefined;
    const open = Open{ .length = 1 << 33, .payload = 992, .name = "name" };
    try std.testing.expectEqualDeep(open, Open.read(open.write(&buffer)).?);
    try std.testing.expect(Open.read(buffer[0..11]) == null);
    try std.testing.expect(Open.read(&([_]u8{1} ** (13 + longest_name))) == null);
    var small: [24]u8 = undefined;
    const fin = Fin{ .length = 5, .digest = .{ 1, 2, 3, 4 } };
    try std.testing.expectEqualDeep(fin, Fin.read(fin.write(&small)).?);
    try std.testing.expect(Fin.read(small[0..23]) == null);
}
