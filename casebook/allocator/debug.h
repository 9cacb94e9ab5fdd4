// What the first stages do beside allocating: guards, a profile by the time-stamp counter, statistics, configuration by
// the environment. Each is a build option, and none is in the final stage.
//
//   -DTINY_GUARDS       corruption, alignment and double-free guards, poison in free blocks
//   -DTINY_PROFILE      cycles per call into a histogram
//   -DTINY_STATISTICS   calls per class, bytes in use and their peak
//   -DTINY_CONFIG=2     the environment is read at each call; 1: once; absent: there is nothing to configure
//
// A comment "fault N" marks a line of the list of planted faults in results/README.md.

#ifndef DEBUG_H
#define DEBUG_H

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "heap.h"

// ---- configuration

#if TINY_CONFIG
static struct {
    bool trace;
    bool profile;
    bool front_cache;
} config = {false, true, true};

static bool config_flag(const char *text, bool otherwise) {
    return text == NULL || *text == '\0' ? otherwise : *text != '0';
}

static void tiny_config_read(void) {
    config.trace = config_flag(getenv("TINY_TRACE"), false);              // fault 1: the environment, three times a call
    config.profile = config_flag(getenv("TINY_PROFILE"), true);           // fault 2
    config.front_cache = config_flag(getenv("TINY_FRONT_CACHE"), true);   // fault 3
}
#endif

#if TINY_CONFIG == 2
#define CONFIGURE() tiny_config_read()
#else
#define CONFIGURE() ((void)0)
#endif

#if TINY_CONFIG == 1
__attribute__((constructor)) static void tiny_config_once(void) { tiny_config_read(); }
#endif

#if TINY_CONFIG
// Without stdio's streams, which allocate.
__attribute__((noinline)) static void debug_print(const char *what, const void *block, size_t size) {
    char line[96];
    const int length = snprintf(line, sizeof line, "tiny: %s %p %zu\n", what, block, size);
    if (length > 0 && write(2, line, (size_t)length) < 0) {
        config.trace = false;
    }
}
#define TRACE(what, block, size)                 \
    do {                                         \
        if (config.trace) {                      \
            debug_print((what), (block), (size)); \
        }                                        \
    } while (0)
#else
#define TRACE(what, block, size) ((void)0)
#endif

// ---- profile

#if TINY_PROFILE
enum { PROFILE_MALLOC, PROFILE_REFILL, PROFILE_FREE, PROFILES };

static __thread struct {
    uint64_t calls, cycles;
    uint64_t histogram[64];  // by the logarithm of the cycles
} profile[PROFILES] __attribute__((tls_model("initial-exec")));

// Six sites, as in the document: ahead of malloc, of a list's refill and of free, and after each.
static uint64_t profile_start_malloc(void) {
    return config.profile ? __builtin_ia32_rdtsc() : 0;  // fault 4: the time-stamp counter ahead of each malloc
}
static uint64_t profile_start_refill(void) {
    return config.profile ? __builtin_ia32_rdtsc() : 0;  // fault 5: ahead of each refill
}
static uint64_t profile_start_free(void) {
    return config.profile ? __builtin_ia32_rdtsc() : 0;  // fault 6: ahead of each free
}

static void profile_add(int what, uint64_t cycles) {
    if (config.profile) {  // fault 7: a configuration that never changes
        profile[what].calls++;
        profile[what].cycles += cycles;
        unsigned log = 0;
        while (cycles >>= 1) {
            log++;
        }
        profile[what].histogram[log]++;
    }
}

static void profile_stop_malloc(uint64_t start) {
    profile_add(PROFILE_MALLOC, __builtin_ia32_rdtsc() - start);  // fault 8: after each malloc, even with the profile off
}
static void profile_stop_refill(uint64_t start) {
    profile_add(PROFILE_REFILL, __builtin_ia32_rdtsc() - start);  // fault 9: after each refill
}
static void profile_stop_free(uint64_t start) {
    profile_add(PROFILE_FREE, __builtin_ia32_rdtsc() - start);  // fault 10: after each free
}
#define PROFILE_START(what) const uint64_t profile_started = profile_start_##what()
#define PROFILE_STOP(what) profile_stop_##what(profile_started)
#else
#define PROFILE_START(what) ((void)0)
#define PROFILE_STOP(what) ((void)0)
#endif

// ---- statistics

#if TINY_STATISTICS
static __thread struct {
    uint64_t allocations, frees, live, peak;
    uint64_t by_class[CLASSES];
} statistics __attribute__((tls_model("initial-exec")));

static void statistics_alloc(unsigned class_index) {
    statistics.allocations++;
    statistics.by_class[class_index]++;
    statistics.live += class_bytes(class_index);
    if (statistics.live > statistics.peak) {  // fault 11: a peak kept by every call
        statistics.peak = statistics.live;
    }
}

static void statistics_free(unsigned class_index) {
    statistics.frees++;
    statistics.live -= class_bytes(class_index);
}
#else
#define statistics_alloc(class_index) ((void)0)
#define statistics_free(class_index) ((void)0)
#endif

// ---- guards

#if TINY_GUARDS
enum { POISON_WORDS = 8 };
#define POISON UINT64_C(0xdddddddddddddddd)
#define FREE_MARK UINT64_C(0x5afe0f4eebadb10c)

static void guard_fail(const char *what, const void *block) {
    char line[96];
    const int length = snprintf(line, sizeof line, "tiny: %s: %p\n", what, block);
    if (length > 0 && write(2, line, (size_t)length) < 0) {
        abort();
    }
    abort();
}

static unsigned poison_words(size_t bytes) {
    const size_t words = bytes / 8 - 2;  // the first two are the link and the mark
    return words < POISON_WORDS ? (unsigned)words : POISON_WORDS;
}

static bool guard_listed(void **list, const void *block) {
    for (; list != NULL; list = *list) {
        if (list == block) {
            return true;
        }
    }
    return false;
}

static bool guard_is_free(struct slab *slab, const void *block) {
    const struct layers *layers = &own_heap->layers;
    if (guard_listed(slab->free, block) || guard_listed(layers->lists[slab->class_index].head, block)) {
        return true;
    }
#if TINY_FRONT_CACHE
    const struct front *front = &layers->fronts[slab->class_index];
    for (uint32_t i = 0; i < front->count; i++) {
        if (front->blocks[i] == block) {
            return true;
        }
    }
#endif
    return false;
}

// Ahead of freeing a small block of this thread's heap.
static void guard_free(struct slab *slab, void *block) {
    const size_t bytes = class_bytes(slab->class_index);
    struct slab_rest *rest = rest_of(slab);
    if ((uintptr_t)block % 16 != 0) {  // fault 12: alignment guard
        guard_fail("misaligned block", block);
    }
    if (slab->class_index == 0 || slab->class_index > SMALL_CLASS) {  // fault 13: corruption guard
        guard_fail("corrupt slab", block);
    }
    if ((char *)block < rest->start || (size_t)((char *)block - rest->start) >= rest->carved * bytes) {  // fault 14
        guard_fail("block outside its slab", block);
    }
    if ((size_t)((char *)block - rest->start) % bytes != 0) {  // fault 15: a division in every free
        guard_fail("not the start of a block", block);
    }
    uint64_t *words = block;
    if (words[1] == FREE_MARK && guard_is_free(slab, block)) {  // fault 16: double-free guard
        guard_fail("freed twice", block);
    }
    words[1] = FREE_MARK;
    for (unsigned i = 0; i < poison_words(bytes); i++) {  // fault 17: poison
        words[2 + i] = POISON;
    }
}

// Ahead of handing out a block that `guard_free` has seen; a block that was never handed out has no mark.
static void guard_alloc(void *block, size_t size, unsigned class_index) {
    const size_t bytes = class_bytes(class_index);
    uint64_t *words = block;
    if ((uintptr_t)block % 16 != 0) {
        guard_fail("misaligned free block", block);
    }
    if (size > bytes) {
        guard_fail("class too small", block);
    }
    if (words[1] == FREE_MARK) {
        for (unsigned i = 0; i < poison_words(bytes); i++) {
            if (words[2 + i] != POISON) {  // fault 18: write-after-free guard
                guard_fail("written to after it was freed", block);
            }
        }
        words[1] = 0;
    }
}
#else
#define guard_free(slab, block) ((void)0)
#define guard_alloc(block, size, class_index) ((void)0)
#endif

#endif
