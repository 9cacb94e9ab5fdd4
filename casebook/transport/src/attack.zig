//! `transport attack`: forged packets to a port of this machine, for tests of real processes.

const std = @import("std");
const linux = std.os.linux;
const forge = @import("forge.zig");
const udp = @import("udp.zig");

/// Sends `count` forged datagrams to 127.0.0.1, from one socket and with `payload` as the size of full packets.
pub fn run(gpa: std.mem.Allocator, port: u16, count: u64, seed: u64, payload: usize) !void {
    const socket = try udp.Socket.open();
    defer socket.close();
    try socket.connect(std.mem.nativeToBig(u32, 0x7f000001), port);
    var forger = forge.Forge.init(seed);
    forger.payload = payload;
    const buffer = try gpa.create([forge.longest]u8);
    defer gpa.destroy(buffer);
    for (0..@intCast(count)) |_| {
        const bytes = forger.make(buffer);
        // Too long for UDP, nobody there any more, no room: all the same to an attacker.
        _ = linux.sendto(socket.fd, bytes.ptr, bytes.len, linux.MSG.DONTWAIT, null, 0);
    }
}
