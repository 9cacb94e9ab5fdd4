// The contract that every decoder of this study keeps, and the few lines they share.
//
// A decoder reads all of [data, data + size) as LEB128 values of at most 64 bits and returns
// a digest of them. It never reads outside that range. A padded encoding (0x80 0x00 for 0) is
// a value like any other; a stream that cannot be decoded gives one of two error answers, the
// same from every decoder, naming the first bad value:
//
//   truncated   the data ends before the value does
//   over-long   the tenth byte is above 1: an eleventh byte, or bits beyond the 64th
//
// Two choices keep all that out of the measured loop:
//
// - complete_size() steps back over the unfinished value at the end, if there is one. Every
//   value that starts before that point also ends before it, so the loops need no check of the
//   end for each byte. The unfinished value is judged once, in answer_of().
// - Lengths are only looked at after a continuation bit, where nine bytes have gone by.
#ifndef VARINT_H
#define VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { VARINT_MAX_BYTES = 10 };

enum varint_error { VARINT_TRUNCATED = 1, VARINT_OVER_LONG = 2 };

// The answer for a stream whose first bad value starts at `offset`: counted down from the
// largest number, so that an ordinary sum is unlikely to look like one.
static inline uint64_t varint_error_answer(enum varint_error error, size_t offset) {
    return UINT64_MAX - ((uint64_t)offset << 2 | (uint64_t)error);
}

// The answer for a stream of `count` values with this wrapping `sum`. The sum is what a loop
// can keep in one cycle per value; the count tells 0 values from any number of zeros.
static inline uint64_t varint_digest(uint64_t sum, uint64_t count) {
    return sum ^ count * UINT64_C(0x9e3779b97f4a7c15);
}

// Bytes up to and including the last one that ends a value.
static inline size_t varint_complete_size(const uint8_t *data, size_t size) {
    while (size > 0 && data[size - 1] >= 0x80) {
        size--;
    }
    return size;
}

// The answer once all complete values are read: `size - complete` bytes of an unfinished value
// are left, all with their continuation bit set, so a tenth of them is above 1.
static inline uint64_t varint_answer(uint64_t sum, uint64_t count, size_t complete, size_t size) {
    if (complete == size) {
        return varint_digest(sum, count);
    }
    size_t left = size - complete;
    return varint_error_answer(left < VARINT_MAX_BYTES ? VARINT_TRUNCATED : VARINT_OVER_LONG, complete);
}

// Reads one value known to end inside the data. Returns where the next one starts, or NULL if it is over-long.
static inline const uint8_t *varint_read_by_byte(const uint8_t *at, uint64_t *value) {
    uint64_t result = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        const uint8_t byte = *at++;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return at;
        }
    }
    if (*at > 1) {
        return NULL;
    }
    *value = result | (uint64_t)*at << 63;
    return at + 1;
}

uint64_t decode_branch(const uint8_t *data, size_t size);
uint64_t decode_table(const uint8_t *data, size_t size);
uint64_t decode_hinted(const uint8_t *data, size_t size);
uint64_t decode_unrolled(const uint8_t *data, size_t size);
uint64_t decode_swar(const uint8_t *data, size_t size);
uint64_t decode_hybrid(const uint8_t *data, size_t size);

// x86-64 with BMI2 only: see bmi2_can_run().
uint64_t decode_bmi2(const uint8_t *data, size_t size);
uint64_t decode_first(const uint8_t *data, size_t size);
uint64_t decode_mask8(const uint8_t *data, size_t size);

// 1 where this build has these decoders' instructions and this processor executes them.
int bmi2_can_run(void);

// x86-64 with AVX2 and BMI2, or AVX-512 with VBMI2: see simd_varint.h.
uint64_t decode_avx2(const uint8_t *data, size_t size);
uint64_t decode_avx512(const uint8_t *data, size_t size);
int avx2_can_run(void);
int avx512_can_run(void);

#endif
