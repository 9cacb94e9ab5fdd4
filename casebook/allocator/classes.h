// Size classes: which block size serves a request.
//
// Up to FINE_MAX every multiple of 16 is a class; up to a page each doubling is divided into 8, so that at most an
// eighth of a block is lost; above, into 2. What is lost there is mostly pages that nobody touches, while each class
// with a block in use keeps a slab of its own. Every power of two is a class, which is what aligned blocks rely on: a
// block of class size S lies at a multiple of the largest power of two in S (at most a page).

#ifndef CLASSES_H
#define CLASSES_H

#include <stddef.h>

enum {
    FINE_LOG = 8,
    SMALL_LOG = 11,
    PAGE_LOG = 12,
    MEDIUM_LOG = 19,
    FINE_MAX = 1 << FINE_LOG,
    SMALL_MAX = 1 << SMALL_LOG,    // served by a table of sizes
    PAGE_BYTES = 1 << PAGE_LOG,
    MEDIUM_MAX = 1 << MEDIUM_LOG,  // above, a block is a mapping of its own
    FINE_CLASS = FINE_MAX / 16,    // the last of its kind; class 0 does not exist
    SMALL_CLASS = FINE_CLASS + 8 * (SMALL_LOG - FINE_LOG),
    PAGE_CLASS = FINE_CLASS + 8 * (PAGE_LOG - FINE_LOG),
    CLASSES = PAGE_CLASS + 2 * (MEDIUM_LOG - PAGE_LOG) + 1,
};

// size 0..MEDIUM_MAX
static inline unsigned class_of(size_t size) {
    if (size <= FINE_MAX) {
        return (unsigned)(size + 15 + (size == 0)) / 16;
    }
    const size_t top = size - 1;
    const unsigned log = 63 - (unsigned)__builtin_clzl(top);
    if (size <= PAGE_BYTES) {
        return FINE_CLASS + 1 + (log - FINE_LOG) * 8 + ((unsigned)(top >> (log - 3)) & 7);
    }
    return PAGE_CLASS + 1 + (log - PAGE_LOG) * 2 + ((unsigned)(top >> (log - 1)) & 1);
}

static inline size_t class_bytes(unsigned class_index) {
    if (class_index <= FINE_CLASS) {
        return (size_t)class_index * 16;
    }
    if (class_index <= PAGE_CLASS) {
        const unsigned above = class_index - FINE_CLASS - 1;
        return (size_t)(9 + above % 8) << (FINE_LOG + above / 8 - 3);
    }
    const unsigned above = class_index - PAGE_CLASS - 1;
    return (size_t)(3 + above % 2) << (PAGE_LOG + above / 2 - 1);
}

#endif
