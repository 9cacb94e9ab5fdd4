// The workloads of this study, for whichever malloc the program finds.
//
//     bench mixed OPERATIONS SLOTS SEED [THREADS]        the seed document's random mixed sizes
//     bench larson OPERATIONS SLOTS SEED THREADS ROUNDS  threads that hand their blocks over to the next one
//     bench replay FILE [PASSES]                         a recorded trace (trace.h)
//     bench fast OPERATIONS SIZE                         pairs of malloc and free that never leave the short way
//     bench held BYTES SIZE                              so many bytes in blocks of one size, then nothing
//     bench grow OPERATIONS STEP                         one block grows by so many bytes up to 512 KiB, again and again
//
// Prints one line: operations, nanoseconds per operation by the CPU clock of all threads and by the wall clock, peak
// resident KiB. An operation is one call of malloc, free or realloc, or, as in the seed document, one step of `mixed` or
// `larson` (a malloc or a free); the free of what is left at the end is inside the time but not counted.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "trace.h"

// Writes `number` with `width` digits, `point` of them behind a point. The same work whatever the number is, unlike
// printf's, so that counts of branches do not depend on how long something took.
static char *put_fixed(char *at, uint64_t number, int width, int point) {
    for (int i = width - 1; i >= 0; i--) {
        at[i + (point > 0 && i >= width - point)] = (char)('0' + number % 10);
        number /= 10;
    }
    at[width - point] = point > 0 ? '.' : at[width - point];
    return at + width + (point > 0);
}

static char *put_text(char *at, const char *text) { return stpcpy(at, text); }

// Times are of all operations together.
static void report(uint64_t operations, uint64_t cpu_ns, uint64_t wall_ns) {
    char line[160], *at = line;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const uint64_t each = operations > 0 ? operations : 1;
    at = put_fixed(put_text(at, "operations "), operations, 12, 0);
    at = put_fixed(put_text(at, " cpu_ns "), cpu_ns * 1000 / each, 12, 3);
    at = put_fixed(put_text(at, " wall_ns "), wall_ns * 1000 / each, 12, 3);
    at = put_fixed(put_text(at, " peak_kib "), (uint64_t)usage.ru_maxrss, 9, 0);
    *at++ = '\n';
    if (write(1, line, (size_t)(at - line)) != at - line) {
        exit(2);
    }
}

static uint64_t now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void die(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(2);
}

static uint64_t number(const char *text) {
    char *end;
    errno = 0;
    const uint64_t value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0) {
        die("not a number: see the head of bench.c");
    }
    return value;
}

static void *wanted(void *block) {
    if (block == NULL) {
        die("no memory");
    }
    return block;
}

static inline uint32_t xorshift32(uint32_t *state) {
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

// One step: an occupied slot is freed, an empty one filled. Slot and size come from the same number, as in the seed's
// program, so they are not independent.
static inline __attribute__((always_inline)) void mixed_step(unsigned char **slots, uint32_t count, uint32_t *state) {
    const uint32_t r = xorshift32(state);
    unsigned char **slot = &slots[r % count];
    if (*slot != NULL) {
        free(*slot);
        *slot = NULL;
    } else {
        *slot = wanted(malloc(16 + (r & 0x3ff)));
        **slot = (unsigned char)r;
    }
}

static void drain(unsigned char **slots, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        free(slots[i]);
        slots[i] = NULL;
    }
}

// ---- threads: a job is one thread's share; all begin at once, and are timed together

struct job {
    uint64_t operations;
    uint32_t slots, seed, rounds;
    struct job *all;      // larson: where the slots of the others are
    unsigned index, threads;
    unsigned char **own;
    uint64_t cpu_ns;
};

static pthread_barrier_t barrier;

static void *mixed_thread(void *argument) {
    struct job *job = argument;
    uint32_t state = job->seed + 0xdeadbeefu;
    for (uint64_t i = 0; i < job->operations / 10; i++) {
        mixed_step(job->own, job->slots, &state);
    }
    drain(job->own, job->slots);
    state = job->seed;
    pthread_barrier_wait(&barrier);
    const uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < job->operations; i++) {
        mixed_step(job->own, job->slots, &state);
    }
    drain(job->own, job->slots);
    job->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    pthread_barrier_wait(&barrier);
    return NULL;
}

// Each round a thread goes on with the blocks that its neighbour left.
static void *larson_thread(void *argument) {
    struct job *job = argument;
    uint32_t state = job->seed;
    pthread_barrier_wait(&barrier);
    const uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t round = 0; round < job->rounds; round++) {
        unsigned char **slots = job->all[(job->index + round) % job->threads].own;
        for (uint64_t i = 0; i < job->operations / job->rounds; i++) {
            mixed_step(slots, job->slots, &state);
        }
        pthread_barrier_wait(&barrier);
    }
    drain(job->own, job->slots);
    job->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    pthread_barrier_wait(&barrier);
    return NULL;
}

// Runs the jobs, the last one here, so that one thread needs no other. Prints the result.
static void run(struct job *jobs, unsigned threads, void *(*work)(void *)) {
    pthread_t others[64];
    uint64_t cpu_ns = 0, operations = 0;
    for (unsigned i = 0; i < threads; i++) {
        jobs[i].own = wanted(calloc(jobs[i].slots, sizeof *jobs[i].own));
        jobs[i].all = jobs;
        jobs[i].index = i;
        jobs[i].threads = threads;
        operations += jobs[i].operations / jobs[i].rounds * jobs[i].rounds;
    }
    pthread_barrier_init(&barrier, NULL, threads);
    for (unsigned i = 0; i + 1 < threads; i++) {
        if (pthread_create(&others[i], NULL, work, &jobs[i]) != 0) {
            die("no thread");
        }
    }
    const uint64_t start = now_ns(CLOCK_MONOTONIC);
    work(&jobs[threads - 1]);
    const uint64_t wall_ns = now_ns(CLOCK_MONOTONIC) - start;
    for (unsigned i = 0; i < threads; i++) {
        if (i + 1 < threads) {
            pthread_join(others[i], NULL);
        }
        cpu_ns += jobs[i].cpu_ns;
        free(jobs[i].own);
    }
    report(operations, cpu_ns, wall_ns);
}

static void steps(char **arguments, int count) {
    const bool larson = strcmp(arguments[0], "larson") == 0;
    const unsigned threads = count > 4 ? (unsigned)number(arguments[4]) : 1;
    if (threads < 1 || threads > 64) {
        die("1 to 64 threads");
    }
    struct job jobs[64] = {{0}};
    for (unsigned i = 0; i < threads; i++) {
        jobs[i].operations = number(arguments[1]);
        jobs[i].slots = (uint32_t)number(arguments[2]);
        jobs[i].seed = (uint32_t)number(arguments[3]) + i;
        jobs[i].rounds = larson ? (uint32_t)number(arguments[5]) : 1;
        if (jobs[i].slots < 1 || jobs[i].seed == 0 || jobs[i].rounds < 1) {
            die("slots, seed and rounds must not be 0");
        }
    }
    run(jobs, threads, larson ? larson_thread : mixed_thread);
}

// ---- one thread

static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        die("cannot read the trace");
    }
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = wanted(malloc(*size + 1));
    if (fread(bytes, 1, *size, file) != *size) {
        die("cannot read the trace");
    }
    fclose(file);
    return bytes;
}

static struct trace_event *read_trace(const char *path, uint64_t *count, uint32_t *slots) {
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    struct trace_reader reader = {.at = bytes, .end = bytes + size, .slots_max = (uint32_t)size};
    reader.free_slots = wanted(malloc((size + 1) * sizeof *reader.free_slots));
    struct trace_event *events = wanted(malloc((size + 1) * sizeof *events));
    for (*count = 0; trace_next(&reader, &events[*count]); ++*count) {
    }
    if (reader.at != reader.end || *count == 0) {
        die("not a trace");
    }
    *slots = reader.slots;
    free(reader.free_slots);
    free(bytes);
    return events;
}

static void replay(const char *path, uint64_t passes) {
    uint64_t count;
    uint32_t slot_count;
    struct trace_event *events = read_trace(path, &count, &slot_count);
    unsigned char **slots = wanted(calloc(slot_count, sizeof *slots));
    const uint64_t wall = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t pass = 0; pass < passes; pass++) {
        for (uint64_t i = 0; i < count; i++) {
            unsigned char **slot = &slots[events[i].slot];
            const size_t size = (size_t)events[i].size;
            switch (events[i].kind) {
                case TRACE_MALLOC: *slot = wanted(malloc(size + (size == 0))); break;
                case TRACE_CALLOC: *slot = wanted(calloc(1, size + (size == 0))); break;
                case TRACE_REALLOC: *slot = wanted(realloc(*slot, size + (size == 0))); break;
                case TRACE_FREE: free(*slot); *slot = NULL; continue;
            }
            for (size_t at = 0; at < size || at == 0; at += 4096) {  // the program wrote to all of it
                (*slot)[at] = (unsigned char)i;
            }
        }
        drain(slots, slot_count);
    }
    const uint64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu, wall_ns = now_ns(CLOCK_MONOTONIC) - wall;
    report(count * passes, cpu_ns, wall_ns);
    free(slots);
    free(events);
}

static void fast(uint64_t operations, size_t size) {
    const uint64_t wall = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < operations; i++) {
        unsigned char *block = malloc(size);
        *(volatile unsigned char *)block = 1;
        free(block);
    }
    report(2 * operations, now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu, now_ns(CLOCK_MONOTONIC) - wall);
}

static void held(uint64_t bytes, size_t size) {
    const uint64_t count = bytes / size;
    const uint64_t wall = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
    unsigned char **blocks = wanted(calloc(count, sizeof *blocks));
    for (uint64_t i = 0; i < count; i++) {
        blocks[i] = memset(wanted(malloc(size)), 1, size);
    }
    drain(blocks, (uint32_t)count);
    report(2 * count, now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu, now_ns(CLOCK_MONOTONIC) - wall);
    free(blocks);
}

static void grow(uint64_t operations, size_t step) {
    const uint64_t wall = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
    unsigned char *block = NULL;
    size_t size = 0;
    for (uint64_t i = 0; i < operations; i++) {
        if (size + step > 512 * 1024) {
            free(block);
            block = NULL;
            size = 0;
        }
        size += step;
        block = wanted(realloc(block, size));
        block[size - 1] = 1;
    }
    free(block);
    report(operations, now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu, now_ns(CLOCK_MONOTONIC) - wall);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (strcmp(what, "mixed") == 0 && (count == 5 || count == 6)) {
        steps(arguments + 1, count - 1);
    } else if (strcmp(what, "larson") == 0 && count == 7) {
        steps(arguments + 1, count - 1);
    } else if (strcmp(what, "replay") == 0 && (count == 3 || count == 4)) {
        replay(arguments[2], count == 4 ? number(arguments[3]) : 1);
    } else if (strcmp(what, "fast") == 0 && count == 4) {
        fast(number(arguments[2]), (size_t)number(arguments[3]));
    } else if (strcmp(what, "held") == 0 && count == 4 && number(arguments[3]) > 0) {
        held(number(arguments[2]), (size_t)number(arguments[3]));
    } else if (strcmp(what, "grow") == 0 && count == 4 && number(arguments[3]) > 0) {
        grow(number(arguments[2]), (size_t)number(arguments[3]));
    } else {
        die("mixed OPERATIONS SLOTS SEED [THREADS] | larson OPERATIONS SLOTS SEED THREADS ROUNDS | replay FILE [PASSES] | "
            "fast OPERATIONS SIZE | held BYTES SIZE | grow OPERATIONS STEP");
    }
    return 0;
}
