// The allocator: what a program calls. tiny.h says what is promised, heap.h how it works.
//
// The short ways are tiny_malloc and tiny_free alone: three branches each, their return included. With -DTINY_LISTS
// they are those of layered.h, the study's first five stages.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // mremap
#endif

#ifndef TINY_HEADER
#define TINY_HEADER 0
#endif
#if TINY_HEADER && (TINY_LISTS || TINY_ONE_POOL)
#error "the header is a variant of the last stage"
#endif

#include "tiny.h"

#include "heap.h"
#include "huge.h"

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

#define API __attribute__((visibility("default")))

#if TINY_LISTS
static void layers_flush(struct heap *heap);
#if TINY_PREWARM
static void layers_warm(struct heap *heap);
#endif
#endif
#include "threads.h"

// ---- the long ways

// A block of the class, when its list is empty or nothing is known yet.
__attribute__((noinline)) static void *tiny_refill(unsigned class_index) {
    struct heap *heap = own_heap;
    if (heap == &no_heap) {
        if (thread_ends) {
            return late_take(class_index);
        }
        heap = thread_begin();
        if (heap == NULL) {
            errno = ENOMEM;
            return NULL;
        }
    }
    return heap_take(heap, class_index);
}

static void *tiny_alloc_class(unsigned class_index) {
    struct slab *slab = own_heap->lists[class_index];
    return likely(slab->free != NULL) ? slab_pop(slab) : tiny_refill(class_index);
}

__attribute__((noinline)) static void *tiny_alloc_large(size_t size) {
    return size <= MEDIUM_REQUEST ? tiny_alloc_class(class_of(WITH_HEADER(size))) : huge_take(size, 16);
}

__attribute__((noinline)) static void tiny_free_long(void *block) {
    struct segment *segment = segment_of(block);
    if (segment->kind == SEGMENT_HUGE) {
        huge_put(segment);
        return;
    }
    struct slab *slab = &segment->slabs[slab_of(block)->first];
    if (segment->heap == own_heap) {
        heap_put(own_heap, slab, block);
    } else {
        heap_give(slab, block);
    }
}

static size_t block_bytes(void *block) {
    struct segment *segment = segment_of(block);
    if (segment->kind == SEGMENT_HUGE) {
        return segment->huge_bytes;
    }
    const unsigned class_index = segment->slabs[slab_of(block)->first].class_index;
    return class_bytes(class_index) - HEADER_OF(class_index);
}

// ---- the short ways

#if TINY_LISTS
#include "layered.h"
#elif TINY_ONE_POOL
#include "one_pool.h"
#else

__attribute__((noinline)) static void *tiny_alloc_small(size_t size) { return tiny_refill(class_of(WITH_HEADER(size))); }

API void *TINY(malloc)(size_t size) {
    if (unlikely(size > SMALL_REQUEST)) {
        return tiny_alloc_large(size);
    }
    struct slab *slab = own_heap->direct[(WITH_HEADER(size) + 15) / 16];
    void **block = slab->free;
    if (unlikely(block == NULL)) {
        return tiny_alloc_small(size);
    }
    slab->free = *block;
    slab->used++;
    return block;
}

API void TINY(free)(void *block) {
    if (unlikely(block == NULL)) {
        return;
    }
    struct slab *slab = slab_of(block);
    if (unlikely(atomic_load_explicit(&slab->short_way, memory_order_relaxed) != own_heap)) {
        tiny_free_long(block);
        return;
    }
    *(void **)block = slab->free;
    slab->free = block;
    slab->used--;
}

#endif

// ---- the rest of the family

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

// The alignment is a power of two.
static void *tiny_alloc_aligned(size_t alignment, size_t size) {
    if (alignment <= 16) {
        return TINY(malloc)(size);
    }
    if (alignment <= PAGE_BYTES && size <= MEDIUM_MAX && !TINY_HEADER) {  // a header would be in the way
        unsigned class_index = class_of(size < alignment ? alignment : size);
        while (class_bytes(class_index) % alignment != 0) {
            class_index++;
        }
        POOL_LOCK();
        void *block = tiny_alloc_class(class_index);
        POOL_UNLOCK();
        return block;
    }
    return huge_take(size, alignment);
}

// The block with another, larger size where it lies. Only the thread whose heap it is may do that.
static bool tiny_alloc_extend(struct segment *segment, void *block, size_t size) {
    if (size > MEDIUM_REQUEST || size <= PAGE_BYTES || segment->heap != own_heap) {
        return false;
    }
    POOL_LOCK();
    struct slab *slab = &segment->slabs[slab_of(block)->first];
    const bool extended = heap_extend(own_heap, slab, block, class_of(WITH_HEADER(size)));
    POOL_UNLOCK();
    return extended;
}

static bool power_of_two(size_t number) { return number != 0 && (number & (number - 1)) == 0; }

API void *TINY(calloc)(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        return no_memory();
    }
    void *block = TINY(malloc)(bytes);
    if (block != NULL && bytes <= MEDIUM_MAX) {  // a huge block is fresh from the system
        memset(block, 0, bytes);
    }
    return block;
}

API void *TINY(realloc)(void *block, size_t size) {
    if (block == NULL) {
        return TINY(malloc)(size);
    }
    if (size == 0) {  // as glibc does
        TINY(free)(block);
        return NULL;
    }
    const size_t before = block_bytes(block);
    struct segment *segment = segment_of(block);
    if (segment->kind == SEGMENT_HUGE) {
        void *resized = size > MEDIUM_MAX ? huge_resize(segment, size) : NULL;
        if (resized != NULL) {
            return resized;
        }
    } else if (size <= before ? size > before / 2 : tiny_alloc_extend(segment, block, size)) {
        return block;
    }
    block_grows = size > before && before > PAGE_BYTES;
    void *moved = TINY(malloc)(size);
    block_grows = false;
    if (moved == NULL) {
        return size <= before ? block : NULL;
    }
    memcpy(moved, block, size < before ? size : before);
    TINY(free)(block);
    return moved;
}

API void *TINY(aligned_alloc)(size_t alignment, size_t size) {
    if (!power_of_two(alignment)) {
        errno = EINVAL;
        return NULL;
    }
    return tiny_alloc_aligned(alignment, size);
}

API int TINY(posix_memalign)(void **result, size_t alignment, size_t size) {
    if (!power_of_two(alignment) || alignment % sizeof(void *) != 0) {
        return EINVAL;
    }
    const int kept_errno = errno;
    void *block = tiny_alloc_aligned(alignment, size);
    errno = kept_errno;
    if (block == NULL) {
        return ENOMEM;
    }
    *result = block;
    return 0;
}

API void *TINY(memalign)(size_t alignment, size_t size) {
    size_t power = 16;
    while (power < alignment) {
        if (power > PTRDIFF_MAX / 2) {
            errno = EINVAL;
            return NULL;
        }
        power *= 2;
    }
    return tiny_alloc_aligned(power, size);
}

API void *TINY(valloc)(size_t size) { return tiny_alloc_aligned(PAGE_BYTES, size); }

API void *TINY(pvalloc)(size_t size) {
    return size > PTRDIFF_MAX ? no_memory() : tiny_alloc_aligned(PAGE_BYTES, page_up(size == 0 ? 1 : size));
}

API size_t TINY(malloc_usable_size)(void *block) { return block == NULL ? 0 : block_bytes(block); }

// ---- inspection

static size_t heap_live_bytes(struct heap *heap) {
    size_t bytes = 0;
    for (struct segment *segment = heap->segments; segment != NULL; segment = segment->next) {
        for (unsigned unit = 0; unit < UNITS; unit++) {
            const struct slab *slab = &segment->slabs[unit];
            if ((segment->free_units >> unit & 1) == 0 && slab->first == unit) {
                bytes += slab->used * class_bytes(slab->class_index);
            }
        }
    }
    return bytes;
}

API size_t TINY(live_bytes)(void) {
    size_t bytes = atomic_load_explicit(&huge_live, memory_order_relaxed);
    POOL_LOCK();
    pthread_mutex_lock(&late_lock);
    pthread_mutex_lock(&heaps_lock);
#if TINY_LISTS
    layers_flush(own_heap);
#endif
    heap_collect(own_heap);
    for (struct heap *heap = idle_heaps; heap != NULL; heap = heap->next_idle) {
        heap_collect(heap);
    }
    if (late_heap != NULL) {
        heap_collect(late_heap);
    }
    for (struct heap *heap = heaps; heap != NULL; heap = heap->next_of_all) {
        bytes += heap_live_bytes(heap);
    }
    pthread_mutex_unlock(&heaps_lock);
    pthread_mutex_unlock(&late_lock);
    POOL_UNLOCK();
    return bytes;
}

#if TINY_PRELOAD
#define IN_PLACE_OF(name) __attribute__((alias("tiny_" #name), visibility("default")))
#include "in_place.h"
size_t malloc_usable_size(void *block) IN_PLACE_OF(malloc_usable_size);
#endif
