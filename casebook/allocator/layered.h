// malloc and free of the first five stages: front cache, list, slab. What they do beside is in debug.h.

#ifndef LAYERED_H
#define LAYERED_H

#include "debug.h"
#include "hits.h"

// -DTINY_WRONG_HINTS has the hints that say the opposite of what happens.

// Fills the class's list from the slabs and returns one block more.
__attribute__((noinline)) static void *tiny_refill_list(unsigned class_index) {
    PROFILE_START(refill);
    void *block = tiny_refill(class_index);
    struct heap *heap = own_heap;
    if (block != NULL && heap != &no_heap) {
        struct list *list = &heap->layers.lists[class_index];
        for (uint32_t left = list_batch(class_index); left > 1; left--) {
            void **more = heap_take(heap, class_index);
            if (more == NULL) {
                break;
            }
            *more = list->head;
            list->head = more;
            list->count++;
        }
    }
    PROFILE_STOP(refill);
    return block;
}

// Gives blocks of a list back to their slabs until `left` are left.
__attribute__((noinline)) static void tiny_free_flush(struct heap *heap, unsigned class_index, uint32_t left) {
    struct list *list = &heap->layers.lists[class_index];
    while (list->count > left) {
        void **block = list->head;
        list->head = *block;
        list->count--;
        heap_put(heap, slab_of(block), block);
    }
}

static void layers_flush(struct heap *heap) {
    for (unsigned class_index = 1; class_index <= SMALL_CLASS; class_index++) {
#if TINY_FRONT_CACHE
        struct front *front = &heap->layers.fronts[class_index];
        while (front->count > 0) {
            void *block = front->blocks[--front->count];
            heap_put(heap, slab_of(block), block);
        }
#endif
        tiny_free_flush(heap, class_index, 0);
    }
}

#if TINY_PREWARM
// When a thread gets its heap: each list is filled to half of what it may hold, as a flush leaves it.
static void layers_warm(struct heap *heap) {
    for (unsigned class_index = 1; class_index <= SMALL_CLASS; class_index++) {
        struct list *list = &heap->layers.lists[class_index];
        while (list->count < list_limit(class_index) / 2) {
            void **block = heap_take(heap, class_index);
            if (block == NULL) {
                return;
            }
            *block = list->head;
            list->head = block;
            list->count++;
        }
    }
}
#endif

static void *list_pop(struct list *list) {
    void **block = list->head;
    list->head = *block;
    list->count--;
    return block;
}

static void *tiny_alloc_cached(struct heap *heap, unsigned class_index) {
#if TINY_FRONT_CACHE
    if (config.front_cache) {  // fault 19: a configuration that never changes
        struct front *front = &heap->layers.fronts[class_index];  // fault 20: a redundant layer
#if TINY_WRONG_HINTS
        if (unlikely(front->count > 0)) {  // fault 21: a hint that says the opposite
            COUNT_HIT(HIT_FRONT);
            return front->blocks[--front->count];
        }
#else
        if (likely(front->count > 0)) {
            COUNT_HIT(HIT_FRONT);
            return front->blocks[--front->count];
        }
#endif
    }
#endif
    struct list *list = &heap->layers.lists[class_index];
#if TINY_WRONG_HINTS
    if (unlikely(list->head != NULL)) {  // fault 22: a hint that says the opposite
        COUNT_HIT(HIT_LIST);
        return list_pop(list);
    }
#else
    if (likely(list->head != NULL)) {
        COUNT_HIT(HIT_LIST);
        return list_pop(list);
    }
#endif
    COUNT_HIT(HIT_NONE);
    return tiny_refill_list(class_index);
}

API void *TINY(malloc)(size_t size) {
    CONFIGURE();
    PROFILE_START(malloc);
    TRACE("malloc", NULL, size);  // fault 23: a debug print's guard in every call
#if TINY_WRONG_HINTS
    if (likely(size > SMALL_MAX)) {  // fault 24: a hint that says the opposite
        return tiny_alloc_large(size);
    }
#else
    if (unlikely(size > SMALL_MAX)) {
        return tiny_alloc_large(size);
    }
#endif
    const unsigned class_index = class_of(size);
    assert(class_index >= 1 && class_index <= SMALL_CLASS);  // fault 25: an assertion in every call
    void *block = tiny_alloc_cached(own_heap, class_index);
    if (block != NULL) {
        guard_alloc(block, size, class_index);
        statistics_alloc(class_index);
    }
    PROFILE_STOP(malloc);
    return block;
}

static void tiny_free_cached(struct heap *heap, unsigned class_index, void *block) {
#if TINY_FRONT_CACHE
    if (config.front_cache) {  // fault 26: a configuration that never changes
        struct front *front = &heap->layers.fronts[class_index];
        if (likely(front->count < FRONT_BLOCKS)) {
            front->blocks[front->count++] = block;
            return;
        }
    }
#endif
    struct list *list = &heap->layers.lists[class_index];
    *(void **)block = list->head;
    list->head = block;
    if (++list->count > list_limit(class_index)) {
        tiny_free_flush(heap, class_index, list_limit(class_index) / 2);
    }
}

API void TINY(free)(void *block) {
    CONFIGURE();
    TRACE("free", block, 0);  // fault 27: a debug print's guard in every call
    if (block == NULL) {
        return;
    }
    PROFILE_START(free);
    struct segment *segment = segment_of(block);
    struct heap *heap = own_heap;
    struct slab *slab = slab_of(block);
    const bool long_way = segment->heap != heap || slab->class_index > SMALL_CLASS;  // a huge block has no heap
#if TINY_WRONG_HINTS
    if (likely(long_way)) {  // fault 28: a hint that says the opposite
        tiny_free_long(block);
        return;
    }
#else
    if (unlikely(long_way)) {
        tiny_free_long(block);
        return;
    }
#endif
    assert(slab->used > 0);  // fault 29: an assertion in every call
    guard_free(slab, block);
    statistics_free(slab->class_index);
    tiny_free_cached(heap, slab->class_index, block);
    PROFILE_STOP(free);
}

#endif
