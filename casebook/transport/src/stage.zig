//! Which steps of the diary a build has taken: a bit each, known when compiling, so that a step not taken leaves no code.
//!
//! Stage n of the diary has the first n steps. Every other set of bits is a build too: the document restarts several of
//! its rows from the original. Beyond the stages are other ways to take a step: two of printing, one of reading
//! fields, one of reaching them.

/// One bit for each step, the lowest for the first.
pub const Steps = u16;

/// How many steps the stages have, and how many there are with those beyond the stages.
pub const count = 8;
pub const bits = 12;

/// What happens to the text for each packet: written at once, kept until there is much of it, or made only then.
pub const Printing = enum { at_once, collected, deferred };

pub const Stage = struct {
    /// No print, no random number, no clock for each packet (step 1).
    quiet: bool,
    /// Fields read and written at their places, not through a stream (step 2).
    direct: bool,
    /// Kinds converted without looking for them among all kinds (step 3).
    unchecked: bool,
    /// Memory moved by the built-in, not by a loop over bytes (step 4).
    builtin: bool,
    /// Packets of 10 KB, not of 1 KB (step 5).
    large: bool,
    /// Hints for what happens, not for what does not (step 6).
    hinted: bool,
    /// A table of functions by kind, not a switch (step 7).
    table: bool,
    /// Many datagrams a system call (step 8).
    batched: bool,
    /// How a build that is not quiet prints (256: text collected; 512: packets kept, their text made many in a row).
    printing: Printing,
    /// The header is one structure laid over the bytes, and summed where it lies (1024); in place of `direct`.
    overlay: bool,
    /// Parts of large structures reached through a pointer (2048): zig's own code generator, which makes Debug builds, copies
    /// a whole array or structure to read one part of it, and no branch shows that.
    pointed: bool,

    pub fn of(comptime steps: Steps) Stage {
        return .{
            .quiet = steps & 1 != 0,
            .direct = steps & 2 != 0,
            .unchecked = steps & 4 != 0,
            .builtin = steps & 8 != 0,
            .large = steps & 16 != 0,
            .hinted = steps & 32 != 0,
            .table = steps & 64 != 0,
            .batched = steps & 128 != 0,
            .printing = if (steps & 1 != 0) .at_once else if (steps & 512 != 0) .deferred else if (steps & 256 != 0) .collected else .at_once,
            .overlay = steps & 1024 != 0,
            .pointed = steps & 2048 != 0,
        };
    }

    /// Bytes of the file in each packet but the last.
    pub fn payload(stage: Stage) usize {
        const datagram: usize = if (stage.large) 10 * 1024 else 1024;
        return datagram - @import("packet.zig").header_length;
    }
};

/// The steps of stage `number`: the first `number`.
pub fn first(comptime number: u4) Steps {
    return @truncate((@as(u16, 1) << number) - 1);
}

test "a stage has all steps before it" {
    const std = @import("std");
    try std.testing.expectEqual(@as(Steps, 0), first(0));
    try std.testing.expectEqual(@as(Steps, 0b11111), first(5));
    try std.testing.expectEqual(@as(Steps, 255), first(count));
    try std.testing.expect(Stage.of(first(5)).large and !Stage.of(first(5)).hinted);
    try std.testing.expectEqual(@as(usize, 992), Stage.of(0).payload());
    try std.testing.expectEqual(@as(usize, 10_208), Stage.of(255).payload());
    try std.testing.expect(Stage.of(256).printing == .collected and Stage.of(512).printing == .deferred);
    try std.testing.expect(Stage.of(257).printing == .at_once); // nothing is printed, so nothing is left of it
}
