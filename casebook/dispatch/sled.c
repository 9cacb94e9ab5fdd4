// Times a call at each place of the store and of the loop in their lines: see sled.s. Prints what moves, its offset, nanoseconds
// per call (lower quartile, median), and the sum of the cells, which all places must agree on. What does not move is at 0.
//   store   the store moves, each has a loop of its own
//   loop    the loop moves, and calls the store at 0
//   shared  the store moves, and one loop calls all of them, one after the other: the control
// Use: sled ROUNDS CALLS
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void store_at(void *, int *, int);
typedef void calls_of(uint64_t count, store_at *store, int *cells);
extern store_at *const sled_stores[64];
extern calls_of *const sled_loops[64], *const sled_homes[64], *const sled_shared;

enum { PLACES = 192, MOST = 1001 };
static int cells[64];
static double taken[PLACES][MOST];

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static int by_size(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

int main(int count, char **words) {
    long rounds = count == 3 ? strtol(words[1], NULL, 10) : 0;
    long calls = count == 3 ? strtol(words[2], NULL, 10) : 0;
    if (rounds < 1 || rounds > MOST || calls < 64) {
        fprintf(stderr, "usage: sled ROUNDS CALLS    up to %d rounds, 64 calls or more\n", MOST);
        return 2;
    }
    int order[PLACES];
    long sums[PLACES];
    for (int i = 0; i < PLACES; i++) {
        order[i] = i;
    }
    uint32_t dice = 42;
    for (long round = 0; round < rounds; round++) {
        for (int i = PLACES - 1; i > 0; i--) {
            dice = dice * 1664525 + 1013904223;
            int other = (int)((uint64_t)dice * (unsigned)(i + 1) >> 32), kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }
        for (int i = 0; i < PLACES; i++) {
            int place = order[i];
            store_at *store = sled_stores[place / 64 == 1 ? 0 : place % 64];
            calls_of *loop = place < 64 ? sled_homes[place] : place < 128 ? sled_loops[place - 64] : sled_shared;
            memset(cells, 0, sizeof cells);
            loop(256, store, cells);
            double begin = now();
            loop((uint64_t)calls, store, cells);
            taken[place][round] = (now() - begin) / (double)calls;
            sums[place] = 0;
            for (int cell = 0; cell < 64; cell++) {
                sums[place] += cells[cell];
            }
        }
    }
    static const char *const moves[] = {"store", "loop", "shared"};
    for (int place = 0; place < PLACES; place++) {
        qsort(taken[place], (size_t)rounds, sizeof **taken, by_size);
        printf("%s\t%d\t%.3f\t%.3f\t%ld\n", moves[place / 64], place % 64, taken[place][rounds / 4],
               taken[place][rounds / 2], sums[place]);
    }
}
