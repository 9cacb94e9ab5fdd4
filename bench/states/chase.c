/* What a load costs that waits for the last one, by working set: the figure that touch.c's must be near. Prints
 * nanoseconds per load for each size given in bytes: a cycle over all lines in a random order, on huge pages where the
 * system has them, so that it is the memory's latency and not that of the page tables. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define LINE 64
#define LOADS 400000

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double chase(size_t bytes)
{
    size_t lines = bytes / LINE, i;
    size_t *order = malloc(lines * sizeof *order);
    uint64_t seed = 42;
    double taken[9];
    void **at;
    char *map = mmap(NULL, bytes + (2u << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (order == NULL || map == MAP_FAILED) {
        exit(2);
    }
    map = (char *)(((uintptr_t)map + (2u << 20) - 1) & ~(uintptr_t)((2u << 20) - 1));
    madvise(map, bytes, MADV_HUGEPAGE);
    for (i = 0; i < lines; i++) {
        size_t other;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        other = (size_t)((seed >> 33) % (i + 1));
        order[i] = order[other];
        order[other] = i;
    }
    for (i = 0; i < lines; i++) {
        *(void **)(map + order[i] * LINE) = map + order[(i + 1) % lines] * LINE;
    }
    at = (void **)(map + order[0] * LINE);
    for (i = 0; i < 9; i++) {
        double from = now();
        size_t load;
        for (load = 0; load < LOADS; load++) {
            at = (void **)*at;
        }
        __asm__ volatile("" : : "r"(at));
        taken[i] = (now() - from) / LOADS;
    }
    free(order);
    qsort(taken, 9, sizeof *taken, rising);
    return taken[4];
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        printf("%s %.2f\n", argv[i], chase((size_t)strtoull(argv[i], NULL, 10)));
    }
    return 0;
}
