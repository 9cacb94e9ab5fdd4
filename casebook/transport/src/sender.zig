//! The sending side as a machine without sockets and clocks: datagrams and the time go in, datagrams come out.
//!
//! Method: a window of packets, acknowledged selectively. A packet counts as lost when something sent `tolerance`
//! transmissions after it has arrived (as in RFC 9002, 6.1.1), or when the timer ends; then it is sent again. Progress
//! that does not come within the patience ends the transfer.
//! Limits: the window is the receiver's; there is no congestion control, as a shared network would need.
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
const Timer = @import("timer.zig").Timer;

pub const never: u64 = std.math.maxInt(u64);
/// Packets that may be on their way at most; a power of two.
pub const max_window = 1024;
/// Transmissions by which packets may overtake each other.
const tolerance = 8;
/// Microseconds after which a question is asked again at the latest: the receiver waits for the last one only so long.
const ask_again = 250_000;
/// Transmissions whose time is remembered; a power of two.
const remembered = 4096;

pub const Options = struct {
    /// Microseconds without progress until giving up.
    patience: u64 = 10_000_000,
    /// Packets on their way at most, whatever the receiver allows.
    window: u64 = max_window,
    /// Of the first stage: arriving packets dropped, per cent, by which seed.
    drop: u32 = 0,
    seed: u64 = 0,
};

pub fn Sender(comptime steps: Steps) type {
    const stage = Stage.of(steps);
    const wire = packet.Wire(steps);
    const payload_size = stage.payload();
    return struct {
        const Self = @This();
        const Slot = struct { tx: u64, state: enum { free, flying, lost, held } };
        const State = enum { greeting, opening, sending, closing, leaving, done, failed };

        options: Options,
        name: []const u8,
        file: []const u8,
        nonce: u64,
        state: State,
        /// Why it failed.
        status: bodies.Status,
        session: u64,
        total: u64,
        window: u64,
        /// The first packet not acknowledged, and the first never sent.
        base: u64,
        next: u64,
        slots: [max_window]Slot,
        /// How many slots are lost, and from where to look for them.
        lost: u64,
        search: u64,
        next_tx: u64,
        echo: u64,
        sent_at: [remembered]u64,
        digest: Checksum,
        timer: Timer,
        due: u64,
        progress: u64,
        /// The receiver said that it has everything.
        pending: bool,
        dice: Dice,
        heard: i64,
        /// Packets sent again, and datagrams not understood.
        repeats: u64,
        refused: u64,

        /// Begins at `now` in place, as it is large. `nonce` is a random number.
        pub fn init(self: *Self, now: u64, name: []const u8, file: []const u8, nonce: u64, options: Options) void {
            self.options = options;
            self.name = name;
            self.file = file;
            self.nonce = nonce;
            self.state = .greeting;
            self.status = .ok;
            self.session = 0;
            self.total = (file.len + payload_size - 1) / payload_size;
            self.window = 0;
            self.base = 0;
            self.next = 0;
            for (&self.slots) |*slot| slot.* = .{ .tx = 0, .state = .free };
            self.lost = 0;
            self.search = 0;
            self.next_tx = 1;
            self.echo = 0;
            self.digest = .{};
            self.timer = .{};
            self.due = now;
            self.progress = now;
            self.pending = false;
            self.dice = Dice.init(options.seed);
            self.heard = 0;
            self.repeats = 0;
            self.refused = 0;
        }

        pub fn finished(self: *const Self) bool {
            return self.state == .done or self.state == .failed;
        }

        /// Whether `poll` has something to send without waiting.
        pub fn eager(self: *const Self) bool {
            if (self.state == .leaving) return true;
            return self.state == .sending and
                (self.lost > 0 or (self.next < self.total and self.next < self.base + self.window));
        }

        /// When `poll` is to be called at the latest.
        pub fn deadline(self: *const Self) u64 {
            if (self.eager()) return 0;
            return @min(self.due, self.progress + self.patience());
        }

        fn patience(self: *const Self) u64 {
            // A disk may need long for what the memory took at once.
            return if (self.pending) @max(self.options.patience, 60_000_000) else self.options.patience;
        }

        /// Ends the transfer; the receiver is told with the next `poll`, if there is one.
        pub fn fail(self: *Self, status: bodies.Status) void {
            self.status = status;
            self.state = .failed;
        }

        // ---- what arrives

        pub fn receive(self: *Self, now: u64, _: u64, bytes: []const u8) void {
            if (!stage.quiet) {
                if (self.dice.throw(self.options.drop)) return;
                self.heard = std.time.microTimestamp();
            }
            const it = wire.decode(bytes) catch {
                self.refused += 1;
                return;
            };
            if (!stage.quiet) {
                if (report.verbose) report.print(stage.printing, "sender", "got", it);
            }
            if (stage.table) return handlers[@intFromEnum(it.kind)](self, now, it);
            if (stage.hinted) {
                if (it.kind == .ack) {
                    @branchHint(.likely);
                    return self.onAck(now, it);
                }
            }
            switch (it.kind) {
                .cookie => self.onCookie(now, it),
                .accept => self.onAccept(now, it),
                .ack => self.onAck(now, it),
                .done => self.onDone(now, it),
                .hello, .open, .data, .fin => self.onStray(now, it),
            }
        }

        const Handler = *const fn (self: *Self, now: u64, it: packet.Packet) void;
        const handlers = [8]Handler{ onStray, onCookie, onStray, onAccept, onStray, onAck, onStray, onDone };

        fn onStray(self: *Self, _: u64, _: packet.Packet) void {
            self.refused += 1;
        }

        fn onCookie(self: *Self, now: u64, it: packet.Packet) void {
            if (self.state != .greeting or it.seq != self.nonce) return self.onStray(now, it);
            self.session = it.session;
            self.enter(.opening, now);
        }

        fn onAccept(self: *Self, now: u64, it: packet.Packet) void {
            if (self.state != .opening or it.session != self.session or it.payload.len != 4) return self.onStray(now, it);
            const offered = std.mem.readInt(u32, it.payload[0..4], .little);
            self.window = @max(1, @min(offered, self.options.window, max_window));
            self.enter(if (self.total == 0) .closing else .sending, now);
            if (self.total != 0) self.due = never;
        }

        fn onDone(self: *Self, now: u64, it: packet.Packet) void {
            // Before there is a session, the nonce tells that the answer is from who was asked.
            const ours = if (self.state == .greeting) it.seq == self.nonce else it.session == self.session;
            if (!ours or it.payload.len != 1) return self.onStray(now, it);
            const status: bodies.Status = @enumFromInt(it.payload[0]);
            switch (status) {
                .ok => if (self.state == .closing) self.enter(.leaving, now) else self.onStray(now, it),
                .pending => if (self.state == .closing and !self.pending) {
                    self.pending = true;
                    self.progress = now;
                } else self.onStray(now, it),
                else => self.fail(status),
            }
        }

        fn onAck(self: *Self, now: u64, it: packet.Packet) void {
            if (self.state != .sending or it.session != self.session) return self.onStray(now, it);
            if (it.seq > self.next or it.tx >= self.next_tx or it.payload.len > max_window / 8) return self.onStray(now, it);
            if (it.seq < self.base) return; // overtaken by a later one
            if (it.seq > self.base) {
                self.release(it.seq);
                self.advance(now);
            }
            if (it.tx > self.echo) {
                self.echo = it.tx;
                if (self.next_tx - it.tx <= remembered) self.timer.sample(now -| if (stage.pointed) (&self.sent_at)[it.tx % remembered] else self.sent_at[it.tx % remembered]);
            }
            if (it.payload.len > 0) {
                const end = self.hold(now, it);
                self.findLost(end);
            } else if (self.base < self.next and self.slots[self.base % max_window].tx + tolerance <= self.echo) {
                self.findLost(self.base + 1);
            }
            if (self.base == self.total) self.enter(.closing, now) else if (self.base == self.next) self.due = never;
        }

        fn release(self: *Self, end: u64) void {
            while (self.base < end) : (self.base += 1) {
                const slot = &self.slots[self.base % max_window];
                if (slot.state == .lost) self.lost -= 1;
                slot.state = .free;
            }
            self.search = @max(self.search, self.base);
        }

        fn advance(self: *Self, now: u64) void {
            self.progress = now;
            self.timer.relax();
            self.due = now + self.timer.interval();
        }

        /// Marks what the bits of an acknowledgement say; returns the end of what they speak of.
        fn hold(self: *Self, now: u64, it: packet.Packet) u64 {
            var end = self.base;
            for (it.payload, 0..) |byte, place| {
                if (byte == 0) continue;
                for (0..8) |bit| {
                    if (byte >> @intCast(bit) & 1 == 0) continue;
                    const seq = it.seq + 1 + 8 * place + bit;
                    if (seq >= self.next) return end;
                    end = seq + 1;
                    const slot = &self.slots[seq % max_window];
                    if (slot.state == .held) continue;
                    if (slot.state == .lost) self.lost -= 1;
                    slot.state = .held;
                    self.advance(now);
                }
            }
            return end;
        }

        fn findLost(self: *Self, end: u64) void {
            var seq = self.base;
            while (seq < end) : (seq += 1) {
                const slot = &self.slots[seq % max_window];
                if (slot.state == .flying and slot.tx + tolerance <= self.echo) self.lose(seq);
            }
        }

        fn lose(self: *Self, seq: u64) void {
            self.slots[seq % max_window].state = .lost;
            self.lost += 1;
            self.search = @min(self.search, seq);
        }

        fn enter(self: *Self, state: State, now: u64) void {
            self.state = state;
            self.timer.relax();
            self.progress = now;
            self.due = now;
        }

        // ---- what is sent

        pub fn poll(self: *Self, now: u64, out: *Outbox(steps)) void {
            if (now -| self.progress >= self.patience()) self.fail(.silent);
            switch (self.state) {
                .sending => self.fill(now, out),
                .greeting, .opening, .closing => if (now >= self.due) {
                    self.ask(out);
                    self.due = now + @min(self.timer.interval(), ask_again);
                    self.timer.double();
                },
                .leaving => {
                    // Twice, as nobody answers: it only spares the receiver its waiting.
                    for (0..2) |_| self.transmit(.{ .kind = .done, .session = self.session, .payload = &.{0} }, out);
                    self.state = .done;
                },
                .done => {},
                .failed => if (self.session != 0) {
                    const code = [1]u8{@intFromEnum(bodies.Status.interrupted)};
                    if (out.hasRoom()) self.transmit(.{ .kind = .done, .session = self.session, .payload = &code }, out);
                },
            }
        }

        fn ask(self: *Self, out: *Outbox(steps)) void {
            var buffer: [12 + bodies.longest_name]u8 = undefined;
            const greeting: [bodies.greeting_length]u8 = @splat(0);
            switch (self.state) {
                .greeting => self.transmit(.{ .kind = .hello, .session = 0, .seq = self.nonce, .payload = &greeting }, out),
                .opening => {
                    const open = bodies.Open{ .length = self.file.len, .payload = payload_size, .name = self.name };
                    self.transmit(.{ .kind = .open, .session = self.session, .seq = self.nonce, .payload = open.write(&buffer) }, out);
                },
                else => {
                    const fin = bodies.Fin{ .length = self.file.len, .digest = self.digest.finish() };
                    self.transmit(.{ .kind = .fin, .session = self.session, .payload = fin.write(buffer[0..24]) }, out);
                },
            }
        }

        fn fill(self: *Self, now: u64, out: *Outbox(steps)) void {
            if (now >= self.due) self.expire();
            while (self.lost > 0 and out.hasRoom()) {
                while (self.slots[self.search % max_window].state != .lost) self.search += 1;
                self.lost -= 1;
                self.repeats += 1;
                self.sendPiece(now, self.search, out);
            }
            const end = @min(self.total, self.base + self.window);
            while (self.next < end and out.hasRoom()) : (self.next += 1) {
                self.digest.update(self.piece(self.next));
                self.sendPiece(now, self.next, out);
            }
            if (self.due == never) self.due = now + self.timer.interval();
        }

        /// The timer ended: whatever is on its way is lost.
        fn expire(self: *Self) void {
            var seq = self.base;
            while (seq < self.next) : (seq += 1) {
                if (self.slots[seq % max_window].state == .flying) self.lose(seq);
            }
            self.timer.double();
            self.due = never;
        }

        fn piece(self: *const Self, seq: u64) []const u8 {
            const start: usize = @intCast(seq * payload_size);
            return self.file[start..@min(start + payload_size, self.file.len)];
        }

        fn sendPiece(self: *Self, now: u64, seq: u64, out: *Outbox(steps)) void {
            self.slots[seq % max_window] = .{ .tx = self.next_tx, .state = .flying };
            self.sent_at[self.next_tx % remembered] = now;
            self.transmit(.{ .kind = .data, .session = self.session, .seq = seq, .tx = self.next_tx, .payload = self.piece(seq) }, out);
            self.next_tx += 1;
        }

        fn transmit(self: *Self, it: packet.Packet, out: *Outbox(steps)) void {
            if (!stage.quiet) {
                self.heard = std.time.microTimestamp();
                if (report.verbose) report.print(stage.printing, "sender", "sends", it);
            }
            out.put(0, it);
        }
    };
}
