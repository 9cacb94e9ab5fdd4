// Where memory comes from: segments of 2 MiB at multiples of 2 MiB, cut into 64 units of 32 KiB.
//
// A run of units is a slab: blocks of one class. What is known of a slab stands at the start of its segment, so a
// block's slab is found from its address alone, without a header in front of the block. The fields that every call
// touches are 32 bytes apart, so that the slabs of a thread share few cache lines, and lie at different places of the
// cache (at the start of each slab they would all compete for one set of it).
//
// -DTINY_HEADER has a header nevertheless, to compare: the word ahead of each block is the address of its slab.
//
// A segment belongs to one heap for as long as it is mapped. A block of more than MEDIUM_MAX bytes is a mapping of its
// own that begins like a segment.

#ifndef SEGMENT_H
#define SEGMENT_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "classes.h"

#define UNIT_BYTES ((size_t)32 << 10)
#define SEGMENT_BYTES ((size_t)2 << 20)
#define HEADER_BYTES ((size_t)8 << 10)  // of unit 0, taken by struct segment

enum { UNITS = 64 };

struct heap;

// The part of a slab that every call touches.
struct slab {
    void *free;                         // blocks that can be handed out, linked by their first word
    _Atomic(struct heap *) short_way;   // who may free by pushing onto `free`; NULL: nobody, take the long way
    struct slab *next;                  // of the same class and heap, with blocks to hand out
    uint32_t used;                      // blocks handed out, those on `foreign` included
    uint8_t class_index;                // in each unit of a slab
    uint8_t units;
    uint8_t first;                      // in each unit of a slab: number of its first unit
    bool listed;                        // in its heap's list
};

// The part that only the long ways touch.
struct slab_rest {
    _Atomic(void *) foreign;    // blocks freed by other threads; not NULL: the slab is on its heap's `pending`
    struct slab *pending_next;
    char *start;                // the first block
    uint32_t capacity;          // blocks that fit
    uint32_t carved;            // blocks ever handed out or on a list; those above were never touched
};

enum segment_kind { SEGMENT_SLABS = 0x51ab5, SEGMENT_HUGE = 0x49e };

struct segment {
    struct slab slabs[UNITS];   // first, so that a slab's place is two shifts and a sum away from its blocks'
    enum segment_kind kind;
    struct heap *heap;          // NULL for a huge block
    struct segment *next, *prev;
    uint64_t free_units;        // a bit per unit
    uint64_t dirty_units;       // among the free ones: those whose pages the system has given us
    char *huge;                 // the huge block
    size_t huge_bytes;          // up to the end of the mapping
    struct slab_rest rest[UNITS];
};

_Static_assert(sizeof(struct slab) == 32, "two slabs share a cache line");
_Static_assert(sizeof(struct segment) <= HEADER_BYTES, "the header fits");

// One byte back, because a huge block aligned to a segment or more begins right after its header's segment. No other
// block begins at a multiple of a segment.
static inline struct segment *segment_of(const void *block) {
    return (struct segment *)(((uintptr_t)block - 1) & ~(SEGMENT_BYTES - 1));
}

static inline struct slab *slab_of(const void *block) {
#if TINY_HEADER
    return ((struct slab *const *)block)[-1];
#else
    return &segment_of(block)->slabs[(uintptr_t)block / UNIT_BYTES % UNITS];
#endif
}

// What of a class's blocks is the header. Up to a page a block lies 8 bytes behind a multiple of 16, so that what the
// program gets is aligned. A larger slab is often as long as its blocks: there the header takes 16 bytes of the block.
#if TINY_HEADER
#define HEADER_OF(class_index) ((class_index) <= PAGE_CLASS ? 8u : 16u)
#define WITH_HEADER(size) ((size) + 8 <= PAGE_BYTES ? (size) + 8 : (size) + 16)
enum { SMALL_REQUEST = SMALL_MAX - 8, MEDIUM_REQUEST = MEDIUM_MAX - 16 };
#else
#define HEADER_OF(class_index) 0u
#define WITH_HEADER(size) (size)
enum { SMALL_REQUEST = SMALL_MAX, MEDIUM_REQUEST = MEDIUM_MAX };
#endif

// The segment in whose header the slab stands.
static inline struct segment *segment_with(const struct slab *slab) {
    return (struct segment *)((uintptr_t)slab & ~(SEGMENT_BYTES - 1));
}

static inline struct slab_rest *rest_of(struct slab *slab) {
    struct segment *segment = segment_with(slab);
    return &segment->rest[slab - segment->slabs];
}

static inline uint64_t units_mask(unsigned first, unsigned count) {
    return ((UINT64_C(1) << count) - 1) << first;
}

// The fewest units whose end wastes at most an eighth of them.
static unsigned units_for(size_t bytes) {
    for (unsigned units = 1;; units++) {
        const size_t all = units * UNIT_BYTES;
        if (all >= bytes && (all % bytes) * 8 <= all) {
            return units;
        }
    }
}

static void *map_pages(size_t bytes) {
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

// Pages such that the result lies at a multiple of `alignment` with `ahead` bytes mapped before it and `bytes` from it on.
// `ahead` and `bytes` are whole pages.
static char *map_aligned(size_t bytes, size_t ahead, size_t alignment) {
    size_t all;
    if (__builtin_add_overflow(bytes, ahead + alignment, &all) || all > PTRDIFF_MAX) {
        return NULL;
    }
    char *pages = map_pages(all);
    if (pages == NULL) {
        return NULL;
    }
    char *result = (char *)(((uintptr_t)pages + ahead + alignment - 1) & ~(alignment - 1));
    char *begin = result - ahead, *end = result + bytes;
    if (begin > pages) {
        munmap(pages, (size_t)(begin - pages));
    }
    if (pages + all > end) {
        munmap(end, (size_t)(pages + all - end));
    }
    return result;
}

// `sparse`: the program may need little of it. A huge page, where the system gives them unasked, would hold it all.
static struct segment *segment_map(struct heap *heap, bool sparse) {
    // After a first segment the system mostly puts the next one right below it.
    char *pages = map_pages(SEGMENT_BYTES);
    if (pages != NULL && (uintptr_t)pages % SEGMENT_BYTES != 0) {
        munmap(pages, SEGMENT_BYTES);
        pages = map_aligned(SEGMENT_BYTES, 0, SEGMENT_BYTES);
    }
    struct segment *segment = (struct segment *)pages;
    if (segment != NULL) {
        if (sparse) {
            const int kept_errno = errno;
            madvise(segment, SEGMENT_BYTES, MADV_NOHUGEPAGE);  // fails where there are none, which is as well
            errno = kept_errno;
        }
        segment->kind = SEGMENT_SLABS;
        segment->heap = heap;
        segment->free_units = ~UINT64_C(0);
    }
    return segment;
}

// First unit of a free run, or UNITS. Small slabs are put at the low end and large ones at the high end, so that units
// whose pages were all used serve large blocks again; a slab of few small blocks would hold all those pages. Unit 0 is
// shorter by the header and never part of a large slab.
static unsigned segment_find(const struct segment *segment, unsigned units, bool small) {
    uint64_t runs = segment->free_units & (small ? ~UINT64_C(0) : ~UINT64_C(1));
    for (unsigned shift = 1; shift < units; shift++) {
        runs &= segment->free_units >> shift;
    }
    if (runs & segment->dirty_units) {
        runs &= segment->dirty_units;  // pages that we have, rather than new ones
    }
    if (runs == 0) {
        return UNITS;
    }
    return (unsigned)(small ? __builtin_ctzll(runs) : 63 - __builtin_clzll(runs));
}

// Gives pages of free units back to the system, from the last unit on, where the large slabs were, until
// `most` dirty units are left here.
static void segment_purge(struct segment *segment, unsigned most) {
    while (segment->dirty_units != 0 && (unsigned)__builtin_popcountll(segment->dirty_units) > most) {
        const unsigned end = UNITS - (unsigned)__builtin_clzll(segment->dirty_units);
        const uint64_t clean = ~(segment->dirty_units << (UNITS - end));  // the bit of unit end - 1 is the highest now
        const unsigned count = clean == 0 ? UNITS : (unsigned)__builtin_clzll(clean);
        const unsigned first = end - count;
        const size_t skip = first == 0 ? HEADER_BYTES : 0;
        madvise((char *)segment + first * UNIT_BYTES + skip, count * UNIT_BYTES - skip, MADV_DONTNEED);
        segment->dirty_units &= first == 0 ? ~(~UINT64_C(0) >> (UNITS - end)) : ~units_mask(first, count);
    }
}

#endif
