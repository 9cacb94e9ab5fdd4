//! Functions that have no place in a hot loop, and those that never return, by name.

use assay_report::sites::names::short;
use wildmatch::WildMatch;

/// What a function is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionPurpose {
    /// It reads the environment.
    Environment,
    /// It reads a clock.
    Clock,
    /// It makes or writes text.
    Text,
    /// It draws random numbers.
    Random,
    /// It calls the system.
    System,
}

/// Names in C are whole; others are patterns over paths, since what a generic function is for is in its path.
const PURPOSES: [(FunctionPurpose, &[&str]); 5] = [
    (
        FunctionPurpose::Environment,
        &[
            "getenv",
            "secure_getenv",
            "__secure_getenv",
            "std::env::var*",
            "std::env::_var*",
            "posix.getenv*",
            "process.getEnv*",
            "process.hasEnvVar*",
        ],
    ),
    (
        FunctionPurpose::Clock,
        &[
            "clock_gettime",
            "__clock_gettime",
            "gettimeofday",
            "__gettimeofday",
            "time",
            "clock",
            "ftime",
            "timespec_get",
            "std::chrono::*::now",
            "std::time::Instant::now",
            "std::time::SystemTime::now",
            "time.nanoTimestamp",
            "time.microTimestamp",
            "time.milliTimestamp",
            "time.timestamp",
            "time.Instant.now",
            "time.Timer.*",
            "posix.clock_gettime",
            "os.linux.clock_gettime",
        ],
    ),
    (
        FunctionPurpose::Text,
        &[
            "printf",
            "fprintf",
            "dprintf",
            "vprintf",
            "vfprintf",
            "vdprintf",
            "sprintf",
            "snprintf",
            "vsprintf",
            "vsnprintf",
            "asprintf",
            "vasprintf",
            "__printf_chk",
            "__fprintf_chk",
            "__dprintf_chk",
            "__vprintf_chk",
            "__vfprintf_chk",
            "__sprintf_chk",
            "__snprintf_chk",
            "__vsnprintf_chk",
            "__vsprintf_chk",
            "puts",
            "fputs",
            "putchar",
            "putc",
            "fputc",
            "_IO_putc",
            "perror",
            "syslog",
            "__syslog_chk",
            "std::ostream::*",
            "std::basic_ostream*",
            "std::operator<<",
            "std::__ostream_insert",
            "std::io::stdio::_print",
            "std::io::stdio::_eprint",
            "std::io::stdio::print_to",
            "alloc::fmt::format*",
            "core::fmt::write",
            "debug.print*",
            "debug.dumpHex*",
            "fmt.format*",
            "fmt.bufPrint*",
            "fmt.allocPrint*",
            "log.*",
            "Io.Writer.print*",
            "io.Writer.print*",
        ],
    ),
    (
        FunctionPurpose::Random,
        &[
            "rand",
            "rand_r",
            "random",
            "random_r",
            "drand48",
            "erand48",
            "lrand48",
            "nrand48",
            "mrand48",
            "jrand48",
            "getrandom",
            "getentropy",
            "arc4random",
            "arc4random_buf",
            "arc4random_uniform",
            "RAND_bytes",
            "std::random_device::*",
            "std::mersenne_twister_engine::*",
            "std::linear_congruential_engine::*",
            "rand::*",
            "rand_core::*",
            "rand_chacha::*",
            "getrandom::*",
            "Random.*",
            "rand.*",
            "crypto.random*",
            "crypto.tlcsprng.*",
            "posix.getrandom",
            "os.linux.getrandom",
        ],
    ),
    (
        FunctionPurpose::System,
        &[
            "read",
            "write",
            "readv",
            "writev",
            "pread",
            "pwrite",
            "pread64",
            "pwrite64",
            "send",
            "sendto",
            "sendmsg",
            "sendmmsg",
            "recv",
            "recvfrom",
            "recvmsg",
            "recvmmsg",
            "open",
            "open64",
            "openat",
            "close",
            "lseek",
            "lseek64",
            "fsync",
            "fdatasync",
            "ioctl",
            "fcntl",
            "poll",
            "ppoll",
            "select",
            "epoll_wait",
            "mmap",
            "mmap64",
            "munmap",
            "madvise",
            "mprotect",
            "brk",
            "sbrk",
            "getpid",
            "getppid",
            "gettid",
            "sched_yield",
            "nanosleep",
            "clock_nanosleep",
            "usleep",
            "stat",
            "fstat",
            "syscall",
            "accept",
            "connect",
            "socket",
            "kill",
            "getcpu",
            "sched_getcpu",
            "getrusage",
        ],
    ),
];

fn fits(pattern: &str, name: &str) -> bool {
    if pattern.contains('*') { WildMatch::new(pattern).matches(name) } else { pattern == name }
}

/// What a function is for, if it is for one of these.
pub fn purpose(name: &str) -> Option<FunctionPurpose> {
    let bare = short(name);
    let known = PURPOSES.iter().find(|(_, names)| names.iter().any(|pattern| fits(pattern, &bare)));
    known.map(|(purpose, _)| *purpose)
}

/// Why a function never returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// An assertion failed.
    Assertion,
    /// A check that a language's build mode adds failed.
    Safety,
    /// The program gives up.
    Abort,
    /// Ordinary error handling, hardening by flags, or what a language always checks: no guard.
    Ordinary,
}

const ENDINGS: [(Ending, &[&str]); 4] = [
    (
        Ending::Ordinary,
        &[
            "exit",
            "_exit",
            "_Exit",
            "quick_exit",
            "err",
            "errx",
            "error",
            "pthread_exit",
            "longjmp",
            "siglongjmp",
            "__longjmp_chk",
            "__stack_chk_fail",
            "__fortify_fail",
            "__chk_fail",
            "__cxa_throw",
            "__cxa_rethrow",
            "__cxa_bad_cast",
            "__clang_call_terminate",
            "_Unwind_Resume",
            "std::terminate",
            "std::__throw_*",
            "core::panicking::panic_bounds_check",
            "core::slice::index::*",
            "core::str::slice_error_fail*",
            "core::option::unwrap_failed",
            "core::option::expect_failed",
            "core::result::unwrap_failed",
            "alloc::alloc::handle_alloc_error",
            "alloc::raw_vec::*",
            "core::panicking::panic_cannot_unwind",
            "core::panicking::panic_nounwind*",
            "core::panicking::panic_in_cleanup",
            "std::process::exit",
            "process.exit",
            "posix.exit",
            "os.linux.exit*",
        ],
    ),
    (
        Ending::Assertion,
        &[
            "__assert_fail",
            "__assert_perror_fail",
            "__assert",
            "__assert_rtn",
            "core::panicking::assert_failed*",
            "core::panicking::panic",
            "core::panicking::panic_fmt",
            "core::panicking::panic_explicit",
            "std::panicking::begin_panic*",
            "core::panicking::panic_display*",
            "core::panicking::unreachable_display*",
        ],
    ),
    (
        Ending::Safety,
        &[
            "core::panicking::panic_const::*",
            "core::panicking::panic_null_pointer_dereference*",
            "core::panicking::panic_misaligned_pointer_dereference*",
            "debug.FullPanic*",
            "debug.panic*",
            "debug.defaultPanic*",
            "builtin.default_panic*",
            "builtin.panic*",
            "debug.simple_panic*",
            "debug.no_panic*",
            "debug.assert*",
            "__ubsan_handle_*",
            "__asan_report_*",
            "__zig_*panic*",
            "posix.raise",
            "debug.reachedUnreachable*",
        ],
    ),
    (
        Ending::Abort,
        &["abort", "raise_abort", "std::process::abort", "process.abort", "posix.abort", "__builtin_trap"],
    ),
];

/// Whether a function never returns, and why.
pub fn ending(name: &str) -> Option<Ending> {
    let bare = short(name);
    // `debug.FullPanic((function 'defaultPanic')).integerOverflow`: parentheses are a part of the path in Zig.
    let is_it = |pattern: &&str| fits(pattern, &bare) || pattern.contains('*') && fits(pattern, name);
    ENDINGS.iter().find(|(_, names)| names.iter().any(is_it)).map(|(ending, _)| *ending)
}

/// Whether a source file belongs to a language's library or to the system, not to the program.
pub fn is_library(file: &str) -> bool {
    const BEGINNINGS: [&str; 3] = ["/usr/", "/rustc/", "./csu/"];
    const PARTS: [&str; 7] = [
        "/lib/std/",
        "/lib/compiler_rt",
        "/lib/zig/",
        "/ziglang/lib/",
        "/lib/libc/",
        "/rustlib/",
        "/.cargo/registry/",
    ];
    BEGINNINGS.iter().any(|beginning| file.starts_with(beginning)) && !file.starts_with("/usr/src/")
        || PARTS.iter().any(|part| file.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_whole_names_in_c_and_by_paths_elsewhere() {
        assert_eq!(purpose("getenv"), Some(FunctionPurpose::Environment));
        assert_eq!(purpose("std::env::var_os(core::x)"), Some(FunctionPurpose::Environment));
        assert_eq!(purpose("time.Timer.read"), Some(FunctionPurpose::Clock));
        assert_eq!(purpose("time.sleep"), None);
        assert_eq!(purpose("std::chrono::_V2::steady_clock::now()"), Some(FunctionPurpose::Clock));
        assert_eq!(purpose("debug.print__anon_2741"), Some(FunctionPurpose::Text));
        assert_eq!(purpose("Random.float__anon_99"), Some(FunctionPurpose::Random));
        assert_eq!(
            [purpose("strand"), purpose("writer"), purpose("my_getenv"), purpose("random_mixed")],
            [None; 4]
        );
        assert_eq!(purpose("sendto"), Some(FunctionPurpose::System));
    }

    #[test]
    fn what_never_returns_is_told_from_ordinary_error_handling() {
        assert_eq!(ending("__assert_fail"), Some(Ending::Assertion));
        assert_eq!(
            ending("debug.FullPanic((function 'defaultPanic')).integerOverflow"),
            Some(Ending::Safety)
        );
        assert_eq!(ending("core::panicking::panic_bounds_check"), Some(Ending::Ordinary));
        assert_eq!(ending("core::panicking::panic_const::panic_const_add_overflow"), Some(Ending::Safety));
        assert_eq!(ending("abort"), Some(Ending::Abort));
        assert_eq!([ending("abort_transfer"), ending("main")], [None; 2]);
    }

    #[test]
    fn sources_of_libraries_are_known_by_their_folders() {
        for file in [
            "/usr/include/c++/12/bits/stl_vector.h",
            "/opt/zig/lib/std/mem.zig",
            "/rustc/abc/library/core/src/x.rs",
        ] {
            assert!(is_library(file), "{file}");
        }
        for file in ["../tiny/tiny.c", "own/lib/stdlib.c", "src/main.zig"] {
            assert!(!is_library(file), "{file}");
        }
    }
}
