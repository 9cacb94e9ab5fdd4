// Proves that all decoders of this study give the same answers as a reference that is too simple
// to be wrong, and read nothing outside their input.
//
// Every stream is decoded twice: once ending at the last byte before an unreadable page and once
// starting at the first byte after one. The stream is sound, truncated, over-long, beyond 64
// bits, padded, or noise. Run by test.sh with the address and undefined behaviour sanitisers.

#define _GNU_SOURCE  // MAP_ANONYMOUS

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "varint.h"

typedef uint64_t (*decoder)(const uint8_t *data, size_t size);

struct variant {
    const char *name;
    decoder decode;
    int (*can_run)(void); // NULL: everywhere
};

static const struct variant all[] = {
    {"branch", decode_branch, NULL},           {"table", decode_table, NULL},
    {"hinted", decode_hinted, NULL},           {"unrolled", decode_unrolled, NULL},
    {"swar", decode_swar, NULL},               {"hybrid", decode_hybrid, NULL},
    {"bmi2", decode_bmi2, bmi2_can_run},       {"first", decode_first, bmi2_can_run},
    {"mask8", decode_mask8, bmi2_can_run},     {"avx2", decode_avx2, avx2_can_run},
    {"avx512", decode_avx512, avx512_can_run},
};
static struct variant variants[sizeof all / sizeof *all];
static size_t variant_count;

static uint8_t *page;  // one readable page between two unreadable ones
static size_t page_size;
static unsigned long streams;
static unsigned long sound, truncated, over_long;  // by what the reference said

// Byte by byte, every rule where it applies, nothing shared with the decoders but the digest.
static uint64_t reference(const uint8_t *data, size_t size) {
    uint64_t sum = 0, count = 0;
    size_t at = 0;
    while (at < size) {
        const size_t start = at;
        uint64_t value = 0;
        for (unsigned index = 0;; index++) {
            if (at == size) {
                truncated++;
                return UINT64_MAX - (start * 4 + 1);
            }
            const uint64_t byte = data[at++];
            if (index == 9 && byte > 1) {
                over_long++;
                return UINT64_MAX - (start * 4 + 2);
            }
            value += (byte % 128) << (7 * index);
            if (byte < 128) {
                break;
            }
        }
        sum += value;
        count++;
    }
    sound++;
    return varint_digest(sum, count);
}

static void fail(const char *name, const char *where, const uint8_t *data, size_t size, uint64_t want, uint64_t got) {
    fprintf(stderr, "%s, %s: wanted %016" PRIx64 ", got %016" PRIx64 " for %zu bytes:", name, where, want, got, size);
    for (size_t i = 0; i < size && i < 64; i++) {
        fprintf(stderr, " %02x", data[i]);
    }
    fprintf(stderr, "\n");
    exit(1);
}

static void check(const uint8_t *data, size_t size) {
    const uint64_t want = reference(data, size);
    uint8_t *const at_end = page + page_size - size;
    memcpy(at_end, data, size);
    for (size_t v = 0; v < variant_count; v++) {
        const uint64_t got = variants[v].decode(at_end, size);
        if (got != want) {
            fail(variants[v].name, "at the end of a page", data, size, want, got);
        }
    }
    memmove(page, data, size);
    for (size_t v = 0; v < variant_count; v++) {
        const uint64_t got = variants[v].decode(page, size);
        if (got != want) {
            fail(variants[v].name, "at the start of a page", data, size, want, got);
        }
    }
    streams++;
}

static uint64_t state = 42;

static uint64_t next_random(void) {  // splitmix64
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// `length` bytes for `value`, padded with continuation bytes where it needs fewer.
static size_t put(uint8_t *to, uint64_t value, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const unsigned shift = 7 * (unsigned)i;
        to[i] = (uint8_t)((value >> shift & 0x7f) | (i + 1 < length ? 0x80 : 0));
    }
    return length;
}

static size_t shortest(uint64_t value) {
    size_t length = 1;
    while (value >>= 7) {
        length++;
    }
    return length;
}

// The smallest and largest values of every length, all powers of two and their neighbours.
static void values_at_every_boundary(void) {
    uint8_t bytes[16];
    for (unsigned bit = 0; bit < 64; bit++) {
        for (int delta = -1; delta <= 1; delta++) {
            const uint64_t value = (UINT64_C(1) << bit) + (uint64_t)(int64_t)delta;
            for (size_t length = shortest(value); length <= VARINT_MAX_BYTES; length++) {
                check(bytes, put(bytes, value, length));
            }
        }
    }
    check(bytes, put(bytes, UINT64_MAX, 10));
    check(bytes, 0);
}

// A value of every length, after and before a run of one-byte values of every size up to 12, so
// that the bad byte meets every distance from the start and from the end.
static void faults_at_every_byte(void) {
    for (size_t length = 1; length <= 12; length++) {
        for (unsigned last = 0; last < 256; last++) {
            for (size_t before = 0; before <= 12; before++) {
                for (size_t after = 0; after <= 12; after += before % 3 + 1) {
                    uint8_t bytes[40];
                    memset(bytes, 0x07, sizeof bytes);
                    memset(bytes + before, 0x80 | (last & 0x55), length - 1);
                    bytes[before + length - 1] = (uint8_t)last;
                    check(bytes, before + length + after);
                }
            }
        }
    }
}

// Every cut of a stream that holds every length.
static void truncations_at_every_byte(void) {
    uint8_t bytes[128];
    for (unsigned order = 0; order < 64; order++) {
        size_t size = 0;
        for (size_t step = 0; step < VARINT_MAX_BYTES; step++) {
            const size_t length = (step * (2 * (order % 5) + 1) + order) % VARINT_MAX_BYTES + 1;
            const uint64_t value = length == VARINT_MAX_BYTES ? next_random() : next_random() >> (64 - 7 * length);
            size += put(bytes + size, value, length);
        }
        for (size_t cut = 0; cut <= size; cut++) {
            check(bytes, cut);
        }
    }
}

// Noise with a chosen share of continuation bits, so that long runs of both kinds occur; half of
// it is then made of whole values of 64 bits, half of those are hurt in one byte.
static void noise(void) {
    uint8_t bytes[256];
    for (unsigned round = 0; round < 60000; round++) {
        const uint64_t plan = next_random();
        const size_t size = plan % 120;
        const unsigned share = plan >> 8 & 0xff;
        if (round % 2 == 0) {
            for (size_t i = 0; i < size; i++) {
                const uint64_t draw = next_random();
                bytes[i] = (uint8_t)((draw & 0x7f) | ((draw >> 8 & 0xff) < share ? 0x80 : 0));
            }
            check(bytes, size);
            continue;
        }
        size_t used = 0;
        while (used < size) {
            const unsigned leading_zeros = next_random() % 64;
            const uint64_t value = next_random() >> leading_zeros;
            used += put(bytes + used, value, shortest(value));
        }
        if (used > 0 && round % 4 == 1) {
            const size_t hurt = next_random() % used;
            bytes[hurt] ^= (uint8_t)(1u << next_random() % 8);
        }
        check(bytes, used);
    }
}

int main(void) {
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *const pages = mmap(NULL, 3 * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + page_size, page_size, PROT_READ | PROT_WRITE) != 0) {
        perror("test_decoders: a page between two unreadable ones");
        return 1;
    }
    page = pages + page_size;
    for (size_t v = 0; v < sizeof all / sizeof *all; v++) {
        if (all[v].can_run == NULL || all[v].can_run()) {
            variants[variant_count++] = all[v];
        } else {
            printf("skipped: %s (this processor lacks its instructions)\n", all[v].name);
        }
    }
    values_at_every_boundary();
    faults_at_every_byte();
    truncations_at_every_byte();
    noise();
    if (sound < 1000 || truncated < 1000 || over_long < 1000) {
        fprintf(stderr, "test_decoders: too few streams of a kind: %lu sound, %lu truncated, %lu over-long\n", sound, truncated,
                over_long);
        return 1;
    }
    printf("%zu decoders agree with the reference on %lu streams: %lu sound, %lu truncated, %lu over-long\n", variant_count,
           streams, sound, truncated, over_long);
    return 0;
}
