/* A kernel's work, between marks of a region: main.c PASSES over 256 KiB of random bytes below 128, a window at a time. At its end the
 * process tells the processor time of its own, of the user and of the system, in nanoseconds. */
#include "../../fixtures/instrument/mark.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { BYTES = 1 << 18, WINDOW = 1 << 14, PADDING = 64 };

volatile int never_set;
static uint8_t input[BYTES + PADDING];

uint64_t pair_a(const uint8_t *data, size_t size);
uint64_t other_path(const uint8_t *data, size_t size)
{
    return size == 0 ? 0 : data[0];
}

static long nanoseconds(struct timeval time)
{
    return time.tv_sec * 1000000000L + time.tv_usec * 1000L;
}

int main(int count, char **words)
{
    long passes = count > 1 ? atol(words[1]) : 1;
    uint64_t answers = 0;
    uint32_t seed = 1;
    struct rusage used;
    for (size_t at = 0; at < BYTES; at++) {
        seed = seed * 1664525u + 1013904223u; /* Numerical Recipes' generator */
        input[at] = (uint8_t)(seed >> 25);
    }
    answers = pair_a(input, WINDOW);
    mark(1, 0);
    for (long pass = 0; pass < passes; pass++) {
        for (size_t at = 0; at < BYTES; at += WINDOW) {
            answers = answers * 31 + pair_a(input + at, WINDOW);
        }
    }
    mark(2, 0);
    if (getrusage(RUSAGE_SELF, &used) != 0) {
        return 1;
    }
    printf("%ld %016llx\n", nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime), (unsigned long long)answers);
    return 0;
}
