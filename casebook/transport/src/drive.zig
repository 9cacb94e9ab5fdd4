//! Runs one role over a real socket and the real clock, until it has finished.

const std = @import("std");
const linux = std.os.linux;
const Outbox = @import("outbox.zig").Outbox;
const Shim = @import("shim.zig").Shim;
const Stage = @import("stage.zig").Stage;
const Steps = @import("stage.zig").Steps;
const udp = @import("udp.zig");

/// Microseconds since some moment.
pub fn clock() u64 {
    return read(.MONOTONIC);
}

/// Microseconds of processor that this process has used, its system calls included.
pub fn processor() u64 {
    return read(.PROCESS_CPUTIME_ID);
}

fn read(which: linux.clockid_t) u64 {
    var time: linux.timespec = undefined;
    _ = linux.clock_gettime(which, &time); // cannot fail with these clocks
    return @as(u64, @intCast(time.sec)) * 1_000_000 + @as(u64, @intCast(time.nsec)) / 1000;
}

pub fn Drive(comptime steps: Steps) type {
    const pointed = Stage.of(steps).pointed;
    return struct {
        const Self = @This();
        inbox: udp.Inbox(steps),
        out: Outbox(steps),
        sending: udp.Sending(steps),
        shim: Shim,

        /// Runs until `role` has finished. `named`: the role says whom it sends to, the socket is not connected.
        /// `gone` is called when the kernel says that nobody listens there.
        pub fn run(self: *Self, role: anytype, socket: *udp.Socket, named: bool, gone: *const fn (@TypeOf(role)) void) udp.Error!void {
            self.inbox.init();
            while (!role.finished()) {
                self.turn(role, socket, named) catch |problem| switch (problem) {
                    error.Refused => {
                        // The refusal overtakes what the other side said before it went: hear that first.
                        while (!role.finished()) {
                            self.inbox.read(socket.*) catch |again| if (again == error.Refused) continue else break;
                            if (self.inbox.count == 0) break;
                            self.inbox.deliver(role, clock());
                        }
                        if (!role.finished()) gone(role);
                    },
                    error.Failed => return problem,
                };
            }
            // A last word, if the role has one; whether it is heard no longer matters.
            self.out.count = 0;
            role.poll(clock(), &self.out);
            self.sending.send(socket, &self.out, named) catch {};
        }

        fn turn(self: *Self, role: anytype, socket: *udp.Socket, named: bool) udp.Error!void {
            try self.inbox.read(socket.*);
            if ((if (pointed) (&self.inbox).count else self.inbox.count) == 0) {
                const wait = role.deadline() -| clock();
                if (wait > 0) {
                    socket.await(wait);
                    try self.inbox.read(socket.*);
                }
            }
            const now = clock();
            if (self.shim.faults.any()) {
                var bad = Through(@TypeOf(role)){ .shim = &self.shim, .role = role };
                self.inbox.deliver(&bad, now);
            } else self.inbox.deliver(role, now);
            self.out.count = 0;
            role.poll(now, &self.out);
            if ((if (pointed) (&self.out).count else self.out.count) > 0) try self.sending.send(socket, &self.out, named);
        }

        fn Through(comptime Role: type) type {
            return struct {
                shim: *Shim,
                role: Role,
                pub fn receive(it: *@This(), now: u64, peer: u64, bytes: []const u8) void {
                    it.shim.pass(it.role, now, peer, bytes);
                }
            };
        }
    };
}
