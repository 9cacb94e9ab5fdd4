// The two cache layers that the history takes away again: a front cache of a few pointers per class, and a list per
// class ahead of the slabs. -DTINY_LISTS has the lists, -DTINY_FRONT_CACHE the front cache before them, -DTINY_PREWARM
// lists that are half full from the start.

#ifndef LAYERS_H
#define LAYERS_H

#include <stdint.h>

#include "classes.h"

enum { FRONT_BLOCKS = 8, BATCH_BYTES = 4096, LIST_BYTES = 16384 };

struct front {
    uint32_t count;
    void *blocks[FRONT_BLOCKS];
};

struct list {
    void *head;
    uint32_t count;
};

struct layers {
    struct list lists[SMALL_CLASS + 1];
#if TINY_FRONT_CACHE
    struct front fronts[SMALL_CLASS + 1];
#endif
};

// How many blocks a list may hold, and how many it is given at once.
static inline uint32_t list_limit(unsigned class_index) {
    const size_t count = LIST_BYTES / class_bytes(class_index);
    return count > 64 ? 64 : (uint32_t)count;
}

static inline uint32_t list_batch(unsigned class_index) {
    const size_t count = BATCH_BYTES / class_bytes(class_index);
    return count > 16 ? 16 : (uint32_t)count;
}

#endif
