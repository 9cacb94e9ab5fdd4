/* Counts what a program allocates: a library that is loaded before the C library (LD_PRELOAD) and stands in for its
 * allocator, for C, C++ and Rust alike.
 *
 * The program itself stays as it was linked, and is not timed while this is loaded. How many bytes a block was asked for is
 * kept in a table beside the blocks, so that they keep their addresses' alignment and the sum of what is allocated is exact.
 * A realloc counts as an allocation of its new size, as valgrind's memcheck counts it. Where the counts lie is told in the
 * variable ASSAY_HEAP: the harness reads them at the marks of a pass (PROTOCOL.md, `trace`).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* As in assay.h. */
static struct {
    uint64_t allocations;
    uint64_t allocated;
    int64_t live;
    int64_t peak;
} counts;

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static void *(*next_memalign)(size_t, size_t);

static atomic_flag busy = ATOMIC_FLAG_INIT;

static void enter(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
    }
}

static void leave(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

/* Blocks and the bytes that each was asked for: open addressing, doubled when half full. */
struct block {
    uintptr_t start; /* 0: none; 1: there was one */
    size_t bytes;
};

static struct block *blocks;
static size_t room, used;

static size_t place_of(uintptr_t start) { return (size_t)((start >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20); }

static void put(uintptr_t start, size_t bytes)
{
    size_t at = place_of(start) & (room - 1);
    while (blocks[at].start > 1) {
        at = (at + 1) & (room - 1);
    }
    used += blocks[at].start == 0;
    blocks[at].start = start;
    blocks[at].bytes = bytes;
}

static void grow(void)
{
    struct block *old = blocks;
    size_t old_room = room, i;
    void *map;
    room = room == 0 ? 1 << 16 : 2 * room;
    map = mmap(NULL, room * sizeof *blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        static const char said[] = "assay: no memory to count allocations with\n";
        fputs(said, stderr);
        abort();
    }
    blocks = map;
    used = 0;
    for (i = 0; i < old_room; i++) {
        if (old[i].start > 1) {
            put(old[i].start, old[i].bytes);
        }
    }
    if (old != NULL) {
        munmap(old, old_room * sizeof *old);
    }
}

static void add(void *start, size_t bytes)
{
    if (start == NULL) {
        return;
    }
    enter();
    if (2 * used >= room) {
        grow();
    }
    put((uintptr_t)start, bytes);
    counts.allocations++;
    counts.allocated += bytes;
    counts.live += (int64_t)bytes;
    if (counts.live > counts.peak) {
        counts.peak = counts.live;
    }
    leave();
}

/* Takes a block out of the table; returns its bytes. */
static size_t take(void *start)
{
    size_t at, bytes = 0;
    if (start == NULL) {
        return 0;
    }
    enter();
    for (at = room == 0 ? 0 : place_of((uintptr_t)start) & (room - 1); room != 0 && blocks[at].start != 0;
         at = (at + 1) & (room - 1)) {
        if (blocks[at].start == (uintptr_t)start) {
            bytes = blocks[at].bytes;
            blocks[at].start = 1;
            break;
        }
    }
    counts.live -= (int64_t)bytes;
    leave();
    return bytes;
}

/* dlsym itself may allocate before the real functions are known. */
static char early[65536];
static size_t early_used;

static void *early_block(size_t bytes)
{
    char *block = early + early_used;
    early_used += (bytes + 31) / 16 * 16;
    return early_used <= sizeof early ? block : NULL;
}

static int is_early(const void *block) { return (const char *)block >= early && (const char *)block < early + sizeof early; }

static int ready(void)
{
    static int asking;
    if (next_malloc != NULL) {
        return 1;
    }
    if (asking) {
        return 0;
    }
    asking = 1;
    *(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&next_free = dlsym(RTLD_NEXT, "free");
    *(void **)&next_memalign = dlsym(RTLD_NEXT, "memalign");
    if (next_memalign == NULL) {
        *(void **)&next_memalign = dlsym(RTLD_NEXT, "aligned_alloc");
    }
    *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    asking = 0;
    return next_malloc != NULL;
}

void *malloc(size_t bytes)
{
    void *block;
    if (!ready()) {
        return early_block(bytes);
    }
    block = next_malloc(bytes);
    add(block, bytes);
    return block;
}

void *calloc(size_t count, size_t bytes)
{
    void *block;
    if (!ready()) {
        return early_block(count * bytes); /* static memory is zero */
    }
    block = next_calloc(count, bytes);
    add(block, count * bytes);
    return block;
}

void free(void *block)
{
    if (block == NULL || is_early(block) || !ready()) {
        return;
    }
    take(block);
    next_free(block);
}

void *realloc(void *block, size_t bytes)
{
    void *moved;
    size_t before;
    if (block == NULL) {
        return malloc(bytes);
    }
    if (is_early(block) || !ready()) {
        moved = malloc(bytes);
        if (moved != NULL) {
            size_t left = (size_t)(early + sizeof early - (char *)block);
            memcpy(moved, block, bytes < left ? bytes : left);
        }
        return moved;
    }
    before = take(block);
    moved = next_realloc(block, bytes);
    if (moved != NULL) {
        add(moved, bytes);
    } else if (bytes != 0) { /* it failed, and the block is still there */
        enter();
        put((uintptr_t)block, before);
        counts.live += (int64_t)before;
        leave();
    }
    return moved;
}

static void *aligned(size_t alignment, size_t bytes)
{
    void *block = ready() ? next_memalign(alignment, bytes) : NULL;
    add(block, bytes);
    return block;
}

void *memalign(size_t alignment, size_t bytes) { return aligned(alignment, bytes); }

void *aligned_alloc(size_t alignment, size_t bytes) { return aligned(alignment, bytes); }

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    void *made;
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) {
        return EINVAL;
    }
    made = aligned(alignment, bytes);
    if (made == NULL) {
        return ENOMEM;
    }
    *block = made;
    return 0;
}

void *valloc(size_t bytes) { return aligned(4096, bytes); }

void *pvalloc(size_t bytes) { return aligned(4096, (bytes + 4095) / 4096 * 4096); }

void *reallocarray(void *block, size_t count, size_t bytes)
{
    if (bytes != 0 && count > SIZE_MAX / bytes) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, count * bytes);
}

__attribute__((constructor)) static void tell(void)
{
    static char address[32];
    snprintf(address, sizeof address, "%llx", (unsigned long long)(uintptr_t)&counts);
    setenv("ASSAY_HEAP", address, 1);
    unsetenv("LD_PRELOAD"); /* programs that this one starts are not counted */
}
