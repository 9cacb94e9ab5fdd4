//! The receiving side as a machine without sockets and clocks: datagrams and the time go in, datagrams and bytes come out.
//!
//! Method: packets are put in a ring by their number; what is complete from the front goes to the sink in order, and into
//! the file's checksum. A session begins only with a cookie that its sender must have read (a keyed hash of address and
//! nonce, as in RFC 4987, 3.6), so whoever sends from an invented address leaves nothing behind. One file, one sender.
//! Limits: who reads the network can forge; nothing is encrypted.
//! Checked by: channel.zig (all stages, loss, reordering, duplicates), fuzz.zig.

const std = @import("std");
const bodies = @import("bodies.zig");
const packet = @import("packet.zig");
const report = @import("report.zig");
const Checksum = @import("checksum.zig").Checksum;
const Dice = @import("dice.zig").Dice;
const Outbox = @import("outbox.zig").Outbox;
const Stage = @import("stage.zig").Stage;
const Steps = @import("stage.zig").Steps;
const max_window = @import("sender.zig").max_window;
const never = @import("sender.zig").never;

const Hash = std.crypto.auth.siphash.SipHash64(2, 4);

pub const Options = struct {
    /// Microseconds of silence within a transfer until giving up, and of waiting for one to begin.
    patience: u64 = 10_000_000,
    wait: u64 = 60_000_000,
    /// Microseconds for which the end is said again to a sender that did not hear of it.
    linger: u64 = 5_000_000,
    /// Packets on their way at most; a power of two up to max_window.
    window: u64 = 64,
    /// Of the first stage: arriving packets dropped, per cent, by which seed.
    drop: u32 = 0,
    seed: u64 = 0,
};

/// `Sink` takes the bytes: `begin(name, length, session)`, `write(bytes)` in order, `finish()`, each a Status; `abandon()`.
pub fn Receiver(comptime steps: Steps, comptime Sink: type) type {
    const stage = Stage.of(steps);
    const wire = packet.Wire(steps);
    const payload_size = stage.payload();
    return struct {
        const Self = @This();
        const State = enum { waiting, receiving, verifying, lingering, failing, done, failed };

        options: Options,
        sink: *Sink,
        key: [16]u8,
        state: State,
        /// Why it failed.
        status: bodies.Status,
        peer: u64,
        session: u64,
        length: u64,
        total: u64,
        /// `window` payloads, and which of them are there.
        ring: []u8,
        have: [max_window]bool,
        /// The first packet missing, the first not given to the sink, the first beyond all that arrived.
        expected: u64,
        written: u64,
        highest: u64,
        echo: u64,
        digest: Checksum,
        fin: bodies.Fin,
        ack_due: bool,
        /// That everything is here was said.
        told: bool,
        /// Answers to handshakes wait here: one at a time, for whoever asked last.
        answer: ?packet.Packet,
        answer_to: u64,
        answer_body: [4]u8,
        heard: u64,
        due: u64,
        /// The end of saying that all went well.
        until: u64,
        dice: Dice,
        clock: i64,
        /// Datagrams not understood or not of this session; packets that were here before.
        refused: u64,
        repeated: u64,

        /// Begins at `now` in place, as it is large. `key` is random, `ring` has room for a window of payloads.
        pub fn init(self: *Self, now: u64, sink: *Sink, ring: []u8, key: [16]u8, options: Options) void {
            std.debug.assert(std.math.isPowerOfTwo(options.window) and options.window <= max_window);
            std.debug.assert(ring.len == options.window * payload_size);
            self.options = options;
            self.sink = sink;
            self.key = key;
            self.state = .waiting;
            self.status = .ok;
            self.peer = 0;
            self.session = 0;
            self.length = 0;
            self.total = 0;
            self.ring = ring;
            @memset(&self.have, false);
            self.expected = 0;
            self.written = 0;
            self.highest = 0;
            self.echo = 0;
            self.digest = .{};
            self.fin = .{ .length = 0, .digest = @splat(0) };
            self.ack_due = false;
            self.told = false;
            self.answer = null;
            self.answer_to = 0;
            self.answer_body = @splat(0);
            self.heard = now;
            self.due = now + options.wait;
            self.until = 0;
            self.dice = Dice.init(options.seed);
            self.clock = 0;
            self.refused = 0;
            self.repeated = 0;
        }

        pub fn finished(self: *const Self) bool {
            return self.state == .done or self.state == .failed;
        }

        /// Whether `poll` has something to do without waiting.
        pub fn eager(self: *const Self) bool {
            return self.state == .verifying or self.state == .failing;
        }

        /// When `poll` is to be called at the latest.
        pub fn deadline(self: *const Self) u64 {
            return switch (self.state) {
                .waiting, .lingering => self.due,
                .receiving => self.heard + self.options.patience,
                .verifying, .failing => 0,
                .done, .failed => never,
            };
        }

        // ---- what arrives

        pub fn receive(self: *Self, now: u64, peer: u64, bytes: []const u8) void {
            if (!stage.quiet) {
                if (self.dice.throw(self.options.drop)) return;
                self.clock = std.time.microTimestamp();
            }
            const it = wire.decode(bytes) catch {
                self.refused += 1;
                return;
            };
            if (!stage.quiet) {
                if (report.verbose) report.print(stage.printing, "receiver", "got", it);
            }
            if (stage.table) return handlers[@intFromEnum(it.kind)](self, now, peer, it);
            if (stage.hinted) {
                if (it.kind == .data) {
                    @branchHint(.likely);
                    return self.onData(now, peer, it);
                }
            } else {
                if (it.kind == .fin) {
                    @branchHint(.likely);
                    return self.onFin(now, peer, it);
                }
            }
            switch (it.kind) {
                .hello => self.onHello(now, peer, it),
                .open => self.onOpen(now, peer, it),
                .data => self.onData(now, peer, it),
                .fin => self.onFin(now, peer, it),
                .done => self.onDone(now, peer, it),
                .cookie, .accept, .ack => self.onStray(now, peer, it),
            }
        }

        const Handler = *const fn (self: *Self, now: u64, peer: u64, it: packet.Packet) void;
        const handlers = [8]Handler{ onHello, onStray, onOpen, onStray, onData, onStray, onFin, onDone };

        fn onStray(self: *Self, _: u64, _: u64, _: packet.Packet) void {
            self.refused += 1;
        }

        fn cookieOf(self: *const Self, peer: u64, nonce: u64) u64 {
            const message = std.mem.toBytes([2]u64{ peer, nonce });
            return Hash.toInt(&message, &self.key);
        }

        fn onHello(self: *Self, now: u64, peer: u64, it: packet.Packet) void {
            // Not less was asked than will be answered: nobody gets more than what was sent in their name.
            if (it.payload.len != bodies.greeting_length) return self.onStray(now, peer, it);
            if (self.state == .waiting) {
                self.reply(peer, .{ .kind = .cookie, .session = self.cookieOf(peer, it.seq), .seq = it.seq });
            } else if (peer != self.peer and self.answer == null) {
                self.answer_body[0] = @intFromEnum(bodies.Status.busy);
                self.reply(peer, .{ .kind = .done, .session = 0, .seq = it.seq, .payload = self.answer_body[0..1] });
            }
        }

        fn onOpen(self: *Self, now: u64, peer: u64, it: packet.Packet) void {
            if (it.session != self.cookieOf(peer, it.seq)) return self.onStray(now, peer, it);
            if (self.state == .receiving and it.session == self.session) return self.accept();
            const open = bodies.Open.read(it.payload) orelse return self.onStray(now, peer, it);
            if (self.state != .waiting) return self.onStray(now, peer, it);
            self.session = it.session;
            self.peer = peer;
            self.length = open.length;
            self.heard = now;
            // No count of packets overflows where every byte has a place in a file.
            self.total = if (open.length > std.math.maxInt(i63)) 0 else (open.length + payload_size - 1) / payload_size;
            const status: bodies.Status = if (open.payload != payload_size) .incompatible //
                else if (!open.hasPlainName()) .bad_name //
                else if (open.length > std.math.maxInt(i63)) .too_large //
                else self.sink.begin(open.name, open.length, it.session);
            if (status != .ok) return self.fail(status);
            self.state = .receiving;
            self.accept();
        }

        fn accept(self: *Self) void {
            std.mem.writeInt(u32, &self.answer_body, @intCast(self.options.window), .little);
            self.reply(self.peer, .{ .kind = .accept, .session = self.session, .payload = &self.answer_body });
        }

        fn onData(self: *Self, now: u64, peer: u64, it: packet.Packet) void {
            if (self.state != .receiving or it.session != self.session or peer != self.peer) return self.onStray(now, peer, it);
            if (it.seq >= self.total or it.payload.len != self.sizeOf(it.seq)) return self.onStray(now, peer, it);
            if (it.seq >= self.written + self.options.window) {
                @branchHint(if (stage.hinted) .unlikely else .none);
                return self.onStray(now, peer, it);
            }
            self.ack_due = true;
            self.echo = @max(self.echo, it.tx);
            const place: usize = @intCast(it.seq % self.options.window);
            if (it.seq < self.expected or self.have[place]) {
                @branchHint(if (stage.hinted) .unlikely else .none);
                self.repeated += 1;
                return;
            }
            self.heard = now; // only what is new counts as progress: nobody can keep a transfer open for ever
            wire.copy(self.ring[place * payload_size ..][0..it.payload.len], it.payload);
            self.have[place] = true;
            self.highest = @max(self.highest, it.seq + 1);
            while (self.expected < self.highest and self.have[@intCast(self.expected % self.options.window)]) {
                self.have[@intCast(self.expected % self.options.window)] = false;
                self.expected += 1;
            }
        }

        /// Bytes of the file in packet `seq`: all but the last are full.
        fn sizeOf(self: *const Self, seq: u64) u64 {
            return @min(payload_size, self.length - seq * payload_size);
        }

        fn onFin(self: *Self, now: u64, peer: u64, it: packet.Packet) void {
            if (it.session != self.session or peer != self.peer) return self.onStray(now, peer, it);
            const fin = bodies.Fin.read(it.payload) orelse return self.onStray(now, peer, it);
            switch (self.state) {
                .receiving => {
                    self.ack_due = true;
                    if (self.expected != self.total) return;
                    self.fin = fin;
                    self.state = .verifying;
                },
                .lingering => {
                    self.due = @min(now + self.options.linger, self.until);
                    self.outcome(.ok);
                },
                else => self.onStray(now, peer, it),
            }
        }

        fn onDone(self: *Self, now: u64, peer: u64, it: packet.Packet) void {
            if (it.session != self.session or peer != self.peer or it.payload.len != 1) return self.onStray(now, peer, it);
            const status: bodies.Status = @enumFromInt(it.payload[0]);
            switch (self.state) {
                .lingering => if (status == .ok) {
                    self.state = .done;
                },
                .receiving => if (status != .ok and status != .pending) {
                    self.sink.abandon();
                    self.status = .interrupted;
                    self.state = .failed;
                },
                else => self.onStray(now, peer, it),
            }
        }

        fn reply(self: *Self, peer: u64, it: packet.Packet) void {
            self.answer = it;
            self.answer_to = peer;
        }

        fn outcome(self: *Self, status: bodies.Status) void {
            self.answer_body[0] = @intFromEnum(status);
            self.reply(self.peer, .{ .kind = .done, .session = self.session, .payload = self.answer_body[0..1] });
        }

        /// Ends the transfer: nothing is kept, the sender is told with the next `poll`.
        pub fn fail(self: *Self, status: bodies.Status) void {
            self.status = status;
            if (self.state != .waiting) self.sink.abandon();
            self.state = .failing;
        }

        // ---- what is done and sent after a batch of datagrams

        pub fn poll(self: *Self, now: u64, out: *Outbox(steps)) void {
            if (self.state == .receiving) {
                self.flush();
                if (self.state == .receiving and now -| self.heard >= self.options.patience) self.fail(.silent);
            }
            switch (self.state) {
                .waiting => if (now >= self.due) {
                    self.status = .silent;
                    self.state = .failed;
                },
                .receiving => if (self.ack_due) self.acknowledge(out),
                .verifying => self.verify(now),
                .lingering => if (now >= self.due) {
                    self.state = .done; // the file is there; that the sender heard of it cannot be known for sure
                },
                .failing => {
                    self.outcome(self.status);
                    // Thrice, as nobody answers.
                    for (0..2) |_| self.transmit(self.answer_to, self.answer.?, out);
                    self.state = .failed;
                },
                .done, .failed => {},
            }
            if (self.answer) |it| {
                self.transmit(self.answer_to, it, out);
                self.answer = null;
            }
        }

        /// Gives the sink what is complete from the front.
        fn flush(self: *Self) void {
            while (self.written < self.expected and self.state == .receiving) {
                const from: usize = @intCast(self.written % self.options.window);
                const count = @min(self.expected - self.written, self.options.window - from);
                const end = @min((self.written + count) * payload_size, self.length);
                const bytes = self.ring[from * payload_size ..][0..@intCast(end - self.written * payload_size)];
                self.digest.update(bytes);
                const status = self.sink.write(bytes);
                if (status != .ok) return self.fail(status);
                self.written += count;
            }
        }

        fn acknowledge(self: *Self, out: *Outbox(steps)) void {
            var bits: [max_window / 8]u8 = undefined;
            var used: usize = 0;
            if (self.highest > self.expected) {
                @memset(&bits, 0);
                var seq = self.expected + 1;
                while (seq < self.highest) : (seq += 1) {
                    if (!self.have[@intCast(seq % self.options.window)]) continue;
                    const bit = seq - self.expected - 1;
                    bits[@intCast(bit / 8)] |= @as(u8, 1) << @intCast(bit % 8);
                }
                used = @intCast((self.highest - self.expected - 1 + 7) / 8);
            }
            self.ack_due = false;
            self.transmit(self.peer, .{ .kind = .ack, .session = self.session, .seq = self.expected, .tx = self.echo, .payload = bits[0..used] }, out);
        }

        /// First says that everything is here, as the disk may take long; then checks, writes out, names.
        fn verify(self: *Self, now: u64) void {
            if (!self.told) {
                self.told = true;
                return self.outcome(.pending);
            }
            const digest = self.digest.finish();
            const right = self.fin.length == self.length and std.meta.eql(digest, self.fin.digest);
            const status = if (right) self.sink.finish() else bodies.Status.wrong_checksum;
            if (status != .ok) return self.fail(status);
            self.outcome(.ok);
            self.state = .lingering;
            self.due = now + self.options.linger;
            self.until = now + 10 * self.options.linger;
        }

        fn transmit(self: *Self, peer: u64, it: packet.Packet, out: *Outbox(steps)) void {
            if (!stage.quiet) {
                self.clock = std.time.microTimestamp();
                if (report.verbose) report.print(stage.printing, "receiver", "sends", it);
            }
            out.put(peer, it);
        }
    };
}
