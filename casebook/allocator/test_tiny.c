// Proves that the allocator keeps tiny.h's promises. Run by test.sh: with the address and undefined behaviour
// sanitisers, with the thread sanitiser, and as it is measured, in the first stage and the last.
//
// The allocator is called by names of its own, so that the sanitisers' malloc serves the rest of the program. What they
// cannot see inside it (overlapping blocks, a block changed by another) is checked by patterns that fill every block.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tiny.h"

// The thread sanitiser is slow, and has nothing to say where there is one thread.
#if defined(__SANITIZE_THREAD__)
#define SANITIZES_THREADS true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZES_THREADS true
#endif
#endif
#if !defined(SANITIZES_THREADS)
#define SANITIZES_THREADS false
#endif

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "test_tiny.c:%d: not true: %s\n", __LINE__, #condition); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

// The compiler knows that no object is larger than PTRDIFF_MAX; what it does not know it cannot warn of.
static size_t opaque(size_t size) {
    volatile size_t hidden = size;
    return hidden;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

// ---- blocks with patterns

struct held {
    unsigned char *block;
    size_t size;
    unsigned char pattern;
};

// All bytes where that is quick, else both ends and some between.
static void fill(struct held *held, size_t from) {
    if (held->size <= 4096) {
        memset(held->block + from, held->pattern, held->size - from);
        return;
    }
    for (size_t i = from; i < held->size; i += i < 64 || i + 64 >= held->size ? 1 : 61) {
        held->block[i] = held->pattern;
    }
    memset(held->block + held->size - 64, held->pattern, 64);
}

static void verify(const struct held *held, size_t size) {
    if (held->size <= 4096) {
        for (size_t i = 0; i < size && i < held->size; i++) {
            CHECK(held->block[i] == held->pattern);
        }
        return;
    }
    for (size_t i = 0; i < 64 && i < size; i++) {
        CHECK(held->block[i] == held->pattern);
    }
    for (size_t i = held->size - 64; i < held->size && i < size; i++) {
        CHECK(held->block[i] == held->pattern);
    }
}

static bool all_zero(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

// ---- the functions, one by one

static void every_size_has_an_aligned_block_of_its_own(void) {
    for (size_t size = 0; size < 70000; size += size < 3000 ? 1 : 997) {
        struct held two[2];
        for (int i = 0; i < 2; i++) {
            two[i] = (struct held){tiny_malloc(size), size, (unsigned char)(size + 1 + (size_t)i)};
            CHECK(two[i].block != NULL && (uintptr_t)two[i].block % 16 == 0);
            CHECK(tiny_malloc_usable_size(two[i].block) >= size);
            two[i].size = tiny_malloc_usable_size(two[i].block);
            fill(&two[i], 0);
        }
        CHECK(two[0].block != two[1].block);
        verify(&two[0], two[0].size);
        verify(&two[1], two[1].size);
        tiny_free(two[0].block);
        tiny_free(two[1].block);
    }
    CHECK(tiny_malloc_usable_size(NULL) == 0);
    tiny_free(NULL);
    CHECK(tiny_live_bytes() == 0);
}

static void up_to_a_page_at_most_an_eighth_is_lost(void) {
    for (size_t size = 128; size <= 4096; size += size / 7) {
        void *block = tiny_malloc(size);
        const size_t lost = tiny_malloc_usable_size(block) - size;
        CHECK(lost < 16 || lost * 8 <= size);
        tiny_free(block);
    }
}

static void impossible_sizes_give_null_and_enomem(void) {
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 4096, (size_t)PTRDIFF_MAX + 1, PTRDIFF_MAX, (size_t)1 << 62};
    void *kept = tiny_malloc(100);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t size = opaque(sizes[i]);
        errno = 0;
        CHECK(tiny_malloc(size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(tiny_calloc(1, size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(tiny_realloc(kept, size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(tiny_aligned_alloc(64, size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(tiny_memalign(1 << 16, size) == NULL && errno == ENOMEM);
        errno = 0;
        CHECK(tiny_pvalloc(size) == NULL && errno == ENOMEM);
        void *result = kept;
        errno = 7;
        CHECK(tiny_posix_memalign(&result, 64, size) == ENOMEM && result == kept && errno == 7);
    }
    CHECK(tiny_malloc_usable_size(kept) >= 100);
    tiny_free(kept);
}

static void calloc_gives_zeroes_and_notices_overflow(void) {
    errno = 0;
    CHECK(tiny_calloc(opaque(SIZE_MAX / 2), 3) == NULL && errno == ENOMEM);
    errno = 0;
    CHECK(tiny_calloc(opaque((size_t)1 << 32), (size_t)1 << 32) == NULL && errno == ENOMEM);
    for (size_t size = 1; size < 5000000; size = size * 3 + 1) {
        for (int again = 0; again < 2; again++) {  // the second time the block was used before
            unsigned char *block = tiny_calloc(size, 1);
            CHECK(block != NULL && all_zero(block, size));
            memset(block, 0xa5, size);
            tiny_free(block);
        }
    }
    void *empty = tiny_calloc(0, 8);
    CHECK(empty != NULL);
    tiny_free(empty);
    CHECK(tiny_live_bytes() == 0);
}

static void realloc_keeps_what_was_written(void) {
    const size_t sizes[] = {1, 16, 17, 100, 1024, 1039, 2048, 2049, 5000, 40000, 300000, 1 << 20, (1 << 20) + 1, 3000000, 9000000};
    const size_t count = sizeof sizes / sizeof *sizes;
    for (size_t from = 0; from < count; from++) {
        for (size_t to = 0; to < count; to++) {
            struct held held = {tiny_malloc(sizes[from]), sizes[from], 0x5a};
            fill(&held, 0);
            unsigned char *moved = tiny_realloc(held.block, sizes[to]);
            CHECK(moved != NULL && (uintptr_t)moved % 16 == 0 && tiny_malloc_usable_size(moved) >= sizes[to]);
            held.block = moved;
            verify(&held, sizes[to]);
            tiny_free(moved);
        }
    }
    void *fresh = tiny_realloc(NULL, 10);
    CHECK(fresh != NULL);
    CHECK(tiny_realloc(fresh, 0) == NULL);
    void *same = tiny_malloc(1000);
    CHECK(tiny_realloc(same, 1001) == same && tiny_realloc(same, 900) == same);
    tiny_free(same);
    CHECK(tiny_live_bytes() == 0);
}

static void a_growing_block_keeps_all_its_words(void) {
    uint64_t *words = NULL;
    size_t count = 0;
    while (count < 2000000) {
        const size_t more = count + count / 8 + 6;
        words = tiny_realloc(words, more * sizeof *words);
        CHECK(words != NULL);
        for (; count < more; count++) {
            words[count] = count * 0x9e3779b97f4a7c15u;
        }
    }
    while (count > 100) {
        count /= 3;
        words = tiny_realloc(words, count * sizeof *words);
        CHECK(words != NULL);
        for (size_t i = 0; i < count; i++) {
            CHECK(words[i] == i * 0x9e3779b97f4a7c15u);
        }
    }
    tiny_free(words);
    CHECK(tiny_live_bytes() == 0);
}

static void a_large_block_grows_where_it_lies(void) {
    struct held held = {tiny_malloc(6000), 6000, 0x3c};
    fill(&held, 0);
    unsigned moves = 0;
    while (held.size < 500000) {
        unsigned char *grown = tiny_realloc(held.block, held.size + 4096);
        CHECK(grown != NULL && tiny_malloc_usable_size(grown) >= held.size + 4096);
        moves += grown != held.block;
        held.block = grown;
        verify(&held, held.size);
        held.size += 4096;
        fill(&held, held.size - 4096);
    }
    CHECK(moves <= 1);  // of thirteen classes: it is moved once, to where there is room
    tiny_free(held.block);
    CHECK(tiny_live_bytes() == 0);
}

static void growing_blocks_leave_their_neighbours_alone(void) {
    enum { COUNT = 24 };
    struct held all[COUNT] = {{0}};
    uint64_t state = 5;
    for (int step = 0; step < 4000; step++) {
        struct held *held = &all[next_random(&state) % COUNT];
        const size_t size = held->size > 480000 ? 3000 : held->size + 1 + (size_t)(next_random(&state) % 40000);
        if (held->block != NULL) {
            verify(held, held->size);
        }
        held->block = tiny_realloc(held->block, size);
        CHECK(held->block != NULL && tiny_malloc_usable_size(held->block) >= size);
        if (size > held->size && held->size > 0) {
            verify(held, held->size);
        }
        held->size = size;
        held->pattern = (unsigned char)step;
        fill(held, 0);
    }
    for (int i = 0; i < COUNT; i++) {
        tiny_free(all[i].block);
    }
    CHECK(tiny_live_bytes() == 0);
}

static void what_a_growing_block_left_serves_the_next_one(void) {
    struct rusage before, after;
    for (int turn = 0; turn < 60; turn++) {
        if (turn == 10) {
            CHECK(getrusage(RUSAGE_SELF, &before) == 0);
        }
        unsigned char *block = NULL;
        for (size_t size = 1000; size <= 512 * 1024; size += 1000) {
            block = tiny_realloc(block, size);
            CHECK(block != NULL);
            block[size - 1] = 1;
        }
        tiny_free(block);
    }
    CHECK(getrusage(RUSAGE_SELF, &after) == 0);
    CHECK(after.ru_minflt - before.ru_minflt < 1000);  // given back at once, each turn would take more than a hundred
    CHECK(tiny_live_bytes() == 0);
}

static void aligned_blocks_are_aligned(void) {
    for (size_t alignment = 1; alignment <= (size_t)16 << 20; alignment *= 2) {
        for (size_t size = 0; size <= 3000000; size = size * 5 + 1) {
            void *blocks[5] = {tiny_aligned_alloc(alignment, size), tiny_memalign(alignment, size), NULL, NULL, NULL};
            int count = 2;
            if (alignment >= sizeof(void *)) {
                errno = 9;
                CHECK(tiny_posix_memalign(&blocks[count++], alignment, size) == 0 && errno == 9);
            }
            for (int i = 0; i < count; i++) {
                CHECK(blocks[i] != NULL && (uintptr_t)blocks[i] % alignment == 0);
                CHECK(tiny_malloc_usable_size(blocks[i]) >= size);
                if (size > 0) {
                    ((volatile char *)blocks[i])[0] = 1;
                    ((volatile char *)blocks[i])[size - 1] = 1;
                }
            }
            for (int i = 0; i < count; i++) {
                tiny_free(blocks[i]);
            }
        }
    }
    void *result = NULL;
    CHECK(tiny_posix_memalign(&result, 4, 8) == EINVAL && tiny_posix_memalign(&result, 24, 8) == EINVAL && result == NULL);
    errno = 0;
    CHECK(tiny_aligned_alloc(opaque(24), 48) == NULL && errno == EINVAL);
    void *odd = tiny_memalign(opaque(24), 48);  // the next power of two, as in glibc
    CHECK(odd != NULL && (uintptr_t)odd % 32 == 0);
    tiny_free(odd);
    void *page = tiny_valloc(10), *pages = tiny_pvalloc(4097);
    CHECK((uintptr_t)page % 4096 == 0 && (uintptr_t)pages % 4096 == 0 && tiny_malloc_usable_size(pages) >= 8192);
    unsigned char *moved = tiny_realloc(tiny_memalign(1 << 16, 100), 5000000);
    CHECK(moved != NULL);
    tiny_free(moved);
    tiny_free(page);
    tiny_free(pages);
    CHECK(tiny_live_bytes() == 0);
}

static void freeing_keeps_errno(void) {
    for (size_t size = 1; size < 20000000; size *= 3) {
        void *block = tiny_malloc(size);
        CHECK(block != NULL);
        errno = 77;
        tiny_free(block);
        CHECK(errno == 77);
    }
}

static void full_slabs_come_back(void) {
    enum { COUNT = 20000 };
    static struct held all[COUNT];
    for (size_t size = 16; size < 3000; size = size * 2 + 8) {
        for (int i = 0; i < COUNT; i++) {
            all[i] = (struct held){tiny_malloc(size), size, (unsigned char)i};
            CHECK(all[i].block != NULL);
            fill(&all[i], 0);
        }
        for (int step = 0; step < 3; step++) {  // every third one, then again, in another order
            for (int i = step; i < COUNT; i += 3) {
                verify(&all[i], size);
                tiny_free(all[i].block);
            }
        }
        CHECK(tiny_live_bytes() == 0);
    }
}

// ---- threads

enum { HANDED = 3000 };

static void *allocates(void *argument) {
    struct held *all = argument;
    for (size_t i = 0; i < HANDED; i++) {
        all[i] = (struct held){tiny_malloc(i * 7 % 3000), i * 7 % 3000, (unsigned char)(i * 3)};
        CHECK(all[i].block != NULL);
        fill(&all[i], 0);
    }
    return NULL;
}

static void *frees(void *argument) {
    struct held *all = argument;
    for (size_t i = 0; i < HANDED; i++) {
        verify(&all[i], all[i].size);
        tiny_free(all[i].block);
    }
    return NULL;
}

static void in_a_thread(void *(*work)(void *), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, argument) == 0 && pthread_join(thread, NULL) == 0);
}

static void blocks_outlive_their_thread_and_may_be_freed_by_another(void) {
    static struct held all[HANDED];
    in_a_thread(allocates, all);
    frees(all);
    allocates(all);
    in_a_thread(frees, all);
    CHECK(tiny_live_bytes() == 0);
    in_a_thread(allocates, all);
    in_a_thread(frees, all);
    CHECK(tiny_live_bytes() == 0);
}

static void *grows(void *argument) {
    struct held *held = argument;
    for (size_t size = held->size; size <= 400000; size += 30000) {
        held->block = tiny_realloc(held->block, size);
        CHECK(held->block != NULL);
        verify(held, held->size);
        held->size = size;
        fill(held, 0);
    }
    return NULL;
}

static void a_block_of_another_thread_grows(void) {
    struct held held[2];
    for (int i = 0; i < 2; i++) {
        held[i] = (struct held){tiny_malloc(20000), 20000, (unsigned char)(i + 7)};
        fill(&held[i], 0);
    }
    in_a_thread(grows, &held[0]);
    grows(&held[1]);
    verify(&held[0], held[0].size);
    tiny_free(held[0].block);
    tiny_free(held[1].block);
    CHECK(tiny_live_bytes() == 0);
}

static long resident_kib(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void *caches_and_ends(void *argument) {
    void *blocks[500];
    for (size_t i = 0; i < 500; i++) {
        blocks[i] = tiny_malloc(i * 5);
    }
    for (size_t i = 0; i < 500; i++) {
        tiny_free(blocks[i]);
    }
    return argument;
}

enum { THREADS = 300 };

static void threads_that_end_leave_nothing_behind(void) {
    in_a_thread(caches_and_ends, NULL);
    const long before = resident_kib();
    for (int i = 0; i < THREADS; i++) {
        in_a_thread(caches_and_ends, NULL);
    }
    CHECK(resident_kib() < before + 8192);  // would they keep what they cached, it would be four times that
    CHECK(tiny_live_bytes() == 0);
}

// A destructor that runs after the allocator's own, because its key was made later and it sets itself again.
static pthread_key_t late_key;

static void late_destructor(void *argument) {
    uintptr_t turns = (uintptr_t)argument;
    void *block = tiny_malloc(100), *large = tiny_malloc(5000);
    CHECK(block != NULL && large != NULL);
    memset(block, 1, 100);
    tiny_free(large);
    tiny_free(block);
    if (turns > 1) {
        CHECK(pthread_setspecific(late_key, (void *)(turns - 1)) == 0);
    }
}

static void *ends_late(void *argument) {
    tiny_free(tiny_malloc(1));
    // More often than the system calls destructors; the thread sanitiser is gone at the last time.
    CHECK(pthread_setspecific(late_key, (void *)(uintptr_t)(SANITIZES_THREADS ? 2 : 10)) == 0);
    return argument;
}

static void destructors_of_a_thread_may_allocate(void) {
    CHECK(pthread_key_create(&late_key, late_destructor) == 0);
    in_a_thread(ends_late, NULL);
    const long before = resident_kib();
    for (int i = 0; i < THREADS; i++) {
        in_a_thread(ends_late, NULL);
    }
    CHECK(SANITIZES_THREADS || resident_kib() < before + 4096);  // a heap lost with each thread would be more
    CHECK(tiny_live_bytes() == 0);
}

// ---- fork

static _Atomic(bool) stop;

static void *busy(void *argument) {
    uint64_t state = (uintptr_t)argument;
    struct held all[64] = {{0}};
    while (!stop) {
        struct held *held = &all[next_random(&state) % 64];
        tiny_free(held->block);
        held->block = tiny_malloc(next_random(&state) % 3000);
    }
    for (int i = 0; i < 64; i++) {
        tiny_free(all[i].block);
    }
    return NULL;
}

static int child(struct held *inherited) {
    frees(inherited);
    static struct held all[HANDED];
    allocates(all);
    frees(all);
    if (!SANITIZES_THREADS) {  // it cannot start threads in the child of a process with threads
        in_a_thread(allocates, all);
        frees(all);
    }
    return 17;
}

static void fork_among_busy_threads_leaves_a_working_child(void) {
    static struct held all[HANDED];
    pthread_t threads[2];
    stop = false;
    for (uintptr_t i = 0; i < 2; i++) {
        CHECK(pthread_create(&threads[i], NULL, busy, (void *)(i + 1)) == 0);
    }
    for (int i = 0; i < 10; i++) {
        allocates(all);
        const pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            _exit(child(all));
        }
        frees(all);
        int status = 0;
        CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 17);
    }
    stop = true;
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    CHECK(tiny_live_bytes() == 0);
}

// ---- against a model

enum { MODEL_SLOTS = 700 };

static size_t model_size(uint64_t r) {
    const unsigned bits = (unsigned)(r >> 40) % 100;
    const size_t limit = bits < 70 ? 1040 : bits < 95 ? 9000 : bits < 99 ? 200000 : 3000000;
    return (size_t)((r & 0xffffffff) % limit);
}

// One random call, and what the model says of it.
static void model_step(struct held *held, uint64_t r) {
    const size_t size = model_size(r * 0x9e3779b97f4a7c15u);
    if (held->block == NULL) {
        static const size_t alignments[4] = {16, 64, 512, 4096};
        const size_t alignment = r % 16 < 4 ? alignments[r % 4] : 16;
        const bool zeroed = r % 16 == 5;
        held->block = zeroed ? tiny_calloc(1, size) : alignment > 16 ? tiny_memalign(alignment, size) : tiny_malloc(size);
        CHECK(held->block != NULL && (uintptr_t)held->block % alignment == 0);
        CHECK(!zeroed || all_zero(held->block, size));
        held->size = size;
        held->pattern = (unsigned char)(r >> 17);
        fill(held, 0);
    } else if (r % 4 == 0 && size > 0) {
        held->block = tiny_realloc(held->block, size);
        CHECK(held->block != NULL);
        if (size < held->size) {  // the end of the pattern is gone
            const struct held kept = *held;
            verify(&kept, size < 64 ? size : 64);
        } else {
            verify(held, held->size);
        }
        held->size = size;
        fill(held, 0);
    } else {
        verify(held, held->size);
        tiny_free(held->block);
        held->block = NULL;
    }
}

static void model_drain(struct held *all) {
    for (int i = 0; i < MODEL_SLOTS; i++) {
        if (all[i].block != NULL) {
            verify(&all[i], all[i].size);
            tiny_free(all[i].block);
            all[i].block = NULL;
        }
    }
}

static void random_calls_agree_with_a_model(unsigned steps) {
    static struct held all[MODEL_SLOTS];
    for (uint64_t seed = 1; seed <= 4; seed++) {
        uint64_t state = seed * 0x2545f4914f6cdd1du;
        for (unsigned i = 0; i < steps; i++) {
            const uint64_t r = next_random(&state);
            model_step(&all[(r >> 20) % MODEL_SLOTS], r);
        }
        model_drain(all);
        CHECK(tiny_live_bytes() == 0);
    }
}

// The same by threads that pass their blocks around.
struct player {
    struct held (*tables)[MODEL_SLOTS];
    unsigned index, steps;
};

enum { PLAYERS = 3, ROUNDS = 12 };
static pthread_barrier_t round_ends;

static void *plays(void *argument) {
    const struct player *player = argument;
    uint64_t state = player->index + 99;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct held *all = player->tables[(player->index + round) % PLAYERS];
        for (unsigned i = 0; i < player->steps; i++) {
            const uint64_t r = next_random(&state);
            model_step(&all[(r >> 20) % MODEL_SLOTS], r);
        }
        pthread_barrier_wait(&round_ends);
    }
    return NULL;
}

static void threads_that_pass_blocks_around_agree_with_a_model(unsigned steps) {
    static struct held tables[PLAYERS][MODEL_SLOTS];
    struct player players[PLAYERS];
    pthread_t threads[PLAYERS];
    CHECK(pthread_barrier_init(&round_ends, NULL, PLAYERS) == 0);
    for (unsigned i = 0; i < PLAYERS; i++) {
        players[i] = (struct player){tables, i, steps};
        CHECK(pthread_create(&threads[i], NULL, plays, &players[i]) == 0);
    }
    for (unsigned i = 0; i < PLAYERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    for (unsigned i = 0; i < PLAYERS; i++) {
        model_drain(tables[i]);
    }
    CHECK(tiny_live_bytes() == 0);
    pthread_barrier_destroy(&round_ends);
}

// ---- leaks

// The seed's workload, for so long that a leak of a byte in a thousand calls would show.
static void nothing_leaks_over(unsigned long operations) {
    static void *slots[4096];
    uint32_t r = 1234567;
    long after_a_tenth = 0;
    for (unsigned long i = 0; i < operations; i++) {
        r ^= r << 13;
        r ^= r >> 17;
        r ^= r << 5;
        void **slot = &slots[(r >> 11) % 4096];
        if (*slot != NULL) {
            tiny_free(*slot);
            *slot = NULL;
        } else {
            *slot = tiny_malloc(16 + (r & 0x3ff));
            *(volatile char *)*slot = 1;
        }
        if (i == operations / 10) {
            after_a_tenth = resident_kib();
        }
    }
    CHECK(resident_kib() <= after_a_tenth + 1024);
    for (int i = 0; i < 4096; i++) {
        tiny_free(slots[i]);
    }
    CHECK(tiny_live_bytes() == 0);
}

static void memory_of_one_size_serves_another(void) {
    enum { BYTES = 8 << 20 };
    static void *blocks[BYTES / 64];
    long first = 0;
    for (size_t size = 64; size <= 65536; size *= 2) {
        for (size_t i = 0; i < BYTES / size; i++) {
            blocks[i] = tiny_malloc(size);
            memset(blocks[i], 1, size);
        }
        for (size_t i = 0; i < BYTES / size; i++) {
            tiny_free(blocks[i]);
        }
        if (first == 0) {
            first = resident_kib();
        }
    }
    CHECK(resident_kib() < first + (8 << 10));  // kept per class it would be 11 times 8 MiB
    CHECK(tiny_live_bytes() == 0);
}

static void much_that_is_freed_goes_back_to_the_system(void) {
    enum { COUNT = 64 << 10 };
    static void *blocks[COUNT];
    const long before = resident_kib();
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = memset(tiny_malloc(1000), 1, 1000);
    }
    for (size_t i = 0; i < COUNT; i++) {  // all but a few, so that no segment is free as a whole
        if (i % 1000 != 0) {
            tiny_free(blocks[i]);
        }
    }
    CHECK(resident_kib() < before + (40 << 10));  // of 64 MiB
    for (size_t i = 0; i < COUNT; i += 1000) {
        tiny_free(blocks[i]);
    }
    CHECK(tiny_live_bytes() == 0);
}

#if TINY_GUARDS
// The guards of the first stage: each must end the process.
static void dies(void (*work)(void)) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        CHECK(freopen("/dev/null", "w", stderr) != NULL);
        work();
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void frees_twice(void) {
    char *block = tiny_malloc(100);
    tiny_free(block);
    tiny_free(block);
}

static void frees_the_middle(void) {
    char *block = tiny_malloc(100);
    tiny_free(block + 16);
}

static void frees_misaligned(void) {
    char *block = tiny_malloc(100);
    tiny_free(block + 1);
}

static void writes_after_free(void) {
    char *block = tiny_malloc(100);
    tiny_free(block);
    memset(block + 16, 0, 8);
    for (int i = 0; i < 100; i++) {
        tiny_malloc(100);
    }
}

static void guards_notice_misuse(void) {
    dies(frees_twice);
    dies(frees_the_middle);
    dies(frees_misaligned);
    dies(writes_after_free);
}
#endif

static void alone(unsigned long operations, unsigned steps) {
    every_size_has_an_aligned_block_of_its_own();
    up_to_a_page_at_most_an_eighth_is_lost();
    impossible_sizes_give_null_and_enomem();
    calloc_gives_zeroes_and_notices_overflow();
    realloc_keeps_what_was_written();
    a_growing_block_keeps_all_its_words();
    a_large_block_grows_where_it_lies();
    growing_blocks_leave_their_neighbours_alone();
    what_a_growing_block_left_serves_the_next_one();
    aligned_blocks_are_aligned();
    freeing_keeps_errno();
    full_slabs_come_back();
    random_calls_agree_with_a_model(steps);
    memory_of_one_size_serves_another();
    much_that_is_freed_goes_back_to_the_system();
    nothing_leaks_over(operations);
#if TINY_GUARDS
    guards_notice_misuse();
#endif
}

static void among_threads(unsigned steps) {
    blocks_outlive_their_thread_and_may_be_freed_by_another();
    a_block_of_another_thread_grows();
    threads_that_end_leave_nothing_behind();
    destructors_of_a_thread_may_allocate();
    fork_among_busy_threads_leaves_a_working_child();
    threads_that_pass_blocks_around_agree_with_a_model(steps);
}

// test_tiny OPERATIONS STEPS: calls of the leak test, and of each seed of the model. 0 operations: nothing is tested.
int main(int count, char **arguments) {
    const unsigned long operations = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000000;
    const unsigned steps = count > 2 ? (unsigned)strtoul(arguments[2], NULL, 10) : 10000;
    if (operations > 0 && !SANITIZES_THREADS) {
        alone(operations, steps);
    }
    if (operations > 0) {
        among_threads(steps / 4);
    }
    return 0;
}
