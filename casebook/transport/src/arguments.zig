//! The command line.

const std = @import("std");
const Faults = @import("shim.zig").Faults;
const max_window = @import("sender.zig").max_window;

pub const Problem = error{ NoVerb, TooManyWords, UnknownOption, NoValue, BadValue };

pub const Arguments = struct {
    words: [4][:0]const u8 = .{""} ** 4,
    count: usize = 0,
    patience: u64 = 10_000_000,
    wait: u64 = 60_000_000,
    window: u64 = max_window,
    bytes: u64 = 400_000,
    repeat: u64 = 1,
    faults: Faults = .{},
    quiet: bool = false,

    pub fn read(words: []const [:0]const u8) Problem!Arguments {
        var given = Arguments{};
        var at: usize = 0;
        while (at < words.len) : (at += 1) {
            const word = words[at];
            if (!std.mem.startsWith(u8, word, "--")) {
                if (given.count == given.words.len) return error.TooManyWords;
                given.words[given.count] = word;
                given.count += 1;
            } else if (std.mem.eql(u8, word, "--quiet")) {
                given.quiet = true;
            } else {
                if (at + 1 == words.len) return error.NoValue;
                at += 1;
                try given.set(word[2..], words[at]);
            }
        }
        if (given.count == 0) return error.NoVerb;
        return given;
    }

    fn set(given: *Arguments, name: []const u8, value: []const u8) Problem!void {
        const Name = enum { patience, wait, loss, duplicate, reorder, seed, window, bytes, repeat };
        const number = std.fmt.parseInt(u64, value, 10) catch return error.BadValue;
        switch (std.meta.stringToEnum(Name, name) orelse return error.UnknownOption) {
            .patience => given.patience = try within(number, 1, 86_400) * 1_000_000,
            .wait => given.wait = try within(number, 1, 86_400) * 1_000_000,
            .loss => given.faults.loss = @intCast(try within(number, 0, 100)),
            .duplicate => given.faults.duplicate = @intCast(try within(number, 0, 100)),
            .reorder => given.faults.reorder = @intCast(try within(number, 0, 100)),
            .seed => given.faults.seed = number,
            .window => given.window = try within(number, 1, max_window),
            .bytes => given.bytes = try within(number, 0, 1 << 30),
            .repeat => given.repeat = try within(number, 1, 1 << 30),
        }
    }

    fn within(number: u64, low: u64, high: u64) Problem!u64 {
        return if (number < low or number > high) error.BadValue else number;
    }
};

pub fn explain(problem: Problem) []const u8 {
    return switch (problem) {
        error.NoVerb => "say what to do",
        error.TooManyWords => "too many words",
        error.UnknownOption => "no such option",
        error.NoValue => "an option lacks its value",
        error.BadValue => "an option's value is no number, or out of its range",
    };
}

test "words and options in any order, nothing that is not understood" {
    const given = try Arguments.read(&.{ "send", "--loss", "5", "127.0.0.1", "--quiet", "1", "f" });
    try std.testing.expectEqual(@as(usize, 4), given.count);
    try std.testing.expectEqual(@as(u32, 5), given.faults.loss);
    try std.testing.expect(given.quiet);
    const cases = [_]struct { Problem, []const [:0]const u8 }{
        .{ error.NoVerb, &.{"--quiet"} },           .{ error.TooManyWords, &.{ "a", "b", "c", "d", "e" } },
        .{ error.UnknownOption, &.{ "a", "--x", "1" } }, .{ error.NoValue, &.{ "a", "--loss" } },
        .{ error.BadValue, &.{ "a", "--loss", "101" } }, .{ error.BadValue, &.{ "a", "--seed", "-1" } },
    };
    for (cases) |case| try std.testing.expectError(case[0], Arguments.read(case[1]));
}
