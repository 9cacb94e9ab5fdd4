// Blocks too large for a slab, or aligned to more than a page: a mapping each, given back at once when freed.

#ifndef HUGE_H
#define HUGE_H

#include "segment.h"

static _Atomic(size_t) huge_live;  // bytes of all huge blocks

static size_t page_up(size_t bytes) { return (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1); }

// Bytes from the header to the block: a page, or more where the block's alignment asks for it. A block at a multiple of
// a segment or more follows a whole segment that holds nothing but the header.
static size_t huge_ahead(size_t alignment) {
    return alignment <= PAGE_BYTES ? PAGE_BYTES : alignment < SEGMENT_BYTES ? alignment : SEGMENT_BYTES;
}

// What lies ahead of the block, where that is how free finds out: a slab that nobody may free to by the short way.
static void huge_header(struct segment *segment) {
#if TINY_HEADER
    ((struct slab **)segment->huge)[-1] = &segment->slabs[0];
#else
    (void)segment;
#endif
}

// The alignment is a power of two.
static void *huge_take(size_t size, size_t alignment) {
    const size_t ahead = huge_ahead(alignment);
    struct segment *segment = NULL;
    if (size <= PTRDIFF_MAX - ahead && alignment <= PTRDIFF_MAX) {
        const size_t all = ahead + page_up(size == 0 ? 1 : size);
        if (alignment <= SEGMENT_BYTES) {
            segment = (struct segment *)map_aligned(all, 0, SEGMENT_BYTES);
        } else {
            char *block = map_aligned(all - ahead, ahead, alignment);
            segment = block == NULL ? NULL : (struct segment *)(block - ahead);
        }
    }
    if (segment == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    segment->kind = SEGMENT_HUGE;
    segment->huge = (char *)segment + ahead;
    segment->huge_bytes = page_up(size == 0 ? 1 : size);
    huge_header(segment);
    atomic_fetch_add_explicit(&huge_live, segment->huge_bytes, memory_order_relaxed);
    return segment->huge;
}

static void huge_put(struct segment *segment) {
    const int kept_errno = errno;
    atomic_fetch_sub_explicit(&huge_live, segment->huge_bytes, memory_order_relaxed);
    munmap(segment, (size_t)(segment->huge - (char *)segment) + segment->huge_bytes);
    errno = kept_errno;
}

// The block with another size, by moving pages instead of bytes. NULL: it stays as it is, try another way.
static void *huge_resize(struct segment *segment, size_t size) {
    const size_t ahead = (size_t)(segment->huge - (char *)segment);
    const size_t before = segment->huge_bytes;
    if (ahead != PAGE_BYTES || size > PTRDIFF_MAX - ahead) {
        return NULL;
    }
    const size_t after = page_up(size);
    if (after != before) {
        void *moved = mremap(segment, ahead + before, ahead + after, 0);
        if (moved == MAP_FAILED) {
            char *place = map_aligned(ahead + after, 0, SEGMENT_BYTES);
            if (place == NULL) {
                return NULL;
            }
            moved = mremap(segment, ahead + before, ahead + after, MREMAP_MAYMOVE | MREMAP_FIXED, place);
            if (moved == MAP_FAILED) {
                munmap(place, ahead + after);
                return NULL;
            }
        }
        segment = moved;
        segment->huge = (char *)segment + ahead;
        segment->huge_bytes = after;
        huge_header(segment);
        atomic_fetch_add_explicit(&huge_live, after - before, memory_order_relaxed);
    }
    return segment->huge;
}

#endif
