//! A sender and a receiver in one process, with virtual time and a bad network between them: for tests and for recording.
//!
//! Method: what a role sends arrives 100 microseconds later at the other, through a shim. Nothing depends on a clock.

const std = @import("std");
const Faults = @import("shim.zig").Faults;
const MemorySink = @import("memory_sink.zig").MemorySink;
const Outbox = @import("outbox.zig").Outbox;
const Receiver = @import("receiver.zig").Receiver;
const Recorder = @import("script.zig").Recorder;
const Sender = @import("sender.zig").Sender;
const Shim = @import("shim.zig").Shim;
const Stage = @import("stage.zig").Stage;
const Steps = @import("stage.zig").Steps;

const delay = 100;
/// Addresses, and secrets that are none here.
pub const sender_peer = 0x7f000001_1001;
pub const receiver_peer = 0x7f000001_1002;
pub const nonce = 0x0123456789abcdef;
pub const key: [16]u8 = @splat(7);

pub const Setting = struct {
    /// On the way to the receiver, and with another seed on the way back.
    faults: Faults = .{},
    window: u64 = 64,

    fn back(setting: Setting) Faults {
        var faults = setting.faults;
        faults.seed +%= 1000;
        return faults;
    }
};

/// Where datagrams are while they travel.
const Road = struct {
    const Item = struct { arrives: u64, bytes: []u8 };
    gpa: std.mem.Allocator,
    items: std.ArrayList(Item) = .empty,
    first: usize = 0,

    fn put(self: *Road, arrives: u64, bytes: []const u8) !void {
        const copy = try self.gpa.dupe(u8, bytes);
        errdefer self.gpa.free(copy);
        try self.items.append(self.gpa, .{ .arrives = arrives, .bytes = copy });
    }

    pub fn next(self: *const Road) u64 {
        return if (self.first < self.items.items.len) self.items.items[self.first].arrives else std.math.maxInt(u64);
    }

    /// The caller frees it.
    pub fn take(self: *Road) []u8 {
        self.first += 1;
        return self.items.items[self.first - 1].bytes;
    }

    fn deinit(self: *Road) void {
        for (self.items.items[self.first..]) |item| self.gpa.free(item.bytes);
        self.items.deinit(self.gpa);
    }
};

pub fn Channel(comptime steps: Steps) type {
    const stage = Stage.of(steps);
    return struct {
        const Self = @This();
        pub const Sending = Sender(steps);
        pub const Receiving = Receiver(steps, MemorySink);

        gpa: std.mem.Allocator,
        sender: Sending,
        receiver: Receiving,
        sink: MemorySink,
        ring: []u8,
        there: Road,
        back: Road,
        shim_there: Shim,
        shim_back: Shim,
        out: Outbox(steps),
        now: u64,

        /// A channel that will move `file`; `destroy` it.
        pub fn create(gpa: std.mem.Allocator, file: []const u8, setting: Setting) !*Self {
            const self = try gpa.create(Self);
            errdefer gpa.destroy(self);
            self.gpa = gpa;
            const memory = try gpa.alloc(u8, file.len);
            errdefer gpa.free(memory);
            self.ring = try gpa.alloc(u8, @intCast(setting.window * stage.payload()));
            self.sink = .{ .memory = memory };
            self.there = .{ .gpa = gpa };
            self.back = .{ .gpa = gpa };
            // The first stage loses packets itself: the same ones, as the dice are the same.
            var faults = [2]Faults{ setting.faults, setting.back() };
            const drop = if (stage.quiet) 0 else setting.faults.loss;
            if (!stage.quiet) for (&faults) |*one| {
                one.loss = 0;
            };
            self.shim_there.init(faults[0]);
            self.shim_back.init(faults[1]);
            self.now = 0;
            self.sender.init(0, "file.bin", file, nonce, .{ .window = setting.window, .drop = drop, .seed = faults[1].seed });
            self.receiver.init(0, &self.sink, self.ring, key, .{ .window = setting.window, .drop = drop, .seed = faults[0].seed });
            return self;
        }

        pub fn destroy(self: *Self) void {
            const gpa = self.gpa;
            self.there.deinit();
            self.back.deinit();
            gpa.free(self.ring);
            gpa.free(self.sink.memory);
            gpa.destroy(self);
        }

        /// Until both have finished; records what each was given if there are recorders.
        pub fn run(self: *Self, of_sender: ?*Recorder, of_receiver: ?*Recorder) !void {
            while (try self.step(of_sender, of_receiver)) {}
        }

        /// One event; false when both have finished.
        pub fn step(self: *Self, of_sender: ?*Recorder, of_receiver: ?*Recorder) !bool {
            const sending = !self.sender.finished();
            const receiving = !self.receiver.finished();
            if (!sending and !receiving) return false;
            var next: u64 = std.math.maxInt(u64);
            if (sending) next = @min(next, @min(self.back.next(), self.sender.deadline()));
            if (receiving) next = @min(next, @min(self.there.next(), self.receiver.deadline()));
            self.now = @max(self.now, next);
            if (sending and @min(self.back.next(), self.sender.deadline()) <= self.now)
                try self.turn(&self.sender, &self.back, &self.shim_back, &self.there, receiver_peer, of_sender);
            if (receiving and @min(self.there.next(), self.receiver.deadline()) <= self.now)
                try self.turn(&self.receiver, &self.there, &self.shim_there, &self.back, sender_peer, of_receiver);
            return true;
        }

        fn turn(self: *Self, role: anytype, from: *Road, shim: *Shim, to: *Road, peer: u64, recorder: ?*Recorder) !void {
            const Tap = struct {
                role: @TypeOf(role),
                recorder: ?*Recorder,
                failed: bool = false,
                pub fn receive(tap: *@This(), now: u64, who: u64, bytes: []const u8) void {
                    if (tap.recorder) |it| it.arrived(bytes) catch {
                        tap.failed = true;
                    };
                    tap.role.receive(now, who, bytes);
                }
            };
            if (recorder) |it| try it.begin(self.now);
            var tap = Tap{ .role = role, .recorder = recorder };
            while (from.next() <= self.now) {
                const bytes = from.take();
                defer self.gpa.free(bytes);
                shim.pass(&tap, self.now, peer, bytes);
            }
            if (tap.failed) return error.OutOfMemory;
            self.out.count = 0;
            role.poll(self.now, &self.out);
            for (0..self.out.count) |index| {
                try to.put(self.now + delay, self.out.datagram(index));
                if (recorder) |it| it.sent(self.out.datagram(index));
            }
        }
    };
}
