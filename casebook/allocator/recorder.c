// Records a program's calls of malloc, free, calloc, realloc and the aligned ones in the format of trace.h:
//
//     RECORD_TO=file LD_PRELOAD=build/recorder.so program...
//
// The calls of all threads are recorded in one order, under a lock. Blocks that were there before the first call are
// not known and their frees not recorded. A child made by fork records nothing. At most EVENTS_MAX bytes are kept.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_LOG = 22, TABLE = 1 << TABLE_LOG, EVENTS_MAX = 64 << 20, EARLY_BYTES = 16384 };

static struct {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
} libc;

// Which block is in which slot: open addressing, deletion by tombstones.
struct entry {
    uintptr_t block;  // 0: never used, 1: deleted
    uint32_t slot;
};

static struct entry table[TABLE];
static uint32_t free_slots[TABLE], free_count, slots;
static uint8_t events[EVENTS_MAX + 32];
static size_t events_size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool recording;
static pid_t recorder;

// dlsym itself allocates before malloc is found.
static char early[EARLY_BYTES] __attribute__((aligned(16)));
static size_t early_used;
static bool resolving;

static void *early_take(size_t size) {
    void *block = early + early_used;
    early_used += (size + 15) & ~(size_t)15;
    return early_used <= EARLY_BYTES ? block : NULL;
}

static bool is_early(const void *block) { return (const char *)block >= early && (const char *)block < early + EARLY_BYTES; }

static void resolve(void) {
    if (libc.free == NULL && !resolving) {
        resolving = true;
        *(void **)&libc.realloc = dlsym(RTLD_NEXT, "realloc");
        *(void **)&libc.memalign = dlsym(RTLD_NEXT, "memalign");
        *(void **)&libc.free = dlsym(RTLD_NEXT, "free");
        *(void **)&libc.malloc = dlsym(RTLD_NEXT, "malloc");
        resolving = false;
    }
}

static void put_number(uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
        events[events_size++] = (uint8_t)(number | 0x80);
    }
    events[events_size++] = (uint8_t)number;
}

static struct entry *find(uintptr_t block) {
    for (uint64_t i = (block >> 4) * 0x9e3779b97f4a7c15u >> (64 - TABLE_LOG);; i++) {
        struct entry *entry = &table[i % TABLE];
        if (entry->block == block || entry->block == 0) {
            return entry;
        }
    }
}

static void enter(void *block, uint32_t slot) {
    struct entry *entry = find((uintptr_t)block);
    *entry = (struct entry){(uintptr_t)block, slot};
}

static bool begin(void) {
    if (!recording || getpid() != recorder) {
        return false;
    }
    pthread_mutex_lock(&lock);
    if (events_size < EVENTS_MAX && slots < TABLE / 2) {
        return true;
    }
    pthread_mutex_unlock(&lock);
    return false;
}

static void took(void *block, size_t size, unsigned kind) {
    if (block != NULL && begin()) {
        put_number((uint64_t)size << 2 | kind);
        enter(block, free_count > 0 ? free_slots[--free_count] : slots++);
        pthread_mutex_unlock(&lock);
    }
}

// Ahead of the free itself: after it another thread may already have the same block.
static void gives(void *block) {
    if (block != NULL && begin()) {
        struct entry *entry = find((uintptr_t)block);
        if (entry->block != 0) {
            put_number((uint64_t)entry->slot << 2 | 2);
            free_slots[free_count++] = entry->slot;
            entry->block = 1;
        }
        pthread_mutex_unlock(&lock);
    }
}

static void *recorded_malloc(size_t size) {
    resolve();
    if (libc.malloc == NULL) {
        return early_take(size);
    }
    void *block = libc.malloc(size);
    took(block, size, 0);
    return block;
}

static void recorded_free(void *block) {
    if (is_early(block)) {
        return;
    }
    resolve();
    gives(block);
    libc.free(block);
}

static void *recorded_calloc(size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    resolve();
    if (libc.malloc == NULL) {
        return early_take(bytes);
    }
    void *block = libc.malloc(bytes);
    if (block != NULL) {
        memset(block, 0, bytes);
    }
    took(block, bytes, 1);
    return block;
}

static void *recorded_realloc(void *block, size_t size) {
    resolve();
    if (block == NULL || is_early(block)) {
        void *fresh = recorded_malloc(size);
        if (fresh != NULL && block != NULL) {
            const size_t left = (size_t)(early + EARLY_BYTES - (char *)block);
            memcpy(fresh, block, size < left ? size : left);
        }
        return fresh;
    }
    if (size == 0) {
        recorded_free(block);
        return NULL;
    }
    if (!begin()) {
        return libc.realloc(block, size);
    }
    void *moved = libc.realloc(block, size);
    struct entry *entry = find((uintptr_t)block);
    if (moved != NULL && entry->block != 0) {
        const uint32_t slot = entry->slot;
        put_number((uint64_t)slot << 2 | 3);
        put_number(size);
        entry->block = 1;
        enter(moved, slot);
    }
    pthread_mutex_unlock(&lock);
    return moved;
}

static void *recorded_memalign(size_t alignment, size_t size) {
    resolve();
    void *block = libc.memalign(alignment, size);
    took(block, size, 1);
    return block;
}

static void *recorded_aligned_alloc(size_t alignment, size_t size) { return recorded_memalign(alignment, size); }

static int recorded_posix_memalign(void **result, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
        return EINVAL;
    }
    void *block = recorded_memalign(alignment, size);
    if (block == NULL) {
        return ENOMEM;
    }
    *result = block;
    return 0;
}

static void *recorded_valloc(size_t size) { return recorded_memalign(4096, size); }

static void *recorded_pvalloc(size_t size) { return recorded_memalign(4096, (size + 4095) & ~(size_t)4095); }

#define IN_PLACE_OF(name) __attribute__((alias("recorded_" #name), visibility("default")))
#include "in_place.h"

__attribute__((constructor)) static void record(void) {
    resolve();
    recorder = getpid();
    recording = getenv("RECORD_TO") != NULL;
}

__attribute__((destructor)) static void save(void) {
    if (recording && getpid() == recorder) {
        recording = false;
        const int file = open(getenv("RECORD_TO"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        for (size_t at = 0; file >= 0 && at < events_size;) {
            const ssize_t written = write(file, events + at, events_size - at);
            if (written <= 0) {
                static const char message[] = "recorder: the trace could not be written\n";
                (void)!write(2, message, sizeof message - 1);
                break;
            }
            at += (size_t)written;
        }
        close(file);
    }
}
