test {
    _ = @import("stage.zig");
    _ = @import("checksum.zig");
    _ = @import("timer.zig");
    _ = @import("arguments.zig");
    _ = @import("packet.zig");
    _ = @import("report.zig");
    _ = @import("bodies.zig");
    _ = @import("shim.zig");
    _ = @import("role_tests.zig");
    _ = @import("transfer_tests.zig");
    _ = @import("fuzz.zig");
}
