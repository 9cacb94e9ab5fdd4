/* assay.h: what a C11 or C++17 benchmark includes to be measured by assay.
 *
 *     #include <assay.h>
 *     static uint64_t decode(const uint8_t *data, size_t size) { ...; return digest; }
 *     ASSAY_VARIANT("decode", decode)
 *     ASSAY_MAIN()
 *
 * A variant is a function from an input's bytes to an answer; variants of one program must give the same answer.
 * Run alone, the program prints a small table (see --help). Run by the lab (`assay run`), which sets ASSAY_CHANNEL,
 * it serves the requests described in PROTOCOL.md and computes no statistics: measured programs only measure.
 *
 * Put the macros at file scope, without a semicolon, in any number of translation units, C and C++ mixed, and
 * ASSAY_MAIN() in exactly one. There is nothing to link and nothing to define.
 *
 *     ASSAY_VARIANT("name", fn)                              uint64_t fn(const uint8_t *data, size_t size)
 *     ASSAY_VARIANT_IF("name", fn, condition, "reason")      the condition is evaluated at run time, once
 *     ASSAY_VARIANT_PREPARED("name", prepare, fn, release)   void *prepare(const uint8_t *data, size_t size)
 *                                                            uint64_t fn(const void *prepared), void release(void *)
 *     ASSAY_VARIANT_FRESH("name", make, fn, drop)            void *make(const uint8_t *data, size_t size)
 *                                                            uint64_t fn(void *fresh), void drop(void *fresh)
 *     ASSAY_VARIANTS("name", fn, int, float, ...)            C++: fn<int>, fn<float>, ... as name/int, name/float
 *     ASSAY_LOOP("name", state, in) { ... while (assay_next(state)) { ... } assay_answer(state, value); }
 *     assay_use(x)       keeps x, and what it points to, alive: the compiler must compute it
 *     assay_clobber()    the compiler must believe that all memory was read and written
 *     assay_input(data, "table")   a second input that the experiment gives beside the one that `data` is of
 *     assay_reads(memory, bytes)   declares memory that variants read beside their input (a table, an index): states
 *                        with cold data make it cold too; 0 bytes take the declaration back
 *
 * In C++, fn may be a lambda without captures, a function object or an instance of a template, and may take a std::span, a
 * std::string_view or any such view of elements. What it returns is hashed: numbers, strings, containers, pairs, plain structs
 * without padding. `prepare` and `make` may return a value of any type, which fn then gets; leave out `release` and `drop`.
 *
 *     ASSAY_VARIANT("sum", [](std::span<const float> values) { return std::reduce(values.begin(), values.end()); })
 *     ASSAY_VARIANT_FRESH("sort", [](std::span<const int> in) { return std::vector(in.begin(), in.end()); },
 *                         [](std::vector<int> &values) { std::ranges::sort(values); return values[0]; })
 *
 * A fresh variant gets a state of its own for every call and may change it: sorting in place, inserting into a table,
 * freeing. Only `fn` is timed. The states of one sample are made ahead of it and dropped behind it, in at most
 * ASSAY_FRESH_BYTES of memory (64 MiB unless it is defined otherwise, or the experiment's fresh_memory says more).
 *
 * A variant's bytes are read-only. At least 64 readable zero bytes follow `data + size` of the whole input, so
 * decoders may read past its end.
 *
 * No function here is aligned to more than the compiler's default, and none is put into a section of its own: the lab
 * moves all code by 16, 32 and 48 bytes, and a larger alignment in any section would swallow that.
 */
#ifndef ASSAY_H
#define ASSAY_H

#if !defined(__linux__)
#error "assay.h works on Linux only: its clocks, mappings and context-switch counts are Linux's"
#endif
#if !defined(__GNUC__)
#error "assay.h needs gcc or clang (inline assembly, constructors)"
#endif
#if defined(__cplusplus)
#if __cplusplus < 201703L
#error "assay.h needs C++17 or later: compile with -std=c++17"
#endif
#elif !defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L
#error "assay.h needs C11 or later: compile with -std=c11"
#endif

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__cplusplus)
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#endif

/* -std=c11 hides what POSIX and Linux add to the C library. A header may not define _GNU_SOURCE: it would come too
 * late where a system header was included before, and change the meaning of the user's code where it came in time. */
#if !defined(__cplusplus)
#if !defined(CLOCK_MONOTONIC)
#define CLOCK_MONOTONIC 1
#define CLOCK_THREAD_CPUTIME_ID 3
extern int clock_gettime(int clock, struct timespec *now);
#endif
extern int unsetenv(const char *name);
extern int madvise(void *start, size_t bytes, int advice);
#endif
#if !defined(RUSAGE_THREAD)
#define RUSAGE_THREAD 1
#endif
#if !defined(MAP_ANONYMOUS)
#if defined(__mips__) || defined(__alpha__) || defined(__hppa__) || defined(__xtensa__)
#error "assay.h: compile with -D_DEFAULT_SOURCE (or -std=gnu11) on this architecture"
#endif
#define MAP_ANONYMOUS 0x20
#endif

#define ASSAY_PROTOCOL_VERSION 1
#define ASSAY_LINE_MAX 16384        /* bytes of the longest request line, newline included */
#define ASSAY_WINDOWS_MAX 16777216u /* windows of one input */
#define ASSAY_SAMPLES_MAX 1000000u  /* samples of one request, warm-up included */
#define ASSAY_PADDING_BYTES 64      /* readable zero bytes after the end of an input */
#define ASSAY_LISTED_MAX 16777216u  /* calls of one sample where they are listed beforehand */
#define ASSAY_COPIES_MAX 1048576u   /* copies of one input */
#define ASSAY_DECLARED_MAX 64       /* stretches of memory that a program declares */
#define ASSAY_BESIDE_MAX 64         /* second inputs, of all inputs together */
#define ASSAY_EVICT_BYTES 67108864u /* walked over to empty the caches, unless the lab says more */
#if !defined(ASSAY_FRESH_BYTES)
#define ASSAY_FRESH_BYTES 67108864u /* of all fresh states that exist at once, unless the lab says more */
#endif

#define ASSAY_INLINE static inline __attribute__((always_inline, unused))
#define ASSAY_OUTLINE __attribute__((noinline, unused)) static

/* ---- 1. What a program registers --------------------------------------------------------------------------------- */

struct assay_run; /* one timed run of a loop */

/* The input of a loop. */
struct assay_input {
    const uint8_t *data;
    size_t size;    /* bytes */
    uint64_t units; /* items of work in it, as the lab counts them */
};

/* Lives in registers: see assay_next. */
struct assay_state {
    struct assay_run *run;
    uint64_t left; /* iterations until the edge of the region, this one included */
};

enum assay_kind { ASSAY_CALL, ASSAY_PREPARED, ASSAY_STATE_LOOP, ASSAY_FRESH };

/* One variant, a static object made by the macros. */
struct assay_variant {
    const char *name;
    const char *file; /* with `serial`, the order of declaration, whatever the linker made of it */
    int serial;
    int rank; /* among those of one line */
    enum assay_kind kind;
    uint64_t (*call)(const uint8_t *data, size_t size);
    void *(*prepare)(const uint8_t *data, size_t size); /* of a fresh variant: what makes a call's state */
    uint64_t (*run)(const void *prepared);
    uint64_t (*run_fresh)(void *fresh);
    void (*release)(void *state); /* may be NULL */
    void (*loop)(struct assay_run *run, struct assay_input in);
    int (*available)(void); /* NULL: always */
    const char *reason;     /* why not, where not */
    size_t align;           /* of the elements that it sees its input as; 0: bytes */
    struct assay_variant *next;
};

/* One registry however many translation units include this header: the linker keeps one of the weak definitions. The
 * version is in the name, so that two versions of the header do not share what they read differently. */
#if defined(__cplusplus)
extern "C" {
#endif
__attribute__((weak, visibility("hidden"))) struct assay_variant *assay_registry_4;
/* Memory that variants read beside their input. */
struct assay_declared {
    size_t count; /* above ASSAY_DECLARED_MAX: some were lost */
    struct {
        const uint8_t *start;
        size_t bytes;
    } memory[ASSAY_DECLARED_MAX];
};
__attribute__((weak, visibility("hidden"))) struct assay_declared assay_declared_1;
/* Second inputs: those of the input that is worked on are looked up by its path. */
struct assay_beside {
    const char *path; /* of the input that is worked on; NULL: none */
    size_t count;
    struct {
        const char *of; /* the path that it is beside; NULL: the place is free */
        char name[64];
        uint8_t *map;
        size_t size, mapped_bytes;
    } known[ASSAY_BESIDE_MAX];
};
__attribute__((weak, visibility("hidden"))) struct assay_beside assay_beside_1;
/* 1 while answers are proven: then C++ hashes containers to their last element. In a timed region it does not, or hashing
 * would be timed. */
__attribute__((weak, visibility("hidden"))) int assay_hashing_1;
/* The first byte of the program's image, defined by the linker: an entry is named by its distance from here. */
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));
#if defined(__cplusplus)
}
#endif

static inline void assay_register(struct assay_variant *variant)
{
    variant->next = assay_registry_4;
    assay_registry_4 = variant;
}

#define ASSAY_PASTE_(a, b) a##b
#define ASSAY_JOIN_(a, b) ASSAY_PASTE_(a, b)

/* A constructor rather than a linker section: .init_array survives --gc-sections, lld's start-stop-gc and relinking. */
#define ASSAY_REGISTER_(id, name, kind, call, prepare, run, run_fresh, release, loop, available, reason, align)          \
    static struct assay_variant ASSAY_JOIN_(assay_variant_, id) = {                                                      \
        name, __FILE__, id, 0, kind, call, prepare, run, run_fresh, release, loop, available, reason, align, NULL};      \
    __attribute__((constructor)) static void ASSAY_JOIN_(assay_register_, id)(void)                                      \
    {                                                                                                                    \
        assay_register(&ASSAY_JOIN_(assay_variant_, id));                                                                \
    }

#define ASSAY_AVAILABLE_(id, condition)                                                                                  \
    static int ASSAY_JOIN_(assay_available_, id)(void) { return (condition) ? 1 : 0; }

/* C takes a function of any type with a warning, and the call would read what is not there. C++ refuses it by itself. */
#if !defined(__cplusplus)
#define ASSAY_TYPED_(fn, type, says)                                                                                     \
    _Static_assert(_Generic((fn), type: 1, default: 0), "assay: " #fn " must be declared as " says);
#define ASSAY_TYPED_OR_NULL_(fn, type, says)                                                                             \
    _Static_assert(_Generic((fn), type: 1, void *: 1, int: 1, long: 1, default: 0),                                      \
                   "assay: " #fn " must be NULL, or declared as " says);

#define ASSAY_TYPED_CALL_(fn)                                                                                            \
    ASSAY_TYPED_(fn, uint64_t(*)(const uint8_t *, size_t),                                                               \
                 "uint64_t " #fn "(const uint8_t *data, size_t size)")

#define ASSAY_CALLED_(id, name, fn, available, reason)                                                                   \
    ASSAY_TYPED_CALL_(fn)                                                                                                \
    ASSAY_REGISTER_(id, name, ASSAY_CALL, fn, NULL, NULL, NULL, NULL, NULL, available, reason, 0)

#define ASSAY_TYPED_STATE_(make, drop)                                                                                   \
    ASSAY_TYPED_(make, void *(*)(const uint8_t *, size_t), "void *" #make "(const uint8_t *data, size_t size)")          \
    ASSAY_TYPED_OR_NULL_(drop, void (*)(void *), "void " #drop "(void *state)")

#define ASSAY_VARIANT_PREPARED_(id, name, prepare, fn, release)                                                          \
    ASSAY_TYPED_STATE_(prepare, release)                                                                                 \
    ASSAY_TYPED_(fn, uint64_t(*)(const void *), "uint64_t " #fn "(const void *state)")                                   \
    ASSAY_REGISTER_(id, name, ASSAY_PREPARED, NULL, prepare, fn, NULL, release, NULL, NULL, NULL, 0)

#define ASSAY_VARIANT_FRESH_(id, name, make, fn, drop)                                                                   \
    ASSAY_TYPED_STATE_(make, drop)                                                                                       \
    ASSAY_TYPED_(fn, uint64_t(*)(void *), "uint64_t " #fn "(void *state)")                                               \
    ASSAY_REGISTER_(id, name, ASSAY_FRESH, NULL, make, NULL, fn, drop, NULL, NULL, NULL, 0)
#endif

#define ASSAY_VARIANT_IF_(id, name, fn, condition, reason)                                                               \
    ASSAY_AVAILABLE_(id, condition)                                                                                      \
    ASSAY_CALLED_(id, name, (fn), ASSAY_JOIN_(assay_available_, id), reason)

/* The body is inlined into a function that owns the state by value and never lets its address escape. Only so can the
 * counter stay in a register across assay_use and assay_clobber, which tell the compiler that memory has changed. */
#define ASSAY_LOOP_(id, name, state, in)                                                                                 \
    ASSAY_INLINE void ASSAY_JOIN_(assay_body_, id)(struct assay_state *, struct assay_input);                            \
    static void ASSAY_JOIN_(assay_loop_, id)(struct assay_run * assay_run_, struct assay_input assay_in_)                \
    {                                                                                                                    \
        struct assay_state assay_state_ = {assay_run_, 1};                                                               \
        ASSAY_JOIN_(assay_body_, id)(&assay_state_, assay_in_);                                                          \
    }                                                                                                                    \
    ASSAY_REGISTER_(id, name, ASSAY_STATE_LOOP, NULL, NULL, NULL, NULL, NULL, ASSAY_JOIN_(assay_loop_, id), NULL, NULL, 0) \
    ASSAY_INLINE void ASSAY_JOIN_(assay_body_, id)(                                                                      \
        struct assay_state * state __attribute__((unused)), struct assay_input in __attribute__((unused)))

#if defined(__cplusplus)
/* A lambda's own commas are the macro's, too. */
#define ASSAY_VARIANT(name, ...) ASSAY_CALLED_(__COUNTER__, name, (__VA_ARGS__), NULL, NULL)
#define ASSAY_VARIANT_PREPARED(name, ...) ASSAY_STATEFUL_(__COUNTER__, name, ASSAY_PREPARED, __VA_ARGS__)
#define ASSAY_VARIANT_FRESH(name, ...) ASSAY_STATEFUL_(__COUNTER__, name, ASSAY_FRESH, __VA_ARGS__)
#define ASSAY_VARIANTS(name, fn, ...) ASSAY_VARIANTS_(__COUNTER__, name, fn, __VA_ARGS__)
#else
#define ASSAY_VARIANT(name, fn) ASSAY_CALLED_(__COUNTER__, name, fn, NULL, NULL)
#define ASSAY_VARIANT_PREPARED(name, prepare, fn, release)                                                               \
    ASSAY_VARIANT_PREPARED_(__COUNTER__, name, prepare, fn, release)
#define ASSAY_VARIANT_FRESH(name, make, fn, drop) ASSAY_VARIANT_FRESH_(__COUNTER__, name, make, fn, drop)
#endif
#define ASSAY_VARIANT_IF(name, fn, condition, reason) ASSAY_VARIANT_IF_(__COUNTER__, name, fn, condition, reason)
#define ASSAY_LOOP(name, state, in) ASSAY_LOOP_(__COUNTER__, name, state, in)

#define ASSAY_MAIN()                                                                                                     \
    int main(int argc, char **argv) { return assay_main(argc, argv); }

/* ---- 2. What a variant may call ---------------------------------------------------------------------------------- */

ASSAY_INLINE void assay_clobber(void) { __asm__ volatile("" : : : "memory"); }

/* A floating-point value stays in its own register file: moving it over would cost what the user did not write. */
#if defined(__x86_64__) || defined(__i386__)
#define ASSAY_FLOAT_REGISTER_ "x"
#elif defined(__aarch64__)
#define ASSAY_FLOAT_REGISTER_ "w"
#elif defined(__riscv_flen)
#define ASSAY_FLOAT_REGISTER_ "f"
#else
#define ASSAY_FLOAT_REGISTER_ "r"
#endif

#if defined(__cplusplus)
template <class T> ASSAY_INLINE void assay_use(const T &value)
{
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        __asm__ volatile("" : : ASSAY_FLOAT_REGISTER_(value) : "memory");
    } else if constexpr (std::is_function_v<T>) {
        __asm__ volatile("" : : "r"(&value) : "memory");
    } else if constexpr (std::is_scalar_v<T> && !std::is_floating_point_v<T> && sizeof(T) <= sizeof(void *)) {
        __asm__ volatile("" : : "r"(value) : "memory");
    } else {
        __asm__ volatile("" : : "m"(value) : "memory");
    }
}
#else
ASSAY_INLINE void assay_use_float_(float value) { __asm__ volatile("" : : ASSAY_FLOAT_REGISTER_(value) : "memory"); }
ASSAY_INLINE void assay_use_double_(double value) { __asm__ volatile("" : : ASSAY_FLOAT_REGISTER_(value) : "memory"); }
ASSAY_INLINE void assay_use_long_double_(long double value) { __asm__ volatile("" : : "m"(value) : "memory"); }
#define ASSAY_ZERO_UNLESS_(type, x) _Generic((x), type: (x), default: (type)0)
/* Exactly one branch is compiled into code. `_Generic` in the others keeps their argument of the right type. */
#define assay_use(x)                                                                                                     \
    do {                                                                                                                 \
        if (_Generic((x), float: 1, default: 0))                                                                         \
            assay_use_float_(ASSAY_ZERO_UNLESS_(float, x));                                                              \
        else if (_Generic((x), double: 1, default: 0))                                                                   \
            assay_use_double_(ASSAY_ZERO_UNLESS_(double, x));                                                            \
        else if (_Generic((x), long double: 1, default: 0))                                                              \
            assay_use_long_double_(ASSAY_ZERO_UNLESS_(long double, x));                                                  \
        else                                                                                                             \
            __asm__ volatile("" : : "r"(_Generic((x), long double: 0, default: (x))) : "memory");                        \
    } while (0)
#endif

/* Declares memory that variants read beside their input, in a constructor or in `prepare`. It must stay mapped. */
static inline void assay_reads(const void *memory, size_t bytes)
{
    struct assay_declared *declared = &assay_declared_1;
    size_t i;
    for (i = 0; i < declared->count && i < ASSAY_DECLARED_MAX; i++) {
        if (declared->memory[i].start == (const uint8_t *)memory) {
            declared->memory[i].bytes = bytes;
            return;
        }
    }
    if (declared->count < ASSAY_DECLARED_MAX) {
        declared->memory[declared->count].start = (const uint8_t *)memory;
        declared->memory[declared->count].bytes = bytes;
    }
    declared->count++;
}

static uint64_t assay_edge(struct assay_run *run);

/* True while the loop must go on. The first call starts the timed region and the last one ends it, both out of line;
 * in between it is one decrement and one jump. */
ASSAY_INLINE int assay_next(struct assay_state *state)
{
    __asm__ volatile(""); /* no instruction, but a loop around it cannot be counted out and dropped */
    if (__builtin_expect(--state->left != 0, 1)) {
        return 1;
    }
    state->left = assay_edge(state->run);
    if (state->left != 0) {
        return 1;
    }
    state->left = 1;
    return 0;
}

/* ---- 2b. C++: callables of any kind, views of elements, answers of any type ------------------------------------- */

#if defined(__cplusplus)
typedef uint64_t (*assay_call_fn)(const uint8_t *, size_t);

template <class T, class = void> struct assay_is_range : std::false_type {};
template <class T>
struct assay_is_range<T, std::void_t<decltype(std::declval<const T &>().begin() != std::declval<const T &>().end())>>
    : std::true_type {};
template <class T, class = void> struct assay_is_unordered : std::false_type {};
template <class T> struct assay_is_unordered<T, std::void_t<typename T::hasher>> : std::true_type {};
template <class T, class = void> struct assay_is_tuple : std::false_type {};
template <class T> struct assay_is_tuple<T, std::void_t<decltype(std::tuple_size<T>::value)>> : std::true_type {};
template <class T, class = void> struct assay_is_optional : std::false_type {};
template <class T>
struct assay_is_optional<T, std::void_t<decltype(std::declval<const T &>().has_value()), decltype(*std::declval<const T &>())>>
    : std::true_type {};
template <class T> inline constexpr bool assay_no_answer = false;

template <class T> uint64_t assay_hash(const T &value, bool whole);

template <class T, size_t... I> uint64_t assay_hash_parts(const T &value, bool whole, std::index_sequence<I...>)
{
    using std::get;
    uint64_t hash = sizeof...(I);
    ((hash = hash * UINT64_C(0x9e3779b97f4a7c15) + assay_hash(get<I>(value), whole)), ...);
    return hash;
}

/* An answer as a number: numbers are themselves, and equal answers of other types have equal hashes. A struct counts by its
 * bytes, so pointers in it by where they point to. */
template <class T> uint64_t assay_hash(const T &value, bool whole)
{
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        return static_cast<uint64_t>(value);
    } else if constexpr (std::is_same_v<T, float>) {
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    } else if constexpr (std::is_floating_point_v<T>) {
        double number = static_cast<double>(value);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        return bits;
    } else if constexpr (assay_is_range<T>::value) {
        uint64_t hash = 1;
        if (!whole) {
            return hash;
        }
        for (const auto &element : value) {
            uint64_t one = assay_hash(element, whole) + 1;
            if constexpr (assay_is_unordered<T>::value) {
                hash += (one ^ (one >> 29)) * UINT64_C(0x9e3779b97f4a7c15); /* in whatever order they come */
            } else {
                hash = hash * UINT64_C(0x9e3779b97f4a7c15) + one;
            }
        }
        return hash;
    } else if constexpr (assay_is_optional<T>::value) {
        return value.has_value() ? assay_hash(*value, whole) + 1 : 0;
    } else if constexpr (assay_is_tuple<T>::value) {
        return assay_hash_parts(value, whole, std::make_index_sequence<std::tuple_size<T>::value>());
    } else if constexpr (std::is_class_v<T> && std::has_unique_object_representations_v<T>) {
        uint64_t hash = 0;
        const uint8_t *bytes = reinterpret_cast<const uint8_t *>(&value);
        for (size_t i = 0; i < sizeof value; i++) {
            hash = hash * UINT64_C(0x9e3779b97f4a7c15) + bytes[i];
        }
        return hash;
    } else {
        static_assert(assay_no_answer<T>, "assay: a variant's answer is a number, a string, a container, an optional, a pair "
                                          "or tuple, or a struct without padding; return something else, or a hash of it");
        return 0;
    }
}

/* The number that stands for what a variant has returned. */
template <class T> ASSAY_INLINE uint64_t assay_bits(const T &value)
{
    if constexpr (!std::is_scalar_v<T>) {
        assay_use(value);
    }
    return assay_hash(value, assay_hashing_1 != 0);
}
ASSAY_INLINE uint64_t assay_bits(const uint64_t &value) { return value; }

/* What a callable of one argument takes; nothing that is a type where it takes more, or anything. */
template <class F, class = void> struct assay_takes { using type = void; };
template <class F> struct assay_takes<F, std::void_t<decltype(&F::operator())>> : assay_takes<decltype(&F::operator())> {};
template <class R, class A> struct assay_takes<R(A)> { using type = A; };
template <class R, class A> struct assay_takes<R(A) noexcept> { using type = A; };
template <class R, class A> struct assay_takes<R (*)(A)> { using type = A; };
template <class R, class A> struct assay_takes<R (*)(A) noexcept> { using type = A; };
template <class R, class C, class A> struct assay_takes<R (C::*)(A)> { using type = A; };
template <class R, class C, class A> struct assay_takes<R (C::*)(A) const> { using type = A; };
template <class R, class C, class A> struct assay_takes<R (C::*)(A) noexcept> { using type = A; };
template <class R, class C, class A> struct assay_takes<R (C::*)(A) const noexcept> { using type = A; };

template <class F> using assay_view_of = std::remove_cv_t<std::remove_reference_t<typename assay_takes<std::remove_cv_t<F>>::type>>;

/* Whether bytes can be seen as such: a view of plain elements. */
template <class V, class = void> struct assay_is_view : std::false_type {};
template <class V> struct assay_is_view<V, std::void_t<typename V::value_type>>
    : std::bool_constant<std::is_trivially_copyable_v<V> && std::is_trivially_copyable_v<typename V::value_type>> {};

/* Calls with the bytes, or with a view of them as elements: what is left of an element at the end is not in it. */
template <class F> ASSAY_INLINE decltype(auto) assay_invoke(F &fn, const uint8_t *data, size_t size)
{
    if constexpr (std::is_invocable_v<F &, const uint8_t *, size_t>) {
        return fn(data, size);
    } else if constexpr (assay_is_view<assay_view_of<F>>::value) {
        using view = assay_view_of<F>;
        using element = std::remove_cv_t<typename view::value_type>;
        return fn(view(reinterpret_cast<const element *>(data), size / sizeof(element)));
    } else {
        static_assert(assay_no_answer<F>, "assay: a variant takes (const uint8_t *data, size_t size), or one view of plain "
                                          "elements such as std::span<const T> or std::string_view");
        return 0;
    }
}

#define ASSAY_NO_ANSWER_                                                                                                 \
    "assay: a variant returns an answer (an element or a sum of the result will do): without one the compiler may remove its work"

/* One call, its answer as a number. */
template <class F> ASSAY_INLINE uint64_t assay_called(F &fn, const uint8_t *data, size_t size)
{
    static_assert(!std::is_void_v<decltype(assay_invoke(fn, data, size))>, ASSAY_NO_ANSWER_);
    return assay_bits(assay_invoke(fn, data, size));
}

/* A callable by value; of overloaded functions the one that takes the bytes. */
constexpr assay_call_fn assay_part(assay_call_fn fn) { return fn; }
template <class F> constexpr F assay_part(F fn) { return fn; }

/* A callable that is called where it lies: copying a function object would be timed. A pointer is a constant, so that the
 * compiler may inline what it points to; a function object may change itself. */
template <class F, bool = std::is_class_v<F>> struct assay_held {
    F callee;
};
template <class F> struct assay_held<F, true> {
    mutable F callee;
};
template <class F> constexpr assay_held<F> assay_hold(F fn) { return {std::move(fn)}; }

/* What the address of a callable's input must be a multiple of. */
template <class F> constexpr size_t assay_alignment(const assay_held<F> &)
{
    if constexpr (std::is_invocable_v<F &, const uint8_t *, size_t>) {
        return 1;
    } else if constexpr (assay_is_view<assay_view_of<F>>::value) {
        return alignof(typename assay_view_of<F>::value_type);
    } else {
        return 1;
    }
}

/* The function itself where it is of the type that is registered: so a variant is the function that the user wrote. */
template <class P, class F> constexpr P assay_pick(const assay_held<F> &held, P wrapped)
{
    if constexpr (std::is_pointer_v<F> && std::is_convertible_v<F, P>) {
        (void)wrapped;
        return held.callee;
    } else {
        (void)held;
        return wrapped;
    }
}

struct assay_nothing_to_do {};
template <class Make, class Run, class Drop> struct assay_parts_of {
    assay_held<Make> make;
    assay_held<Run> run;
    assay_held<Drop> drop;
};
template <class Make, class Run, class Drop = assay_nothing_to_do>
constexpr assay_parts_of<Make, Run, Drop> assay_parts(Make make, Run run, Drop drop = Drop())
{
    return {{std::move(make)}, {std::move(run)}, {std::move(drop)}};
}

template <class Make> ASSAY_INLINE void *assay_new_state(const assay_held<Make> &make, const uint8_t *data, size_t size)
{
    using state = std::decay_t<decltype(assay_invoke(make.callee, data, size))>;
    static_assert(!std::is_void_v<state>, "assay: what makes a state returns it, by value or as a pointer");
    if constexpr (std::is_pointer_v<state>) {
        return const_cast<void *>(static_cast<const void *>(assay_invoke(make.callee, data, size)));
    } else {
        return new state(assay_invoke(make.callee, data, size));
    }
}

/* What `make` returned, as `run` and `drop` get it. */
template <class Make> ASSAY_INLINE decltype(auto) assay_state_of(const assay_held<Make> &, void *state)
{
    using made = std::decay_t<decltype(assay_invoke(std::declval<Make &>(), nullptr, size_t()))>;
    if constexpr (std::is_pointer_v<made>) {
        return static_cast<made>(state);
    } else {
        return *static_cast<made *>(state);
    }
}

template <class Parts> ASSAY_INLINE uint64_t assay_run_state(const Parts &parts, void *state)
{
    using answer = decltype(parts.run.callee(assay_state_of(parts.make, state)));
    static_assert(!std::is_void_v<answer>, ASSAY_NO_ANSWER_);
    return assay_bits(parts.run.callee(assay_state_of(parts.make, state)));
}

template <class Parts> ASSAY_INLINE void assay_drop_state(const Parts &parts, void *state)
{
    using Drop = std::remove_cv_t<decltype(parts.drop.callee)>;
    using made = std::decay_t<decltype(assay_invoke(parts.make.callee, nullptr, size_t()))>;
    if constexpr (std::is_invocable_v<Drop &, decltype(assay_state_of(parts.make, state))>) {
        parts.drop.callee(assay_state_of(parts.make, state));
    } else {
        static_assert(std::is_same_v<Drop, assay_nothing_to_do> || std::is_arithmetic_v<Drop> || std::is_null_pointer_v<Drop>,
                      "assay: what drops a state must take what makes it returns");
    }
    if constexpr (!std::is_pointer_v<made>) {
        delete static_cast<made *>(state);
    }
}

/* Whether a state that is a pointer is left to itself without a word: a fresh one would leak at every call. */
template <class Make, class Run, class Drop>
std::bool_constant<std::is_pointer_v<std::decay_t<decltype(assay_invoke(std::declval<Make &>(), nullptr, size_t()))>> &&
                   std::is_same_v<Drop, assay_nothing_to_do>>
assay_leaking(const assay_parts_of<Make, Run, Drop> &);

#define ASSAY_CALLED_(id, name, fn, available, reason)                                                                   \
    static const auto ASSAY_JOIN_(assay_fn_, id) = assay_hold(assay_part fn);                                            \
    static uint64_t ASSAY_JOIN_(assay_call_, id)(const uint8_t *assay_data_, size_t assay_size_)                         \
    {                                                                                                                    \
        return assay_called(ASSAY_JOIN_(assay_fn_, id).callee, assay_data_, assay_size_);                                \
    }                                                                                                                    \
    ASSAY_REGISTER_(id, name, ASSAY_CALL,                                                                                \
                    assay_pick<assay_call_fn>(ASSAY_JOIN_(assay_fn_, id), &ASSAY_JOIN_(assay_call_, id)), NULL, NULL, NULL, \
                    NULL, NULL, available, reason, assay_alignment(ASSAY_JOIN_(assay_fn_, id)))

#define ASSAY_STATEFUL_(id, name, kind, ...)                                                                             \
    static const auto ASSAY_JOIN_(assay_parts_, id) = assay_parts(__VA_ARGS__);                                          \
    static void *ASSAY_JOIN_(assay_make_, id)(const uint8_t *assay_data_, size_t assay_size_)                            \
    {                                                                                                                    \
        return assay_new_state(ASSAY_JOIN_(assay_parts_, id).make, assay_data_, assay_size_);                            \
    }                                                                                                                    \
    static uint64_t ASSAY_JOIN_(assay_run_, id)(void *assay_state_)                                                      \
    {                                                                                                                    \
        return assay_run_state(ASSAY_JOIN_(assay_parts_, id), assay_state_);                                             \
    }                                                                                                                    \
    static uint64_t ASSAY_JOIN_(assay_run_const_, id)(const void *assay_state_)                                          \
    {                                                                                                                    \
        return assay_run_state(ASSAY_JOIN_(assay_parts_, id), const_cast<void *>(assay_state_));                         \
    }                                                                                                                    \
    static void ASSAY_JOIN_(assay_drop_, id)(void *assay_state_)                                                         \
    {                                                                                                                    \
        assay_drop_state(ASSAY_JOIN_(assay_parts_, id), assay_state_);                                                   \
    }                                                                                                                    \
    static_assert(kind != ASSAY_FRESH || !decltype(assay_leaking(ASSAY_JOIN_(assay_parts_, id)))::value,                 \
                  "assay: a state that is a pointer needs a third function, which drops it (nullptr: there is nothing to drop)"); \
    ASSAY_REGISTER_(id, name, kind, NULL, ASSAY_JOIN_(assay_make_, id),                                                  \
                    assay_pick<uint64_t (*)(const void *)>(ASSAY_JOIN_(assay_parts_, id).run, &ASSAY_JOIN_(assay_run_const_, id)), \
                    assay_pick<uint64_t (*)(void *)>(ASSAY_JOIN_(assay_parts_, id).run, &ASSAY_JOIN_(assay_run_, id)),   \
                    ASSAY_JOIN_(assay_drop_, id), NULL, NULL, NULL, assay_alignment(ASSAY_JOIN_(assay_parts_, id).make))

/* A variant's name and the next type of a list, as the list is written: "sum/std::vector/int". Returns what follows. */
static inline const char *assay_label(char *label, size_t room, const char *name, const char *types)
{
    size_t used = strlen(name) < room - 2 ? strlen(name) : room - 2;
    int depth = 0;
    memcpy(label, name, used);
    label[used++] = '/';
    for (types += strspn(types, ", "); *types != '\0' && (*types != ',' || depth > 0); types++) {
        depth += (strchr("<([", *types) != NULL) - (strchr(">)]", *types) != NULL);
        if (*types != '>' && !(*types == ' ' && strchr(",<> ", types[-1]) != NULL) && used + 1 < room) {
            int kept = isalnum((unsigned char)*types) || strchr("_.:+-", *types) != NULL;
            label[used++] = *types == '<' ? '/' : *types == ',' ? '+' : kept ? *types : '_';
        }
    }
    label[used] = '\0';
    return types;
}

template <class List, class... T> static void assay_add_all(const char *types)
{
    int rank = 0;
    ((types = List::template add<T>(types, rank++)), ...);
}

#define ASSAY_VARIANTS_(id, title, fn, ...)                                                                              \
    namespace {                                                                                                          \
    struct ASSAY_JOIN_(assay_list_, id) {                                                                                \
        template <class T> static constexpr auto held = assay_hold(assay_part(fn<T>));                                   \
        template <class T> static uint64_t call(const uint8_t *data, size_t size)                                        \
        {                                                                                                                \
            return assay_called(held<T>.callee, data, size);                                                             \
        }                                                                                                                \
        template <class T> static const char *add(const char *types, int rank)                                           \
        {                                                                                                                \
            static char label[256];                                                                                      \
            static struct assay_variant variant;                                                                         \
            if (variant.name != NULL) {                                                                                  \
                char again[sizeof label];                                                                                \
                return assay_label(again, sizeof again, title, types); /* the same type under another name */            \
            }                                                                                                            \
            types = assay_label(label, sizeof label, title, types);                                                      \
            variant.name = label;                                                                                        \
            variant.file = __FILE__;                                                                                     \
            variant.serial = id;                                                                                         \
            variant.rank = rank;                                                                                         \
            variant.kind = ASSAY_CALL;                                                                                   \
            variant.call = assay_pick<assay_call_fn>(held<T>, &call<T>);                                                 \
            variant.align = assay_alignment(held<T>);                                                                    \
            assay_register(&variant);                                                                                    \
            return types;                                                                                                \
        }                                                                                                                \
    };                                                                                                                   \
    }                                                                                                                    \
    __attribute__((constructor)) static void ASSAY_JOIN_(assay_register_, id)(void)                                      \
    {                                                                                                                    \
        assay_add_all<ASSAY_JOIN_(assay_list_, id), __VA_ARGS__>(#__VA_ARGS__);                                          \
    }
#endif

/* ---- 3. Clocks and regions --------------------------------------------------------------------------------------- */

/* The fields are read one by one because the clock has just stored them one by one: a compiler that loads both at once
 * waits for the stores to leave the store buffer, 7 ns inside every region (seen with LLVM 22). */
ASSAY_INLINE uint64_t assay_clock_ns(int clock)
{
    struct timespec now;
    uint64_t seconds;
    clock_gettime(clock, &now);
    seconds = (uint64_t)(*(volatile __typeof__(now.tv_sec) *)&now.tv_sec);
    return seconds * 1000000000u + (uint64_t)(*(volatile __typeof__(now.tv_nsec) *)&now.tv_nsec);
}

ASSAY_INLINE uint64_t assay_wall_ns(void) { return assay_clock_ns(CLOCK_MONOTONIC); }

ASSAY_INLINE uint64_t assay_cpu_ns(void) { return assay_clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/* Involuntary context switches of this thread so far. */
ASSAY_INLINE uint64_t assay_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nivcsw : 0;
}

/* Is the sibling hardware thread busy? It may belong to another guest; then neither SMT nor stolen time shows it in here.
 * Dependent additions take a cycle each, shared core or not; independent ones fill the core's width and take longer on
 * a shared core. Jumps that are taken need the front end, which both threads use in turns: they take twice as long. The lab
 * makes the judgement; here are the times, nanoseconds. */
struct assay_pulse {
    uint64_t chain_ns; /* of 2048 additions, each on the last one's sum; 0: not known here */
    uint64_t wide_ns;  /* of 12800 additions to 8 sums */
    uint64_t jumps_ns; /* of 1024 taken jumps */
};

#if defined(__x86_64__)
#define ASSAY_CHAIN_ "add %%rdx, %%rax\n\t"
#define ASSAY_WIDE_                                                                                                      \
    "add %%rdx, %%rax\n\tadd %%rdx, %%rcx\n\tadd %%rdx, %%rsi\n\tadd %%rdx, %%rdi\n\t"                                   \
    "add %%rdx, %%r8\n\tadd %%rdx, %%r9\n\tadd %%rdx, %%r10\n\tadd %%rdx, %%r11\n\t"
#define ASSAY_AGAIN_ "dec %0\n\tjnz 1b"
#define ASSAY_JUMP_ "jmp 2f\n\t.skip 30, 0x90\n2:\n\t"
#define ASSAY_SUMS_ "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory"
#elif defined(__aarch64__)
#define ASSAY_CHAIN_ "add x0, x0, x8\n\t"
#define ASSAY_WIDE_                                                                                                      \
    "add x0, x0, x8\n\tadd x1, x1, x8\n\tadd x2, x2, x8\n\tadd x3, x3, x8\n\t"                                           \
    "add x4, x4, x8\n\tadd x5, x5, x8\n\tadd x6, x6, x8\n\tadd x7, x7, x8\n\t"
#define ASSAY_AGAIN_ "subs %0, %0, #1\n\tb.ne 1b"
#define ASSAY_JUMP_ "b 2f\n\t.rept 7\n\tnop\n\t.endr\n2:\n\t"
#define ASSAY_SUMS_ "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "cc", "memory"
#endif

#if defined(ASSAY_SUMS_)
ASSAY_OUTLINE void assay_chain(uint64_t rows)
{
    __asm__ volatile("1:\n\t.rept 64\n\t" ASSAY_CHAIN_ ".endr\n\t" ASSAY_AGAIN_ : "+r"(rows) : : ASSAY_SUMS_);
}

/* Long rows: where the loop's jump lies in its line must not show. */
ASSAY_OUTLINE void assay_wide(uint64_t rows)
{
    __asm__ volatile("1:\n\t.rept 64\n\t" ASSAY_WIDE_ ".endr\n\t" ASSAY_AGAIN_ : "+r"(rows) : : ASSAY_SUMS_);
}

/* One jump to each 32 bytes: none of them shares a fetch with the next, wherever they lie. */
ASSAY_OUTLINE void assay_jumps(uint64_t rows)
{
    __asm__ volatile("1:\n\t.rept 64\n\t" ASSAY_JUMP_ ".endr\n\t" ASSAY_AGAIN_ : "+r"(rows) : : "cc", "memory");
}

ASSAY_OUTLINE struct assay_pulse assay_take_pulse(void)
{
    struct assay_pulse pulse;
    uint64_t begun, between, summed;
    /* Whatever was measured may have taken this code out of the caches. */
    assay_chain(1);
    assay_wide(1);
    assay_jumps(1);
    (void)assay_wall_ns();
    begun = assay_wall_ns();
    assay_chain(32);
    between = assay_wall_ns();
    assay_wide(25);
    summed = assay_wall_ns();
    assay_jumps(16);
    pulse.jumps_ns = assay_wall_ns() - summed;
    pulse.wide_ns = summed - between;
    pulse.chain_ns = between - begun;
    return pulse;
}
#else
static inline struct assay_pulse assay_take_pulse(void)
{
    struct assay_pulse unknown = {0, 0, 0};
    return unknown;
}
#endif

/* One timed region: while open the readings at its start, once closed the differences. */
struct assay_region {
    uint64_t wall_ns;
    uint64_t cpu_ns;
    uint64_t switches;
};

/* The wall clock is read innermost, because it is the cheap one: what the others cost is not inside it. */
ASSAY_INLINE void assay_region_open(struct assay_region *region)
{
    region->switches = assay_switches();
    region->cpu_ns = assay_cpu_ns();
    region->wall_ns = assay_wall_ns();
    assay_clobber();
}

ASSAY_INLINE void assay_region_close(struct assay_region *region)
{
    uint64_t wall_ns, cpu_ns;
    assay_clobber();
    wall_ns = assay_wall_ns();
    cpu_ns = assay_cpu_ns();
    region->switches = assay_switches() - region->switches;
    region->wall_ns = wall_ns - region->wall_ns;
    region->cpu_ns = cpu_ns - region->cpu_ns;
}

/* What a tracer sees of us: a call of the system that Linux answers with EINVAL, at the edges of each traced pass. Made
 * without the C library, so that next to no instruction is between the mark and the work. */
#define ASSAY_MARK 0x61737379 /* "assy", no option of prctl */

ASSAY_INLINE void assay_mark(unsigned long what, unsigned long variant, unsigned long input, unsigned long pass)
{
#if defined(__x86_64__) && !defined(__ILP32__)
    unsigned long number = 157; /* prctl */
    register unsigned long fourth __asm__("r10") = input;
    register unsigned long fifth __asm__("r8") = pass;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"((unsigned long)ASSAY_MARK), "S"(what), "d"(variant), "r"(fourth), "r"(fifth)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__) && !defined(__ILP32__)
    register unsigned long number __asm__("x8") = 167; /* prctl */
    register unsigned long first __asm__("x0") = ASSAY_MARK;
    register unsigned long second __asm__("x1") = what;
    register unsigned long third __asm__("x2") = variant;
    register unsigned long fourth __asm__("x3") = input;
    register unsigned long fifth __asm__("x4") = pass;
    __asm__ volatile("svc #0"
                     : "+r"(first)
                     : "r"(number), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
                     : "memory");
#else
    prctl(ASSAY_MARK, what, variant, input, pass);
#endif
}

/* What counts allocations, where the lab has loaded that beside the program: the variable ASSAY_HEAP holds its address. */
struct assay_heap {
    uint64_t allocations; /* so far */
    uint64_t allocated;   /* their bytes */
    int64_t live;         /* bytes that are allocated now */
    int64_t peak;         /* the most since this was last set */
};

/* What passes allocated. */
struct assay_allocated {
    volatile struct assay_heap *heap;
    uint64_t allocations, allocated, peak;
    uint64_t from_allocations, from_allocated;
    int64_t from_live;
};

/* A pass over an input of a variant, by the numbers that the lab knows them by. */
struct assay_pass {
    unsigned long variant;
    unsigned long input;
    unsigned long pass;
    struct assay_allocated *allocated; /* NULL: nothing counts it */
};

ASSAY_INLINE void assay_pass_open(const struct assay_pass *pass)
{
    struct assay_allocated *allocated = pass->allocated;
    if (allocated != NULL) {
        allocated->from_allocations = allocated->heap->allocations;
        allocated->from_allocated = allocated->heap->allocated;
        allocated->from_live = allocated->heap->live;
        allocated->heap->peak = allocated->from_live;
    }
    assay_mark(1, pass->variant, pass->input, pass->pass);
    assay_clobber();
}

ASSAY_INLINE void assay_pass_close(const struct assay_pass *pass)
{
    struct assay_allocated *allocated = pass->allocated;
    assay_clobber();
    assay_mark(2, 0, 0, 0);
    if (allocated != NULL) {
        uint64_t peak = (uint64_t)(allocated->heap->peak - allocated->from_live);
        allocated->allocations += allocated->heap->allocations - allocated->from_allocations;
        allocated->allocated += allocated->heap->allocated - allocated->from_allocated;
        allocated->peak = peak > allocated->peak ? peak : allocated->peak;
    }
}

enum assay_phase { ASSAY_BEFORE, ASSAY_INSIDE, ASSAY_MARKED, ASSAY_AFTER };

struct assay_run {
    uint64_t iterations;
    uint64_t answer;
    struct assay_region region;
    enum assay_phase phase;
    const struct assay_pass *traced; /* NULL: its region is timed, else it is marked */
};

/* The edges of a loop's region: how many iterations follow. */
ASSAY_OUTLINE uint64_t assay_edge(struct assay_run *run)
{
    if (run->phase == ASSAY_INSIDE) {
        assay_region_close(&run->region);
        run->phase = ASSAY_AFTER;
        return 0;
    }
    if (run->phase == ASSAY_MARKED) {
        assay_pass_close(run->traced);
        run->phase = ASSAY_AFTER;
        return 0;
    }
    if (run->phase == ASSAY_AFTER) {
        return 0;
    }
    if (run->traced != NULL) {
        run->phase = ASSAY_MARKED;
        assay_pass_open(run->traced);
        return run->iterations;
    }
    run->phase = ASSAY_INSIDE;
    assay_region_open(&run->region);
    return run->iterations;
}

ASSAY_INLINE void assay_answer(struct assay_state *state, uint64_t answer) { state->run->answer = answer; }

/* Combines answers in order, so that another order is noticed. A rotation instead of the product would let the same answer
 * given 128 times cancel itself, whatever it is. */
ASSAY_INLINE uint64_t assay_combine(uint64_t combined, uint64_t answer)
{
    return combined * UINT64_C(0x9e3779b97f4a7c15) + answer;
}

/* ---- 4. Inputs --------------------------------------------------------------------------------------------------- */

struct assay_window {
    const uint8_t *data;
    size_t size;
    uint64_t units;
};

/* What `prepare` made of an input for one variant; of a fresh one, what one state costs, and what the program had of its
 * own before there was any: what an allocator keeps of dropped states counts as theirs. */
struct assay_prepared {
    void *state;
    int made;
    uint64_t state_bytes, own_bytes, others_made;
};

struct assay_loaded {
    uint64_t id;
    uint8_t *map; /* NULL: nothing is loaded */
    size_t mapped_bytes;
    size_t size;
    uint64_t units;
    struct assay_window *windows;
    size_t window_count;
    struct assay_prepared *prepared; /* one per variant */
    char *path; /* NULL: made by the program itself */
};

struct assay_program {
    struct assay_variant **variants; /* in the order of declaration */
    size_t variant_count;
    struct assay_loaded *inputs;
    size_t input_count;
};

/* `size` bytes and the padding behind them, rounded up to pages; anonymous, so all zero. NULL where memory is out. */
static inline uint8_t *assay_reserve(size_t size, int protection, size_t *mapped_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map;
    if (size > SIZE_MAX - ASSAY_PADDING_BYTES - page) {
        return NULL;
    }
    *mapped_bytes = (size + ASSAY_PADDING_BYTES + page - 1) / page * page;
    map = mmap(NULL, *mapped_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : (uint8_t *)map;
}

/* Keeps copies of an input on pages of the size that its file has; otherwise they would differ in that, too. */
static inline void assay_small_pages(void *start, size_t bytes) { (void)madvise(start, bytes, 15 /* MADV_NOHUGEPAGE */); }

/* Maps a file over reserved pages; what is behind its end, to the end of its last page and beyond, reads as zero.
 * Returns NULL and a reason in `why` where that fails. `*size` is what the file must have, or SIZE_MAX: any. */
static inline uint8_t *assay_map_file(const char *path, size_t *size, size_t *mapped_bytes, char *why, size_t why_bytes)
{
    struct stat facts;
    uint8_t *map = NULL;
    int file = open(path, O_RDONLY);
    if (file < 0) {
        snprintf(why, why_bytes, "cannot open %.300s: %s", path, strerror(errno));
        return NULL;
    }
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        snprintf(why, why_bytes, "%.300s is not a regular file", path);
    } else if (*size != SIZE_MAX && (uint64_t)facts.st_size != (uint64_t)*size) {
        snprintf(why, why_bytes, "%.300s has %lld bytes, not %llu", path, (long long)facts.st_size, (unsigned long long)*size);
    } else {
        *size = (size_t)facts.st_size;
        map = assay_reserve(*size, PROT_READ, mapped_bytes);
        if (map == NULL) {
            snprintf(why, why_bytes, "no memory to map %llu bytes", (unsigned long long)*size);
        } else if (*size != 0 && mmap(map, *size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED) {
            snprintf(why, why_bytes, "cannot map %.300s: %s", path, strerror(errno));
            munmap(map, *mapped_bytes);
            map = NULL;
        }
    }
    close(file);
    return map;
}

/* C11 alone has no strdup. */
static inline char *assay_copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = (char *)malloc(bytes);
    return copy == NULL ? NULL : (char *)memcpy(copy, text, bytes);
}

/* What the experiment gives beside an input, under a name (`with = { table = "..." }`): the file PATH.NAME beside the input's
 * own. `data` is what the call got. Ask for it in `prepare` where calls are short: it costs a comparison of names. A name that
 * the experiment does not give ends the program. */
static inline struct assay_input assay_input(const void *data, const char *name)
{
    struct assay_beside *beside = &assay_beside_1;
    struct assay_input found = {NULL, 0, 0};
    char path[4200], why[512] = "";
    size_t i, page, free_place = ASSAY_BESIDE_MAX;
    (void)data;
    for (i = 0; i < beside->count; i++) {
        if (beside->known[i].of == NULL) {
            free_place = i;
        } else if (beside->known[i].of == beside->path && strcmp(beside->known[i].name, name) == 0) {
            found.data = beside->known[i].map;
            found.size = beside->known[i].size;
            return found;
        }
    }
    if (free_place == ASSAY_BESIDE_MAX && beside->count < ASSAY_BESIDE_MAX) {
        free_place = beside->count++;
    }
    if (beside->path == NULL) {
        snprintf(why, sizeof why, "there is no input file that it could be beside");
    } else if (free_place == ASSAY_BESIDE_MAX || strlen(name) >= sizeof beside->known[0].name) {
        snprintf(why, sizeof why, "there are too many, or the name is too long");
    } else {
        snprintf(path, sizeof path, "%.4000s.%.100s", beside->path, name);
        found.size = SIZE_MAX;
        found.data = assay_map_file(path, &found.size, &beside->known[free_place].mapped_bytes, why, sizeof why);
    }
    if (found.data == NULL) {
        fprintf(stderr, "assay_input: no second input \"%.100s\": %s. In the experiment: with = { %.100s = \"...\" }\n", name, why, name);
        exit(2);
    }
    page = (size_t)sysconf(_SC_PAGESIZE);
    for (i = 0; i < found.size; i += page) {
        assay_use(*(const volatile uint8_t *)(found.data + i));
    }
    beside->known[free_place].of = beside->path;
    snprintf(beside->known[free_place].name, sizeof beside->known[0].name, "%s", name);
    beside->known[free_place].map = (uint8_t *)(uintptr_t)found.data;
    beside->known[free_place].size = found.size;
    return found;
}

/* The input's second inputs go with it. */
static inline void assay_forget_beside(const char *path)
{
    struct assay_beside *beside = &assay_beside_1;
    size_t i;
    for (i = 0; path != NULL && i < beside->count; i++) {
        if (beside->known[i].of == path) {
            munmap(beside->known[i].map, beside->known[i].mapped_bytes);
            beside->known[i].of = NULL;
        }
    }
    if (beside->path == path) {
        beside->path = NULL;
    }
}

/* Touches every page, so that no sample pays for the first access. */
static inline void assay_touch(const struct assay_loaded *input)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), at;
    for (at = 0; at < input->mapped_bytes; at += page) {
        assay_use(*(const volatile uint8_t *)(input->map + at));
    }
}

static inline void assay_unload(struct assay_program *program, struct assay_loaded *input)
{
    size_t i;
    for (i = 0; input->prepared != NULL && i < program->variant_count; i++) {
        if (input->prepared[i].made && program->variants[i]->kind == ASSAY_PREPARED && program->variants[i]->release != NULL) {
            program->variants[i]->release(input->prepared[i].state);
        }
    }
    free(input->prepared);
    free(input->windows);
    assay_forget_beside(input->path);
    free(input->path);
    if (input->map != NULL) {
        munmap(input->map, input->mapped_bytes);
    }
    memset(input, 0, sizeof *input);
}

static inline struct assay_loaded *assay_find_input(struct assay_program *program, uint64_t id)
{
    size_t i;
    for (i = 0; i < program->input_count; i++) {
        if (program->inputs[i].id == id && program->inputs[i].map != NULL) {
            return &program->inputs[i];
        }
    }
    return NULL;
}

/* Takes over `loaded`, in place of an input of the same id. 0 where memory is out. */
static inline int assay_keep_input(struct assay_program *program, struct assay_loaded *loaded)
{
    struct assay_loaded *place = assay_find_input(program, loaded->id);
    if (place == NULL) {
        size_t bytes = (program->input_count + 1) * sizeof *place;
        struct assay_loaded *grown = (struct assay_loaded *)realloc(program->inputs, bytes);
        if (grown == NULL) {
            return 0;
        }
        program->inputs = grown;
        place = &grown[program->input_count++];
        memset(place, 0, sizeof *place);
    }
    loaded->prepared = (struct assay_prepared *)calloc(program->variant_count, sizeof *loaded->prepared);
    if (loaded->prepared == NULL) {
        return 0;
    }
    assay_unload(program, place);
    *place = *loaded;
    assay_touch(place);
    return 1;
}

/* ---- 5. Samples -------------------------------------------------------------------------------------------------- */

/* Calls on consecutive windows, wrapping; `*at` and `*combined` go on from one sample to the next. */
ASSAY_OUTLINE void assay_time_calls(uint64_t (*call)(const uint8_t *, size_t), const struct assay_loaded *input, size_t *at,
                                    uint64_t iterations, uint64_t *combined, struct assay_region *region)
{
    const struct assay_window *first = input->windows, *end = first + input->window_count, *window = first + *at;
    uint64_t answers = *combined;
    assay_region_open(region);
    while (iterations-- != 0) {
        answers = assay_combine(answers, call(window->data, window->size));
        if (++window == end) {
            window = first;
        }
    }
    assay_region_close(region);
    *combined = answers;
    *at = (size_t)(window - first);
}

ASSAY_OUTLINE void assay_time_prepared(uint64_t (*run)(const void *), const void *state, uint64_t iterations,
                                       uint64_t *combined, struct assay_region *region)
{
    uint64_t answers = *combined;
    assay_region_open(region);
    while (iterations-- != 0) {
        answers = assay_combine(answers, run(state));
    }
    assay_region_close(region);
    *combined = answers;
}

/* A call and its state, or its bytes. */
struct assay_listed {
    const uint8_t *data;
    size_t size;
    void *fresh;
};

/* A call of nothing that leaves its state as it is. */
ASSAY_OUTLINE uint64_t assay_nothing_of_fresh(void *fresh)
{
    (void)fresh;
    return 0;
}

/* Calls that each have a state of their own, made ahead of the region and dropped behind it. */
ASSAY_OUTLINE void assay_time_fresh(uint64_t (*run)(void *), const struct assay_listed *listed, uint64_t iterations,
                                    uint64_t *combined, struct assay_region *region)
{
    uint64_t answers = *combined;
    assay_region_open(region);
    for (; iterations-- != 0; listed++) {
        answers = assay_combine(answers, run(listed->fresh));
    }
    assay_region_close(region);
    *combined = answers;
}

/* One run of a loop. 0 where the loop did not go through all its iterations. */
ASSAY_OUTLINE int assay_time_loop(const struct assay_variant *variant, const struct assay_loaded *input,
                                  uint64_t iterations, uint64_t *answer, struct assay_region *region)
{
    struct assay_run run = {iterations, 0, {0, 0, 0}, ASSAY_BEFORE, NULL};
    struct assay_input in = {input->map, input->size, input->units};
    variant->loop(&run, in);
    *answer = run.answer;
    *region = run.region;
    return run.phase == ASSAY_AFTER;
}

/* The same walks between marks instead of clocks. A pass of no window is empty: it shows what the marks cost. */
ASSAY_OUTLINE void assay_trace_calls(uint64_t (*call)(const uint8_t *, size_t), const struct assay_loaded *input, size_t at,
                                     uint64_t windows, uint64_t *combined, const struct assay_pass *pass)
{
    const struct assay_window *first = input->windows, *end = first + input->window_count, *window = first + at;
    uint64_t answers = *combined;
    assay_pass_open(pass);
    while (windows-- != 0) {
        answers = assay_combine(answers, call(window->data, window->size));
        if (++window == end) {
            window = first;
        }
    }
    assay_pass_close(pass);
    *combined = answers;
}

ASSAY_OUTLINE void assay_trace_prepared(uint64_t (*run)(const void *), const void *state, uint64_t iterations,
                                        uint64_t *combined, const struct assay_pass *pass)
{
    uint64_t answers = *combined;
    assay_pass_open(pass);
    while (iterations-- != 0) {
        answers = assay_combine(answers, run(state));
    }
    assay_pass_close(pass);
    *combined = answers;
}

/* A stretch of a pass over fresh states: a pass goes on, between marks of its own, where all its states were too many. */
ASSAY_OUTLINE void assay_trace_fresh(uint64_t (*run)(void *), const struct assay_listed *listed, uint64_t calls,
                                     uint64_t *combined, const struct assay_pass *pass)
{
    uint64_t answers = *combined;
    assay_pass_open(pass);
    for (; calls-- != 0; listed++) {
        answers = assay_combine(answers, run(listed->fresh));
    }
    assay_pass_close(pass);
    *combined = answers;
}

ASSAY_OUTLINE int assay_trace_loop(const struct assay_variant *variant, const struct assay_loaded *input, uint64_t iterations,
                                   uint64_t *combined, const struct assay_pass *pass)
{
    struct assay_run run = {iterations, 0, {0, 0, 0}, ASSAY_BEFORE, pass};
    struct assay_input in = {input->map, input->size, input->units};
    if (iterations == 0) { /* a loop runs at least once */
        assay_pass_open(pass);
        assay_pass_close(pass);
        return 1;
    }
    variant->loop(&run, in);
    *combined = assay_combine(*combined, run.answer);
    return run.phase == ASSAY_AFTER;
}

/* What `prepare` made, made on the first request. */
/* How often this process took memory that is not of fresh states: what it had before there were any is then another. */
static uint64_t assay_others_made;

static inline const void *assay_prepared_state(const struct assay_variant *variant, size_t index, struct assay_loaded *input)
{
    struct assay_prepared *prepared = &input->prepared[index];
    if (!prepared->made) {
        assay_others_made++;
        prepared->state = variant->prepare(input->map, input->size);
        prepared->made = 1;
    }
    return prepared->state;
}

static const char assay_unfinished[] = "the loop did not call assay_next until it returned 0, so nothing was timed";

/* One sample of any kind. Returns NULL or why there is none. */
static inline const char *assay_sample(const struct assay_program *program, size_t index, struct assay_loaded *input,
                                       size_t *at, uint64_t iterations, uint64_t *combined, uint64_t *units,
                                       struct assay_region *region)
{
    const struct assay_variant *variant = program->variants[index];
    uint64_t answer = 0, i;
    size_t from = *at;
    *units = iterations * input->units;
    if (variant->kind == ASSAY_STATE_LOOP) {
        if (!assay_time_loop(variant, input, iterations, &answer, region)) {
            return assay_unfinished;
        }
        *combined = assay_combine(*combined, answer);
    } else if (variant->kind == ASSAY_PREPARED) {
        assay_time_prepared(variant->run, assay_prepared_state(variant, index, input), iterations, combined, region);
    } else {
        assay_time_calls(variant->call, input, at, iterations, combined, region);
        *units = 0;
        for (i = 0; i < iterations; i++) {
            *units += input->windows[from].units;
            from = from + 1 == input->window_count ? 0 : from + 1;
        }
    }
    return NULL;
}

/* One traced pass of any kind. Returns NULL or why there is none. */
static inline const char *assay_traced_pass(const struct assay_program *program, struct assay_loaded *input, size_t at,
                                            uint64_t windows, uint64_t *combined, uint64_t *units,
                                            const struct assay_pass *pass)
{
    const struct assay_variant *variant = program->variants[pass->variant];
    uint64_t whole = windows == 0 ? 0 : 1, i;
    if (variant->kind == ASSAY_STATE_LOOP) {
        *units = windows * input->units;
        return assay_trace_loop(variant, input, windows, combined, pass) ? NULL : assay_unfinished;
    }
    *units = whole * input->units;
    if (variant->kind == ASSAY_PREPARED) {
        const void *state = assay_prepared_state(variant, pass->variant, input);
        assay_trace_prepared(variant->run, state, whole, combined, pass);
        return NULL;
    }
    assay_trace_calls(variant->call, input, at, windows, combined, pass);
    *units = 0;
    for (i = 0; i < windows; i++) {
        *units += input->windows[at].units;
        at = at + 1 == input->window_count ? 0 : at + 1;
    }
    return NULL;
}

/* ---- 5b. Samples of calls that are listed beforehand: other copies, cold data, cold code, calls that wait for each
 * other. What is measured hot never comes here. ------------------------------------------------------------------- */

enum assay_coldness { ASSAY_HOT, ASSAY_ROTATING, ASSAY_COLD_DATA, ASSAY_COLD_CODE };

/* Copies of an input at other addresses, and what the variant prepared of each. They live as long as the request: many
 * programs are alive at once, and the copies of each exceed all caches. */
struct assay_copies {
    uint8_t *map; /* NULL: there are none */
    size_t mapped_bytes, stride, count;
    uint32_t *order; /* the places of the copies in the order in which they are taken */
    void **states;   /* in that order; NULL unless prepared */
    size_t next;     /* of the order */
};

struct assay_usage {
    enum assay_coldness state;
    int dependent; /* each call waits for the last one's answer */
    uint64_t step; /* from one call's window to the next one's */
    struct assay_copies copies;
    uint8_t *evict; /* memory to fill the caches with; NULL: not yet needed */
    size_t evict_bytes;
    struct assay_listed *calls; /* those of one sample; NULL: hot and independent, with nothing to list */
    uint64_t fresh_bytes;       /* that the states of one sample may take */
    uint64_t own_bytes;         /* the program's own memory before there were any */
};

/* Read before a region and always 0, which neither compiler nor processor can know: `answer & zero` is 0, and cannot be
 * computed before the answer is. */
static volatile uint64_t assay_zero __attribute__((unused)) = 0;

ASSAY_OUTLINE uint64_t assay_nothing(const uint8_t *data, size_t size)
{
    (void)data;
    (void)size;
    return 0;
}

ASSAY_OUTLINE uint64_t assay_nothing_of_state(const void *prepared)
{
    (void)prepared;
    return 0;
}

ASSAY_OUTLINE void assay_time_listed(uint64_t (*call)(const uint8_t *, size_t), const struct assay_listed *listed,
                                     uint64_t iterations, uint64_t *combined, struct assay_region *region)
{
    uint64_t answers = *combined;
    assay_region_open(region);
    for (; iterations-- != 0; listed++) {
        answers = assay_combine(answers, call(listed->data, listed->size));
    }
    assay_region_close(region);
    *combined = answers;
}

ASSAY_OUTLINE void assay_time_chained(uint64_t (*call)(const uint8_t *, size_t), const struct assay_listed *listed,
                                      uint64_t iterations, uint64_t *combined, struct assay_region *region)
{
    uint64_t answers = *combined, answer = 0, zero = assay_zero;
    assay_region_open(region);
    for (; iterations-- != 0; listed++) {
        answer = call((const uint8_t *)((uintptr_t)listed->data + (uintptr_t)(answer & zero)), listed->size);
        answers = assay_combine(answers, answer);
    }
    assay_region_close(region);
    *combined = answers;
}

ASSAY_OUTLINE void assay_time_listed_states(uint64_t (*run)(const void *), const struct assay_listed *listed,
                                            uint64_t iterations, uint64_t *combined, struct assay_region *region)
{
    uint64_t answers = *combined;
    assay_region_open(region);
    for (; iterations-- != 0; listed++) {
        answers = assay_combine(answers, run(listed->data));
    }
    assay_region_close(region);
    *combined = answers;
}

ASSAY_OUTLINE void assay_time_chained_states(uint64_t (*run)(const void *), const struct assay_listed *listed,
                                             uint64_t iterations, uint64_t *combined, struct assay_region *region)
{
    uint64_t answers = *combined, answer = 0, zero = assay_zero;
    assay_region_open(region);
    for (; iterations-- != 0; listed++) {
        answer = run((const void *)((uintptr_t)listed->data + (uintptr_t)(answer & zero)));
        answers = assay_combine(answers, answer);
    }
    assay_region_close(region);
    *combined = answers;
}

ASSAY_OUTLINE void assay_time_chained_fresh(uint64_t (*run)(void *), const struct assay_listed *listed,
                                            uint64_t iterations, uint64_t *combined, struct assay_region *region)
{
    uint64_t answers = *combined, answer = 0, zero = assay_zero;
    assay_region_open(region);
    for (; iterations-- != 0; listed++) {
        answer = run((void *)((uintptr_t)listed->fresh + (uintptr_t)(answer & zero)));
        answers = assay_combine(answers, answer);
    }
    assay_region_close(region);
    *combined = answers;
}

/* The listed calls of either kind, waiting for each other or not. With `idle` functions that do nothing are called instead:
 * so that neither the clocks, nor the loop around the calls, nor the list of them are cold. */
static inline void assay_time_as(const struct assay_usage *usage, const struct assay_variant *variant, int idle,
                                 uint64_t iterations, uint64_t *combined, struct assay_region *region)
{
    uint64_t (*call)(const uint8_t *, size_t) = idle ? assay_nothing : variant->call;
    uint64_t (*run)(const void *) = idle ? assay_nothing_of_state : variant->run;
    uint64_t (*run_fresh)(void *) = idle ? assay_nothing_of_fresh : variant->run_fresh;
    if (variant->kind == ASSAY_FRESH && usage->dependent) {
        assay_time_chained_fresh(run_fresh, usage->calls, iterations, combined, region);
    } else if (variant->kind == ASSAY_FRESH) {
        assay_time_fresh(run_fresh, usage->calls, iterations, combined, region);
    } else if (variant->kind == ASSAY_PREPARED && usage->dependent) {
        assay_time_chained_states(run, usage->calls, iterations, combined, region);
    } else if (variant->kind == ASSAY_PREPARED) {
        assay_time_listed_states(run, usage->calls, iterations, combined, region);
    } else if (usage->dependent) {
        assay_time_chained(call, usage->calls, iterations, combined, region);
    } else {
        assay_time_listed(call, usage->calls, iterations, combined, region);
    }
}

static inline void assay_warm_surroundings(const struct assay_usage *usage, const struct assay_variant *variant,
                                           uint64_t iterations)
{
    struct assay_region ignored;
    uint64_t nothing = 0;
    assay_time_as(usage, variant, 1, iterations, &nothing, &ignored);
}

/* Whether single lines can be put out of all caches by an instruction that programs may execute. */
#if defined(__x86_64__) || (defined(__aarch64__) && !defined(__ILP32__))
#define ASSAY_FLUSHES 1
#else
#define ASSAY_FLUSHES 0
#endif

/* Puts the lines of some bytes out of all caches of the machine; they stay readable. `code`: out of those of instructions
 * too, which x86-64 does anyway. */
static inline void assay_flush_lines(const void *start, size_t bytes, int code)
{
    uintptr_t at = (uintptr_t)start, end = at + bytes;
#if defined(__x86_64__)
    static int optimised = -1; /* clflushopt: many at a time, where clflush waits for each */
    (void)code;
    if (optimised < 0) {
        unsigned a, b, c, d;
        optimised = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 23 & 1) != 0;
    }
    __asm__ volatile("mfence" : : : "memory");
    if (optimised) {
        for (at &= ~(uintptr_t)63; at < end; at += 64) {
            __asm__ volatile(".byte 0x66; clflush %0" : : "m"(*(const volatile char *)at) : "memory");
        }
    } else {
        for (at &= ~(uintptr_t)63; at < end; at += 64) {
            __asm__ volatile("clflush %0" : : "m"(*(const volatile char *)at) : "memory");
        }
    }
    __asm__ volatile("mfence" : : : "memory");
#elif ASSAY_FLUSHES
    uint64_t type;
    uintptr_t line, other;
    __asm__ volatile("mrs %0, ctr_el0" : "=r"(type));
    line = (uintptr_t)4 << (type >> 16 & 15);
    other = (uintptr_t)4 << (type & 15);
    line = line < other ? line : other;
    for (at &= ~(line - 1); at < end; at += line) {
        __asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
        if (code) {
            __asm__ volatile("ic ivau, %0" : : "r"(at) : "memory");
        }
    }
    __asm__ volatile("dsb ish\n\tisb" : : : "memory");
#else
    (void)at;
    (void)end;
    (void)code;
#endif
}

/* Reads one byte of each line. */
static inline void assay_walk_lines(const uint8_t *start, size_t bytes)
{
    size_t at;
    for (at = 0; at < bytes; at += 64) {
        (void)*(const volatile uint8_t *)(start + at);
    }
    if (bytes != 0) {
        (void)*(const volatile uint8_t *)(start + bytes - 1);
    }
}

/* Fills all caches with memory that is used for nothing else. Returns NULL or why not. */
static inline const char *assay_evict(struct assay_usage *usage)
{
    if (usage->evict == NULL) {
        void *map = mmap(NULL, usage->evict_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) {
            return "no memory to empty the caches with";
        }
        usage->evict = (uint8_t *)map;
        memset(map, 1, usage->evict_bytes); /* pages that were never written are all the same page of zeros */
    }
    assay_walk_lines(usage->evict, usage->evict_bytes);
    return NULL;
}

static inline uint64_t assay_mix(uint64_t *seed)
{
    uint64_t mixed = *seed += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
}

/* Puts the program's own code out of all caches: the executable segments of its image, which the linker's symbol starts. */
static inline const char *assay_flush_code(void)
{
    const char *image = __ehdr_start;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)image;
    const Elf64_Phdr *segments;
    uintptr_t base = (uintptr_t)image;
    size_t i;
    if (image == NULL) {
        return "the linker does not say where the program's code lies (no symbol __ehdr_start)";
    }
    segments = (const Elf64_Phdr *)(const void *)(image + header->e_phoff);
    for (i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0) {
            base -= (uintptr_t)segments[i].p_vaddr;
        }
    }
    for (i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X) != 0) {
            assay_flush_lines((const void *)(base + (uintptr_t)segments[i].p_vaddr), (size_t)segments[i].p_memsz, 1);
        }
    }
    return NULL;
}

/* Other work for the branch predictor: code made at run time, so that no program that does without it is linked
 * otherwise. Each block loads 32 random bits, jumps over a no-op or not by each of them, and ends with an indirect jump. */
#define ASSAY_OTHER_BLOCKS 1024
#define ASSAY_OTHER_BYTES 524288 /* of code, at most */

#define ASSAY_ENTRY_BYTES 256  /* of a function, fetched by a wrong guess before it is found out */
#define ASSAY_AROUND_BYTES 512 /* of the code around a call, generously */

static inline size_t assay_write_other_work(uint8_t *code)
{
    size_t at = 64, block, bit; /* some sanitizers read ahead of a function */
#if defined(__x86_64__)
    static const uint8_t enter[] = {0xf3, 0x0f, 0x1e, 0xfa};                   /* endbr64 */
    static const uint8_t load[] = {0x8b, 0x07, 0x48, 0x83, 0xc7, 0x04};        /* mov eax, [rdi]; add rdi, 4 */
    static const uint8_t leap[] = {0x48, 0x8d, 0x15, 2, 0, 0, 0, 0xff, 0xe2}; /* lea rdx, [after]; jmp rdx */
    uint8_t site[] = {0x0f, 0xba, 0xe0, 0, 0x72, 1, 0x90};                     /* bt eax, BIT; jc over; nop */
    memcpy(code + at, enter, sizeof enter);
    at += sizeof enter;
    for (block = 0; block < ASSAY_OTHER_BLOCKS; block++) {
        memcpy(code + at, load, sizeof load);
        at += sizeof load;
        for (bit = 0; bit < 32; bit++) {
            site[3] = (uint8_t)bit;
            memcpy(code + at, site, sizeof site);
            at += sizeof site;
        }
        memcpy(code + at, leap, sizeof leap);
        at += sizeof leap;
    }
    code[at++] = 0xc3; /* ret */
#elif ASSAY_FLUSHES
    uint32_t *word = (uint32_t *)(void *)(code + at), *first = word;
    for (block = 0; block < ASSAY_OTHER_BLOCKS; block++) {
        *word++ = 0xb8404401; /* ldr w1, [x0], #4 */
        for (bit = 0; bit < 32; bit++) {
            *word++ = 0x36000041 | (uint32_t)(bit << 19); /* tbz w1, #BIT, over */
            *word++ = 0xd503201f;                         /* nop */
        }
        *word++ = 0x10000042; /* adr x2, after */
        *word++ = 0xd61f0040; /* br x2 */
    }
    *word++ = 0xd65f03c0; /* ret */
    at += (size_t)(word - first) * 4;
    __builtin___clear_cache((char *)code, (char *)(code + at));
#else
    (void)code;
    (void)block;
    (void)bit;
#endif
    return at;
}

/* Executes it on outcomes that never come again. Returns NULL or why not. */
static inline const char *assay_do_other_work(void)
{
    static uint32_t outcomes[ASSAY_OTHER_BLOCKS];
    static uint8_t *code;
    static uint64_t seed = 42;
    void (*work)(const uint32_t *);
    size_t i;
    if (code == NULL) {
        void *map = mmap(NULL, ASSAY_OTHER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) {
            return "no memory for the work that fills the branch predictor";
        }
        assay_write_other_work((uint8_t *)map);
        if (mprotect(map, ASSAY_OTHER_BYTES, PROT_READ | PROT_EXEC) != 0) {
            munmap(map, ASSAY_OTHER_BYTES);
            return "this system executes no code generated at run time, so the branch predictor cannot be filled";
        }
        code = (uint8_t *)map + 64;
    }
    memcpy(&work, &code, sizeof work); /* ISO C converts no pointer to data into one to a function */
    for (i = 0; i < ASSAY_OTHER_BLOCKS; i++) {
        outcomes[i] = (uint32_t)(assay_mix(&seed) >> 32);
    }
    work(outcomes);
    return NULL;
}

/* Copies of the input's bytes, each followed by its padding and an odd number of lines from the next, so that they spread
 * over the sets of every cache; on pages of the size that the input itself has. They are made in the order in which they
 * are then taken: so the caches hold what they would hold after one turn through all. Returns NULL or why there are none. */
static inline const char *assay_make_copies(const struct assay_variant *variant, const struct assay_loaded *input,
                                            struct assay_copies *copies)
{
    struct assay_declared declared = assay_declared_1;
    size_t stride = (input->size + ASSAY_PADDING_BYTES + 63) / 64 | 1, turn;
    uint64_t seed = 42;
    if (copies->count == 0 || input->size == 0) {
        return copies->count == 0 ? "state=rotating needs copies=" : "the input is empty: there is nothing to copy";
    }
    if (stride > SIZE_MAX / 128 / copies->count) {
        return "no memory for the copies";
    }
    copies->stride = stride *= 64;
    copies->order = (uint32_t *)calloc(copies->count, sizeof *copies->order);
    copies->states = variant->kind == ASSAY_PREPARED ? (void **)calloc(copies->count, sizeof *copies->states) : NULL;
    copies->map = assay_reserve(stride * copies->count, PROT_READ | PROT_WRITE, &copies->mapped_bytes);
    if (copies->map == NULL || copies->order == NULL || (variant->kind == ASSAY_PREPARED && copies->states == NULL)) {
        return "no memory for the copies";
    }
    assay_small_pages(copies->map, copies->mapped_bytes);
    for (turn = 0; turn < copies->count; turn++) {
        size_t other = (size_t)(assay_mix(&seed) % (turn + 1)); /* Fisher and Yates, from the inside */
        copies->order[turn] = copies->order[other];
        copies->order[other] = (uint32_t)turn;
    }
    for (turn = 0; turn < copies->count; turn++) {
        uint8_t *copy = copies->map + copies->order[turn] * stride;
        memcpy(copy, input->map, input->size);
        if (copies->states != NULL) {
            copies->states[turn] = variant->prepare(copy, input->size);
        }
    }
    mprotect(copies->map, copies->mapped_bytes, PROT_READ);
    assay_others_made++;
    assay_declared_1 = declared; /* what `prepare` declared goes with the copies */
    return NULL;
}

/* The program's own memory that the system has given it, bytes; 0 where it does not say. Kernels count by 64 pages per
 * thread or so, so a reading may be wrong by ASSAY_OWN_GRAIN. */
#define ASSAY_OWN_GRAIN 262144u
static inline uint64_t assay_own_bytes(void)
{
    char text[128], *at = text;
    unsigned long long resident, shared;
    ssize_t bytes;
    int file = open("/proc/self/statm", O_RDONLY);
    if (file < 0) {
        return 0;
    }
    bytes = read(file, text, sizeof text - 1);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    (void)strtoull(at, &at, 10);
    resident = strtoull(at, &at, 10);
    shared = strtoull(at, &at, 10);
    return resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static inline void assay_drop_states(const struct assay_variant *variant, struct assay_listed *listed, uint64_t count)
{
    for (; count-- != 0; listed++) {
        if (variant->release != NULL) {
            variant->release(listed->fresh);
        }
        listed->fresh = NULL;
    }
}

/* Makes the states of the first `count` listed calls, or as many as the memory allows. Returns how many were made. How much
 * they take is looked at when they may have come half of the way to the limit, so hardly ever. */
static inline uint64_t assay_make_states(const struct assay_variant *variant, const struct assay_usage *usage,
                                         struct assay_listed *listed, uint64_t count)
{
    uint64_t made = 0, look = 1;
    while (made < count) {
        listed[made].fresh = variant->prepare(listed[made].data, listed[made].size);
        if (++made == look) {
            uint64_t now = assay_own_bytes(), before = usage->own_bytes + (usage->evict == NULL ? 0 : usage->evict_bytes);
            uint64_t taken = now > before ? now - before : 0;
            if (taken > usage->fresh_bytes) {
                break;
            }
            uint64_t each = (taken + ASSAY_OWN_GRAIN) / made, next = 1 + (usage->fresh_bytes - taken) / 2 / (each == 0 ? 1 : each);
            look += next < made ? next : made; /* those to come may be larger */
        }
    }
    return made;
}

#define ASSAY_TRIED_STATES 4096
#define ASSAY_TRIED_BYTES 4194304u
#define ASSAY_TRIED_NS 5000000u

/* What one state costs, bytes: tries some, until together they take four megabytes: what an
 * allocator had left of others is then little of it. */
static inline uint64_t assay_cost_of_state(const struct assay_variant *variant, const struct assay_loaded *input,
                                           const struct assay_usage *usage)
{
    struct assay_listed *tried = (struct assay_listed *)calloc(ASSAY_TRIED_STATES, sizeof *tried);
    uint64_t begun = assay_wall_ns(), count = 0, taken = 0, now;
    if (tried == NULL) {
        return 0;
    }
    do {
        const struct assay_window *window = &input->windows[count % input->window_count];
        tried[count++].fresh = variant->prepare(window->data, window->size);
        if ((count & (count - 1)) == 0 || count % 64 == 0) {
            now = assay_own_bytes();
            taken = now > usage->own_bytes ? now - usage->own_bytes : 0;
        }
    } while (count < ASSAY_TRIED_STATES && taken < ASSAY_TRIED_BYTES && assay_wall_ns() - begun < ASSAY_TRIED_NS);
    now = assay_own_bytes();
    taken = now > usage->own_bytes ? now - usage->own_bytes : 0;
    assay_drop_states(variant, tried, count);
    free(tried);
    return taken / count;
}

/* Gives back what a request was given. */
static inline void assay_end_usage(const struct assay_variant *variant, struct assay_usage *usage)
{
    struct assay_copies *copies = &usage->copies;
    size_t turn;
    for (turn = 0; copies->states != NULL && variant->release != NULL && turn < copies->count; turn++) {
        variant->release(copies->states[turn]);
    }
    free(copies->states);
    free(copies->order);
    if (copies->map != NULL) {
        munmap(copies->map, copies->mapped_bytes);
    }
    if (usage->evict != NULL) {
        munmap(usage->evict, usage->evict_bytes);
    }
    free(usage->calls);
    memset(usage, 0, sizeof *usage);
}

/* What a request asks for and cannot have, or NULL with all that its samples need made ready. */
static inline const char *assay_begin_usage(const struct assay_variant *variant, struct assay_prepared *prepared,
                                            const struct assay_loaded *input, struct assay_usage *usage,
                                            uint64_t iterations)
{
    int fresh = variant->kind == ASSAY_FRESH;
    if (usage->state == ASSAY_HOT && !usage->dependent && usage->step == 1 && !fresh) {
        return NULL;
    }
    if (variant->kind == ASSAY_STATE_LOOP) {
        return "a loop of the program's own reads its input itself, so only its hot throughput can be measured (register the "
               "function instead, as call or prepared)";
    }
    if (iterations > ASSAY_LISTED_MAX) {
        return "more calls in a sample than can be listed";
    }
    if (fresh && usage->state == ASSAY_ROTATING) {
        return "every call of a fresh variant has a state of its own, so there are no copies to rotate over (states: hot, "
               "cold_data, cold_code)";
    }
    if (usage->state == ASSAY_COLD_CODE && !ASSAY_FLUSHES) {
        return "this CPU has no instruction that evicts code from the caches";
    }
    if (usage->state == ASSAY_COLD_CODE && (iterations != 1 || usage->dependent)) {
        return "state=cold_code takes one call per sample and cannot measure latency";
    }
    if (usage->state == ASSAY_COLD_DATA && iterations > (variant->kind == ASSAY_PREPARED ? 1 : input->window_count)) {
        return "state=cold_data would visit a window twice in a sample, the second time warm";
    }
    if (usage->state == ASSAY_COLD_DATA && iterations > 1 && assay_declared_1.count != 0) {
        return "every call reads the memory that the program declared, so state=cold_data takes one call per sample";
    }
    if (usage->state == ASSAY_COLD_DATA && assay_declared_1.count > ASSAY_DECLARED_MAX) {
        return "the program declared more stretches of memory by assay_reads than can be kept";
    }
    usage->calls = (struct assay_listed *)calloc((size_t)iterations, sizeof *usage->calls);
    if (usage->calls == NULL) {
        return "out of memory";
    }
    if (fresh) {
        if (!prepared->made || prepared->others_made != assay_others_made) {
            prepared->own_bytes = assay_own_bytes();
            prepared->others_made = assay_others_made;
        }
        usage->own_bytes = prepared->own_bytes;
        if (!prepared->made) {
            prepared->state_bytes = assay_cost_of_state(variant, input, usage);
            prepared->made = 1;
        }
        return NULL;
    }
    return usage->state == ASSAY_ROTATING ? assay_make_copies(variant, input, &usage->copies) : NULL;
}

/* Lists the calls of one sample. Returns the units in them. */
static inline uint64_t assay_list_calls(const struct assay_variant *variant, size_t index, struct assay_loaded *input,
                                        struct assay_usage *usage, size_t *at, uint64_t iterations)
{
    struct assay_copies *copies = &usage->copies;
    size_t step = (size_t)(usage->step % input->window_count), turn = 0;
    uint64_t units = 0, i;
    for (i = 0; i < iterations; i++) {
        const struct assay_window *window = &input->windows[*at];
        struct assay_listed *listed = &usage->calls[i];
        if (copies->map != NULL) {
            turn = copies->next;
            copies->next = turn + 1 == copies->count ? 0 : turn + 1;
        }
        if (variant->kind == ASSAY_PREPARED) {
            listed->data = (const uint8_t *)(copies->map != NULL ? copies->states[turn] : assay_prepared_state(variant, index, input));
            units += input->units;
            continue;
        }
        listed->data = copies->map != NULL ? copies->map + copies->order[turn] * copies->stride + (window->data - input->map)
                                           : window->data;
        listed->size = window->size;
        units += window->units;
        *at = step >= input->window_count - *at ? step - (input->window_count - *at) : *at + step;
    }
    return units;
}

/* Makes cold what the listed calls will read. Returns NULL or why not. */
static inline const char *assay_cool_data(const struct assay_variant *variant, const struct assay_loaded *input,
                                          struct assay_usage *usage, uint64_t iterations)
{
    const struct assay_declared *declared = &assay_declared_1;
    int prepared = variant->kind == ASSAY_PREPARED;
    uint64_t i;
    if (!ASSAY_FLUSHES || variant->kind == ASSAY_FRESH || (prepared && declared->count == 0)) {
        /* Only the program knows where a state lies, so all caches are emptied. */
        const char *why = assay_evict(usage);
        assay_warm_surroundings(usage, variant, iterations);
        return why;
    }
    for (i = 0; i < declared->count; i++) {
        assay_flush_lines(declared->memory[i].start, declared->memory[i].bytes, 0);
    }
    for (i = 0; i < iterations && !prepared; i++) {
        assay_flush_lines(usage->calls[i].data, usage->calls[i].size, 0);
    }
    if (prepared) {
        assay_flush_lines(input->map, input->size, 0);
    }
    return NULL;
}

/* Fills the branch predictor; then the bytes that the call gets, the clocks and the code around the call are warm. */
static inline const char *assay_fill_predictor(const struct assay_usage *usage, const struct assay_variant *variant)
{
    const char *why = assay_do_other_work();
    if (variant->kind == ASSAY_CALL) {
        assay_walk_lines(usage->calls[0].data, usage->calls[0].size);
    }
    assay_warm_surroundings(usage, variant, 1);
    return why;
}

/* The address of what is timed. */
static inline uintptr_t assay_code_of(const struct assay_variant *variant)
{
    return variant->kind == ASSAY_CALL       ? (uintptr_t)variant->call
           : variant->kind == ASSAY_PREPARED ? (uintptr_t)variant->run
           : variant->kind == ASSAY_FRESH    ? (uintptr_t)variant->run_fresh
                                             : (uintptr_t)variant->loop;
}

/* Flushes the first lines of a function, but for those of the code around its call. */
static inline void assay_flush_entry(uintptr_t entry, uintptr_t around)
{
    uintptr_t line = entry & ~(uintptr_t)63, end = line + ASSAY_ENTRY_BYTES;
    for (; line < end; line += 64) {
        if (line + 64 <= around || line >= around + ASSAY_AROUND_BYTES) {
            assay_flush_lines((const void *)line, 64, 1);
        }
    }
}

/* Makes cold the program's code and what the branch predictor knows of it. Returns NULL or why not.
 *
 * The call of nothing that warms its surroundings may be predicted to go where the last sample's call went, and a wrong
 * guess fetches the first lines of that code (without more ado they were warm half of the time on Zen 4). So the predictor
 * is filled and led astray once before the code is flushed, and the first lines are flushed once more at the end. */
static inline const char *assay_cool_code(const struct assay_variant *variant, const struct assay_usage *usage)
{
    const char *why = assay_fill_predictor(usage, variant);
    why = why != NULL ? why : assay_flush_code();
    why = why != NULL ? why : assay_fill_predictor(usage, variant);
    assay_flush_entry(assay_code_of(variant), variant->kind == ASSAY_FRESH      ? (uintptr_t)assay_time_fresh
                                              : variant->kind == ASSAY_PREPARED ? (uintptr_t)assay_time_listed_states
                                                                                : (uintptr_t)assay_time_listed);
    return why;
}

static const char assay_too_large[] = "the states of one sample take more memory than fresh states may (64 MiB, unless the "
                                      "experiment's fresh_memory or the program's ASSAY_FRESH_BYTES says otherwise)";
#define ASSAY_TRACED_STATES 65536u

/* One sample of listed calls. Returns NULL or why there is none. */
static inline const char *assay_sample_listed(const struct assay_program *program, size_t index, struct assay_loaded *input,
                                              struct assay_usage *usage, size_t *at, uint64_t iterations,
                                              uint64_t *combined, uint64_t *units, struct assay_region *region)
{
    const struct assay_variant *variant = program->variants[index];
    const char *why = NULL;
    uint64_t made = 0;
    *units = assay_list_calls(variant, index, input, usage, at, iterations);
    if (variant->kind == ASSAY_FRESH) {
        made = assay_make_states(variant, usage, usage->calls, iterations);
        why = made == iterations ? NULL : assay_too_large;
    }
    if (why == NULL && usage->state == ASSAY_COLD_DATA) {
        why = assay_cool_data(variant, input, usage, iterations);
    } else if (why == NULL && usage->state == ASSAY_COLD_CODE) {
        why = assay_cool_code(variant, usage);
    }
    if (why == NULL) {
        assay_time_as(usage, variant, 0, iterations, combined, region);
    }
    assay_drop_states(variant, usage->calls, made);
    return why;
}

/* One sample of any kind as it is where nothing else is asked for. */
static inline const char *assay_plain_sample(const struct assay_program *program, size_t index, struct assay_loaded *input,
                                             size_t *at, uint64_t iterations, uint64_t *combined, uint64_t *units,
                                             struct assay_region *region)
{
    struct assay_usage usage;
    const char *why;
    if (program->variants[index]->kind != ASSAY_FRESH) {
        return assay_sample(program, index, input, at, iterations, combined, units, region);
    }
    memset(&usage, 0, sizeof usage);
    usage.step = 1;
    usage.fresh_bytes = ASSAY_FRESH_BYTES;
    why = assay_begin_usage(program->variants[index], &input->prepared[index], input, &usage, iterations);
    if (why == NULL) {
        why = assay_sample_listed(program, index, input, &usage, at, iterations, combined, units, region);
    }
    assay_end_usage(program->variants[index], &usage);
    return why;
}

/* One traced pass of a fresh variant. Its states are made ahead of the marks, as many at a time as memory allows; what
 * follows the first of these stretches has ASSAY_GOES_ON added to its pass. */
#define ASSAY_GOES_ON 0x80000000u
static inline const char *assay_traced_fresh(const struct assay_variant *variant, struct assay_loaded *input, size_t at,
                                             uint64_t windows, uint64_t *combined, uint64_t *units,
                                             struct assay_pass pass)
{
    struct assay_usage usage;
    uint64_t done = 0, most = windows < ASSAY_TRACED_STATES ? windows : ASSAY_TRACED_STATES;
    memset(&usage, 0, sizeof usage);
    usage.fresh_bytes = ASSAY_FRESH_BYTES;
    usage.calls = (struct assay_listed *)calloc((size_t)most + 1, sizeof *usage.calls);
    if (usage.calls == NULL) {
        return "out of memory";
    }
    *units = 0;
    do {
        uint64_t batch = windows - done < most ? windows - done : most, made, i;
        for (i = 0; i < batch; i++) {
            const struct assay_window *window = &input->windows[(at + i) % input->window_count];
            usage.calls[i].data = window->data;
            usage.calls[i].size = window->size;
        }
        usage.own_bytes = assay_own_bytes(); /* an emulator's memory grows meanwhile */
        made = assay_make_states(variant, &usage, usage.calls, batch);
        for (i = 0; i < made; i++) {
            *units += input->windows[(at + i) % input->window_count].units;
        }
        assay_trace_fresh(variant->run_fresh, usage.calls, made, combined, &pass);
        assay_drop_states(variant, usage.calls, made);
        at = (size_t)((at + made) % input->window_count);
        done += made;
        pass.pass |= ASSAY_GOES_ON;
    } while (done < windows);
    free(usage.calls);
    return NULL;
}

/* The answer of one call of bytes. */
static inline uint64_t assay_answer_of(const struct assay_variant *variant, const uint8_t *data, size_t size)
{
    uint64_t answer;
    void *fresh;
    if (variant->kind == ASSAY_CALL) {
        return variant->call(data, size);
    }
    fresh = variant->prepare(data, size);
    answer = variant->run_fresh(fresh);
    if (variant->release != NULL) {
        variant->release(fresh);
    }
    return answer;
}

/* The answers without timing. Returns NULL or why there is none. */
static inline const char *assay_prove(const struct assay_program *program, size_t index, struct assay_loaded *input,
                                      uint64_t *whole, uint64_t *windows)
{
    const struct assay_variant *variant = program->variants[index];
    struct assay_region region;
    size_t i;
    *windows = 0;
    if (variant->kind == ASSAY_STATE_LOOP) {
        if (!assay_time_loop(variant, input, 1, whole, &region)) {
            return assay_unfinished;
        }
    } else if (variant->kind == ASSAY_PREPARED) {
        *whole = variant->run(assay_prepared_state(variant, index, input));
    } else {
        *whole = assay_answer_of(variant, input->map, input->size);
        for (i = 0; i < input->window_count; i++) {
            *windows = assay_combine(*windows, assay_answer_of(variant, input->windows[i].data, input->windows[i].size));
        }
        return NULL;
    }
    *windows = *whole;
    return NULL;
}

static const char assay_misaligned[] = "a window begins where an element of the variant's view cannot: give the input a format "
                                       "of that width, such as format = \"u32\"";

static inline int assay_windows_are_aligned(const struct assay_variant *variant, const struct assay_loaded *input)
{
    size_t align = variant->kind == ASSAY_PREPARED ? 0 : variant->align, i; /* prepared: from the first byte, always */
    for (i = 0; align > 1 && i < input->window_count; i++) {
        if ((size_t)(input->windows[i].data - input->map) % align != 0) {
            return 0;
        }
    }
    return 1;
}

static inline const char *assay_answers(const struct assay_program *program, size_t index, struct assay_loaded *input,
                                        uint64_t *whole, uint64_t *windows)
{
    const char *why;
    if (!assay_windows_are_aligned(program->variants[index], input)) {
        return assay_misaligned;
    }
    assay_hashing_1 = 1;
    why = assay_prove(program, index, input, whole, windows);
    assay_hashing_1 = 0;
    return why;
}

/* What the clocks themselves cost here, nanoseconds. */
struct assay_costs {
    double wall_read_ns;
    double cpu_read_ns;
    double region_wall_ns;
    double region_cpu_ns;
};

static inline int assay_compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Sorts in place. */
static inline double assay_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, assay_compare_doubles);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Sorts in place. The mean of the middle half: as deaf to outliers as the median, and finer than the clock's grain,
 * which on virtual machines is often 10 ns. */
static inline double assay_middle(double *values, size_t count)
{
    size_t i, from = count / 4, to = count - count / 4;
    double sum = 0.0;
    qsort(values, count, sizeof *values, assay_compare_doubles);
    for (i = from; i < to; i++) {
        sum += values[i];
    }
    return sum / (double)(to - from);
}

#define ASSAY_CALIBRATIONS 401
#define ASSAY_ROWS 25 /* of reads of one clock; few, as one read can be a system call, and each program starts with them and has others waiting */
#define ASSAY_READS 16 /* in a row */

/* The empty region is the real one, asked for no calls, so it pays for all that a sample pays for but the variant. */
static inline struct assay_costs assay_calibrate(void)
{
    static double wall[ASSAY_CALIBRATIONS], cpu[ASSAY_CALIBRATIONS];
    struct assay_window none = {NULL, 0, 0};
    struct assay_loaded nothing;
    struct assay_region region;
    struct assay_costs costs;
    uint64_t combined = 0, from, to;
    size_t at = 0;
    int i, read;
    memset(&nothing, 0, sizeof nothing);
    nothing.windows = &none;
    nothing.window_count = 1;
    for (i = 0; i < ASSAY_ROWS; i++) {
        from = assay_wall_ns();
        for (read = 0, to = from; read < ASSAY_READS; read++) {
            to = assay_wall_ns();
        }
        wall[i] = (double)(to - from) / ASSAY_READS;
        from = assay_cpu_ns();
        for (read = 0, to = from; read < ASSAY_READS; read++) {
            to = assay_cpu_ns();
        }
        cpu[i] = (double)(to - from) / ASSAY_READS;
    }
    costs.wall_read_ns = assay_middle(wall, ASSAY_ROWS);
    costs.cpu_read_ns = assay_middle(cpu, ASSAY_ROWS);
    for (i = 0; i < ASSAY_CALIBRATIONS; i++) {
        assay_time_calls(NULL, &nothing, &at, 0, &combined, &region);
        wall[i] = (double)region.wall_ns;
        cpu[i] = (double)region.cpu_ns;
    }
    costs.region_wall_ns = assay_middle(wall, ASSAY_CALIBRATIONS);
    costs.region_cpu_ns = assay_middle(cpu, ASSAY_CALIBRATIONS);
    return costs;
}

/* ---- 6. The program's variants ----------------------------------------------------------------------------------- */

static inline const char *assay_kind_name(enum assay_kind kind)
{
    return kind == ASSAY_CALL ? "call" : kind == ASSAY_PREPARED ? "prepared" : kind == ASSAY_FRESH ? "fresh" : "loop";
}

/* Where the variant's code starts, from the start of the program's image; 0 where the linker does not say. */
static inline uint64_t assay_entry(const struct assay_variant *variant)
{
    uintptr_t image = (uintptr_t)__ehdr_start;
    uintptr_t entry = assay_code_of(variant);
    return image == 0 || entry < image ? 0 : (uint64_t)(entry - image);
}

static inline int assay_is_available(const struct assay_variant *variant)
{
    return variant->available == NULL || variant->available() != 0;
}

static inline int assay_declared_before(const struct assay_variant *a, const struct assay_variant *b)
{
    int files = strcmp(a->file, b->file);
    return files != 0 ? files < 0 : a->serial != b->serial ? a->serial < b->serial : a->rank < b->rank;
}

static inline int assay_is_name(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/+-";
    return name[0] != '\0' && strspn(name, letters) == strlen(name);
}

/* Collects the registry in the order of declaration: the order of registration is the linker's, and the lab relinks.
 * 0 and a reason in `why` where the program's variants cannot be told apart. */
static inline int assay_collect(struct assay_program *program, char *why, size_t why_bytes)
{
    struct assay_variant *variant;
    size_t count = 0, i, j;
    memset(program, 0, sizeof *program);
    for (variant = assay_registry_4; variant != NULL; variant = variant->next) {
        count++;
    }
    program->variants = (struct assay_variant **)calloc(count + 1, sizeof *program->variants);
    if (count == 0 || program->variants == NULL) {
        snprintf(why, why_bytes, "%s", count == 0 ? "the program registers no variant" : "out of memory");
        return 0;
    }
    for (variant = assay_registry_4; variant != NULL; variant = variant->next) {
        for (i = program->variant_count++; i > 0 && assay_declared_before(variant, program->variants[i - 1]); i--) {
            program->variants[i] = program->variants[i - 1];
        }
        program->variants[i] = variant;
    }
    for (i = 0; i < count; i++) {
        if (!assay_is_name(program->variants[i]->name)) {
            snprintf(why, why_bytes, "the variant name \"%.100s\" has other characters than letters, digits and _.:/+-",
                     program->variants[i]->name);
            return 0;
        }
        for (j = 0; j < i; j++) {
            if (strcmp(program->variants[i]->name, program->variants[j]->name) == 0) {
                snprintf(why, why_bytes, "two variants are named \"%.100s\"", program->variants[i]->name);
                return 0;
            }
        }
    }
    return 1;
}

/* ---- 7. The channel: lines over two descriptors ------------------------------------------------------------------ */

struct assay_channel {
    int in, out;
    char request[ASSAY_LINE_MAX]; /* bytes read and not yet taken: from `start` to `end` */
    size_t start, end;
    char reply[1 << 16]; /* bytes said and not yet written */
    size_t said;
};

/* Waits until a descriptor that was made non-blocking is ready again. */
static inline int assay_wait_for(int descriptor, short events)
{
    struct pollfd wait = {descriptor, events, 0};
    return errno == EINTR || ((errno == EAGAIN || errno == EWOULDBLOCK) && (poll(&wait, 1, -1) >= 0 || errno == EINTR));
}

/* Writes all pending replies. If the lab is gone, the program ends quietly. */
static inline void assay_flush(struct assay_channel *channel)
{
    size_t written = 0;
    while (written < channel->said) {
        ssize_t count = write(channel->out, channel->reply + written, channel->said - written);
        if (count > 0) {
            written += (size_t)count;
        } else if (count == 0 || !assay_wait_for(channel->out, POLLOUT)) {
            exit(0);
        }
    }
    channel->said = 0;
}

/* Says one line; control characters in it become '?', since they could only come from a user's text. */
__attribute__((format(printf, 2, 3))) static inline void assay_say(struct assay_channel *channel, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    int length, i;
    va_start(arguments, format);
    length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof line) {
        length = (int)sizeof line - 1;
    }
    for (i = 0; i < length; i++) {
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) {
            line[i] = '?';
        }
    }
    if (channel->said + (size_t)length + 1 > sizeof channel->reply) {
        assay_flush(channel);
    }
    memcpy(channel->reply + channel->said, line, (size_t)length);
    channel->said += (size_t)length;
    channel->reply[channel->said++] = '\n';
}

enum assay_line { ASSAY_LINE, ASSAY_LINE_TOO_LONG, ASSAY_LINE_END };

/* The next line, ended by NUL instead of its newline. A NUL inside becomes '?', so that it cannot hide what follows. */
static inline enum assay_line assay_read_line(struct assay_channel *channel, char **line)
{
    int too_long = 0;
    for (;;) {
        char *start = channel->request + channel->start, *nul;
        char *newline = (char *)memchr(start, '\n', channel->end - channel->start);
        if (newline != NULL) {
            *newline = '\0';
            while ((nul = (char *)memchr(start, '\0', (size_t)(newline - start))) != NULL) {
                *nul = '?';
            }
            channel->start = (size_t)(newline - channel->request) + 1;
            *line = start;
            return too_long ? ASSAY_LINE_TOO_LONG : ASSAY_LINE;
        }
        memmove(channel->request, start, channel->end - channel->start);
        channel->end -= channel->start;
        channel->start = 0;
        if (channel->end == sizeof channel->request) {
            too_long = 1;
            channel->end = 0;
        }
        for (;;) {
            ssize_t count = read(channel->in, channel->request + channel->end, sizeof channel->request - channel->end);
            if (count > 0) {
                channel->end += (size_t)count;
                break;
            }
            if (count == 0 || !assay_wait_for(channel->in, POLLIN)) {
                return ASSAY_LINE_END;
            }
        }
    }
}

/* Decimal digits only, in range. 0 where it is anything else. */
static inline int assay_digits(const char *text, size_t length, uint64_t *value)
{
    size_t i;
    *value = 0;
    for (i = 0; i < length; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text[i] - '0';
        if (digit > 9 || *value > (UINT64_MAX - digit) / 10) {
            return 0;
        }
        *value = *value * 10 + digit;
    }
    return length != 0;
}

#define ASSAY_FIELDS_MAX 16

/* The key=value fields of a request, pointing into its line. */
struct assay_fields {
    struct {
        const char *key, *value;
        size_t key_bytes, value_bytes;
    } field[ASSAY_FIELDS_MAX];
    int count;
    char problem[400]; /* empty, or the first thing wrong */
};

static inline void assay_split(struct assay_fields *fields, const char *text)
{
    int i;
    fields->count = 0;
    fields->problem[0] = '\0';
    while (text != NULL) {
        size_t bytes = strcspn(text, " ");
        const char *equals = (const char *)memchr(text, '=', bytes);
        size_t key_bytes = equals == NULL ? 0 : (size_t)(equals - text);
        if (key_bytes == 0 || fields->count == ASSAY_FIELDS_MAX) {
            snprintf(fields->problem, sizeof fields->problem, "\"%.*s\" is not key=value, or one too many",
                     (int)(bytes < 100 ? bytes : 100), text);
            return;
        }
        for (i = 0; i < fields->count; i++) {
            if (fields->field[i].key_bytes == key_bytes && memcmp(fields->field[i].key, text, key_bytes) == 0) {
                snprintf(fields->problem, sizeof fields->problem, "a field appears twice");
                return;
            }
        }
        if (key_bytes == 4 && memcmp(text, "path", 4) == 0) {
            bytes = strlen(text);
        }
        fields->field[fields->count].key = text;
        fields->field[fields->count].key_bytes = key_bytes;
        fields->field[fields->count].value = equals + 1;
        fields->field[fields->count].value_bytes = bytes - key_bytes - 1;
        fields->count++;
        text = text[bytes] == ' ' ? text + bytes + 1 : NULL;
    }
}

static inline int assay_find_field(const struct assay_fields *fields, const char *key)
{
    int i;
    for (i = 0; i < fields->count; i++) {
        if (fields->field[i].key_bytes == strlen(key) && memcmp(fields->field[i].key, key, strlen(key)) == 0) {
            return i;
        }
    }
    return -1;
}

/* A number from `least` to `most`; 0 and a problem where it is not. */
static inline uint64_t assay_number(struct assay_fields *fields, const char *key, uint64_t least, uint64_t most)
{
    int at = assay_find_field(fields, key);
    uint64_t value = 0;
    if (fields->problem[0] != '\0') {
        return 0;
    }
    if (at < 0) {
        snprintf(fields->problem, sizeof fields->problem, "the field %s= is missing", key);
    } else if (!assay_digits(fields->field[at].value, fields->field[at].value_bytes, &value) || value < least || value > most) {
        size_t shown = fields->field[at].value_bytes < 100 ? fields->field[at].value_bytes : 100;
        snprintf(fields->problem, sizeof fields->problem, "%s=%.*s is not a whole number from %llu to %llu", key, (int)shown,
                 fields->field[at].value, (unsigned long long)least, (unsigned long long)most);
        value = 0;
    }
    return value;
}

/* The same where the field may be absent. */
static inline uint64_t assay_number_or(struct assay_fields *fields, const char *key, uint64_t least, uint64_t most,
                                       uint64_t absent)
{
    return assay_find_field(fields, key) < 0 ? absent : assay_number(fields, key, least, most);
}

/* The number of the word that a field is; 0 where it is absent. */
static inline size_t assay_word(struct assay_fields *fields, const char *key, const char *const *words, size_t count)
{
    int at = assay_find_field(fields, key);
    size_t i;
    if (at < 0 || fields->problem[0] != '\0') {
        return 0;
    }
    for (i = 0; i < count; i++) {
        if (fields->field[at].value_bytes == strlen(words[i]) &&
            memcmp(fields->field[at].value, words[i], strlen(words[i])) == 0) {
            return i;
        }
    }
    snprintf(fields->problem, sizeof fields->problem, "%s=%.*s is not known to this harness", key,
             (int)(fields->field[at].value_bytes < 100 ? fields->field[at].value_bytes : 100), fields->field[at].value);
    return 0;
}

/* ---- 8. Run by the lab ------------------------------------------------------------------------------------------- */

/* printf's %f would follow the user's locale. */
static inline unsigned long long assay_hundredths(double value) { return (unsigned long long)(value * 100.0 + 0.5); }

static inline void assay_greet(struct assay_channel *channel, const struct assay_program *program)
{
    struct assay_costs costs;
    unsigned long long hundredths[4];
    size_t i;
#if defined(__cplusplus)
    const char *harness = "c++";
#else
    const char *harness = "c";
#endif
    assay_say(channel, "assay %d hello harness=%s variants=%zu", ASSAY_PROTOCOL_VERSION, harness, program->variant_count);
    for (i = 0; i < program->variant_count; i++) {
        const struct assay_variant *variant = program->variants[i];
        int available = assay_is_available(variant);
        assay_say(channel, "variant %zu kind=%s entry=%llu name=%.200s%s%.600s", i, assay_kind_name(variant->kind),
                  (unsigned long long)assay_entry(variant), variant->name, available ? "" : " unavailable=",
                  available ? "" : variant->reason);
    }
    costs = assay_calibrate();
    hundredths[0] = assay_hundredths(costs.wall_read_ns);
    hundredths[1] = assay_hundredths(costs.cpu_read_ns);
    hundredths[2] = assay_hundredths(costs.region_wall_ns);
    hundredths[3] = assay_hundredths(costs.region_cpu_ns);
    assay_say(channel,
              "ready wall_read_ns=%llu.%02llu cpu_read_ns=%llu.%02llu region_wall_ns=%llu.%02llu region_cpu_ns=%llu.%02llu "
              "states=hot,rotating,cold_data%s measures=throughput,latency declared=%zu",
              hundredths[0] / 100, hundredths[0] % 100, hundredths[1] / 100, hundredths[1] % 100, hundredths[2] / 100,
              hundredths[2] % 100, hundredths[3] / 100, hundredths[3] % 100, ASSAY_FLUSHES ? ",cold_code" : "", assay_declared_1.count);
    assay_flush(channel);
}

/* One `window OFFSET SIZE UNITS` line within an input of `size` bytes mapped at `map`. 0 where it is anything else. */
static inline int assay_read_window(const char *line, uint8_t *map, size_t size, struct assay_window *window)
{
    uint64_t numbers[3];
    int i;
    if (strncmp(line, "window", 6) != 0) {
        return 0;
    }
    line += 6;
    for (i = 0; i < 3; i++) {
        size_t bytes;
        if (*line != ' ') {
            return 0;
        }
        bytes = strcspn(++line, " ");
        if (!assay_digits(line, bytes, &numbers[i])) {
            return 0;
        }
        line += bytes;
    }
    if (*line != '\0' || numbers[0] > size || numbers[1] > size - numbers[0]) {
        return 0;
    }
    window->data = map + numbers[0];
    window->size = (size_t)numbers[1];
    window->units = numbers[2];
    return 1;
}

/* Takes the announced window lines off the channel, whether or not the load has already failed. Returns 1, or 0 where
 * another line came instead; that one stays in `*line`, to be served as the next request. */
static inline int assay_take_windows(struct assay_channel *channel, uint64_t announced, struct assay_loaded *loaded,
                                     char *why, size_t why_bytes, char **line, enum assay_line *got)
{
    size_t room = 0;
    uint64_t i;
    for (i = 0; i < announced; i++) {
        *got = assay_read_line(channel, line);
        if (*got == ASSAY_LINE_END || (*got == ASSAY_LINE && strncmp(*line, "window ", 7) != 0)) {
            snprintf(why, why_bytes, "%llu windows were announced and %llu found", (unsigned long long)announced,
                     (unsigned long long)i);
            return 0;
        }
        if (why[0] != '\0') {
            continue;
        }
        if (loaded->window_count == room) {
            struct assay_window *grown;
            room = room == 0 ? 256 : 2 * room;
            grown = (struct assay_window *)realloc(loaded->windows, room * sizeof *grown);
            if (grown == NULL) {
                snprintf(why, why_bytes, "no memory for %llu windows", (unsigned long long)announced);
                continue;
            }
            loaded->windows = grown;
        }
        if (*got != ASSAY_LINE ||
            !assay_read_window(*line, loaded->map, loaded->size, &loaded->windows[loaded->window_count++])) {
            snprintf(why, why_bytes, "window line %llu is malformed or reaches past the input's end", (unsigned long long)i);
        }
    }
    return 1;
}

/* Serves `load`. Returns 1, or 0 where a line that is no window was found too early and waits in `*line`. */
static inline int assay_serve_load(struct assay_channel *channel, struct assay_program *program, struct assay_fields *fields,
                                   char **line, enum assay_line *got)
{
    struct assay_loaded loaded;
    char why[512] = "", path[ASSAY_LINE_MAX];
    uint64_t windows = assay_number(fields, "windows", 1, ASSAY_WINDOWS_MAX);
    int at = assay_find_field(fields, "path"), whole;
    memset(&loaded, 0, sizeof loaded);
    loaded.id = assay_number(fields, "id", 0, UINT32_MAX);
    loaded.size = (size_t)assay_number(fields, "size", 0, SIZE_MAX - 1);
    loaded.units = assay_number(fields, "units", 0, UINT64_MAX);
    if (fields->problem[0] != '\0') {
        snprintf(why, sizeof why, "%s", fields->problem);
    } else if (at < 0) {
        snprintf(why, sizeof why, "the field path= is missing");
    } else {
        memcpy(path, fields->field[at].value, fields->field[at].value_bytes);
        path[fields->field[at].value_bytes] = '\0';
        loaded.map = assay_map_file(path, &loaded.size, &loaded.mapped_bytes, why, sizeof why);
        loaded.path = assay_copy_text(path);
    }
    whole = assay_take_windows(channel, windows, &loaded, why, sizeof why, line, got);
    if (why[0] == '\0' && !assay_keep_input(program, &loaded)) {
        snprintf(why, sizeof why, "out of memory");
    }
    if (why[0] == '\0') {
        assay_say(channel, "loaded id=%llu", (unsigned long long)loaded.id);
    } else {
        loaded.prepared = NULL;
        assay_unload(program, &loaded);
        assay_say(channel, "error reason=load: %s", why);
    }
    return whole;
}

/* The variant and input that a request names; NULL and a problem where there is no such thing or it cannot run here. */
static inline struct assay_loaded *assay_named(struct assay_program *program, struct assay_fields *fields, size_t *variant)
{
    uint64_t index = assay_number(fields, "variant", 0, program->variant_count - 1);
    uint64_t id = assay_number(fields, "input", 0, UINT32_MAX);
    struct assay_loaded *input = assay_find_input(program, id);
    *variant = (size_t)index;
    if (fields->problem[0] != '\0') {
        return NULL;
    }
    if (input == NULL) {
        snprintf(fields->problem, sizeof fields->problem, "input %llu is not loaded", (unsigned long long)id);
    } else if (!assay_is_available(program->variants[*variant])) {
        snprintf(fields->problem, sizeof fields->problem, "the variant is unavailable here: %.200s",
                 program->variants[*variant]->reason);
        input = NULL;
    } else {
        assay_beside_1.path = input->path;
    }
    return input;
}

static inline void assay_serve_answer(struct assay_channel *channel, struct assay_program *program, struct assay_fields *fields)
{
    size_t variant;
    struct assay_loaded *input = assay_named(program, fields, &variant);
    uint64_t whole = 0, windows = 0;
    const char *why = fields->problem;
    if (input != NULL) {
        why = assay_answers(program, variant, input, &whole, &windows);
    }
    if (why == NULL) {
        assay_say(channel, "answer whole=%016llx windows=%016llx", (unsigned long long)whole, (unsigned long long)windows);
    } else {
        assay_say(channel, "error reason=answer: %s", why);
    }
}

/* How a request wants its calls made. */
static inline struct assay_usage assay_read_usage(struct assay_fields *fields)
{
    static const char *const states[] = {"hot", "rotating", "cold_data", "cold_code"};
    static const char *const measures[] = {"throughput", "latency"};
    struct assay_usage usage;
    memset(&usage, 0, sizeof usage);
    usage.state = (enum assay_coldness)assay_word(fields, "state", states, 4);
    usage.dependent = assay_word(fields, "measure", measures, 2) == 1;
    usage.copies.count = (size_t)assay_number_or(fields, "copies", 0, ASSAY_COPIES_MAX, 0);
    usage.step = assay_number_or(fields, "step", 1, UINT64_MAX, 1);
    usage.evict_bytes = (size_t)assay_number_or(fields, "evict", 0, SIZE_MAX / 4, 0);
    usage.fresh_bytes = assay_number_or(fields, "fresh", 0, UINT64_MAX / 4, 0);
    if (usage.fresh_bytes == 0) {
        usage.fresh_bytes = ASSAY_FRESH_BYTES;
    }
    if (usage.evict_bytes == 0) {
        usage.evict_bytes = ASSAY_EVICT_BYTES;
    }
    return usage;
}

static inline void assay_serve_measure(struct assay_channel *channel, struct assay_program *program, struct assay_fields *fields)
{
    size_t variant, at;
    struct assay_loaded *input = assay_named(program, fields, &variant);
    uint64_t iterations = assay_number(fields, "iterations", 1, UINT64_MAX);
    uint64_t warmup = assay_number(fields, "warmup", 0, ASSAY_SAMPLES_MAX - 1);
    uint64_t samples = assay_number(fields, "samples", 1, ASSAY_SAMPLES_MAX - warmup);
    struct assay_usage usage = assay_read_usage(fields);
    uint64_t check = 0, units, i;
    const char *why;
    char pulses[192] = "", cost[64] = "";
    struct assay_pulse before, after;
    at = (size_t)assay_number(fields, "window", 0, input == NULL ? 0 : input->window_count - 1);
    if (fields->problem[0] != '\0') {
        assay_say(channel, "error reason=measure: %s", fields->problem);
        return;
    }
    why = assay_begin_usage(program->variants[variant], &input->prepared[variant], input, &usage, iterations);
    before = assay_take_pulse();
    for (i = 0; why == NULL && i < warmup + samples; i++) {
        struct assay_region region;
        why = usage.calls == NULL
                  ? assay_sample(program, variant, input, &at, iterations, &check, &units, &region)
                  : assay_sample_listed(program, variant, input, &usage, &at, iterations, &check, &units, &region);
        if (why != NULL) {
            break;
        }
        after = assay_take_pulse();
        if (after.chain_ns != 0) {
            snprintf(pulses, sizeof pulses, " before=%llu,%llu after=%llu,%llu front=%llu,%llu",
                     (unsigned long long)before.chain_ns, (unsigned long long)before.wide_ns,
                     (unsigned long long)after.chain_ns, (unsigned long long)after.wide_ns,
                     (unsigned long long)before.jumps_ns, (unsigned long long)after.jumps_ns);
        }
        before = after;
        assay_say(channel, "sample index=%llu warmup=%d wall=%llu cpu=%llu units=%llu switches=%llu%s", (unsigned long long)i,
                  i < warmup, (unsigned long long)region.wall_ns, (unsigned long long)region.cpu_ns, (unsigned long long)units,
                  (unsigned long long)region.switches, pulses);
    }
    assay_end_usage(program->variants[variant], &usage);
    if (why == NULL) {
        if (program->variants[variant]->kind == ASSAY_FRESH) {
            snprintf(cost, sizeof cost, " state_bytes=%llu", (unsigned long long)input->prepared[variant].state_bytes);
        }
        assay_say(channel, "measured check=%016llx%s", (unsigned long long)check, cost);
    } else {
        assay_say(channel, "error reason=measure: %s", why);
    }
}

/* What counts allocations, or NULL: also where the program has an allocator of its own, which nothing counts. */
static inline volatile struct assay_heap *assay_find_heap(void)
{
    const char *address = getenv("ASSAY_HEAP");
    volatile struct assay_heap *heap = (volatile struct assay_heap *)(uintptr_t)(address == NULL ? 0 : strtoull(address, NULL, 16));
    uint64_t before = heap == NULL ? 0 : heap->allocations;
    void *volatile block = malloc(1); /* volatile: a compiler may drop a block that nobody uses */
    free(block);
#if defined(__cplusplus)
    if (heap != NULL && heap->allocations != before) {
        before = heap->allocations;
        block = ::operator new(1);
        ::operator delete(block);
    }
#endif
    return heap == NULL || heap->allocations == before ? NULL : heap;
}

static inline void assay_serve_trace(struct assay_channel *channel, struct assay_program *program, struct assay_fields *fields)
{
    size_t variant, at;
    struct assay_loaded *input = assay_named(program, fields, &variant);
    uint64_t windows = assay_number(fields, "windows", 0, UINT64_MAX);
    uint64_t passes = assay_number(fields, "passes", 1, ASSAY_SAMPLES_MAX);
    uint64_t check = 0, units = 0, i;
    struct assay_pass pass = {0, 0, 0, NULL};
    struct assay_allocated allocated;
    char heap[128] = "";
    at = (size_t)assay_number(fields, "window", 0, input == NULL ? 0 : input->window_count - 1);
    if (fields->problem[0] != '\0') {
        assay_say(channel, "error reason=trace: %s", fields->problem);
        return;
    }
    pass.variant = (unsigned long)variant;
    pass.input = (unsigned long)input->id;
    memset(&allocated, 0, sizeof allocated);
    allocated.heap = assay_find_heap();
    pass.allocated = allocated.heap != NULL ? &allocated : NULL;
    for (i = 0; i < passes; i++) {
        const char *why;
        pass.pass = (unsigned long)i;
        why = program->variants[variant]->kind == ASSAY_FRESH
                  ? assay_traced_fresh(program->variants[variant], input, at, windows, &check, &units, pass)
                  : assay_traced_pass(program, input, at, windows, &check, &units, &pass);
        if (why != NULL) {
            assay_say(channel, "error reason=trace: %s", why);
            return;
        }
    }
    if (allocated.heap != NULL) {
        snprintf(heap, sizeof heap, " allocations=%llu allocated=%llu peak=%llu", (unsigned long long)allocated.allocations,
                 (unsigned long long)allocated.allocated, (unsigned long long)allocated.peak);
    }
    assay_say(channel, "traced units=%llu check=%016llx%s", (unsigned long long)units, (unsigned long long)check, heap);
}

/* Serves one line. Returns 0 after `bye`. */
static inline int assay_serve(struct assay_channel *channel, struct assay_program *program, char **line, enum assay_line *got)
{
    for (;;) {
        struct assay_fields fields;
        size_t word = strcspn(*line, " ");
        if (*got == ASSAY_LINE_TOO_LONG) {
            assay_say(channel, "error reason=a request line has more than %d bytes", ASSAY_LINE_MAX);
            return 1;
        }
        assay_split(&fields, (*line)[word] == ' ' ? *line + word + 1 : NULL);
        if (word == 6 && memcmp(*line, "window", 6) == 0) {
            return 1; /* belongs to a load that was refused, and was answered there */
        }
        if (word == 4 && memcmp(*line, "load", 4) == 0) {
            if (assay_serve_load(channel, program, &fields, line, got) || *got == ASSAY_LINE_END) {
                return 1;
            }
            continue; /* what came instead of a window is a request itself */
        }
        if (word == 6 && memcmp(*line, "answer", 6) == 0) {
            assay_serve_answer(channel, program, &fields);
        } else if (word == 7 && memcmp(*line, "measure", 7) == 0) {
            assay_serve_measure(channel, program, &fields);
        } else if (word == 5 && memcmp(*line, "trace", 5) == 0) {
            assay_serve_trace(channel, program, &fields);
        } else if (word == 3 && memcmp(*line, "bye", 3) == 0 && fields.problem[0] == '\0') {
            assay_say(channel, "bye");
            return 0;
        } else {
            assay_say(channel, "error reason=unknown request \"%.*s\"", (int)(word < 100 ? word : 100), *line);
        }
        return 1;
    }
}

/* "R,W" -> two open descriptors, closed in programs that a variant may start. 0 where it is anything else. */
static inline int assay_open_channel(const char *text, struct assay_channel *channel)
{
    uint64_t in, out;
    size_t comma = strcspn(text, ",");
    if (text[comma] != ',' || !assay_digits(text, comma, &in) ||
        !assay_digits(text + comma + 1, strlen(text + comma + 1), &out) || in > INT32_MAX || out > INT32_MAX) {
        return 0;
    }
    channel->in = (int)in;
    channel->out = (int)out;
    return fcntl(channel->in, F_SETFD, FD_CLOEXEC) == 0 && fcntl(channel->out, F_SETFD, FD_CLOEXEC) == 0;
}

static inline int assay_lab_main(const char *descriptors)
{
    static struct assay_channel channel;
    struct assay_program program;
    enum assay_line got;
    char why[256], *line;
    size_t i;
    if (!assay_open_channel(descriptors, &channel)) {
        fprintf(stderr, "assay.h: ASSAY_CHANNEL=\"%.100s\" does not name two open descriptors as \"R,W\"\n", descriptors);
        return 2;
    }
    unsetenv("ASSAY_CHANNEL");
    signal(SIGPIPE, SIG_IGN);
    if (!assay_collect(&program, why, sizeof why)) {
        assay_say(&channel, "error reason=%s", why);
        assay_flush(&channel);
        return 2;
    }
    assay_greet(&channel, &program);
    while ((got = assay_read_line(&channel, &line)) != ASSAY_LINE_END) {
        int more = assay_serve(&channel, &program, &line, &got);
        assay_flush(&channel);
        if (!more) {
            break;
        }
    }
    for (i = 0; i < program.input_count; i++) {
        assay_unload(&program, &program.inputs[i]);
    }
    free(program.inputs);
    free(program.variants);
    return 0;
}

/* ---- 9. Run alone ------------------------------------------------------------------------------------------------ */

struct assay_options {
    const char *input;   /* NULL: the built-in bytes */
    const char *pattern; /* NULL: all variants */
    uint64_t units;      /* 0: one per byte */
    double seconds;      /* of measuring, per variant */
    int list, json;
};

#define ASSAY_ALONE_ROUNDS 4096
#define ASSAY_ALONE_BYTES 1000000
#define ASSAY_ALONE_TARGET_NS 200000

/* What was found of one variant. */
struct assay_row {
    int chosen, available;
    uint64_t whole, iterations;
    double *ns; /* per call; `taken` undisturbed samples from the front, `interrupted` ones from the back */
    size_t taken, interrupted;
    double ns_per_call;
    const char *problem; /* NULL, or why there is no figure */
};

static inline void assay_print_help(FILE *out, const char *program)
{
    fprintf(out,
            "%s: a benchmark built with assay.h\n"
            "\n"
            "usage: %s [--list] [--variant GLOB] [--input FILE]\n"
            "       [--units N] [--seconds S] [--json]\n"
            "\n"
            "  --list          list the variants and stop\n"
            "  --variant GLOB  only the variants whose name matches; * and ? are wildcards\n"
            "  --input FILE    input bytes of every variant\n"
            "                  (default: %d built-in pseudo-random bytes)\n"
            "  --units N       units of work in the input (default: one per byte)\n"
            "  --seconds S     time to measure each variant (default: 0.5)\n"
            "  --json          print JSON instead of a table\n"
            "\n"
            "Run alone, the program measures only the placement that the linker chose.\n"
            "`assay run` measures many placements and gives verdicts.\n",
            program, program, ASSAY_ALONE_BYTES);
}

/* `*` is any text, `?` any one character. */
static inline int assay_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;
    while (*name != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star + 1;
            name = ++retry;
        } else {
            return 0;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

/* Returns -1 to go on, or the exit code. */
static inline int assay_read_options(int argc, char **argv, struct assay_options *options)
{
    int i;
    for (i = 1; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        char *end = NULL;
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            assay_print_help(stdout, argv[0]);
            return 0;
        }
        if (strcmp(option, "--list") == 0) {
            options->list = 1;
            continue;
        }
        if (strcmp(option, "--json") == 0) {
            options->json = 1;
            continue;
        }
        if (strcmp(option, "--variant") != 0 && strcmp(option, "--input") != 0 && strcmp(option, "--units") != 0 &&
            strcmp(option, "--seconds") != 0) {
            fprintf(stderr, "%s: unknown option \"%s\"; see --help\n", argv[0], option);
            return 2;
        }
        if (value == NULL) {
            fprintf(stderr, "%s: %s needs a value; see --help\n", argv[0], option);
            return 2;
        }
        i++;
        if (strcmp(option, "--variant") == 0) {
            options->pattern = value;
        } else if (strcmp(option, "--input") == 0) {
            options->input = value;
        } else if (strcmp(option, "--units") == 0) {
            if (!assay_digits(value, strlen(value), &options->units) || options->units == 0) {
                fprintf(stderr, "%s: --units %s is not a whole number of at least 1\n", argv[0], value);
                return 2;
            }
        } else {
            options->seconds = strtod(value, &end);
            if (end == value || *end != '\0' || !(options->seconds > 0.0 && options->seconds <= 3600.0)) {
                fprintf(stderr, "%s: --seconds %s is not a number above 0 and at most 3600\n", argv[0], value);
                return 2;
            }
        }
    }
    return -1;
}

/* Bytes of splitmix64 from a fixed seed: the same on every machine. */
static inline void assay_fill(uint8_t *bytes, size_t size)
{
    uint64_t seed = 42, mixed;
    size_t i;
    for (i = 0; i < size; i++) {
        mixed = seed += 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        bytes[i] = (uint8_t)((mixed ^ (mixed >> 31)) >> 56);
    }
}

/* Loads the one input of a program run alone, whole in one window. NULL and a reason where that fails. */
static inline struct assay_loaded *assay_load_alone(struct assay_program *program, const struct assay_options *options,
                                                    char *why, size_t why_bytes)
{
    struct assay_loaded loaded;
    memset(&loaded, 0, sizeof loaded);
    if (options->input != NULL) {
        loaded.size = SIZE_MAX;
        loaded.map = assay_map_file(options->input, &loaded.size, &loaded.mapped_bytes, why, why_bytes);
        loaded.path = assay_copy_text(options->input);
        assay_beside_1.path = loaded.path;
    } else {
        loaded.size = ASSAY_ALONE_BYTES;
        loaded.map = assay_reserve(loaded.size, PROT_READ | PROT_WRITE, &loaded.mapped_bytes);
        if (loaded.map != NULL) {
            assay_fill(loaded.map, loaded.size);
            mprotect(loaded.map, loaded.mapped_bytes, PROT_READ);
        }
    }
    if (loaded.map == NULL) {
        if (why[0] == '\0') {
            snprintf(why, why_bytes, "out of memory");
        }
        return NULL;
    }
    loaded.units = options->units != 0 ? options->units : loaded.size;
    loaded.windows = (struct assay_window *)calloc(1, sizeof *loaded.windows);
    if (loaded.windows != NULL) {
        loaded.window_count = 1;
        loaded.windows[0].data = loaded.map;
        loaded.windows[0].size = loaded.size;
        loaded.windows[0].units = loaded.units;
    }
    if (loaded.windows == NULL || !assay_keep_input(program, &loaded)) {
        loaded.prepared = NULL;
        assay_unload(program, &loaded);
        snprintf(why, why_bytes, "out of memory");
        return NULL;
    }
    return &program->inputs[0];
}

/* From this length on a sample of fresh states is not made longer at the cost of states that leave the first cache. */
#define ASSAY_FRESH_NS 10000
#define ASSAY_FRESH_CACHED 32768

/* The answer, and how many calls fill a sample of a fifth of a millisecond: long against the clocks, short against
 * what interrupts. */
static inline void assay_size_row(const struct assay_program *program, size_t index, struct assay_loaded *input,
                                  struct assay_row *row)
{
    uint64_t windows, combined = 0, units;
    struct assay_region region;
    size_t at = 0;
    row->problem = assay_answers(program, index, input, &row->whole, &windows);
    for (row->iterations = 1; row->problem == NULL && row->iterations < (1u << 30); row->iterations *= 2) {
        row->problem = assay_plain_sample(program, index, input, &at, row->iterations, &combined, &units, &region);
        if (row->problem != NULL || region.wall_ns >= ASSAY_ALONE_TARGET_NS / 2 ||
            (region.wall_ns >= ASSAY_FRESH_NS &&
             (row->iterations + 1) * input->prepared[index].state_bytes > ASSAY_FRESH_CACHED / 2)) {
            break;
        }
    }
}

/* Interleaves the variants, so that a change of the machine's speed meets all of them. */
static inline void assay_measure_rows(const struct assay_program *program, struct assay_loaded *input,
                                      const struct assay_costs *costs, double seconds, struct assay_row *rows)
{
    uint64_t started = assay_wall_ns();
    size_t round, index, running = 0;
    for (index = 0; index < program->variant_count; index++) {
        running += rows[index].ns != NULL && rows[index].problem == NULL;
    }
    for (round = 0; running != 0 && round < ASSAY_ALONE_ROUNDS; round++) {
        if (round >= 5 && (double)(assay_wall_ns() - started) > seconds * 1e9 * (double)running) {
            break;
        }
        for (index = 0; index < program->variant_count; index++) {
            struct assay_row *row = &rows[index];
            struct assay_region region;
            uint64_t combined = 0, units;
            size_t at = 0;
            double ns;
            if (row->ns == NULL || row->problem != NULL) {
                continue;
            }
            row->problem = assay_plain_sample(program, index, input, &at, row->iterations, &combined, &units, &region);
            ns = ((double)region.wall_ns - costs->region_wall_ns) / (double)row->iterations;
            ns = ns > 0.0 ? ns : 0.0;
            if (region.switches != 0) {
                row->ns[ASSAY_ALONE_ROUNDS - ++row->interrupted] = ns;
            } else {
                row->ns[row->taken++] = ns;
            }
        }
    }
    for (index = 0; index < program->variant_count; index++) {
        struct assay_row *row = &rows[index];
        if (row->ns != NULL && row->problem == NULL && row->taken != 0) {
            row->ns_per_call = assay_median(row->ns, row->taken);
        } else if (row->ns != NULL && row->problem == NULL) {
            row->ns_per_call = assay_median(row->ns + ASSAY_ALONE_ROUNDS - row->interrupted, row->interrupted);
        }
    }
}

/* The first variant with an answer, which the others must share; the count where there is none. */
static inline size_t assay_reference(const struct assay_program *program, const struct assay_row *rows)
{
    size_t i;
    for (i = 0; i < program->variant_count; i++) {
        if (rows[i].ns != NULL && rows[i].problem == NULL) {
            break;
        }
    }
    return i;
}

/* The user's own text on one line. */
static inline void assay_print_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        putchar((unsigned char)*text < 0x20 ? ' ' : *text);
    }
}

static inline void assay_print_table(const struct assay_program *program, const struct assay_row *rows,
                                     const struct assay_options *options, const struct assay_loaded *input)
{
    size_t i, reference = assay_reference(program, rows);
    int width = 7;
    for (i = 0; i < program->variant_count; i++) {
        int length = (int)strlen(program->variants[i]->name);
        width = rows[i].chosen && length > width ? length : width;
    }
    printf("input: %s, %llu bytes, %llu units\n", options->input != NULL ? options->input : "built-in pseudo-random bytes (seed 42)",
           (unsigned long long)input->size, (unsigned long long)input->units);
    printf("%-*s  %14s  %11s  %-16s\n", width, "variant", "ns/call", options->units != 0 ? "ns/unit" : "ns/byte", "answer");
    for (i = 0; i < program->variant_count; i++) {
        const struct assay_row *row = &rows[i];
        const char *name = program->variants[i]->name;
        if (!row->chosen) {
            continue;
        }
        if (!row->available || row->problem != NULL) {
            printf("%-*s  %14s  %11s  %-16s  %s", width, name, "-", "-", "-", row->available ? "" : "unavailable: ");
            assay_print_plain(row->available ? row->problem : program->variants[i]->reason);
            printf("\n");
            continue;
        }
        printf("%-*s  %14.3f  ", width, name, row->ns_per_call);
        if (input->units != 0) {
            printf("%11.4f", row->ns_per_call / (double)input->units);
        } else {
            printf("%11s", "-");
        }
        printf("  %016llx", (unsigned long long)row->whole);
        if (row->whole != rows[reference].whole) {
            printf("  differs from %s", program->variants[reference]->name);
        }
        if (row->taken == 0) {
            printf("  other work interrupted every sample");
        }
        if (program->variants[i]->kind == ASSAY_FRESH) {
            printf("  %llu fresh states at a time, %llu KiB", (unsigned long long)row->iterations,
                   (unsigned long long)((row->iterations * input->prepared[i].state_bytes + 1023) / 1024));
        }
        printf("\n");
    }
    printf("Only one placement was measured: a difference may come from placement alone.\n"
           "`assay run` measures many placements and gives verdicts.\n");
}

/* Quotes, backslashes and control characters as JSON wants them. */
static inline void assay_print_json_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            printf("\\%c", *text);
        } else if ((unsigned char)*text < 0x20) {
            printf("\\u%04x", (unsigned)(unsigned char)*text);
        } else {
            putchar(*text);
        }
    }
    putchar('"');
}

/* printf's %f would follow the user's locale, and JSON has only the point. */
static inline void assay_print_json_ns(double ns)
{
    unsigned long long thousandths = (unsigned long long)(ns * 1000.0 + 0.5);
    printf("%llu.%03llu", thousandths / 1000, thousandths % 1000);
}

static inline void assay_print_json(const struct assay_program *program, const struct assay_row *rows,
                                    const struct assay_options *options, const struct assay_loaded *input)
{
    size_t i, reference = assay_reference(program, rows);
    const char *comma = "";
    printf("{\"schema\": \"assay.alone/1\", \"placements\": 1, \"input\": ");
    assay_print_json_text(options->input != NULL ? options->input : "built-in");
    printf(", \"bytes\": %llu, \"units\": %llu, \"variants\": [", (unsigned long long)input->size, (unsigned long long)input->units);
    for (i = 0; i < program->variant_count; i++) {
        const struct assay_row *row = &rows[i];
        const char *problem = row->available ? row->problem : program->variants[i]->reason;
        if (!row->chosen) {
            continue;
        }
        printf("%s\n  {\"variant\": \"%s\", ", comma, program->variants[i]->name);
        comma = ",";
        if (problem != NULL) {
            printf("\"failed\": ");
            assay_print_json_text(problem);
            printf("}");
            continue;
        }
        printf("\"ns_per_call\": ");
        assay_print_json_ns(row->ns_per_call);
        printf(", \"samples\": %llu, \"interrupted\": %llu, \"iterations\": %llu, \"answer\": \"%016llx\", \"agrees\": %s}",
               (unsigned long long)row->taken, (unsigned long long)row->interrupted, (unsigned long long)row->iterations,
               (unsigned long long)row->whole, row->whole == rows[reference].whole ? "true" : "false");
    }
    printf("\n]}\n");
}

/* 0; 1 where a variant could not be measured or the answers differ; 2 for what only the user can mend. */
static inline int assay_alone(struct assay_program *program, const struct assay_options *options, struct assay_row *rows,
                              const char *name)
{
    char why[512] = "";
    struct assay_costs costs;
    struct assay_loaded *input = assay_load_alone(program, options, why, sizeof why);
    size_t i, reference;
    int code = 0;
    if (input == NULL) {
        fprintf(stderr, "%s: %s\n", name, why);
        return 2;
    }
    costs = assay_calibrate();
    for (i = 0; i < program->variant_count; i++) {
        if (rows[i].chosen && rows[i].available) {
            assay_size_row(program, i, input, &rows[i]);
            rows[i].ns = (double *)calloc(ASSAY_ALONE_ROUNDS, sizeof *rows[i].ns);
        }
    }
    assay_measure_rows(program, input, &costs, options->seconds, rows);
    if (options->json) {
        assay_print_json(program, rows, options, input);
    } else {
        assay_print_table(program, rows, options, input);
    }
    reference = assay_reference(program, rows);
    for (i = 0; i < program->variant_count; i++) {
        if (rows[i].ns != NULL && (rows[i].problem != NULL || rows[i].whole != rows[reference].whole)) {
            code = 1;
        }
        free(rows[i].ns);
    }
    assay_unload(program, input);
    free(program->inputs);
    return code;
}

static inline int assay_alone_main(int argc, char **argv)
{
    struct assay_options options = {NULL, NULL, 0, 0.5, 0, 0};
    struct assay_program program;
    struct assay_row *rows;
    char why[256];
    size_t i, chosen = 0;
    int code = assay_read_options(argc, argv, &options);
    if (code >= 0) {
        return code;
    }
    if (!assay_collect(&program, why, sizeof why)) {
        fprintf(stderr, "%s: %s\n", argv[0], why);
        return 2;
    }
    rows = (struct assay_row *)calloc(program.variant_count, sizeof *rows);
    if (rows == NULL) {
        return 2;
    }
    for (i = 0; i < program.variant_count; i++) {
        rows[i].chosen = options.pattern == NULL || assay_matches(options.pattern, program.variants[i]->name);
        rows[i].available = rows[i].chosen && assay_is_available(program.variants[i]);
        chosen += rows[i].chosen != 0;
        if (options.list && rows[i].chosen) {
            printf("%s (%s)%s", program.variants[i]->name, assay_kind_name(program.variants[i]->kind),
                   rows[i].available ? "" : " unavailable: ");
            assay_print_plain(rows[i].available ? "" : program.variants[i]->reason);
            printf("\n");
        }
    }
    code = 0;
    if (chosen == 0) {
        fprintf(stderr, "%s: no variant matches \"%s\"; see --list\n", argv[0], options.pattern);
        code = 2;
    } else if (!options.list) {
        code = assay_alone(&program, &options, rows, argv[0]);
    }
    free(rows);
    free(program.variants);
    return code;
}

static inline int assay_main(int argc, char **argv)
{
    const char *channel = getenv("ASSAY_CHANNEL");
    return channel != NULL ? assay_lab_main(channel) : assay_alone_main(argc, argv);
}

#endif /* ASSAY_H */
