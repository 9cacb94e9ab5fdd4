//! How long to wait for an answer: the estimate of RFC 6298, doubled at every silence, within bounds.
//!
//! Times are microseconds. Limits: the lower bound is 30 ms, as a loaded machine takes that long to schedule a process.

const std = @import("std");

pub const Timer = struct {
    smoothed: u64 = 0,
    variation: u64 = 0,
    estimate: u64 = initial,
    doublings: u6 = 0,

    pub const initial = 200_000;
    pub const lowest = 30_000;
    pub const highest = 2_000_000;

    /// An answer came after `took`.
    pub fn sample(self: *Timer, took: u64) void {
        if (self.smoothed == 0) {
            self.smoothed = @max(took, 1);
            self.variation = took / 2;
        } else {
            const off = if (took > self.smoothed) took - self.smoothed else self.smoothed - took;
            self.variation = (3 * self.variation + off) / 4;
            self.smoothed = @max((7 * self.smoothed + took) / 8, 1);
        }
        self.estimate = std.math.clamp(self.smoothed + 4 * self.variation, lowest, highest);
    }

    /// What to wait now.
    pub fn interval(self: *const Timer) u64 {
        return @min(self.estimate << self.doublings, highest);
    }

    /// No answer came.
    pub fn double(self: *Timer) void {
        if (self.interval() < highest) self.doublings += 1;
    }

    /// Something arrived that moves the transfer on.
    pub fn relax(self: *Timer) void {
        self.doublings = 0;
    }
};

test "the wait follows the samples and stays within its bounds" {
    var timer = Timer{};
    try std.testing.expectEqual(@as(u64, 200_000), timer.interval());
    timer.sample(100_000);
    try std.testing.expectEqual(@as(u64, 300_000), timer.interval()); // R + 4 R / 2
    timer.sample(100_000);
    try std.testing.expectEqual(@as(u64, 100_000 + 4 * 37_500), timer.interval()); // variation 3/4 of 50 ms
    for (0..100) |_| timer.sample(50);
    try std.testing.expectEqual(@as(u64, Timer.lowest), timer.interval());
    for (0..100) |_| timer.sample(60_000_000);
    try std.testing.expectEqual(@as(u64, Timer.highest), timer.interval());
}

test "every silence doubles the wait up to two seconds, an answer ends that" {
    var timer = Timer{};
    for ([_]u64{ 400_000, 800_000, 1_600_000, 2_000_000, 2_000_000 }) |expected| {
        timer.double();
        try std.testing.expectEqual(expected, timer.interval());
    }
    for (0..200) |_| timer.double();
    timer.relax();
    try std.testing.expectEqual(@as(u64, 200_000), timer.interval());
}
