/* Does one loop at one place in one process run at two speeds on this processor?
 *
 * An Adler-32 loop is timed in chunks of a few microseconds. Beside each chunk two control loops tell whether a sibling thread was
 * busy: independent additions, which need the core's width, and a loop of two taken jumps a turn, which needs its front end.
 * Chunks beside a busy sibling are left out, so that what is left can be slow only by itself.
 *
 *     modes CPU BETWEEN [CHUNKS]        BETWEEN: nothing, call (of the system), sleep, code
 *
 * SKIP, at compile time, moves the loop within its line, by bytes. See run.sh and README.md. */
#define _GNU_SOURCE
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SKIP
#define SKIP 0
#endif
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define CHUNK 8192

static uint8_t bytes[CHUNK];

__attribute__((noinline, aligned(64))) static uint32_t adler32(const uint8_t *from, size_t count)
{
    uint32_t a = 1, b = 0;
    size_t at;
#if SKIP > 0
    __asm__ volatile(".skip " TEXT(SKIP) ", 0x90");
#endif
    for (at = 0; at < count; at++) {
        a += from[at];
        b += a;
        if ((at & 2047) == 2047) {
            a %= 65521;
            b %= 65521;
        }
    }
    return b << 16 | a;
}

#if defined(__x86_64__)
__attribute__((noinline, aligned(64))) static void additions(uint64_t turns)
{
    __asm__ volatile("1:\n.rept 64\n add %%rdx, %%rax\n add %%rdx, %%rcx\n add %%rdx, %%rsi\n add %%rdx, %%rdi\n"
                     " add %%rdx, %%r8\n add %%rdx, %%r9\n add %%rdx, %%r10\n add %%rdx, %%r11\n.endr\n dec %0\n jnz 1b"
                     : "+r"(turns)::"rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
}

__attribute__((noinline, aligned(64))) static void jumps(uint64_t turns)
{
    __asm__ volatile(".p2align 6\n1:\n jmp 2f\n.p2align 5\n2:\n dec %0\n jnz 1b" : "+r"(turns)::"cc");
}

/* 4096 jumps over a kilobyte each 16: more than the smallest predictors of targets keep. */
__attribute__((noinline, aligned(64))) static void other_code(void)
{
    __asm__ volatile(".rept 4096\n jmp 1f\n.p2align 4\n1:\n.endr");
}
#elif defined(__aarch64__)
__attribute__((noinline, aligned(64))) static void additions(uint64_t turns)
{
    __asm__ volatile("1:\n.rept 64\n add x0, x0, x8\n add x1, x1, x8\n add x2, x2, x8\n add x3, x3, x8\n"
                     " add x4, x4, x8\n add x5, x5, x8\n add x6, x6, x8\n add x7, x7, x8\n.endr\n subs %0, %0, #1\n b.ne 1b"
                     : "+r"(turns)::"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "cc");
}

__attribute__((noinline, aligned(64))) static void jumps(uint64_t turns)
{
    __asm__ volatile(".p2align 6\n1:\n b 2f\n.p2align 5\n2:\n subs %0, %0, #1\n b.ne 1b" : "+r"(turns)::"cc");
}

__attribute__((noinline, aligned(64))) static void other_code(void)
{
    __asm__ volatile(".rept 4096\n b 1f\n.p2align 4\n1:\n.endr");
}
#else
#error "no control loops for this processor"
#endif

static double now_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1e9 + at.tv_nsec;
}

struct chunk {
    double at, ns, wide, front;
};

static int by_size(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;
    return a < b ? -1 : a > b;
}

/* The end of the lowest twentieth. */
static double low(const struct chunk *chunks, size_t count, size_t field)
{
    double *sorted = malloc(count * sizeof *sorted), found;
    size_t i;
    for (i = 0; i < count; i++)
        sorted[i] = *(const double *)((const char *)&chunks[i] + field);
    qsort(sorted, count, sizeof *sorted, by_size);
    found = sorted[count / 20];
    free(sorted);
    return found;
}

int main(int argc, char **argv)
{
    const char *between = argc > 2 ? argv[2] : "nothing";
    size_t count = argc > 3 ? strtoull(argv[3], NULL, 10) : 60000, i, own = 0, slow = 0, flips = 0, pairs = 0;
    size_t histogram[24] = {0}, stretches[6] = {0};
    struct chunk *chunks = calloc(count, sizeof *chunks);
    double fast, wide, front, begun = 0, slow_sum = 0, fast_sum = 0;
    uint32_t answers = 0;
    int last = -1, in_slow = 0;
    cpu_set_t cpus;
    if (argc < 2 || !chunks || count < 1000) {
        fprintf(stderr, "usage: modes CPU nothing|call|sleep|code [CHUNKS, 1000 or more]\n");
        return 2;
    }
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[1]), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
        perror("sched_setaffinity");
        return 1;
    }
    for (i = 0; i < CHUNK; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    for (i = 0; i < count; i++) {
        double a, b, c, d;
        if (!strcmp(between, "call"))
            syscall(SYS_getppid);
        else if (!strcmp(between, "sleep") && i % 16 == 0)
            usleep(50);
        else if (!strcmp(between, "code"))
            other_code();
        a = now_ns();
        answers += adler32(bytes, CHUNK);
        b = now_ns();
        additions(20);
        c = now_ns();
        jumps(400);
        d = now_ns();
        chunks[i] = (struct chunk){a, (b - a) / CHUNK, c - b, d - c};
    }
    wide = low(chunks, count, offsetof(struct chunk, wide));
    front = low(chunks, count, offsetof(struct chunk, front));
    /* A chunk is alone where the controls on both sides of it are. */
    for (i = 1; i < count; i++) {
        int alone = chunks[i].wide < 1.08 * wide && chunks[i - 1].wide < 1.08 * wide &&
                    chunks[i].front < 1.15 * front && chunks[i - 1].front < 1.15 * front;
        if (!alone)
            chunks[i].wide = 0;
    }
    chunks[0].wide = 0;
    fast = low(chunks, count, offsetof(struct chunk, ns));
    for (i = 1; i < count; i++) {
        double ratio = chunks[i].ns / fast;
        int is_slow = ratio > 1.1 && ratio < 2.5;
        if (chunks[i].wide == 0 || ratio >= 2.5) {
            last = -1;
            continue;
        }
        own++;
        slow += is_slow;
        *(is_slow ? &slow_sum : &fast_sum) += chunks[i].ns;
        histogram[ratio < 0.9 ? 0 : ratio >= 2.05 ? 23 : (size_t)((ratio - 0.9) * 20)]++;
        if (last >= 0)
            pairs++, flips += last != is_slow;
        last = is_slow;
        if (is_slow && !in_slow)
            begun = chunks[i].at, in_slow = 1;
        if (!is_slow && in_slow) {
            double ms = (chunks[i].at - begun) / 1e6;
            in_slow = 0;
            stretches[ms < 0.05 ? 0 : ms < 0.2 ? 1 : ms < 1 ? 2 : ms < 5 ? 3 : ms < 20 ? 4 : 5]++;
        }
    }
    printf("function and %2d bytes, between: %-8s alone %4.1f %% of %zu chunks; of these slow %5.2f %% (%.3f and %.3f ns per byte), "
           "changes in %.2f %% of neighbours\n",
           SKIP, between, 100.0 * own / count, count, 100.0 * slow / (own ? own : 1),
           fast_sum / (own - slow ? own - slow : 1), slow_sum / (slow ? slow : 1), 100.0 * flips / (pairs ? pairs : 1));
    printf("  times over the fast one, 0.05 each from 0.9 on:");
    for (i = 0; i < 24; i++)
        printf(" %zu", histogram[i]);
    printf("\n  slow stretches below 0.05 ms %zu, 0.2 %zu, 1 %zu, 5 %zu, 20 %zu, longer %zu\n", stretches[0],
           stretches[1], stretches[2], stretches[3], stretches[4], stretches[5]);
    return answers == 1;
}
