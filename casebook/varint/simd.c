// `avx2` and `avx512`: the kernels of simd_varint.h, a buffer of values at a time, and then their sum: decoders that
// hand their values on, as they would be used, not ones that add up bytes without ever having a value.

#include "varint.h"

#include "simd_varint.h"

enum { BUFFER = 1024 }; // values; 8 KiB stay in the first-level cache

#if defined(__x86_64__)

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE uint64_t sum_of(const uint64_t *values, size_t count) {
    __m256i sums = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        sums = _mm256_add_epi64(sums, _mm256_loadu_si256((const __m256i *)(const void *)(values + i)));
    }
    uint64_t lanes[4];
    _mm256_storeu_si256((__m256i *)(void *)lanes, sums);
    uint64_t sum = lanes[0] + lanes[1] + lanes[2] + lanes[3];
    for (; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

// The blocks first, buffer by buffer, then the tail, which ends before an over-long value, then the byte loop.
#define DECODE(blocks, tail)                                                                               \
    const size_t complete = varint_complete_size(data, size);                                              \
    uint64_t values[BUFFER];                                                                               \
    uint64_t sum = 0, count = 0;                                                                           \
    size_t done = 0;                                                                                       \
    const struct simd_varint_place start = {0, 0};                                                         \
    struct simd_varint_place place;                                                                        \
    do {                                                                                                   \
        place = blocks;                                                                                    \
        sum += sum_of(values, place.values);                                                               \
        count += place.values;                                                                             \
        done += place.bytes;                                                                               \
    } while (place.values > 0);                                                                            \
    struct simd_varint_result rest;                                                                        \
    do {                                                                                                   \
        rest = simd_varint_finish_u64(data + done, complete - done, values, BUFFER, tail);                 \
        sum += sum_of(values, rest.values);                                                                \
        count += rest.values;                                                                              \
        done += rest.bytes;                                                                                \
    } while (rest.status == SIMD_VARINT_FULL);                                                             \
    return rest.status == SIMD_VARINT_OVER_LONG ? varint_error_answer(VARINT_OVER_LONG, done)              \
                                                : varint_answer(sum, count, complete, size)

SIMD_VARINT_TARGET_AVX2 uint64_t decode_avx2(const uint8_t *data, size_t size) {
    DECODE(simd_varint_blocks_u64_avx2(data + done, complete - done, values, BUFFER, 1),
           simd_varint_tail_u64_avx2(data + done, complete - done, values, BUFFER, start, 1));
}

SIMD_VARINT_TARGET_AVX512 uint64_t decode_avx512(const uint8_t *data, size_t size) {
    DECODE(simd_varint_blocks_u64_avx512(data + done, complete - done, values, BUFFER),
           simd_varint_tail_u64_avx512(data + done, complete - done, values, BUFFER, start));
}

int avx2_can_run(void) {
    return simd_varint_best() >= SIMD_VARINT_AVX2_SLOW_PEXT;
}

int avx512_can_run(void) {
    return simd_varint_best() >= SIMD_VARINT_AVX512;
}

#else

uint64_t decode_avx2(const uint8_t *data, size_t size) {
    return decode_branch(data, size);
}

uint64_t decode_avx512(const uint8_t *data, size_t size) {
    return decode_branch(data, size);
}

int avx2_can_run(void) {
    return 0;
}

int avx512_can_run(void) {
    return 0;
}

#endif
