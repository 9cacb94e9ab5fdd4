// Which thread has which heap: the first call of a thread, its end, and fork.
//
// After fork the child has one thread. The heaps of the others are as fork found them, perhaps in the middle of a
// change, so nobody in the child takes them over: what they hold is lost to it, as their stacks are. The locks are held
// across fork.

#ifndef THREADS_H
#define THREADS_H

#include "heap.h"

static struct heap *heap_new(void) {
    const size_t bytes = (sizeof(struct heap) + 63) & ~(size_t)63;
    if ((size_t)(heap_pages_end - heap_pages) < bytes) {
        const size_t all = (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
        heap_pages = map_pages(all);
        heap_pages_end = heap_pages == NULL ? NULL : heap_pages + all;
        if (heap_pages == NULL) {
            return NULL;
        }
    }
    struct heap *heap = (struct heap *)heap_pages;
    heap_pages += bytes;
    for (unsigned i = 0; i < sizeof heap->direct / sizeof *heap->direct; i++) {
        heap->direct[i] = &no_slab;
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        heap->lists[i] = &no_slab;
    }
    heap->next_of_all = heaps;
    heaps = heap;
    return heap;
}

// The thread's key calls this when the thread ends. Destructors that run later may still allocate and free.
static void thread_end(void *argument) {
    struct heap *heap = argument;
#if TINY_LISTS
    layers_flush(heap);
#endif
    own_heap = &no_heap;
    thread_ends = true;
    heap_collect(heap);
    heap_sweep(heap);
    heap_purge(heap, 0);
    pthread_mutex_lock(&heaps_lock);
    heap->next_idle = idle_heaps;
    idle_heaps = heap;
    pthread_mutex_unlock(&heaps_lock);
}

// Gives this thread a heap. NULL: there is no memory.
static struct heap *thread_begin(void) {
    pthread_mutex_lock(&heaps_lock);
    if (!thread_key_made && !ONE_POOL) {
        thread_key_made = pthread_key_create(&thread_key, thread_end) == 0;
    }
    struct heap *heap = idle_heaps;
    if (heap != NULL) {
        idle_heaps = heap->next_idle;
    } else {
        heap = heap_new();
    }
    pthread_mutex_unlock(&heaps_lock);
    if (heap != NULL) {
        own_heap = heap;
        if (thread_key_made) {
            pthread_setspecific(thread_key, heap);  // may allocate: from here on we can
        }
#if TINY_PREWARM
        layers_warm(heap);
#endif
    }
    return heap;
}

// For a thread that ends and whose heap is gone: what it allocates now belongs to nobody.
static void *late_take(unsigned class_index) {
    void *block = NULL;
    pthread_mutex_lock(&late_lock);
    if (late_heap == NULL) {
        pthread_mutex_lock(&heaps_lock);
        late_heap = heap_new();
        pthread_mutex_unlock(&heaps_lock);
    }
    if (late_heap != NULL) {
        block = heap_take(late_heap, class_index);
    } else {
        errno = ENOMEM;
    }
    pthread_mutex_unlock(&late_lock);
    return block;
}

static void fork_before(void) {
    POOL_LOCK();
    pthread_mutex_lock(&late_lock);
    pthread_mutex_lock(&heaps_lock);
}

static void fork_after(void) {
    pthread_mutex_unlock(&heaps_lock);
    pthread_mutex_unlock(&late_lock);
    POOL_UNLOCK();
}

__attribute__((constructor)) static void threads_prepare(void) {
    pthread_atfork(fork_before, fork_after, fork_after);
}

#endif
