// A thread's heap: its slabs by class, how they are refilled, and what becomes of blocks that another thread frees.
//
// A heap is used by one thread at a time. When its thread ends it waits, with all its slabs, for the next thread that
// needs one, so that nothing has to be moved. Another thread's free pushes the block onto its slab's `foreign` list;
// whoever makes that list not empty pushes the slab onto the heap's `pending` list, once, and only the heap's own thread
// takes from either: first the slab off `pending`, then the blocks off `foreign`.

#ifndef HEAP_H
#define HEAP_H

#include <pthread.h>

#include "segment.h"

#if TINY_LISTS
#include "layers.h"
#endif

// Both small for the sake of memory: with 4 KiB each, the larson workload held 7 % more and was no faster.
#define COLOUR_BYTES ((size_t)512)  // over how many bytes the starts of slabs are spread
#define CARVE_BYTES ((size_t)512)   // of fresh blocks put on a list at once
#define SPARSE_SLABS 256             // a heap with fewer takes no huge pages
#define ROOM_UNITS 16                // free behind the place that a block that grew is moved to: it may become 512 KiB
#define KEPT_UNITS 48                // free units whose pages are not given back to the system: three of the largest slabs
#define GROWTH_UNITS 16              // the same once new pages are taken: without it the replay held a tenth more

struct heap {
    struct slab *direct[SMALL_MAX / 16 + 1];  // by (size + 15) / 16: the head of that class's list
    struct slab *lists[CLASSES];              // slabs with blocks to hand out, and perhaps the last one that ran dry
    _Atomic(struct slab *) pending;           // slabs with foreign blocks
    struct segment *segments;                 // those with free units first
    struct segment *last;
    struct segment *spare;                    // one that is wholly free
    uint32_t slabs;
    uint32_t dirty_units;                     // free ones, in all segments
    uint32_t grown, relisted;                 // slabs made, and slabs no longer full, since the last sweep
    struct heap *next_idle;
    struct heap *next_of_all;
#if TINY_LISTS
    struct layers layers;
#endif
};

// Stand-ins that make every fast way fail, so that it needs no test for a first call.
static struct slab no_slab;
static struct heap no_heap = {.direct = {[0 ... SMALL_MAX / 16] = &no_slab}, .lists = {[0 ... CLASSES - 1] = &no_slab}};

#if TINY_ONE_POOL
enum { ONE_POOL = true };
// One heap for all threads, behind one lock: to compare.
static struct heap *own_heap = &no_heap;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
#define POOL_LOCK() pthread_mutex_lock(&pool_lock)
#define POOL_UNLOCK() pthread_mutex_unlock(&pool_lock)
#else
enum { ONE_POOL = false };
#define POOL_LOCK() ((void)0)
#define POOL_UNLOCK() ((void)0)
// Initial-exec: reading it calls nothing, so nothing can call us back.
static __thread struct heap *own_heap __attribute__((tls_model("initial-exec"))) = &no_heap;
#endif
static __thread bool block_grows __attribute__((tls_model("initial-exec")));  // realloc moves a block that grew
static __thread bool thread_ends __attribute__((tls_model("initial-exec")));

static pthread_mutex_t heaps_lock = PTHREAD_MUTEX_INITIALIZER;  // guards all below
static struct heap *heaps;
static struct heap *idle_heaps;
static char *heap_pages, *heap_pages_end;
static pthread_key_t thread_key;
static bool thread_key_made;

static pthread_mutex_t late_lock = PTHREAD_MUTEX_INITIALIZER;
static struct heap *late_heap;  // for threads whose own heap was taken from them because they end; under late_lock

static void heap_set_head(struct heap *heap, unsigned class_index, struct slab *slab) {
    heap->lists[class_index] = slab;
    const size_t bytes = class_bytes(class_index);
    if (bytes <= SMALL_MAX) {
        const size_t below = class_bytes(class_index - 1);
        for (size_t i = class_index == 1 ? 0 : below / 16 + 1; i <= bytes / 16; i++) {
            heap->direct[i] = slab;
        }
    }
}

// Slabs of blocks up to a page are looked for when they are empty (heap_sweep), others released at once: so much memory
// should not wait, and for such blocks the long way is a small part of their cost.
static bool slab_waits(const struct slab *slab) { return slab->class_index <= PAGE_CLASS; }

static void slab_list(struct heap *heap, struct slab *slab) {
    struct slab *head = heap->lists[slab->class_index];
    if (head == &no_slab) {
        slab->next = &no_slab;
        heap_set_head(heap, slab->class_index, slab);
    } else {
        slab->next = head->next;
        head->next = slab;
    }
    slab->listed = true;
    atomic_store_explicit(&slab->short_way, slab_waits(slab) ? heap : NULL, memory_order_relaxed);
}

static void slab_unlist_head(struct heap *heap, struct slab *slab) {
    heap_set_head(heap, slab->class_index, slab->next);
    slab->listed = false;
    atomic_store_explicit(&slab->short_way, NULL, memory_order_relaxed);
}

static void slab_unlist(struct heap *heap, struct slab *slab) {
    struct slab *before = heap->lists[slab->class_index];
    if (before == slab) {
        slab_unlist_head(heap, slab);
        return;
    }
    while (before->next != slab) {
        before = before->next;
    }
    before->next = slab->next;
    slab->listed = false;
    atomic_store_explicit(&slab->short_way, NULL, memory_order_relaxed);
}

// ---- segments of a heap: those with free units at the front

static void segment_unlink(struct heap *heap, struct segment *segment) {
    *(segment->prev != NULL ? &segment->prev->next : &heap->segments) = segment->next;
    *(segment->next != NULL ? &segment->next->prev : &heap->last) = segment->prev;
}

static void segment_to_front(struct heap *heap, struct segment *segment) {
    segment->prev = NULL;
    segment->next = heap->segments;
    *(heap->segments != NULL ? &heap->segments->prev : &heap->last) = segment;
    heap->segments = segment;
}

static void segment_to_back(struct heap *heap, struct segment *segment) {
    segment->next = NULL;
    segment->prev = heap->last;
    *(heap->last != NULL ? &heap->last->next : &heap->segments) = segment;
    heap->last = segment;
}

// Gives pages back to the system until about `most` dirty units are left.
static void heap_purge(struct heap *heap, unsigned most) {
    for (struct segment *at = heap->segments; at != NULL && at->free_units != 0 && heap->dirty_units > most; at = at->next) {
        const unsigned here = (unsigned)__builtin_popcountll(at->dirty_units), others = heap->dirty_units - here;
        segment_purge(at, most > others ? most - others : 0);
        heap->dirty_units = others + (unsigned)__builtin_popcountll(at->dirty_units);
    }
}

static void segment_unmap(struct heap *heap, struct segment *segment) {
    heap->dirty_units -= (uint32_t)__builtin_popcountll(segment->dirty_units);
    segment_unlink(heap, segment);
    munmap(segment, SEGMENT_BYTES);
}

// How many free units keep their pages while the heap takes no new ones, and how many once it does.
static unsigned kept_at_rest(const struct heap *heap) { return KEPT_UNITS + heap->slabs / 8; }
static unsigned kept_in_growth(const struct heap *heap) { return GROWTH_UNITS + heap->slabs / 8; }

// Takes free units for a slab. Where they bring new pages, old ones that are free go back to the system.
static void segment_claim(struct heap *heap, struct segment *segment, uint64_t units) {
    const uint64_t dirty = segment->dirty_units & units;
    heap->dirty_units -= (uint32_t)__builtin_popcountll(dirty);
    segment->dirty_units &= ~units;
    segment->free_units &= ~units;
    if (segment == heap->spare) {
        heap->spare = NULL;
    }
    if (segment->free_units == 0) {
        segment_unlink(heap, segment);
        segment_to_back(heap, segment);
    }
    if (dirty != units && heap->dirty_units > kept_in_growth(heap)) {
        const int kept_errno = errno;
        heap_purge(heap, kept_in_growth(heap) / 2);
        errno = kept_errno;
    }
}

// Gives an empty slab's units back to its segment.
static void slab_release(struct heap *heap, struct slab *slab) {
    struct segment *segment = segment_with(slab);
    const int kept_errno = errno;
    const uint64_t units = units_mask(slab->first, slab->units);
    if (segment->free_units == 0) {
        segment_unlink(heap, segment);
        segment_to_front(heap, segment);
    }
    segment->free_units |= units;
    segment->dirty_units |= units;
    heap->dirty_units += slab->units;
    heap->slabs--;
    if (segment->free_units == ~UINT64_C(0)) {
        if (heap->spare == NULL) {
            heap->spare = segment;
        } else if (heap->spare != segment) {
            segment_unmap(heap, segment);
        }
    }
    // Pages that are likely to be needed again are kept: 1.5 MiB, and an eighth of what is in use. With a MiB or less, what
    // a block that grows to 512 KiB leaves went back to the system, and the next one took six to twenty times as long.
    if (heap->dirty_units > kept_at_rest(heap)) {
        heap_purge(heap, kept_in_growth(heap) / 2);
    }
    errno = kept_errno;
}

// Looks for slabs whose blocks all came back. Not done when the last one comes back, because that would be a branch in
// every free, and a slab whose only block comes and goes would come and go with it.
static void heap_sweep(struct heap *heap) {
    heap->grown = 0;
    heap->relisted = 0;
    for (unsigned class_index = 1; class_index < CLASSES; class_index++) {
        struct slab *slab = heap->lists[class_index];
        while (slab != &no_slab) {
            struct slab *next = slab->next;
            if (slab->used == 0) {
                slab_unlist(heap, slab);
                slab_release(heap, slab);
            }
            slab = next;
        }
    }
}

// ---- slabs

// Blocks start at a multiple of the largest power of two in their size (at most a page), and, as far as that allows, at
// another place of the cache in each unit.
static size_t slab_skip(unsigned unit, size_t bytes) {
    const size_t ahead = unit == 0 ? HEADER_BYTES : 0;
    if (bytes > PAGE_BYTES) {
        return ahead;
    }
    const size_t natural = bytes & -bytes;
    const size_t colour = unit * 64 % COLOUR_BYTES;
    return ahead + ((colour + natural - 1) & ~(natural - 1));
}

// Describes a slab over these units, with no block handed out.
static void slab_lay(struct segment *segment, unsigned first, unsigned units, unsigned class_index) {
    const size_t bytes = class_bytes(class_index), skip = slab_skip(first, bytes);
    struct slab *slab = &segment->slabs[first];
    struct slab_rest *rest = &segment->rest[first];
    for (unsigned i = 0; i < units; i++) {
        slab[i].first = (uint8_t)first;
        slab[i].class_index = (uint8_t)class_index;
        atomic_store_explicit(&slab[i].short_way, NULL, memory_order_relaxed);
    }
    slab->free = NULL;
    slab->used = 0;
    slab->units = (uint8_t)units;
    rest->start = (char *)segment + first * UNIT_BYTES + skip;
    rest->capacity = (uint32_t)((units * UNIT_BYTES - skip) / bytes);
#if TINY_HEADER
    if (class_index <= PAGE_CLASS) {
        rest->capacity = (uint32_t)((units * UNIT_BYTES - skip - 8) / bytes);
    }
    rest->start += 16;
#endif
    rest->carved = 0;
}

static struct segment *heap_find(const struct heap *heap, unsigned units, bool small, unsigned *first) {
    struct segment *segment = heap->segments;
    for (; segment != NULL && segment->free_units != 0; segment = segment->next) {
        *first = segment_find(segment, units, small);
        if (*first < UNITS) {
            return segment;
        }
    }
    return NULL;
}

// A block that grew is put where it can go on growing, if there is such a place.
static struct segment *heap_place(const struct heap *heap, unsigned units, bool small, unsigned *first) {
    struct segment *segment = block_grows ? heap_find(heap, ROOM_UNITS, false, first) : NULL;
    return segment != NULL ? segment : heap_find(heap, units, small, first);
}

// A new slab for the class, on its list. Returns false when there is no memory.
//
// Empty slabs stay with their class until fresh pages would be taken, or much has become free (heap_put): a program
// that frees all and allocates the same again finds it as it was. Counted so that a sweep's cost per event is bounded.
static bool heap_grow(struct heap *heap, unsigned class_index) {
    const unsigned units = units_for(class_bytes(class_index));
    const bool small = class_index <= PAGE_CLASS;
    unsigned first = 0;
    struct segment *segment = heap_place(heap, units, small, &first);
    const bool fresh = segment == NULL || (segment->dirty_units >> first & 1) == 0;
    if (fresh && ++heap->grown > 8 + heap->slabs / 4) {
        heap_sweep(heap);
        segment = heap_place(heap, units, small, &first);
    }
    if (segment == NULL) {
        segment = segment_map(heap, heap->slabs < SPARSE_SLABS);
        if (segment == NULL) {
            return false;
        }
        segment_to_front(heap, segment);
        first = segment_find(segment, block_grows ? ROOM_UNITS : units, small);
    }
    heap->slabs++;
    segment_claim(heap, segment, units_mask(first, units));
    slab_lay(segment, first, units, class_index);
    slab_list(heap, &segment->slabs[first]);
    return true;
}

// The only block of a slab becomes one of another, larger class where it lies: the units behind the slab are free, and
// become its own. Returns false where that cannot be; nothing has changed then.
static bool heap_extend(struct heap *heap, struct slab *slab, const void *block, unsigned class_index) {
    struct segment *segment = segment_with(slab);
    struct slab_rest *rest = rest_of(slab);
    // A larger class may want fewer units (12 KiB two, 16 KiB one); what the slab has stays its own.
    const unsigned first = slab->first, wanted = units_for(class_bytes(class_index));
    const unsigned units = wanted > slab->units ? wanted : slab->units;
    if (slab_waits(slab) || slab->used != 1 || block != rest->start || first + units > UNITS) {
        return false;
    }
    const uint64_t more = units_mask(first, units) & ~units_mask(first, slab->units);
    if ((segment->free_units & more) != more) {
        return false;
    }
    if (slab->listed) {
        slab_unlist(heap, slab);
    }
    if (more != 0) {
        segment_claim(heap, segment, more);
    }
    slab_lay(segment, first, units, class_index);
    slab->used = 1;
    rest->carved = 1;
    return true;
}

// Puts the next few never used blocks on the slab's list.
static void slab_carve(struct slab *slab) {
    struct slab_rest *rest = rest_of(slab);
    const size_t bytes = class_bytes(slab->class_index);
    uint32_t count = bytes < CARVE_BYTES / 2 ? (uint32_t)(CARVE_BYTES / bytes) : 1;
    if (count > rest->capacity - rest->carved) {
        count = rest->capacity - rest->carved;
    }
    char *first = rest->start + rest->carved * bytes;
    rest->carved += count;
    for (uint32_t i = count; i-- > 0;) {
        void **block = (void **)(first + i * bytes);
        *block = slab->free;
        slab->free = block;
#if TINY_HEADER
        block[-1] = slab;
#endif
#if TINY_GUARDS
        block[1] = NULL;  // the pages may hold the marks of another slab
#endif
    }
}

static void *slab_pop(struct slab *slab) {
    void **block = slab->free;
    slab->free = *block;
    slab->used++;
    return block;
}

// Takes back a block of the heap's own.
static void heap_put(struct heap *heap, struct slab *slab, void *block) {
    *(void **)block = slab->free;
    slab->free = block;
    slab->used--;
    if (slab->used == 0 && !slab_waits(slab)) {
        if (slab->listed) {
            slab_unlist(heap, slab);
        }
        slab_release(heap, slab);
    } else if (!slab->listed) {
        slab_list(heap, slab);
        if (++heap->relisted > 256 + heap->slabs / 4) {
            heap_sweep(heap);
        }
    }
}

static void heap_collect(struct heap *heap) {
    struct slab *slab = atomic_exchange_explicit(&heap->pending, NULL, memory_order_acquire);
    while (slab != NULL) {
        struct slab_rest *rest = rest_of(slab);
        struct slab *next = rest->pending_next;  // read first: after the exchange the slab may be pending again
        void **block = atomic_exchange_explicit(&rest->foreign, NULL, memory_order_acq_rel);
        while (block != NULL) {
            void **after = *block;
            heap_put(heap, slab, block);
            block = after;
        }
        slab = next;
    }
}

// A block of another thread's heap: hand it over.
static void heap_give(struct slab *slab, void *block) {
    struct slab_rest *rest = rest_of(slab);
    void *foreign = atomic_load_explicit(&rest->foreign, memory_order_relaxed);
    do {
        *(void **)block = foreign;
    } while (!atomic_compare_exchange_weak_explicit(&rest->foreign, &foreign, block, memory_order_acq_rel,
                                                    memory_order_relaxed));
    if (foreign == NULL) {
        struct heap *heap = segment_with(slab)->heap;
        struct slab *pending = atomic_load_explicit(&heap->pending, memory_order_relaxed);
        do {
            rest->pending_next = pending;
        } while (!atomic_compare_exchange_weak_explicit(&heap->pending, &pending, slab, memory_order_release,
                                                        memory_order_relaxed));
    }
}

static void *heap_take(struct heap *heap, unsigned class_index) {
    if (atomic_load_explicit(&heap->pending, memory_order_relaxed) != NULL) {
        heap_collect(heap);
    }
    for (;;) {
        struct slab *slab = heap->lists[class_index];
        if (slab == &no_slab) {
            if (!heap_grow(heap, class_index)) {
                errno = ENOMEM;
                return NULL;
            }
            continue;
        }
        if (slab->free == NULL) {
            slab_carve(slab);
        }
        if (slab->free != NULL) {
            return slab_pop(slab);
        }
        slab_unlist_head(heap, slab);
    }
}

#endif
