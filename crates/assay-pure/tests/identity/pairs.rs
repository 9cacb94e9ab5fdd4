//! Sources of two functions `one` and `two`.

/// What every source starts with: `APART` keeps a function and its twin as they are, `FILLER` puts code between them.
const HEADER: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone, no_icf, no_reorder))
#endif
#ifdef __aarch64__
#define FILLER(name, bytes) APART __attribute__((used)) void name(void) { __asm__ volatile(".skip " #bytes " / 4 * 4, 0"); }
#else
#define FILLER(name, bytes) APART __attribute__((used)) void name(void) { __asm__ volatile(".skip " #bytes ", 0x90"); }
#endif
APART __attribute__((used)) uint64_t shared(uint64_t x) { __asm__("" : "+r"(x)); return x * 3; }
"#;

/// Two functions with these bodies, of `const uint8_t *data, size_t size, uint64_t x`, and code between them.
pub fn pair(before: &str, one: &str, between: &str, two: &str) -> String {
    let function = |name: &str, body: &str| {
        format!(
            "APART __attribute__((used)) uint64_t {name}(const uint8_t *data, size_t size, uint64_t x) {{ {body} }}\n"
        )
    };
    format!(
        "{HEADER}{before}\nFILLER(first, 37)\n{}FILLER(second, 90)\n{between}\n{}",
        function("one", one),
        function("two", two)
    )
}

/// The same body twice.
pub fn twins(body: &str) -> String {
    pair("", body, "", body)
}

/// A loop with a branch that is taken or not.
pub const LOOP: &str =
    "for (size_t i = 0; i < size; i++) { if (data[i] & 1) { x += shared(x); } else { x ^= i; } } return x;";

/// Text and other constants, and a function of the C library.
pub const TEXT: &str = "if (x > 3) { puts(\"a text of some length\"); } double half = (double)x * 0.37; \
                        return (uint64_t)half + strlen((const char *)data);";

/// A switch that becomes a jump table.
pub const SWITCH: &str = "for (size_t i = 0; i < size; i++) { switch (data[i]) { \
    case 0: x += shared(x); break; case 1: x ^= 0x55; break; case 2: x *= 7; break; case 3: x -= 9; break; \
    case 4: x += x >> 3; break; case 5: x = ~x; break; case 6: x = shared(x) ^ 3; break; case 7: return x; \
    case 9: x |= 1; break; case 10: x <<= 2; break; case 11: x >>= 1; break; default: x--; } } return x;";

/// Two switches, one after the other.
pub const SWITCHES: &str = "switch (x) { case 0: x = shared(4); break; case 1: x = shared(x) * 5; break; \
    case 2: puts(\"two\"); break; case 3: x = size * 3; break; case 4: x = size ^ 77; break; case 6: x = 8; break; } \
    switch (size) { case 1: return x + 1; case 2: return shared(x); case 3: puts(\"three\"); return x; \
    case 4: return x * x; case 5: return x / 3; case 8: return data[0]; } return x;";

/// A part that is hardly ever run, split off by gcc.
pub const COLD: &str = "for (size_t i = 0; i < size; i++) { if (__builtin_expect(data[i] == 200, 0)) { \
    puts(\"a rare thing\"); x = shared(x); puts(\"it was\"); x ^= shared(i); } x += data[i]; } return x;";

/// Calls itself in a way that stays a call.
pub fn recursion(own: &str) -> String {
    format!("if (size == 0) {{ return x; }} return x * {own}(data + 1, size - 1, x ^ *data) + 1;")
}
