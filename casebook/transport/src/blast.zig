//! How fast can one socket be: the same packets, nothing but sent and received, by processes of their own.
//!
//! Method: the parent sends datagrams of a stage's size by sendmmsg, the child reads them by recvmmsg; nothing is
//! checked, acknowledged, repeated or written. Twice: as plain datagrams, and cut and joined by the kernel (UDP_SEGMENT,
//! UDP_GRO). What the child reads is counted, over the time from its first datagram to its last; and the processor's time of
//! both, which says more on a busy machine.

const std = @import("std");
const linux = std.os.linux;
const posix = std.posix;
const drive = @import("drive.zig");
const clock = drive.clock;
const Outbox = @import("outbox.zig").Outbox;
const Steps = @import("stage.zig").Steps;
const udp = @import("udp.zig");

pub const Result = extern struct { bytes: u64 = 0, micros: u64 = 0, sent: u64 = 0, sending: u64 = 0, processors: [2]u64 = .{ 0, 0 } };

/// Sends `bytes` to a child at 127.0.0.1.
pub fn run(comptime steps: Steps, bytes: u64, joined: bool, gpa: std.mem.Allocator) !Result {
    var to = try udp.Socket.open();
    try to.bind(0);
    to.prepare(joined);
    const pipe = try posix.pipe();
    const child = try posix.fork();
    if (child == 0) {
        const result = count(steps, to, gpa) catch Result{};
        _ = posix.write(pipe[1], std.mem.asBytes(&result)) catch {};
        posix.exit(0);
    }
    posix.close(pipe[1]);
    var from = try udp.Socket.open();
    try from.connect(std.mem.nativeToBig(u32, 0x7f000001), try to.boundPort());
    to.close();
    from.prepare(joined);
    const begin = clock();
    const used = drive.processor();
    const sent = try flood(steps, &from, bytes, gpa);
    const sending = clock() - begin;
    const sender_used = drive.processor() - used;
    var result = Result{};
    _ = try posix.read(pipe[0], std.mem.asBytes(&result));
    _ = posix.waitpid(child, 0);
    result.processors[0] = sender_used;
    result.sent = sent;
    result.sending = sending;
    return result;
}

fn flood(comptime steps: Steps, socket: *udp.Socket, bytes: u64, gpa: std.mem.Allocator) !u64 {
    const out = try gpa.create(Outbox(steps));
    const sending = try gpa.create(udp.Sending(steps));
    const stride = Outbox(steps).stride;
    @memset(&out.memory, 7);
    @memset(&out.lengths, stride);
    out.count = out.lengths.len;
    var sent: u64 = 0;
    while (sent < bytes) : (sent += out.count * stride) try sending.send(socket, out, false);
    return sent;
}

fn count(comptime steps: Steps, socket: udp.Socket, gpa: std.mem.Allocator) !Result {
    const inbox = try gpa.create(udp.Inbox(steps));
    inbox.init();
    var result = Result{};
    const used = drive.processor();
    var first: u64 = 0;
    var last: u64 = 0;
    const patience = 300_000;
    while (true) {
        try inbox.read(socket);
        if (inbox.count == 0) {
            const now = clock();
            if (last != 0 and now - last > patience) break;
            if (last == 0) last = now;
            socket.await(patience);
            continue;
        }
        last = clock();
        if (first == 0) first = last;
        for (inbox.headers[0..inbox.count]) |header| result.bytes += header.len;
    }
    result.micros = last - first;
    result.processors[1] = drive.processor() - used;
    return result;
}
