//! What a role wants sent: encoded datagrams, one after the other in memory.
//!
//! Full packets lie without gaps, so that the kernel can be given many as one piece.

const packet = @import("packet.zig");
const Steps = @import("stage.zig").Steps;
const Stage = @import("stage.zig").Stage;

/// Room for the longest burst: what is sent before looking for answers.
pub const capacity = 48;

pub fn Outbox(comptime steps: Steps) type {
    const wire = packet.Wire(steps);
    return struct {
        const Self = @This();
        /// Bytes from one datagram to the next.
        pub const stride = packet.header_length + Stage.of(steps).payload();

        memory: [capacity * stride]u8,
        lengths: [capacity]u32,
        peers: [capacity]u64,
        count: usize,

        pub fn hasRoom(self: *const Self) bool {
            return self.count < capacity;
        }

        /// Encodes a packet for a peer. There must be room.
        pub fn put(self: *Self, peer: u64, it: packet.Packet) void {
            const length = wire.encode(it, self.memory[self.count * stride ..][0..stride]);
            self.lengths[self.count] = @intCast(length);
            self.peers[self.count] = peer;
            self.count += 1;
        }

        pub fn datagram(self: *const Self, index: usize) []const u8 {
            return self.memory[index * stride ..][0..self.lengths[index]];
        }
    };
}
