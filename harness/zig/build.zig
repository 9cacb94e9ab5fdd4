//! The package "assay" for a build.zig of your own:
//!
//!     zig fetch --save=assay ./assay      the folder that `assay harness zig assay` wrote
//!
//!     const assay = @import("assay");     in build.zig
//!     assay.addTo(b, exe);
//!
//!     pub const main = assay.main;        in the program, beside its variants

const std = @import("std");

/// Gives a program the module "assay", and each of its functions a section of its own, so that it can be placed.
pub fn addTo(b: *std.Build, program: *std.Build.Step.Compile) void {
    const own = b.dependency("assay", .{});
    const module = program.root_module;
    module.addImport("assay", own.module("assay"));
    module.addIncludePath(own.path("."));
    module.addCSourceFile(.{ .file = own.path("assay.c"), .flags = &.{ "-O2", "-fno-sanitize=undefined" } });
    module.link_libc = true;
    program.link_function_sections = true;
    // zig's own code generator and linker, which Debug would take, know no such sections.
    program.use_llvm = true;
    program.use_lld = true;
}

pub fn build(b: *std.Build) void {
    _ = b.addModule("assay", .{ .root_source_file = b.path("assay.zig") });
}
