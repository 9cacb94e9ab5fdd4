//! Random decisions from a seed: which packets are lost, repeated, late.

const std = @import("std");

pub const Dice = struct {
    random: std.Random.DefaultPrng,

    pub fn init(seed: u64) Dice {
        return .{ .random = std.Random.DefaultPrng.init(seed) };
    }

    /// True in `percent` of 100 throws.
    pub fn throw(self: *Dice, percent: u32) bool {
        return self.random.random().uintLessThan(u32, 100) < percent;
    }
};
