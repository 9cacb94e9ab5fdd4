//! The root of a program that `assay run` builds from a file, which is the module "program".
//!
//! A panic prints its message and no trace: the code that prints traces takes zig twenty seconds to compile. A program that
//! declares `panic` or `std_options` keeps its own.

const std = @import("std");
const program = @import("program");

pub const panic = if (@hasDecl(program, "panic")) program.panic else std.debug.simple_panic;
pub const std_options: std.Options = if (@hasDecl(program, "std_options")) program.std_options else .{};

comptime {
    _ = program;
}
