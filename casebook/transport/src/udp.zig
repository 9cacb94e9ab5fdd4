//! A UDP socket for roles: datagrams in batches, or one a system call before step 8.
//!
//! Method: where the kernel allows, runs of full packets leave as one piece that it cuts (UDP_SEGMENT, Linux 4.18) and
//! arrive joined (UDP_GRO, Linux 5.0); udp(7), Documentation/networking/segmentation-offloads.
//! Limits: IPv4.

const std = @import("std");
const linux = std.os.linux;
const posix = std.posix;
const Outbox = @import("outbox.zig").Outbox;
const Stage = @import("stage.zig").Stage;
const Steps = @import("stage.zig").Steps;

/// The longest datagram that UDP over IPv4 carries.
const longest = 65_507;
/// Segments of one piece: what every kernel with UDP_SEGMENT takes.
const most_segments = 64;

pub const Error = error{ Refused, Failed };

pub const Socket = struct {
    fd: i32,
    /// What the kernel granted.
    gso: bool = false,
    gro: bool = false,
    /// Bytes of the receive buffer, as the kernel counts them.
    room: u32 = 0,

    pub fn open() !Socket {
        const fd = try posix.socket(linux.AF.INET, linux.SOCK.DGRAM | linux.SOCK.CLOEXEC, 0);
        return .{ .fd = fd };
    }

    pub fn close(self: Socket) void {
        posix.close(self.fd);
    }

    pub fn bind(self: Socket, port: u16) !void {
        const address = addressOf(0, port);
        try posix.bind(self.fd, @ptrCast(&address), @sizeOf(@TypeOf(address)));
    }

    pub fn connect(self: Socket, host: u32, port: u16) !void {
        const address = addressOf(host, port);
        try posix.connect(self.fd, @ptrCast(&address), @sizeOf(@TypeOf(address)));
    }

    /// The port the kernel chose.
    pub fn boundPort(self: Socket) !u16 {
        var address: posix.sockaddr.in = undefined;
        var length: posix.socklen_t = @sizeOf(@TypeOf(address));
        try posix.getsockname(self.fd, @ptrCast(&address), &length);
        return std.mem.bigToNative(u16, address.port);
    }

    /// Asks for large buffers, beyond the limit of ordinary users where it may, and for joined datagrams.
    pub fn prepare(self: *Socket, batched: bool) void {
        const wanted: i32 = 16 << 20;
        if (!self.set(linux.SOL.SOCKET, linux.SO.RCVBUFFORCE, wanted)) _ = self.set(linux.SOL.SOCKET, linux.SO.RCVBUF, wanted);
        if (!self.set(linux.SOL.SOCKET, linux.SO.SNDBUFFORCE, wanted)) _ = self.set(linux.SOL.SOCKET, linux.SO.SNDBUF, wanted);
        var got: i32 = 0;
        posix.getsockopt(self.fd, linux.SOL.SOCKET, linux.SO.RCVBUF, std.mem.asBytes(&got)) catch {};
        self.room = @intCast(@max(got, 0));
        if (batched) {
            self.gso = self.set(linux.IPPROTO.UDP, linux.UDP.SEGMENT, 0);
            self.gro = self.set(linux.IPPROTO.UDP, linux.UDP.GRO, 1);
        }
    }

    fn set(self: Socket, level: i32, option: u32, value: i32) bool {
        posix.setsockopt(self.fd, level, option, std.mem.asBytes(&value)) catch return false;
        return true;
    }

    /// Waits until something can be read, at most `wait` microseconds.
    pub fn await(self: Socket, wait: u64) void {
        var watched = [1]posix.pollfd{.{ .fd = self.fd, .events = linux.POLL.IN, .revents = 0 }};
        const limited = @min(wait, 3_600_000_000);
        var time = linux.timespec{ .sec = @intCast(limited / 1_000_000), .nsec = @intCast(limited % 1_000_000 * 1000) };
        _ = linux.ppoll(&watched, 1, &time, null); // interrupted: the caller looks at the time anyway
    }
};

fn addressOf(host: u32, port: u16) posix.sockaddr.in {
    return .{ .port = std.mem.nativeToBig(u16, port), .addr = host };
}

fn peerOf(address: posix.sockaddr.in) u64 {
    return @as(u64, address.addr) << 16 | address.port;
}

fn addressOfPeer(peer: u64) posix.sockaddr.in {
    return .{ .port = @truncate(peer), .addr = @truncate(peer >> 16) };
}

/// What a system call said; Refused is nobody listening, Failed anything else that is no reason to try again.
fn check(result: usize) Error!?usize {
    return switch (linux.E.init(result)) {
        .SUCCESS => result,
        .AGAIN, .INTR, .NOBUFS, .NOMEM => null,
        .CONNREFUSED => error.Refused,
        else => error.Failed,
    };
}

/// Datagrams that arrived.
pub fn Inbox(comptime steps: Steps) type {
    const batched = Stage.of(steps).batched;
    return struct {
        const Self = @This();
        const places = if (batched) 16 else 1;
        const room = 65_536;
        const Control = extern struct { bytes: [64]u8 align(8) };

        memory: [places * room]u8,
        headers: [places]linux.mmsghdr,
        vectors: [places]posix.iovec,
        addresses: [places]posix.sockaddr.in,
        controls: [places]Control,
        count: usize,

        pub fn init(self: *Self) void {
            self.count = 0;
            for (0..places) |place| {
                self.vectors[place] = .{ .base = self.memory[place * room ..].ptr, .len = room };
                self.headers[place] = .{ .len = 0, .hdr = .{
                    .name = @ptrCast(&self.addresses[place]),
                    .namelen = @sizeOf(posix.sockaddr.in),
                    .iov = self.vectors[place..].ptr,
                    .iovlen = 1,
                    .control = &self.controls[place],
                    .controllen = @sizeOf(Control),
                    .flags = 0,
                } };
            }
        }

        /// Reads what is there, without waiting.
        pub fn read(self: *Self, socket: Socket) Error!void {
            self.count = 0;
            if (!batched) {
                var length: posix.socklen_t = @sizeOf(posix.sockaddr.in);
                const result = linux.recvfrom(socket.fd, &self.memory, room, linux.MSG.DONTWAIT, @ptrCast(&self.addresses[0]), &length);
                const got = try check(result) orelse return;
                self.headers[0].len = @intCast(got);
                self.count = 1;
                return;
            }
            for (&self.headers) |*header| {
                header.hdr.namelen = @sizeOf(posix.sockaddr.in);
                header.hdr.controllen = @sizeOf(Control);
            }
            const result = linux.recvmmsg(socket.fd, &self.headers, places, linux.MSG.DONTWAIT, null);
            self.count = try check(result) orelse return;
        }

        /// Hands every datagram to `role.receive`, those that arrived joined one by one.
        pub fn deliver(self: *Self, role: anytype, now: u64) void {
            for (0..self.count) |place| {
                const bytes = self.memory[place * room ..][0..self.headers[place].len];
                const peer = peerOf(self.addresses[place]);
                const segment = if (batched) segmentOf(&self.headers[place].hdr, &self.controls[place].bytes) else 0;
                if (segment == 0 or segment >= bytes.len) {
                    role.receive(now, peer, bytes);
                    continue;
                }
                var at: usize = 0;
                while (at < bytes.len) : (at += segment) role.receive(now, peer, bytes[at..@min(at + segment, bytes.len)]);
            }
        }
    };
}

/// A control message of one int or short, cmsg(3): length, level, type, value.
const Note = extern struct { length: usize, level: i32, kind: i32, value: i32 align(8) };
const note_head = 16;

fn segmentOf(header: *const linux.msghdr, control: *align(8) const [64]u8) usize {
    if (header.controllen < note_head + 4) return 0;
    const note: *const Note = @ptrCast(control);
    if (note.level != linux.IPPROTO.UDP or note.kind != linux.UDP.GRO or note.value <= 0) return 0;
    return @intCast(note.value);
}

/// Sends what is in an outbox, to a connected socket (`named` false) or to the peers it names.
pub fn Sending(comptime steps: Steps) type {
    const batched = Stage.of(steps).batched;
    const Out = Outbox(steps);
    const capacity = @import("outbox.zig").capacity;
    const joined = @min(most_segments, longest / Out.stride);
    return struct {
        const Self = @This();
        const Cut = extern struct { length: usize, level: i32, kind: i32, value: u16 align(8), rest: [6]u8 };

        headers: [capacity]linux.mmsghdr,
        vectors: [capacity]posix.iovec,
        addresses: [capacity]posix.sockaddr.in,
        cuts: [capacity]Cut,

        pub fn send(self: *Self, socket: *Socket, out: *Out, named: bool) Error!void {
            if (!batched) {
                for (0..out.count) |index| try sendOne(socket.*, out, index, named);
                return;
            }
            var first: usize = 0;
            while (first < out.count) {
                const messages = self.fill(socket.*, out, named);
                // As many pieces as there are; what the kernel did not take is sent one by one.
                var done: usize = 0;
                while (done < messages) {
                    const result = linux.syscall4(.sendmmsg, @intCast(socket.fd), @intFromPtr(&self.headers[done]), messages - done, 0);
                    const error_number = linux.E.init(result);
                    if (socket.gso and (error_number == .IO or error_number == .INVAL or error_number == .MSGSIZE)) {
                        socket.gso = false; // a device that cannot cut
                        break;
                    }
                    done += try check(result) orelse 0;
                }
                first = if (done == messages) out.count else 0;
                if (done != 0 and done != messages) return; // what is missing counts as lost
            }
        }

        /// Describes all datagrams; those that can leave together are one message. Returns how many messages.
        fn fill(self: *Self, socket: Socket, out: *Out, named: bool) usize {
            var messages: usize = 0;
            var at: usize = 0;
            while (at < out.count) : (messages += 1) {
                var end = at + 1;
                if (socket.gso) {
                    while (end < out.count and end - at < joined and out.lengths[end - 1] == Out.stride and out.peers[end] == out.peers[at]) end += 1;
                }
                var length: usize = 0;
                for (at..end) |index| length += out.lengths[index];
                self.vectors[messages] = .{ .base = out.memory[at * Out.stride ..].ptr, .len = length };
                self.addresses[messages] = addressOfPeer(out.peers[at]);
                self.cuts[messages] = .{ .length = note_head + 2, .level = linux.IPPROTO.UDP, .kind = linux.UDP.SEGMENT, .value = @intCast(Out.stride), .rest = @splat(0) };
                self.headers[messages] = .{ .len = 0, .hdr = .{
                    .name = if (named) @ptrCast(&self.addresses[messages]) else null,
                    .namelen = if (named) @sizeOf(posix.sockaddr.in) else 0,
                    .iov = self.vectors[messages..].ptr,
                    .iovlen = 1,
                    .control = if (end - at > 1) &self.cuts[messages] else null,
                    .controllen = if (end - at > 1) @sizeOf(Cut) else 0,
                    .flags = 0,
                } };
                at = end;
            }
            return messages;
        }

        fn sendOne(socket: Socket, out: *Out, index: usize, named: bool) Error!void {
            const bytes = out.datagram(index);
            const address = addressOfPeer(out.peers[index]);
            while (true) {
                const result = linux.sendto(socket.fd, bytes.ptr, bytes.len, 0, if (named) @ptrCast(&address) else null, if (named) @sizeOf(posix.sockaddr.in) else 0);
                if (try check(result) != null) return;
            }
        }
    };
}
