//! The validators of utf8.zig as variants; the answer is whether the text is UTF-8.

const assay = @import("assay"); // `assay run` provides it
const utf8 = @import("utf8.zig");

comptime {
    assay.variant("std", utf8.standard);
    assay.variant("branches", utf8.branches);
    assay.variant("resumed", utf8.resumed);
    assay.variant("automaton", utf8.automaton);
    assay.variant("vectors", utf8.vectors);
}
