//! `record` and `count`: a transfer within this process, then one side of it alone, so that its branches can be counted.

const std = @import("std");
const channel = @import("channel.zig");
const mapped = @import("mapped.zig");
const script = @import("script.zig");
const Arguments = @import("arguments.zig").Arguments;
const Channel = channel.Channel;
const Faults = @import("shim.zig").Faults;
const Stage = @import("stage.zig").Stage;
const Steps = @import("stage.zig").Steps;

/// Packets on their way: each burst of so many is answered by one acknowledgement.
const window = 16;

pub fn record(comptime steps: Steps, gpa: std.mem.Allocator, given: Arguments) !u8 {
    const file = try gpa.alloc(u8, @intCast(given.bytes));
    var content = std.Random.DefaultPrng.init(given.bytes);
    content.fill(file);
    @import("report.zig").verbose = false;
    const quiet = Stage.of(steps).quiet;
    const setting = channel.Setting{ .faults = given.faults, .window = window };
    const drop: u64 = if (quiet) 0 else given.faults.loss;
    var of_sender = script.Recorder{ .gpa = gpa, .header = .{ .window = window, .drop = drop, .seed = given.faults.seed +% 1000 } };
    var of_receiver = script.Recorder{ .gpa = gpa, .header = .{ .window = window, .drop = drop, .seed = given.faults.seed } };
    const it = try Channel(steps).create(gpa, file, setting);
    try it.run(&of_sender, &of_receiver);
    if (it.sender.state != .done or it.receiver.state != .done) return error.TransferFailed;
    if (!std.mem.eql(u8, file, it.sink.memory)) return error.FileDiffers;

    var folder = try std.fs.cwd().makeOpenPath(given.words[1], .{});
    defer folder.close();
    try folder.writeFile(.{ .sub_path = "file.bin", .data = file });
    try write(folder, "sender.script", &of_sender);
    try write(folder, "receiver.script", &of_receiver);
    return 0;
}

fn write(folder: std.fs.Dir, name: []const u8, recorder: *const script.Recorder) !void {
    const out = try folder.createFile(name, .{});
    defer out.close();
    try out.writeAll(std.mem.asBytes(&recorder.header));
    try out.writeAll(std.mem.sliceAsBytes(recorder.words.items));
}

pub fn count(comptime steps: Steps, given: Arguments) !u8 {
    const Roles = enum { sender, receiver, copy };
    const role = std.meta.stringToEnum(Roles, given.words[1]) orelse {
        std.debug.print("transport: count takes sender, receiver or copy\n", .{});
        return 2;
    };
    var paths: [2][std.fs.max_path_bytes]u8 = undefined;
    const file = try mapped.open(try std.fmt.bufPrint(&paths[0], "{s}/file.bin", .{given.words[2]}));
    const pages = try std.posix.mmap(null, @sizeOf(Channel(steps)) + 2 * file.len + window * Stage.of(steps).payload() + 64, std.posix.PROT.READ | std.posix.PROT.WRITE, .{ .TYPE = .PRIVATE, .ANONYMOUS = true }, -1, 0);
    const it: *Channel(steps) = @ptrCast(pages.ptr);
    const rest = pages[@sizeOf(Channel(steps))..];
    const ring = rest[0 .. window * Stage.of(steps).payload()];
    const copy = rest[ring.len..][0..file.len];
    if (role == .copy) {
        for (0..@intCast(given.repeat)) |_| copyPieces(copy, file, Stage.of(steps).payload());
        return 0;
    }
    const recorded = try mapped.open(try std.fmt.bufPrint(&paths[1], "{s}/{s}.script", .{ given.words[2], given.words[1] }));
    if (recorded.len < @sizeOf(script.Header)) return error.ScriptDamaged;
    const header: *const script.Header = @ptrCast(recorded.ptr);
    const words: []const u64 = @alignCast(std.mem.bytesAsSlice(u64, recorded[@sizeOf(script.Header)..]));
    for (0..@intCast(given.repeat)) |_| {
        const outcome = switch (role) {
            .sender => sender(steps, it, header, words, file),
            else => receiver(steps, it, header, words, ring, copy),
        };
        switch (outcome) {
            .finished => {},
            .failed => return error.TransferFailed,
            .other_trail => return error.OtherTrail,
            .damaged => return error.ScriptDamaged,
        }
    }
    return 0;
}

fn sender(comptime steps: Steps, it: *Channel(steps), header: *const script.Header, words: []const u64, file: []const u8) script.Outcome {
    it.sender.init(0, "file.bin", file, channel.nonce, .{ .window = header.window, .drop = @intCast(header.drop), .seed = header.seed });
    return script.replay(&it.sender, &it.out, header.*, words, channel.receiver_peer);
}

fn receiver(comptime steps: Steps, it: *Channel(steps), header: *const script.Header, words: []const u64, ring: []u8, copy: []u8) script.Outcome {
    it.sink = .{ .memory = copy };
    it.receiver.init(0, &it.sink, ring, channel.key, .{ .window = header.window, .drop = @intCast(header.drop), .seed = header.seed });
    return script.replay(&it.receiver, &it.out, header.*, words, channel.sender_peer);
}

/// What moving the bytes alone costs, in pieces as large as the packets'.
fn copyPieces(to: []u8, from: []const u8, size: usize) void {
    var at: usize = 0;
    while (at < from.len) : (at += size) {
        const end = @min(at + size, from.len);
        @memcpy(to[at..end], from[at..end]);
    }
}
