//! assay.zig: what a Zig benchmark imports to be measured by assay. Zig 0.15 to 0.17 (tried with 0.15.2, 0.16.0, 0.17.1).
//!
//!     const assay = @import("assay");
//!
//!     fn sum(data: []const u8) u64 { ...; return total; }
//!
//!     comptime {
//!         assay.variant("sum", sum);
//!     }
//!
//! A variant goes from an input's bytes to an answer; variants of one program must give the same answer. Instead of bytes it may
//! take a slice of elements, `[]const f32`. An answer is a number, a bool, an enum, or an optional, array or struct of these.
//! A variant may return an error union: an error ends the program and is told.
//!
//!     assay.variant("name", run)                           fn run(data: []const u8) Answer
//!     assay.variantIf("name", run, condition, "reason")    fn condition() bool, asked once, at run time
//!     assay.prepared("name", prepare, run, release)        fn prepare(data: []const u8) State
//!                                                          fn run(state: *const State) Answer, fn release(state: *State) void
//!     assay.fresh("name", make, run, drop)                 fn make(data: []const u8) State
//!                                                          fn run(state: *State) Answer, fn drop(state: *State) void
//!     assay.input(data, "table")                           a second input that the experiment gives beside the one of `data`
//!     assay.reads(slice)                                   memory that variants read beside their input, cold in cold states
//!
//! `release` and `drop` may be null. Of prepared and fresh variants only `run` is timed. A fresh variant gets a state of its own
//! for every call and may change it; the states of one sample exist at once, in at most 64 MiB unless the experiment says more.
//! `std.heap.c_allocator` is at hand, as the program links the C library.
//!
//! `assay run` builds files that the experiment names: zig = ["bench.zig"]. In a build.zig of your own, `assay.addTo(b, exe)`
//! does the same (see this package's build.zig); the program then has `pub const main = assay.main;`.
//! What times and talks to the lab is C, harness/assay.h: one implementation for all languages (assay.c beside this file).

const std = @import("std");

/// Registers a variant: from the bytes of an input, or a slice of elements, to an answer.
pub fn variant(comptime name: [:0]const u8, comptime run: anytype) void {
    register(name, .call, Call(name, run), null, "");
}

/// As `variant`, for code that not every processor can run: where `condition` is false it is skipped, with the reason.
pub fn variantIf(
    comptime name: [:0]const u8,
    comptime run: anytype,
    comptime condition: fn () bool,
    comptime reason: [:0]const u8,
) void {
    const Asked = struct {
        fn available() callconv(.c) c_int {
            return @intFromBool(condition());
        }
    };
    register(name, .call, Call(name, run), &Asked.available, reason);
}

/// Registers a variant whose input is prepared once, outside of what is timed.
pub fn prepared(
    comptime name: [:0]const u8,
    comptime prepare: anytype,
    comptime run: anytype,
    comptime release: anytype,
) void {
    register(name, .prepared, Stateful(name, prepare, run, release), null, "");
}

/// Registers a variant that gets a state of its own for every call and may change it.
pub fn fresh(
    comptime name: [:0]const u8,
    comptime make: anytype,
    comptime run: anytype,
    comptime drop: anytype,
) void {
    register(name, .fresh, Stateful(name, make, run, drop), null, "");
}

/// What the experiment gives beside the input that `data` is of: `with = { table = "..." }`.
pub fn input(data: []const u8, comptime name: [:0]const u8) []const u8 {
    var size: usize = 0;
    const found = assay_zig_input(data.ptr, name.ptr, &size);
    return found[0..size];
}

/// Declares memory that variants read beside their input (a table, an index): states with cold data make it cold too.
pub fn reads(slice: anytype) void {
    const bytes = std.mem.sliceAsBytes(slice);
    assay_zig_reads(bytes.ptr, bytes.len);
}

/// The program's main, where zig links it: `pub const main = assay.main;`.
pub fn main() u8 {
    return @truncate(@as(c_uint, @bitCast(assay_zig_main(@intCast(std.os.argv.len), std.os.argv.ptr))));
}

// ---- What crosses over to C --------------------------------------------------------------------------------------------

const Kind = enum(c_int) { call, prepared, fresh };
const Make = fn ([*]const u8, usize) callconv(.c) *anyopaque;
const Run = fn (*anyopaque) callconv(.c) u64;
const Drop = fn (*anyopaque) callconv(.c) void;

extern fn assay_zig_variant(
    name: [*:0]const u8,
    kind: Kind,
    call: ?*const fn ([*]const u8, usize) callconv(.c) u64,
    make: ?*const Make,
    run: ?*const Run,
    drop: ?*const Drop,
    available: ?*const fn () callconv(.c) c_int,
    reason: [*:0]const u8,
) void;
extern fn assay_zig_input(data: [*]const u8, name: [*:0]const u8, size: *usize) [*]const u8;
extern fn assay_zig_reads(memory: [*]const u8, bytes: usize) void;
extern fn assay_zig_main(argc: c_int, argv: [*][*:0]u8) c_int;
extern fn assay_zig_failed(name: [*:0]const u8, reason: [*:0]const u8) noreturn;

/// A constructor, as in C: each variant is told before main begins.
fn register(
    comptime name: [:0]const u8,
    comptime kind: Kind,
    comptime Parts: type,
    comptime available: ?*const fn () callconv(.c) c_int,
    comptime reason: [:0]const u8,
) void {
    const Constructor = struct {
        fn add() callconv(.c) void {
            if (kind == .call) {
                assay_zig_variant(name, kind, &Parts.call, null, null, null, available, reason);
            } else {
                assay_zig_variant(name, kind, null, &Parts.make, &Parts.run, &Parts.drop, available, reason);
            }
        }
        const entry: *const fn () callconv(.c) void = &add;
    };
    @export(&Constructor.entry, .{
        .name = "assay.register." ++ name,
        .section = ".init_array",
        .visibility = .hidden,
    });
    // So are they called in profiles and on the page, whatever was inlined into them.
    @export(if (kind == .call) &Parts.call else &Parts.run, .{ .name = "assay." ++ name, .visibility = .hidden });
}

/// No instruction, but a difference: LLVM would make one of two equal functions a jump to the other, which is then slower and
/// cannot be placed by itself.
inline fn keepApart(comptime name: []const u8) void {
    asm volatile ("# assay: " ++ name);
}

fn Call(comptime name: [:0]const u8, comptime function: anytype) type {
    checkTakesData(name, function, "a variant", "fn ([]const u8) u64");
    return struct {
        fn call(data: [*]const u8, size: usize) callconv(.c) u64 {
            keepApart(name);
            return bits(name, function(view(function, data[0..size])));
        }
    };
}

fn Stateful(
    comptime name: [:0]const u8,
    comptime maker: anytype,
    comptime runner: anytype,
    comptime dropper: anytype,
) type {
    checkTakesData(name, maker, "what makes a state", "fn ([]const u8) State");
    const Returned = @typeInfo(@TypeOf(maker)).@"fn".return_type.?;
    const State = switch (@typeInfo(Returned)) {
        .error_union => |of| of.payload,
        else => Returned,
    };
    checkTakesState(name, runner, State, "what is timed");
    if (@TypeOf(dropper) != @TypeOf(null)) checkTakesState(name, dropper, State, "what drops a state");
    return struct {
        fn make(data: [*]const u8, size: usize) callconv(.c) *anyopaque {
            const state = std.heap.c_allocator.create(State) catch assay_zig_failed(name, "OutOfMemory");
            state.* = unwrapped(name, maker(view(maker, data[0..size])));
            return @ptrCast(state);
        }
        fn run(state: *anyopaque) callconv(.c) u64 {
            keepApart(name);
            return bits(name, runner(@as(*State, @ptrCast(@alignCast(state)))));
        }
        fn drop(state: *anyopaque) callconv(.c) void {
            const own: *State = @ptrCast(@alignCast(state));
            if (@TypeOf(dropper) != @TypeOf(null)) dropper(own);
            std.heap.c_allocator.destroy(own);
        }
    };
}

// ---- Signatures --------------------------------------------------------------------------------------------------------

fn wrong(
    comptime name: []const u8,
    comptime function: anytype,
    comptime role: []const u8,
    comptime expected: []const u8,
) void {
    @compileError("assay: \"" ++ name ++ "\" is given " ++ @typeName(@TypeOf(function)) ++ "; " ++ role ++ " is " ++ expected);
}

fn checkTakesData(
    comptime name: []const u8,
    comptime function: anytype,
    comptime role: []const u8,
    comptime expected: []const u8,
) void {
    const told = expected ++ ", or takes a slice of const elements such as []const f32";
    if (@typeInfo(@TypeOf(function)) != .@"fn") return wrong(name, function, role, told);
    const Taken = Parameter(@TypeOf(function)) orelse return wrong(name, function, role, told);
    if (@typeInfo(@TypeOf(function)).@"fn".return_type == null) return wrong(name, function, role, told);
    const taken = @typeInfo(Taken);
    if (taken != .pointer or taken.pointer.size != .slice or !isConst(taken.pointer)) return wrong(name, function, role, told);
}

fn checkTakesState(comptime name: []const u8, comptime function: anytype, comptime State: type, comptime role: []const u8) void {
    const told = "a function of *" ++ @typeName(State) ++ " or *const " ++ @typeName(State);
    if (@typeInfo(@TypeOf(function)) != .@"fn") return wrong(name, function, role, told);
    const Taken = Parameter(@TypeOf(function)) orelse return wrong(name, function, role, told);
    if (@typeInfo(@TypeOf(function)).@"fn".return_type == null) return wrong(name, function, role, told);
    if (Taken != *State and Taken != *const State) return wrong(name, function, role, told);
}

/// The type of a function's only parameter; null if it has another number of them, or takes any type. Zig 0.17 lists types where
/// older ones list parameters.
fn Parameter(comptime Function: type) ?type {
    const info = @typeInfo(Function).@"fn";
    if (@hasField(@TypeOf(info), "params")) return if (info.params.len == 1) info.params[0].type else null;
    return if (info.param_types.len == 1) info.param_types[0] else null;
}

/// Zig 0.17 has a pointer's attributes in a struct of their own.
fn isConst(comptime pointer: anytype) bool {
    return if (@hasField(@TypeOf(pointer), "attrs")) pointer.attrs.@"const" else pointer.is_const;
}

/// A number in Zig 0.15, optional from 0.16 on.
fn alignment(comptime pointer: anytype) comptime_int {
    const own = if (@hasField(@TypeOf(pointer), "attrs")) pointer.attrs.@"align" else pointer.alignment;
    return @as(?usize, own) orelse @alignOf(pointer.child);
}

/// The bytes as the slice that a function takes; what is left of an element at the end is not in it.
inline fn view(comptime function: anytype, data: []const u8) Parameter(@TypeOf(function)).? {
    const slice = @typeInfo(Parameter(@TypeOf(function)).?).pointer;
    if (slice.child == u8) return data;
    const aligned: [*]align(alignment(slice)) const u8 = @alignCast(data.ptr);
    return std.mem.bytesAsSlice(slice.child, aligned[0 .. data.len - data.len % @sizeOf(slice.child)]);
}

fn Unwrapped(comptime T: type) type {
    return switch (@typeInfo(T)) {
        .error_union => |of| of.payload,
        else => T,
    };
}

inline fn unwrapped(comptime name: [:0]const u8, value: anytype) Unwrapped(@TypeOf(value)) {
    if (@typeInfo(@TypeOf(value)) != .error_union) return value;
    return value catch |failure| assay_zig_failed(name, @errorName(failure).ptr);
}

/// The number that stands for an answer: numbers are themselves, and equal answers of other types have equal numbers.
inline fn bits(comptime name: [:0]const u8, answer: anytype) u64 {
    const value = unwrapped(name, answer);
    const T = @TypeOf(value);
    switch (@typeInfo(T)) {
        .int => |int| {
            if (int.signedness == .unsigned) {
                return if (int.bits > 64) @as(u64, @truncate(value)) ^ @as(u64, @truncate(value >> 64)) else value;
            }
            if (int.bits <= 64) return @bitCast(@as(i64, value));
            return @as(u64, @bitCast(@as(i64, @truncate(value)) ^ @as(i64, @truncate(value >> 64))));
        },
        .float => |float| return switch (float.bits) {
            16 => @as(u16, @bitCast(value)),
            32 => @as(u32, @bitCast(value)),
            else => @bitCast(@as(f64, @floatCast(value))),
        },
        .bool => return @intFromBool(value),
        .@"enum" => return bits(name, @intFromEnum(value)),
        .optional => return if (value) |some| bits(name, some) +% 1 else 0,
        .array => {
            var all: u64 = 0;
            for (value) |element| all = all *% 0x9e3779b97f4a7c15 +% bits(name, element) +% 1;
            return all;
        },
        .@"struct" => {
            const fields = comptime std.meta.fieldNames(T);
            var all: u64 = fields.len;
            inline for (fields) |field| all = all *% 0x9e3779b97f4a7c15 +% bits(name, @field(value, field));
            return all;
        },
        else => @compileError("assay: the answer of \"" ++ name ++ "\" is " ++ @typeName(T) ++
            "; an answer is a number, a bool, an enum, or an optional, array or struct of these. Return the hash of anything else"),
    }
}
