// Compares all levels of simd_varint.h, and the decoders of u32.h, with a reference that is too simple to be wrong:
// values, their number, the bytes they took and the status, for 32 and 64 bits, on sound and on malformed streams.
// With -include avx512_emulated.h that is AVX-512's code too, on any processor.
//
// Every stream is decoded twice, once ending right before an unreadable page and once starting right after one, into
// slots that end right before an unwritable page. Run by test.sh, plain and with the sanitisers.
//
// Built with -DFUZZ, LLVMFuzzerTestOneInput compares the levels with the reference on what libFuzzer comes up with:
//     clang -std=c11 -O1 -g -DFUZZ -fsanitize=fuzzer,address,undefined test_simd.c u32.c -o fuzz && ./fuzz -max_len=600

#define _GNU_SOURCE // MAP_ANONYMOUS

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "u32.h"

enum { MAX_STREAM = 4096 };

static uint8_t *input;      // MAX_STREAM bytes between two unreadable pages
static uint8_t *output_end; // an unwritable page begins here
static unsigned long streams;
static unsigned long statuses[2][4]; // of 32 and 64 bits, by what the reference said

struct expected {
    struct simd_varint_result result;
    uint64_t values[MAX_STREAM];
};

// Byte by byte, every rule where it applies.
static void decode_simply(struct expected *want, const uint8_t *data, size_t size, size_t capacity, unsigned bits) {
    const unsigned longest = (bits + 6) / 7;
    const unsigned top_bits = bits - 7 * (longest - 1);
    size_t at = 0;
    want->result = (struct simd_varint_result){0, 0, SIMD_VARINT_OK};
    while (at < size && want->result.status == SIMD_VARINT_OK) {
        uint64_t value = 0;
        unsigned length = 0;
        int more = 1;
        if (want->result.values == capacity) {
            want->result.status = SIMD_VARINT_FULL;
            break;
        }
        while (more && want->result.status == SIMD_VARINT_OK) {
            if (at == size) {
                want->result.status = SIMD_VARINT_TRUNCATED;
            } else if (length == longest - 1 && data[at] >= 1u << top_bits) {
                want->result.status = SIMD_VARINT_OVER_LONG;
            } else {
                value += (uint64_t)(data[at] % 128) << (7 * length);
                more = data[at] >= 128;
                length++;
                at++;
            }
        }
        if (want->result.status == SIMD_VARINT_OK) {
            want->values[want->result.values++] = value;
            want->result.bytes = at;
        }
    }
}

static void fail(const char *what, const char *who, const uint8_t *data, size_t size, size_t capacity) {
    fprintf(stderr, "test_simd: another %s from %s, capacity %zu, %zu bytes:", what, who, capacity, size);
    for (size_t i = 0; i < size; i++) {
        fprintf(stderr, " %02x", data[i]);
    }
    fprintf(stderr, "\n");
    abort();
}

static int same(struct simd_varint_result a, struct simd_varint_result b) {
    return a.values == b.values && a.bytes == b.bytes && a.status == b.status;
}

static void check_u32(const struct expected *want, const struct u32_variant *by, const uint8_t *data, size_t size,
                      size_t capacity) {
    uint32_t *const out = (uint32_t *)(void *)output_end - capacity;
    memset(out, 0xa5, capacity * sizeof *out); // or what the decoder before has left would do
    if (!same(by->decode(data, size, out, capacity), want->result)) {
        fail("result", by->name, data, size, capacity);
    }
    for (size_t i = 0; i < want->result.values; i++) {
        if (out[i] != want->values[i]) {
            fail("value", by->name, data, size, capacity);
        }
    }
}

static void check_u64(const struct expected *want, int level, const uint8_t *data, size_t size, size_t capacity) {
    static const char *const names[] = {"scalar, 64 bits", "avx2_slow_pext, 64 bits", "avx2, 64 bits",
                                        "avx512, 64 bits"};
    uint64_t *const out = (uint64_t *)(void *)output_end - capacity;
    memset(out, 0xa5, capacity * sizeof *out);
    if (!same(simd_varint_decode_u64_by((enum simd_varint_level)level, data, size, out, capacity), want->result)) {
        fail("result", names[level], data, size, capacity);
    }
    if (memcmp(out, want->values, want->result.values * sizeof *out) != 0) {
        fail("value", names[level], data, size, capacity);
    }
}

static void check(const uint8_t *data, size_t size, size_t capacity) {
    static struct expected narrow, wide;
    const int best = (int)simd_varint_best();
    decode_simply(&narrow, data, size, capacity, 32);
    decode_simply(&wide, data, size, capacity, 64);
    statuses[0][narrow.result.status]++;
    statuses[1][wide.result.status]++;
    uint8_t *const places[] = {input + MAX_STREAM - size, input};
    for (size_t p = 0; p < 2; p++) {
        memcpy(places[p], data, size);
        for (size_t v = 0; v < u32_variant_count; v++) {
            if (u32_can_run(&u32_variants[v])) {
                check_u32(&narrow, &u32_variants[v], places[p], size, capacity);
            }
        }
        for (int level = SIMD_VARINT_SCALAR; level <= best; level++) {
            check_u64(&wide, level, places[p], size, capacity);
        }
    }
    streams++;
}

static int set_up(void) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t slots = MAX_STREAM * sizeof(uint64_t);
    uint8_t *const pages = mmap(NULL, MAX_STREAM + slots + 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || MAX_STREAM % page != 0 ||
        mprotect(pages + page, MAX_STREAM, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(pages + 2 * page + MAX_STREAM, slots, PROT_READ | PROT_WRITE) != 0) {
        perror("test_simd: pages between unreadable ones");
        return 1;
    }
    input = pages + page;
    output_end = pages + 2 * page + MAX_STREAM + slots;
    return 0;
}

#if defined(FUZZ)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The first two bytes choose how many slots there are, the rest is the stream.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (input == NULL && set_up() != 0) {
        return 0;
    }
    if (size < 2 || size > MAX_STREAM) {
        return -1;
    }
    const size_t stream = size - 2;
    const size_t slots = (size_t)(data[0] | data[1] << 8) % (stream + 66);
    check(data + 2, stream, slots);
    check(data + 2, stream, stream);
    return 0;
}

#else

static uint64_t state = 42;

static uint64_t next_random(void) { // splitmix64
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// `size` bytes of values of up to `longest` bytes, the last one cut where the bytes end. Small `shortness` makes short
// ones.
static void fill(uint8_t *to, size_t size, unsigned longest, unsigned shortness) {
    const unsigned top = longest == 5 ? 0x0f : longest == 10 ? 0x01 : 0x7f;
    size_t used = 0;
    while (used < size) {
        unsigned length = 1;
        while (length < longest && next_random() % 16 < shortness) {
            length++;
        }
        for (unsigned i = 1; i <= length && used < size; i++) {
            const uint8_t byte = next_random() & 0x7f;
            to[used++] = i < length ? (uint8_t)(byte | 0x80) : length == longest ? byte & top : byte;
        }
    }
}

static const unsigned shortnesses[] = {0, 1, 4, 8, 12, 15, 16};

// Every size up to 300 bytes, of sound streams but for their end, with as many slots as could be needed.
static void every_size(void) {
    uint8_t bytes[300];
    for (size_t size = 0; size <= sizeof bytes; size++) {
        for (size_t s = 0; s < sizeof shortnesses / sizeof *shortnesses; s++) {
            for (unsigned longest = 2; longest <= 10; longest++) {
                fill(bytes, size, longest, shortnesses[s]);
                check(bytes, size, size);
            }
        }
    }
}

// Every number of slots, from none to more than are needed.
static void every_capacity(void) {
    uint8_t bytes[200];
    for (size_t s = 0; s < sizeof shortnesses / sizeof *shortnesses; s++) {
        for (unsigned longest = 1; longest <= 10; longest++) {
            fill(bytes, sizeof bytes, longest, shortnesses[s]);
            for (size_t capacity = 0; capacity <= sizeof bytes + 70; capacity++) {
                check(bytes, sizeof bytes, capacity);
            }
        }
    }
}

// Every byte of a stream in turn is hurt: made to go on, to end a value, or to be one above what may end the longest.
static void every_fault(void) {
    uint8_t bytes[210], hurt[210];
    for (size_t s = 0; s < sizeof shortnesses / sizeof *shortnesses; s++) {
        for (unsigned longest = 1; longest <= 10; longest++) {
            fill(bytes, sizeof bytes, longest, shortnesses[s]);
            bytes[sizeof bytes - 1] = 0;
            for (size_t at = 0; at < sizeof bytes; at++) {
                static const uint8_t faults[] = {0xff, 0x80, 0x00, 0x01, 0x02, 0x0f, 0x10, 0x7f};
                memcpy(hurt, bytes, sizeof bytes);
                hurt[at] = faults[next_random() % sizeof faults];
                check(hurt, sizeof hurt, sizeof hurt);
                hurt[at] |= 0x80;
                check(hurt, sizeof hurt, sizeof hurt);
            }
        }
    }
}

// Long runs of continuation bytes at every distance from the start and of every length.
static void every_run(void) {
    uint8_t bytes[160];
    for (size_t start = 0; start < 140; start++) {
        for (size_t run = 1; run <= 14; run++) {
            memset(bytes, 0x05, sizeof bytes);
            memset(bytes + start, 0x81, run);
            bytes[start + run] = (uint8_t)(next_random() % 0x20);
            check(bytes, sizeof bytes, sizeof bytes);
            check(bytes, start + run, sizeof bytes); // and cut behind it
        }
    }
}

#if defined(__x86_64__)

enum { LEFT = 10 }; // bytes that may be left to the byte loop: a value

// Whether the kernels by themselves come to the end, before the byte loop ends what they leave. Not if the blocks end
// long before the data's last block: the tail would go on, but it is not meant to do the work.
static int arrived(size_t size, struct simd_varint_place blocks, struct simd_varint_place tail) {
    return blocks.bytes + 80 >= size && tail.bytes + LEFT > size;
}

SIMD_VARINT_TARGET_AVX2 static int arrived_avx2(const uint8_t *data, size_t size, unsigned bits) {
    struct simd_varint_place blocks;
    if (bits == 32) {
        uint32_t *const out = (uint32_t *)(void *)output_end - size;
        blocks = simd_varint_blocks_u32_avx2(data, size, out, size, 1);
        return arrived(size, blocks, simd_varint_tail_u32_avx2(data, size, out, size, blocks));
    }
    uint64_t *const out = (uint64_t *)(void *)output_end - size;
    blocks = simd_varint_blocks_u64_avx2(data, size, out, size, 1);
    return arrived(size, blocks, simd_varint_tail_u64_avx2(data, size, out, size, blocks, 1));
}

SIMD_VARINT_TARGET_AVX512 static int arrived_avx512(const uint8_t *data, size_t size, unsigned bits) {
    struct simd_varint_place blocks;
    if (bits == 32) {
        uint32_t *const out = (uint32_t *)(void *)output_end - size;
        blocks = simd_varint_blocks_u32_avx512(data, size, out, size);
        return arrived(size, blocks, simd_varint_tail_u32_avx512(data, size, out, size, blocks));
    }
    uint64_t *const out = (uint64_t *)(void *)output_end - size;
    blocks = simd_varint_blocks_u64_avx512(data, size, out, size);
    return arrived(size, blocks, simd_varint_tail_u64_avx512(data, size, out, size, blocks));
}

// A kernel that took a sound block for a bad one would still give the right answer, only slowly.
static void no_kernel_gives_up_on_a_sound_stream(void) {
    uint8_t bytes[400];
    for (size_t s = 0; s < sizeof shortnesses / sizeof *shortnesses; s++) {
        for (unsigned longest = 1; longest <= 10; longest++) {
            fill(bytes, sizeof bytes, longest, shortnesses[s]);
            bytes[sizeof bytes - 1] = 0;
            for (unsigned bits = longest <= 5 ? 32 : 64; bits <= 64; bits += 32) {
                if ((simd_varint_best() >= SIMD_VARINT_AVX2 && !arrived_avx2(bytes, sizeof bytes, bits)) ||
                    (simd_varint_best() >= SIMD_VARINT_AVX512 && !arrived_avx512(bytes, sizeof bytes, bits))) {
                    fail("place", "a kernel alone", bytes, sizeof bytes, bits);
                }
            }
        }
    }
}

#else

static void no_kernel_gives_up_on_a_sound_stream(void) {}

#endif

// Noise with a share of continuation bits that changes from stretch to stretch.
static void noise(unsigned rounds) {
    static uint8_t bytes[MAX_STREAM];
    for (unsigned round = 0; round < rounds; round++) {
        const size_t size = next_random() % (round % 16 == 0 ? MAX_STREAM : 400);
        unsigned share = 0;
        for (size_t i = 0; i < size; i++) {
            const uint64_t draw = next_random();
            share = draw % 64 == 0 ? (draw >> 32) % 257 : share;
            bytes[i] = (uint8_t)((draw >> 8 & 0x7f) | ((draw >> 16 & 0xff) < share ? 0x80 : 0));
        }
        check(bytes, size, next_random() % 4 == 0 ? next_random() % (size + 1) : size);
    }
}

int main(void) {
    if (set_up() != 0) {
        return 1;
    }
    every_size();
    every_capacity();
    every_fault();
    every_run();
    no_kernel_gives_up_on_a_sound_stream();
    noise(20000);
    for (int bits = 0; bits < 2; bits++) {
        for (int status = 0; status < 4; status++) {
            if (statuses[bits][status] < 1000) {
                fprintf(stderr, "test_simd: too few streams of status %d\n", status);
                return 1;
            }
        }
    }
    printf("simd_varint.h and u32.h agree with the reference on %lu streams, levels 0 to %d\n", streams,
           (int)simd_varint_best());
    return 0;
}

#endif
