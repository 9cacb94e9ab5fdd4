// malloc and free of one heap for all threads, behind one lock: what a heap for each thread is worth. The ways are those
// of the last stage, and a block is never another thread's.

#ifndef ONE_POOL_H
#define ONE_POOL_H

API void *TINY(malloc)(size_t size) {
    void *block;
    POOL_LOCK();
    if (unlikely(size > SMALL_MAX)) {
        block = tiny_alloc_large(size);
    } else {
        struct slab *slab = own_heap->direct[(size + 15) / 16];
        block = likely(slab->free != NULL) ? slab_pop(slab) : tiny_refill(class_of(size));
    }
    POOL_UNLOCK();
    return block;
}

API void TINY(free)(void *block) {
    if (unlikely(block == NULL)) {
        return;
    }
    struct slab *slab = slab_of(block);
    POOL_LOCK();
    if (unlikely(atomic_load_explicit(&slab->short_way, memory_order_relaxed) != own_heap)) {
        tiny_free_long(block);
    } else {
        *(void **)block = slab->free;
        slab->free = block;
        slab->used--;
    }
    POOL_UNLOCK();
}

#endif
