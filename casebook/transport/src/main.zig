//! transport: a file over UDP, and what its code costs. See README.md.

const std = @import("std");
const options = @import("options");
const posix = std.posix;
const arguments = @import("arguments.zig");
const replaying = @import("replaying.zig");
const blast = @import("blast.zig");
const drive = @import("drive.zig");
const stages = @import("stage.zig");
const report = @import("report.zig");
const udp = @import("udp.zig");
const Arguments = arguments.Arguments;
const Drive = drive.Drive;
const FileSink = @import("file_sink.zig").FileSink;
const Receiver = @import("receiver.zig").Receiver;
const Sender = @import("sender.zig").Sender;
const mapped = @import("mapped.zig");

pub const steps: stages.Steps = options.steps;
const stage = stages.Stage.of(steps);
const Sending = Sender(steps);
const Receiving = Receiver(steps, FileSink);
const gpa = std.heap.page_allocator;

const usage =
    \\transport moves a file over UDP.
    \\
    \\  transport receive PORT FOLDER      wait for one file (port 0: any; the port is printed)
    \\  transport send HOST PORT FILE      send it; HOST is an IPv4 address
    \\  transport blast [MIB]              what one socket can do with packets of this size, nothing checked
    \\  transport record FOLDER            run both sides in this process, keep what each was given in FOLDER
    \\  transport attack PORT COUNT        forged packets to a port of this machine, to test it
    \\  transport count ROLE FOLDER        run one side again from such a record: sender, receiver, or copy (a plain copy)
    \\
    \\  --patience S    give up after so many seconds without progress (10)    --wait S   ... before it began (60)
    \\  --loss P --duplicate P --reorder P   do so to P % of what arrives, by --seed N (1)
    \\  --window N      packets on their way at most                            --bytes N  of a recorded file (400000)
    \\  --quiet         print nothing but errors
    \\
    \\Exit codes: 0 done, 1 not done (the reason is printed), 2 misuse.
    \\
;

pub fn main() u8 {
    const words = std.process.argsAlloc(gpa) catch return 1;
    const given = Arguments.read(words[1..]) catch |problem| {
        std.debug.print("transport: {s}\n\n{s}", .{ arguments.explain(problem), usage });
        return 2;
    };
    return run(given) catch |problem| {
        std.debug.print("transport: {s}: {s}\n", .{ given.words[0], @errorName(problem) });
        return 1;
    };
}

fn run(given: Arguments) !u8 {
    const verb = std.meta.stringToEnum(enum { receive, send, blast, record, count, attack, help }, given.words[0]) orelse {
        std.debug.print("transport: no verb '{s}'\n\n{s}", .{ given.words[0], usage });
        return 2;
    };
    const wanted: usize = switch (verb) {
        .receive, .count, .attack => 3,
        .send => 4,
        .record => 2,
        .blast => if (given.count == 2) 2 else 1,
        .help => 1,
    };
    if (given.count != wanted) {
        std.debug.print("transport: {s} takes {d} words\n\n{s}", .{ given.words[0], wanted - 1, usage });
        return 2;
    }
    report.verbose = !given.quiet;
    defer report.flush(stage.printing);
    return switch (verb) {
        .receive => receive(given),
        .send => send(given),
        .blast => flood(given),
        .record => replaying.record(steps, gpa, given),
        .count => replaying.count(steps, given),
        .attack => attack(given),
        .help => say("{s}", .{usage}),
    };
}

fn say(comptime text: []const u8, values: anytype) !u8 {
    var buffer: [2048]u8 = undefined;
    try std.fs.File.stdout().writeAll(try std.fmt.bufPrint(&buffer, text, values));
    return 0;
}

fn random() u64 {
    var bytes: [8]u8 = undefined;
    std.crypto.random.bytes(&bytes);
    return std.mem.readInt(u64, &bytes, .little);
}

// ---- receiving

fn receive(given: Arguments) !u8 {
    const port = std.fmt.parseInt(u16, given.words[1], 10) catch return complain("'{s}' is no port", given.words[1]);
    // A file beyond the limit (ulimit -f) is an error of write, not the end.
    posix.sigaction(posix.SIG.XFSZ, &.{ .handler = .{ .handler = posix.SIG.IGN }, .mask = posix.sigemptyset(), .flags = 0 }, null);
    const folder = posix.open(given.words[2], .{ .DIRECTORY = true, .CLOEXEC = true }, 0) catch return complain("cannot open the folder '{s}'", given.words[2]);
    var socket = try udp.Socket.open();
    socket.bind(port) catch return complain("cannot listen on port {s}: another program does, or it is not allowed", given.words[1]);
    socket.prepare(stage.batched);
    if (!given.quiet) _ = try say("listening on port {d}\n", .{try socket.boundPort()});

    const driver = try gpa.create(Drive(steps));
    const role = try gpa.create(Receiving);
    var sink = FileSink{ .folder = folder };
    const window = windowFor(socket, given);
    const ring = try posix.mmap(null, window * stage.payload(), posix.PROT.READ | posix.PROT.WRITE, .{ .TYPE = .PRIVATE, .ANONYMOUS = true }, -1, 0);
    var faults = given.faults;
    const drop = if (stage.quiet) 0 else faults.loss;
    if (!stage.quiet) faults.loss = 0;
    driver.shim.init(faults);
    role.init(drive.clock(), &sink, ring, @bitCast([2]u64{ random(), random() }), .{
        .patience = given.patience,
        .wait = given.wait,
        .window = window,
        .drop = drop,
        .seed = faults.seed,
    });
    try driver.run(role, &socket, true, struct {
        fn gone(_: *Receiving) void {} // an answer to somebody who is no longer there
    }.gone);
    if (role.state == .done) {
        if (!given.quiet) _ = try say("received {d} bytes; {d} packets twice, {d} datagrams refused; processor {d} us\n", .{ sink.used, role.repeated, role.refused, drive.processor() });
        return 0;
    }
    std.debug.print("transport: nothing received: {s}\n", .{if (role.session == 0) "no file was offered in time (--wait)" else role.status.text()});
    return 1;
}

/// As many packets as surely fit into the socket's buffer, where each takes more than its length.
fn windowFor(socket: udp.Socket, given: Arguments) u64 {
    const each = 2 * (stage.payload() + 1024);
    const fit = std.math.clamp(socket.room / each, 1, @import("sender.zig").max_window);
    return std.math.floorPowerOfTwo(u64, @min(fit, given.window));
}

// ---- sending

var shrunk: []const u8 = "transport: nothing sent: the file shrank while it was sent\n";

fn onBusError(_: i32) callconv(.c) void {
    _ = std.os.linux.write(2, shrunk.ptr, shrunk.len);
    posix.exit(1);
}

fn send(given: Arguments) !u8 {
    const address = std.net.Ip4Address.parse(given.words[1], 0) catch return complain("'{s}' is no IPv4 address", given.words[1]);
    const port = std.fmt.parseInt(u16, given.words[2], 10) catch return complain("'{s}' is no port", given.words[2]);
    const file = mapped.open(given.words[3]) catch return complain("cannot read '{s}'", given.words[3]);
    const handler = posix.Sigaction{ .handler = .{ .handler = onBusError }, .mask = posix.sigemptyset(), .flags = 0 };
    posix.sigaction(posix.SIG.BUS, &handler, null);
    var socket = try udp.Socket.open();
    try socket.connect(address.sa.addr, port);
    socket.prepare(stage.batched);

    const driver = try gpa.create(Drive(steps));
    const role = try gpa.create(Sending);
    var faults = given.faults;
    const drop = if (stage.quiet) 0 else faults.loss;
    if (!stage.quiet) faults.loss = 0;
    driver.shim.init(faults);
    const begin = drive.clock();
    role.init(begin, std.fs.path.basename(given.words[3]), file, random(), .{
        .patience = given.patience,
        .window = given.window,
        .drop = drop,
        .seed = faults.seed,
    });
    try driver.run(role, &socket, false, struct {
        fn gone(it: *Sending) void {
            // Before the receiver answered it may not have started yet.
            if (it.state != .greeting) return it.fail(.refused);
            posix.nanosleep(0, 20_000_000);
        }
    }.gone);
    const took = drive.clock() - begin;
    if (role.state == .done) {
        if (!given.quiet) _ = try say("sent {d} bytes in {d} us, {d:.0} MB/s; {d} packets again, {d} datagrams refused; processor {d} us\n", .{ file.len, took, rate(file.len, took), role.repeats, role.refused, drive.processor() });
        return 0;
    }
    std.debug.print("transport: nothing sent: {s}\n", .{role.status.text()});
    return 1;
}

fn rate(bytes: u64, micros: u64) f64 {
    return @as(f64, @floatFromInt(bytes)) / @as(f64, @floatFromInt(@max(micros, 1)));
}

fn flood(given: Arguments) !u8 {
    const mebibytes = if (given.count == 2) std.fmt.parseInt(u32, given.words[1], 10) catch return complain("'{s}' is no number of MiB", given.words[1]) else 256;
    inline for (.{ false, true }) |joined| {
        if (!joined or stage.batched) {
            const found = try blast.run(steps, @as(u64, mebibytes) << 20, joined, gpa);
            _ = try say("{s}: sent {d:.0} MB/s, arrived {d:.0} MB/s, lost {d:.1} %; processor {d} and {d} us\n", .{
                if (joined) "cut and joined by the kernel" else "plain datagrams", rate(found.sent, found.sending), rate(found.bytes, found.micros),
                100 - 100 * rate(found.bytes, found.sent), found.processors[0], found.processors[1],
            });
        }
    }
    return 0;
}

fn attack(given: Arguments) !u8 {
    const port = std.fmt.parseInt(u16, given.words[1], 10) catch return complain("'{s}' is no port", given.words[1]);
    const count = std.fmt.parseInt(u32, given.words[2], 10) catch return complain("'{s}' is no number", given.words[2]);
    try @import("attack.zig").run(gpa, port, count, given.faults.seed, stage.payload());
    return 0;
}

fn complain(comptime text: []const u8, word: []const u8) u8 {
    std.debug.print("transport: " ++ text ++ "\n", .{word});
    return 1;
}
