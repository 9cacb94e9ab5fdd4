// Which layer answered malloc: with -DTINY_COUNT_HITS each answer is counted, and the program's end prints the counts.
// Without it nothing is there, not one instruction. hits.sh prints the table.

#ifndef HITS_H
#define HITS_H

#if TINY_COUNT_HITS
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum hit { HIT_FRONT, HIT_LIST, HIT_NONE, HITS };

static _Atomic(unsigned long) hits[HITS];

#define COUNT_HIT(where) atomic_fetch_add_explicit(&hits[where], 1, memory_order_relaxed)

__attribute__((destructor)) static void hits_print(void) {
    char line[96];
    const int length = snprintf(line, sizeof line, "front %lu list %lu none %lu\n", hits[HIT_FRONT], hits[HIT_LIST], hits[HIT_NONE]);
    if (write(2, line, (size_t)length) != length) {
        _exit(2);
    }
}
#else
#define COUNT_HIT(where) ((void)0)
#endif

#endif
