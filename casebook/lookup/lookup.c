/* The first key that is not smaller: three searches in one sorted table, one key per call. The key is a varint of five
 * bytes, which takes the same few instructions in all three; KEYS says how many keys the table has. */
#include <assay.h>

#ifndef KEYS
#define KEYS 1024
#endif

static uint32_t table[KEYS];

/* Sorted as they are made: one key in each of KEYS equal parts of 32 bits, at a random place in it. */
__attribute__((constructor)) static void fill(void)
{
    uint64_t part = (uint64_t)1 << 32, seed = 42, i;
    part /= KEYS;
    for (i = 0; i < KEYS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        table[i] = (uint32_t)(i * part + (seed >> 33) % part);
    }
    assay_reads(table, sizeof table);
}

/* The inputs are such that every key has five bytes; a shorter input (the whole file is one call, too) reads its padding. */
static inline uint32_t key_of(const uint8_t *data)
{
    return (uint32_t)(data[0] & 0x7f) | (uint32_t)(data[1] & 0x7f) << 7 | (uint32_t)(data[2] & 0x7f) << 14 |
           (uint32_t)(data[3] & 0x7f) << 21 | (uint32_t)data[4] << 28;
}

/* A jump per step, guessed right half of the time; where it is, the next load has begun before this one is back. */
static uint64_t branchy(const uint8_t *data, size_t size)
{
    uint32_t key = key_of(data);
    size_t low = 0, count = KEYS;
    (void)size;
    while (count != 0) {
        size_t half = count / 2;
        if (table[low + half] < key) {
            __asm__ volatile("" : "+r"(low)); /* stays a jump whatever the compiler thinks of it */
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* No jump but the loop's own: each load's address needs the last one's value. */
static inline uint64_t halve(uint32_t key, int ahead)
{
    const uint32_t *base = table;
    size_t count = KEYS;
    while (count > 1) {
        size_t half = count / 2;
        if (ahead) {
            __builtin_prefetch(base + half / 2);
            __builtin_prefetch(base + half + half / 2);
        }
        /* A mask, because compilers make a jump of a conditional as they please. */
        base += half & ((size_t)0 - (size_t)(base[half - 1] < key));
        count -= half;
    }
    return (uint64_t)(base - table) + (*base < key);
}

static uint64_t branchless(const uint8_t *data, size_t size)
{
    (void)size;
    return halve(key_of(data), 0);
}

/* The same, asking for both tables that the next step could need. */
static uint64_t prefetching(const uint8_t *data, size_t size)
{
    (void)size;
    return halve(key_of(data), 1);
}

ASSAY_VARIANT("branchy", branchy)
ASSAY_VARIANT("branchless", branchless)
ASSAY_VARIANT("prefetching", prefetching)
ASSAY_MAIN()
