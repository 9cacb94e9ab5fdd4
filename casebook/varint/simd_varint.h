// simd_varint.h 1.1.0: decodes streams of LEB128 / protobuf varints with AVX-512, with AVX2, or without either.
//
// SPDX-License-Identifier: MIT OR Apache-2.0      part of assay, and complete in itself: copy it
//
//     #include "simd_varint.h"                      C11 or C++17, gcc or clang; no flags, nothing to link
//     uint32_t values[CAPACITY];
//     struct simd_varint_result r = simd_varint_decode_u32(data, size, values, CAPACITY);
//     if (r.status != SIMD_VARINT_OK) ...           r.values were read, the next one begins at data + r.bytes
//
// Reads [data, data + size) and nothing outside it, writes [out, out + capacity) and nothing outside it; what it leaves
// in slots after `values` is unspecified. Every status is exact, and the same from every level:
//
//     SIMD_VARINT_OK         all bytes were read
//     SIMD_VARINT_TRUNCATED  the data ends inside the next value
//     SIMD_VARINT_OVER_LONG  the next value has more than 5 (u64: 10) bytes, or more than 32 (64) bits
//     SIMD_VARINT_FULL       `out` is full and data is left
//
// The first fault of the stream is the one that is told: `values` is its index, `bytes` where it begins. Padded values
// (80 00 for 0) are values. `size` values always suffice; room for 64 more than the stream holds spares a slower end.
//
// How: values are found 64 bytes at a time, from the bits that say "more bytes follow": one begins after each byte
// without that bit. Blocks lie at fixed distances, a few bytes less than a block is long, so that each value ends in
// the block where it begins, and no block waits to hear where the one before ended; that wait is what keeps a decoder
// that takes one value after the other at 8 cycles for each, even where nothing is mispredicted.
//
// - AVX-512 (VBMI2): the places where values begin are compressed to the front of a register; two byte permutations
//   bring 16 values at once into lanes of four bytes (u64: 8 of eight); a subtraction finds each one's last byte; two
//   multiply-adds join its groups of seven bits. Fifth bytes (u64: ninth and tenth) follow where the block has any.
// - AVX2: the same for the values that begin in eight bytes at a time, with places from a table and byte shuffles.
//   Blocks of few and long values are taken value by value: an 8-byte load and a pext. On processors whose pext
//   is microcode (AMD before Zen 3) shifts and masks do its work.
// - Short streams, and the ends of long ones: AVX2 takes eight bytes at a time there, the last ones from a load that
//   ends with the data. AVX-512 masks its loads and stores, and leaves streams under 16 bytes to AVX2.
//
// What branches is: a block of one-byte values only; whether a block has values of five (nine) bytes; the number of
// values in coarse steps. Nothing branches on a single value.
//
// From how many values on it wins, u32, time / time of the byte loop below (AMD EPYC, Zen 3; -O2; the least and the
// greatest of four streams: one byte each, 80 % of one, every bit length alike, five bytes each; bench/varint/run.sh):
//
//     avx2, values in a call                       4           8           16          64          128
//     gcc 12, the same ones again and again        .85-1.39    .83-.98     .83-.90     .18-.42     .14-.34
//     gcc 12, other ones each time                 .63-1.57    .46-.99     .29-.81     .17-.54
//     clang 14, the same ones again and again      .64-1.23    .50-.62     .41-.45     .08-.32     .06-.24
//     clang 14, other ones each time               .56-1.21    .36-.59     .27-.45     .07-.39
//
// So AVX2 wins from 8 values on; below, a byte loop of one's own is as fast or faster. AVX-512 as it is now was not
// measured: its short streams took 1.2 ns a value for 8 values, a byte loop .85 (Zen 4), before AVX2 took them over.
//
// Own code, from the published ideas: continuation masks as in Masked VByte (Plaisance, Kurz, Lemire 2015), pext as in
// "SFVInt" (DaMoN 2024) and performance tip 75.
#ifndef SIMD_VARINT_H
#define SIMD_VARINT_H

#define SIMD_VARINT_VERSION "1.1.0" // 1.0: AVX2 and AVX-512 on long streams; 1.1: short ones too, no warnings

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// A conversion that is meant, without a warning in either language.
#ifdef __cplusplus
#define SIMD_VARINT_AS(type, value) static_cast<type>(value)
#else
#define SIMD_VARINT_AS(type, value) ((type)(value))
#endif

enum simd_varint_status { SIMD_VARINT_OK, SIMD_VARINT_TRUNCATED, SIMD_VARINT_OVER_LONG, SIMD_VARINT_FULL };

// What a processor can run; each needs the ones before it. SIMD_VARINT_AVX2_SLOW_PEXT is AVX2 without pext.
enum simd_varint_level {
    SIMD_VARINT_SCALAR,
    SIMD_VARINT_AVX2_SLOW_PEXT,
    SIMD_VARINT_AVX2,
    SIMD_VARINT_AVX512,
};

struct simd_varint_result {
    size_t values; // read and stored
    size_t bytes;  // that they took
    enum simd_varint_status status;
};

// How far a kernel came: always between two values.
struct simd_varint_place {
    size_t bytes;
    size_t values;
};

// ---- without SIMD: what all answers are defined by ----------------------------------------------------------------

// Reads on from `place`, byte by byte, and gives the answer. The SIMD kernels end here, with nothing left but a fault,
// if there is one.
static inline struct simd_varint_result simd_varint_finish_u32(const uint8_t *data, size_t size, uint32_t *out,
                                                               size_t capacity, struct simd_varint_place place) {
    struct simd_varint_result result = {place.values, place.bytes, SIMD_VARINT_OK};
    while (result.bytes < size) {
        if (result.values == capacity) {
            result.status = SIMD_VARINT_FULL;
            return result;
        }
        size_t at = result.bytes;
        uint32_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (at == size) {
                result.status = SIMD_VARINT_TRUNCATED;
                return result;
            }
            const uint8_t byte = data[at++];
            if (shift == 28 && byte > 0x0f) {
                result.status = SIMD_VARINT_OVER_LONG;
                return result;
            }
            value |= SIMD_VARINT_AS(uint32_t, byte & 0x7f) << shift;
            if (byte < 0x80) {
                break;
            }
        }
        out[result.values++] = value;
        result.bytes = at;
    }
    return result;
}

static inline struct simd_varint_result simd_varint_finish_u64(const uint8_t *data, size_t size, uint64_t *out,
                                                               size_t capacity, struct simd_varint_place place) {
    struct simd_varint_result result = {place.values, place.bytes, SIMD_VARINT_OK};
    while (result.bytes < size) {
        if (result.values == capacity) {
            result.status = SIMD_VARINT_FULL;
            return result;
        }
        size_t at = result.bytes;
        uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (at == size) {
                result.status = SIMD_VARINT_TRUNCATED;
                return result;
            }
            const uint8_t byte = data[at++];
            if (shift == 63 && byte > 0x01) {
                result.status = SIMD_VARINT_OVER_LONG;
                return result;
            }
            value |= SIMD_VARINT_AS(uint64_t, byte & 0x7f) << shift;
            if (byte < 0x80) {
                break;
            }
        }
        out[result.values++] = value;
        result.bytes = at;
    }
    return result;
}

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define SIMD_VARINT_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#ifndef SIMD_VARINT_TARGET_AVX512 // a test may put plain code in the place of the instructions
#define SIMD_VARINT_TARGET_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,lzcnt,popcnt")))
#define SIMD_VARINT_HAS_AVX512()                                                             \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&               \
     __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&            \
     __builtin_cpu_supports("avx512vbmi2"))
#endif
#define SIMD_VARINT_INLINE static inline __attribute__((always_inline))
// The blocks stay a function of their own: beside a short stream's code, gcc keeps their constants on the stack.
#define SIMD_VARINT_APART __attribute__((noinline, unused)) static

// A block is 64 bytes; values that begin in its first `stride` bytes end in it.
#define SIMD_VARINT_BLOCK 64u
#define SIMD_VARINT_STRIDE_U32_AVX2 56u // seven groups of eight
#define SIMD_VARINT_STRIDE_U32 60u
#define SIMD_VARINT_STRIDE_U64 55u
#define SIMD_VARINT_FEW 13              // AVX2 takes so many values of a block one by one, if any has five bytes
#define SIMD_VARINT_FEW_BYTES 16u       // AVX-512 leaves shorter streams to AVX2
#define SIMD_VARINT_BEHIND 8u           // readable bytes behind a block that the AVX2 kernels need

// Bytes up to and including the last one that ends a value: what begins before that point also ends before it.
SIMD_VARINT_INLINE size_t simd_varint_complete_size(const uint8_t *data, size_t size) {
    while (size > 0 && data[size - 1] >= 0x80) {
        size--;
    }
    return size;
}

// Between two values, for a block that may begin inside one. `place.bytes` is before the end of the data's last value.
SIMD_VARINT_INLINE struct simd_varint_place
simd_varint_settle(const uint8_t *data, struct simd_varint_place place, uint64_t begins) {
    if (!begins) {
        while (data[place.bytes++] >= 0x80) {
        }
    }
    return place;
}

// Bit i is set where four (eight) bytes in a row from i on say "more": a value of at least five (nine) bytes
// begins there, for in a sound stream no more than four (nine) are in a row.
SIMD_VARINT_INLINE uint64_t simd_varint_runs_of_4(uint64_t more) {
    const uint64_t two = more & more >> 1;
    return two & two >> 2;
}

SIMD_VARINT_INLINE uint64_t simd_varint_runs_of_8(uint64_t more) {
    const uint64_t four = simd_varint_runs_of_4(more);
    return four & four >> 4;
}

// The bytes of a block where a value that begins in its stride is seen to be over-long. `above`: the bytes above what a
// fifth (tenth) may be.
SIMD_VARINT_INLINE uint64_t simd_varint_bad_u32(uint64_t more, uint64_t above) {
    return simd_varint_runs_of_4(more) << 4 & above;
}

SIMD_VARINT_INLINE uint64_t simd_varint_bad_u64(uint64_t more, uint64_t above) {
    return (simd_varint_runs_of_8(more) & more >> 8) << 9 & above;
}

// ---- AVX2 ---------------------------------------------------------------------------------------------------------

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE __m256i simd_varint_load_256(const void *from) {
    return _mm256_loadu_si256(SIMD_VARINT_AS(const __m256i *, from));
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE __m128i simd_varint_load_128(const void *from) {
    return _mm_loadu_si128(SIMD_VARINT_AS(const __m128i *, from));
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE __m128i simd_varint_load_64(const void *from) {
    return _mm_loadl_epi64(SIMD_VARINT_AS(const __m128i *, from));
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void simd_varint_store_256(void *to, __m256i values) {
    _mm256_storeu_si256(SIMD_VARINT_AS(__m256i *, to), values);
}

struct simd_varint_masks {
    uint64_t more;  // bytes that another byte of the value follows
    uint64_t above; // bytes above the largest that a value of the greatest length may end with
};

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE struct simd_varint_masks
simd_varint_masks_avx2(const uint8_t *at, char largest) {
    const __m256i low = simd_varint_load_256(at);
    const __m256i high = simd_varint_load_256(at + 32);
    const __m256i limit = _mm256_set1_epi8(largest);
    const __m256i low_fits = _mm256_cmpeq_epi8(_mm256_min_epu8(low, limit), low);
    const __m256i high_fits = _mm256_cmpeq_epi8(_mm256_min_epu8(high, limit), high);
    struct simd_varint_masks masks;
    masks.more = SIMD_VARINT_AS(uint32_t, _mm256_movemask_epi8(low)) |
                 SIMD_VARINT_AS(uint64_t, SIMD_VARINT_AS(uint32_t, _mm256_movemask_epi8(high))) << 32;
    masks.above = ~(SIMD_VARINT_AS(uint32_t, _mm256_movemask_epi8(low_fits)) |
                    SIMD_VARINT_AS(uint64_t, SIMD_VARINT_AS(uint32_t, _mm256_movemask_epi8(high_fits))) << 32);
    return masks;
}

// Joins the groups of seven bits of a value of up to eight bytes, at `at`. What follows the value is ignored.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE uint64_t simd_varint_take_avx2(const uint8_t *at, int fast_pext) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    const uint64_t stops = ~word & UINT64_C(0x8080808080808080);
    const uint64_t own = (stops - 1) & UINT64_C(0x7f7f7f7f7f7f7f7f); // up to the lowest stop; all without one
    if (fast_pext) {
        return _pext_u64(word, own);
    }
    word &= own;
    word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
    word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (word & UINT64_C(0x0fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

// The same of a value of up to ten bytes.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE uint64_t simd_varint_take_long_avx2(const uint8_t *at, int fast_pext) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    const uint64_t top = (at[8] & 0x7fu) | (at[8] & SIMD_VARINT_AS(unsigned, at[9]) << 7 & 0x80);
    const int is_long = (~word & UINT64_C(0x8080808080808080)) == 0;
    return simd_varint_take_avx2(at, fast_pext) | (is_long ? top << 56 : 0);
}

// The value at the lowest bit of `starts`, which is then cleared. Where no bit is set, bytes behind the block.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE uint64_t simd_varint_next_avx2(const uint8_t *at, uint64_t *starts,
                                                                          int fast_pext) {
    const uint64_t place = _tzcnt_u64(*starts);
    *starts = _blsr_u64(*starts);
    return simd_varint_take_avx2(at + place, fast_pext);
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE uint64_t simd_varint_four_u32_avx2(const uint8_t *at, uint64_t starts,
                                                                              uint32_t *out, int fast_pext) {
    out[0] = SIMD_VARINT_AS(uint32_t, simd_varint_next_avx2(at, &starts, fast_pext));
    out[1] = SIMD_VARINT_AS(uint32_t, simd_varint_next_avx2(at, &starts, fast_pext));
    out[2] = SIMD_VARINT_AS(uint32_t, simd_varint_next_avx2(at, &starts, fast_pext));
    out[3] = SIMD_VARINT_AS(uint32_t, simd_varint_next_avx2(at, &starts, fast_pext));
    return starts;
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE uint64_t simd_varint_four_u64_avx2(const uint8_t *at, uint64_t starts,
                                                                              uint64_t *out, int fast_pext) {
    out[0] = simd_varint_next_avx2(at, &starts, fast_pext);
    out[1] = simd_varint_next_avx2(at, &starts, fast_pext);
    out[2] = simd_varint_next_avx2(at, &starts, fast_pext);
    out[3] = simd_varint_next_avx2(at, &starts, fast_pext);
    return starts;
}

// Stores up to 16 values, and slots behind them up to the 16th. Twelve of five bytes each are a block.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void
simd_varint_direct_u32_avx2(const uint8_t *at, uint64_t starts, uint32_t *out, int fast_pext) {
    starts = simd_varint_four_u32_avx2(at, starts, out, fast_pext);
    starts = simd_varint_four_u32_avx2(at, starts, out + 4, fast_pext);
    starts = simd_varint_four_u32_avx2(at, starts, out + 8, fast_pext);
    if (starts) {
        simd_varint_four_u32_avx2(at, starts, out + 12, fast_pext);
    }
}

// Stores up to 55 values, and slots behind them up to the 56th, in steps that usual streams take the same number of.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void
simd_varint_direct_u64_avx2(const uint8_t *at, uint64_t starts, uint64_t *out, int fast_pext) {
    starts = simd_varint_four_u64_avx2(at, starts, out, fast_pext);
    starts = simd_varint_four_u64_avx2(at, starts, out + 4, fast_pext);
    starts = simd_varint_four_u64_avx2(at, starts, out + 8, fast_pext);
    if (starts == 0) {
        return;
    }
    starts = simd_varint_four_u64_avx2(at, starts, out + 12, fast_pext);
    starts = simd_varint_four_u64_avx2(at, starts, out + 16, fast_pext);
    starts = simd_varint_four_u64_avx2(at, starts, out + 20, fast_pext);
    for (out += 24; starts; out += 8) {
        starts = simd_varint_four_u64_avx2(at, starts, out, fast_pext);
        starts = simd_varint_four_u64_avx2(at, starts, out + 4, fast_pext);
    }
}

// One after the other, of any length.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void
simd_varint_direct_long_avx2(const uint8_t *at, uint64_t starts, uint64_t *out, int fast_pext) {
    for (; starts; starts = _blsr_u64(starts)) {
        *out++ = simd_varint_take_long_avx2(at + _tzcnt_u64(starts), fast_pext);
    }
}

// The bits that are set in a byte, in ascending order, one in each byte.
static const uint64_t simd_varint_set_bits[256] = {
    0x0, 0x0, 0x1, 0x100, 0x2, 0x200, 0x201, 0x20100, 0x3, 0x300, 0x301, 0x30100, 0x302, 0x30200, 0x30201, 0x3020100,
    0x4, 0x400, 0x401, 0x40100, 0x402, 0x40200, 0x40201, 0x4020100, 0x403, 0x40300, 0x40301, 0x4030100, 0x40302,
    0x4030200, 0x4030201, 0x403020100, 0x5, 0x500, 0x501, 0x50100, 0x502, 0x50200, 0x50201, 0x5020100, 0x503, 0x50300,
    0x50301, 0x5030100, 0x50302, 0x5030200, 0x5030201, 0x503020100, 0x504, 0x50400, 0x50401, 0x5040100, 0x50402,
    0x5040200, 0x5040201, 0x504020100, 0x50403, 0x5040300, 0x5040301, 0x504030100, 0x5040302, 0x504030200, 0x504030201,
    0x50403020100, 0x6, 0x600, 0x601, 0x60100, 0x602, 0x60200, 0x60201, 0x6020100, 0x603, 0x60300, 0x60301, 0x6030100,
    0x60302, 0x6030200, 0x6030201, 0x603020100, 0x604, 0x60400, 0x60401, 0x6040100, 0x60402, 0x6040200, 0x6040201,
    0x604020100, 0x60403, 0x6040300, 0x6040301, 0x604030100, 0x6040302, 0x604030200, 0x604030201, 0x60403020100, 0x605,
    0x60500, 0x60501, 0x6050100, 0x60502, 0x6050200, 0x6050201, 0x605020100, 0x60503, 0x6050300, 0x6050301,
    0x605030100, 0x6050302, 0x605030200, 0x605030201, 0x60503020100, 0x60504, 0x6050400, 0x6050401, 0x605040100,
    0x6050402, 0x605040200, 0x605040201, 0x60504020100, 0x6050403, 0x605040300, 0x605040301, 0x60504030100,
    0x605040302, 0x60504030200, 0x60504030201, 0x6050403020100, 0x7, 0x700, 0x701, 0x70100, 0x702, 0x70200, 0x70201,
    0x7020100, 0x703, 0x70300, 0x70301, 0x7030100, 0x70302, 0x7030200, 0x7030201, 0x703020100, 0x704, 0x70400, 0x70401,
    0x7040100, 0x70402, 0x7040200, 0x7040201, 0x704020100, 0x70403, 0x7040300, 0x7040301, 0x704030100, 0x7040302,
    0x704030200, 0x704030201, 0x70403020100, 0x705, 0x70500, 0x70501, 0x7050100, 0x70502, 0x7050200, 0x7050201,
    0x705020100, 0x70503, 0x7050300, 0x7050301, 0x705030100, 0x7050302, 0x705030200, 0x705030201, 0x70503020100,
    0x70504, 0x7050400, 0x7050401, 0x705040100, 0x7050402, 0x705040200, 0x705040201, 0x70504020100, 0x7050403,
    0x705040300, 0x705040301, 0x70504030100, 0x705040302, 0x70504030200, 0x70504030201, 0x7050403020100, 0x706,
    0x70600, 0x70601, 0x7060100, 0x70602, 0x7060200, 0x7060201, 0x706020100, 0x70603, 0x7060300, 0x7060301,
    0x706030100, 0x7060302, 0x706030200, 0x706030201, 0x70603020100, 0x70604, 0x7060400, 0x7060401, 0x706040100,
    0x7060402, 0x706040200, 0x706040201, 0x70604020100, 0x7060403, 0x706040300, 0x706040301, 0x70604030100,
    0x706040302, 0x70604030200, 0x70604030201, 0x7060403020100, 0x70605, 0x7060500, 0x7060501, 0x706050100, 0x7060502,
    0x706050200, 0x706050201, 0x70605020100, 0x7060503, 0x706050300, 0x706050301, 0x70605030100, 0x706050302,
    0x70605030200, 0x70605030201, 0x7060503020100, 0x7060504, 0x706050400, 0x706050401, 0x70605040100, 0x706050402,
    0x70605040200, 0x70605040201, 0x7060504020100, 0x706050403, 0x70605040300, 0x70605040301, 0x7060504030100,
    0x70605040302, 0x7060504030200, 0x7060504030201, 0x706050403020100,
};

// The values that begin in the first eight of 16 bytes, of at most four (`fives`: five) bytes each.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE __m256i simd_varint_lanes_avx2(__m128i sixteen, uint64_t starts, int fives) {
    const __m256i bytes = _mm256_broadcastsi128_si256(sixteen);
    const __m256i places = _mm256_set1_epi64x(SIMD_VARINT_AS(int64_t, simd_varint_set_bits[starts & 0xff]));
    const __m256i first = _mm256_shuffle_epi8(
        places, _mm256_setr_epi64x(0x0101010100000000, 0x0303030302020202, 0x0505050504040404, 0x0707070706060606));
    const __m256i lanes = _mm256_shuffle_epi8(bytes, _mm256_add_epi8(first, _mm256_set1_epi32(0x03020100)));
    // Below a lane's lowest stop bit all bits are its own; the groups above it are cleared with the flags.
    const __m256i stops = _mm256_andnot_si256(lanes, _mm256_set1_epi8(SIMD_VARINT_AS(char, 0x80)));
    const __m256i below = _mm256_and_si256(_mm256_sub_epi32(stops, _mm256_set1_epi32(1)), _mm256_set1_epi8(0x7f));
    const __m256i weights_7 = _mm256_set1_epi16(SIMD_VARINT_AS(short, 0x8001)); // 1 and 2^7
    const __m256i weights_14 = _mm256_set1_epi32(0x40000001);   // 1 and 2^14
    const __m256i pairs = _mm256_maddubs_epi16(weights_7, _mm256_and_si256(lanes, below));
    const __m256i joined = _mm256_madd_epi16(pairs, weights_14);
    if (!fives) {
        return joined;
    }
    // The fifth byte of lanes without a stop, as their top four bits.
    const __m256i fifth = _mm256_shuffle_epi8(bytes, _mm256_add_epi8(first, _mm256_set1_epi32(0x04808080)));
    const __m256i has_fifth = _mm256_cmpeq_epi32(stops, _mm256_setzero_si256());
    return _mm256_or_si256(joined, _mm256_slli_epi32(_mm256_and_si256(fifth, has_fifth), 4));
}

// The same of the 16 bytes at `at`.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE __m256i simd_varint_group_avx2(const uint8_t *at, uint64_t starts,
                                                                          int fives) {
    return simd_varint_lanes_avx2(simd_varint_load_128(at), starts, fives);
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE uint32_t *
simd_varint_group_u32_avx2(const uint8_t *at, uint64_t starts, uint32_t *out, int fives) {
    simd_varint_store_256(out, simd_varint_group_avx2(at, starts, fives));
    return out + _mm_popcnt_u64(starts & 0xff);
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void
simd_varint_groups_u32_avx2(const uint8_t *at, uint64_t starts, uint32_t *out, int fives) {
    out = simd_varint_group_u32_avx2(at, starts, out, fives);
    out = simd_varint_group_u32_avx2(at + 8, starts >> 8, out, fives);
    out = simd_varint_group_u32_avx2(at + 16, starts >> 16, out, fives);
    out = simd_varint_group_u32_avx2(at + 24, starts >> 24, out, fives);
    out = simd_varint_group_u32_avx2(at + 32, starts >> 32, out, fives);
    out = simd_varint_group_u32_avx2(at + 40, starts >> 40, out, fives);
    simd_varint_group_u32_avx2(at + 48, starts >> 48, out, fives);
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE uint64_t *
simd_varint_group_u64_avx2(const uint8_t *at, uint64_t starts, uint64_t *out, int fives) {
    const __m256i eight = simd_varint_group_avx2(at, starts, fives);
    simd_varint_store_256(out, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(eight)));
    simd_varint_store_256(out + 4, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(eight, 1)));
    return out + _mm_popcnt_u64(starts & 0xff);
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void
simd_varint_groups_u64_avx2(const uint8_t *at, uint64_t starts, uint64_t *out, int fives) {
    out = simd_varint_group_u64_avx2(at, starts, out, fives);
    out = simd_varint_group_u64_avx2(at + 8, starts >> 8, out, fives);
    out = simd_varint_group_u64_avx2(at + 16, starts >> 16, out, fives);
    out = simd_varint_group_u64_avx2(at + 24, starts >> 24, out, fives);
    out = simd_varint_group_u64_avx2(at + 32, starts >> 32, out, fives);
    out = simd_varint_group_u64_avx2(at + 40, starts >> 40, out, fives);
    simd_varint_group_u64_avx2(at + 48, starts >> 48, out, fives);
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void
simd_varint_store_u32_avx2(const uint8_t *at, uint64_t starts, uint64_t more, uint32_t *out, int fast_pext) {
    if (simd_varint_runs_of_4(more) == 0) {
        simd_varint_groups_u32_avx2(at, starts, out, 0);
    } else if (!fast_pext || _mm_popcnt_u64(starts) > SIMD_VARINT_FEW) {
        simd_varint_groups_u32_avx2(at, starts, out, 1);
    } else {
        simd_varint_direct_u32_avx2(at, starts, out, fast_pext);
    }
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void
simd_varint_store_u64_avx2(const uint8_t *at, uint64_t starts, uint64_t more, uint64_t *out, int fast_pext) {
    if (simd_varint_runs_of_4(more) == 0) {
        simd_varint_groups_u64_avx2(at, starts, out, 0);
    } else if (simd_varint_runs_of_8(more) == 0) {
        simd_varint_direct_u64_avx2(at, starts, out, fast_pext);
    } else {
        simd_varint_direct_long_avx2(at, starts, out, fast_pext);
    }
}

// A block of values of one byte.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void simd_varint_ones_u32_avx2(const uint8_t *at, uint32_t *out) {
    for (unsigned i = 0; i < SIMD_VARINT_BLOCK; i += 8) {
        const __m128i bytes = simd_varint_load_64(at + i);
        simd_varint_store_256(out + i, _mm256_cvtepu8_epi32(bytes));
    }
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void simd_varint_ones_u64_avx2(const uint8_t *at, uint64_t *out) {
    for (unsigned i = 0; i < SIMD_VARINT_BLOCK; i += 4) {
        int32_t bytes;
        memcpy(&bytes, at + i, sizeof bytes);
        simd_varint_store_256(out + i, _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes)));
    }
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE struct simd_varint_place
simd_varint_blocks_u32_avx2(const uint8_t *data, size_t complete, uint32_t *out, size_t capacity, int fast_pext) {
    struct simd_varint_place place = {0, 0};
    uint64_t begins = 1; // a value begins with the block
    while (complete - place.bytes >= SIMD_VARINT_BLOCK + SIMD_VARINT_BEHIND &&
           capacity - place.values >= SIMD_VARINT_BLOCK) {
        const uint8_t *const at = data + place.bytes;
        uint32_t *const to = out + place.values;
        const struct simd_varint_masks masks = simd_varint_masks_avx2(at, 0x0f);
        if ((masks.more | (begins ^ 1)) == 0) {
            simd_varint_ones_u32_avx2(at, to);
            place.bytes += SIMD_VARINT_BLOCK;
            place.values += SIMD_VARINT_BLOCK;
            continue;
        }
        if (simd_varint_bad_u32(masks.more, masks.above)) {
            break;
        }
        const uint64_t ends = ~masks.more;
        const uint64_t starts = _bzhi_u64(ends << 1 | begins, SIMD_VARINT_STRIDE_U32_AVX2);
        simd_varint_store_u32_avx2(at, starts, masks.more, to, fast_pext);
        begins = ends >> (SIMD_VARINT_STRIDE_U32_AVX2 - 1) & 1;
        place.bytes += SIMD_VARINT_STRIDE_U32_AVX2;
        place.values += SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts));
    }
    return simd_varint_settle(data, place, begins);
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE struct simd_varint_place
simd_varint_blocks_u64_avx2(const uint8_t *data, size_t complete, uint64_t *out, size_t capacity, int fast_pext) {
    struct simd_varint_place place = {0, 0};
    uint64_t begins = 1;
    while (complete - place.bytes >= SIMD_VARINT_BLOCK + SIMD_VARINT_BEHIND &&
           capacity - place.values >= SIMD_VARINT_BLOCK) {
        const uint8_t *const at = data + place.bytes;
        uint64_t *const to = out + place.values;
        const struct simd_varint_masks masks = simd_varint_masks_avx2(at, 0x01);
        if ((masks.more | (begins ^ 1)) == 0) {
            simd_varint_ones_u64_avx2(at, to);
            place.bytes += SIMD_VARINT_BLOCK;
            place.values += SIMD_VARINT_BLOCK;
            continue;
        }
        if (simd_varint_bad_u64(masks.more, masks.above)) {
            break;
        }
        const uint64_t ends = ~masks.more;
        const uint64_t starts = _bzhi_u64(ends << 1 | begins, SIMD_VARINT_STRIDE_U64);
        simd_varint_store_u64_avx2(at, starts, masks.more, to, fast_pext);
        begins = ends >> (SIMD_VARINT_STRIDE_U64 - 1) & 1;
        place.bytes += SIMD_VARINT_STRIDE_U64;
        place.values += SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts));
    }
    return simd_varint_settle(data, place, begins);
}

// Bytes 0 to 15, and then what a byte shuffle makes zeros of: 16 bytes from the n-th on move 16 bytes down by n.
static const uint8_t simd_varint_slide[32] = {
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
};

// The last `left` bytes of the data, fewer than 16, with zeros behind them. Reads nothing outside the data, which has
// eight bytes or more: the last 16 are loaded and moved down, which takes no copy and no branch for each byte.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE __m128i simd_varint_last_avx2(const uint8_t *data, size_t complete,
                                                                         size_t left) {
    if (complete >= 16) {
        const __m128i last = simd_varint_load_128(data + complete - 16);
        const uint8_t *const down = simd_varint_slide + 16 - left;
        return _mm_shuffle_epi8(last, simd_varint_load_128(down));
    }
    uint64_t low, high;
    memcpy(&low, data, sizeof low);
    memcpy(&high, data + complete - 8, sizeof high);
    high = high >> 8 >> 8 * (15 - complete); // in two steps: all of it where there are 8 bytes
    return _mm_set_epi64x(SIMD_VARINT_AS(int64_t, high), SIMD_VARINT_AS(int64_t, low));
}

// The first `count` of eight values at `lanes`, at most seven, of `width` bytes each. Branches on the count once or
// twice, as a loop's branch would be mispredicted at every end.
SIMD_VARINT_INLINE void simd_varint_some(void *slots, const void *values, size_t count, size_t width) {
    uint8_t *out = SIMD_VARINT_AS(uint8_t *, slots);
    const uint8_t *lanes = SIMD_VARINT_AS(const uint8_t *, values);
    if (count >= 4) {
        memcpy(out, lanes, 4 * width);
        out += 4 * width;
        lanes += 4 * width;
        count -= 4;
    }
    if (count > 0) { // one to three, some of them stored twice
        const size_t middle = (count >> 1) * width;
        const size_t last = (count - 1) * width;
        memcpy(out, lanes, width);
        memcpy(out + middle, lanes + middle, width);
        memcpy(out + last, lanes + last, width);
    }
}

// Stores the first `count` of eight values where there is room for them, but perhaps not for eight.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void simd_varint_eight_u32_avx2(uint32_t *out, __m256i eight, size_t count,
                                                                           size_t room) {
    if (room >= 8) {
        simd_varint_store_256(out, eight);
        return;
    }
    uint32_t lanes[8];
    simd_varint_store_256(lanes, eight);
    simd_varint_some(out, lanes, count, sizeof *lanes);
}

// Where a value that begins in the first eight of 16 bytes is over-long, and perhaps one behind them.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE uint64_t simd_varint_bad_in_16_avx2(__m128i sixteen, uint64_t more) {
    const __m128i fits = _mm_cmpeq_epi8(_mm_min_epu8(sixteen, _mm_set1_epi8(0x0f)), sixteen);
    return simd_varint_bad_u32(more, 0xffff ^ SIMD_VARINT_AS(uint32_t, _mm_movemask_epi8(fits)));
}

// The last bytes and the last slots, and all of a short stream: values that begin in eight bytes at a time, with loads
// and stores that keep to what there is. Leaves data of less than eight bytes, and what there are no slots for, to the
// byte loop.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE struct simd_varint_place
simd_varint_tail_u32_avx2(const uint8_t *data, size_t complete, uint32_t *out, size_t capacity,
                          struct simd_varint_place place) {
    // The last block of one-byte values: the blocks end where there is nothing behind it.
    if (complete - place.bytes >= SIMD_VARINT_BLOCK && capacity - place.values >= SIMD_VARINT_BLOCK &&
        simd_varint_masks_avx2(data + place.bytes, 0).more == 0) {
        simd_varint_ones_u32_avx2(data + place.bytes, out + place.values);
        place.bytes += SIMD_VARINT_BLOCK;
        place.values += SIMD_VARINT_BLOCK;
    }
    uint64_t begins = 1;
    if (complete < 8) {
        return place;
    }
    for (; complete - place.bytes >= 16; place.bytes += 8) {
        const size_t room = capacity - place.values;
        const __m128i sixteen = simd_varint_load_128(data + place.bytes);
        const uint64_t more = SIMD_VARINT_AS(uint32_t, _mm_movemask_epi8(sixteen));
        const uint64_t starts = (~more << 1 | begins) & 0xff;
        const size_t count = SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts));
        if (simd_varint_bad_in_16_avx2(sixteen, more) || count > room) {
            return simd_varint_settle(data, place, begins);
        }
        simd_varint_eight_u32_avx2(out + place.values, simd_varint_lanes_avx2(sixteen, starts, 1), count, room);
        place.values += count;
        begins = ~more >> 7 & 1;
    }
    const size_t left = complete - place.bytes;
    if (left == 0) {
        return place;
    }
    const __m128i last = simd_varint_last_avx2(data, complete, left);
    const uint64_t more = SIMD_VARINT_AS(uint32_t, _mm_movemask_epi8(last));
    const uint64_t starts = _bzhi_u64(~more << 1 | begins, SIMD_VARINT_AS(unsigned, left));
    const size_t count = SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts));
    if (simd_varint_bad_in_16_avx2(last, more) || count > capacity - place.values) {
        return simd_varint_settle(data, place, begins);
    }
    const size_t count_low = SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts & 0xff));
    simd_varint_eight_u32_avx2(out + place.values, simd_varint_lanes_avx2(last, starts, 1), count_low,
                               capacity - place.values);
    place.values += count_low;
    if (left > 8) {
        const __m128i behind = _mm_srli_si128(last, 8);
        simd_varint_eight_u32_avx2(out + place.values, simd_varint_lanes_avx2(behind, starts >> 8, 1),
                                   count - count_low, capacity - place.values);
        place.values += count - count_low;
    }
    place.bytes = complete;
    return place;
}

// Of values of any length, one after the other, those that begin before `until`, or less where data, slots or sound
// values end.
SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE struct simd_varint_place
simd_varint_each_u64_avx2(const uint8_t *data, size_t complete, uint64_t *out, size_t capacity,
                          struct simd_varint_place place, size_t until, int fast_pext) {
    while (place.bytes < until && complete - place.bytes >= 10 && place.values < capacity) {
        const uint8_t *const at = data + place.bytes;
        uint64_t word;
        memcpy(&word, at, sizeof word);
        const uint64_t stops = ~word & UINT64_C(0x8080808080808080);
        const size_t length = stops ? SIMD_VARINT_AS(size_t, _tzcnt_u64(stops) >> 3) + 1 : at[8] < 0x80 ? 9 : 10;
        if (length == 10 && at[9] > 0x01) {
            break;
        }
        out[place.values++] = simd_varint_take_long_avx2(at, fast_pext);
        place.bytes += length;
    }
    return place;
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE void simd_varint_eight_u64_avx2(uint64_t *out, __m256i eight, size_t count,
                                                                           size_t room) {
    const __m256i low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(eight));
    const __m256i high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(eight, 1));
    uint64_t lanes[8];
    uint64_t *const to = room >= 8 ? out : lanes;
    simd_varint_store_256(to, low);
    simd_varint_store_256(to + 4, high);
    if (room < 8) {
        simd_varint_some(out, lanes, count, sizeof *lanes);
    }
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_INLINE struct simd_varint_place
simd_varint_tail_u64_avx2(const uint8_t *data, size_t complete, uint64_t *out, size_t capacity,
                          struct simd_varint_place place, int fast_pext) {
    // The last block of one-byte values: the blocks end where there is nothing behind it.
    if (complete - place.bytes >= SIMD_VARINT_BLOCK && capacity - place.values >= SIMD_VARINT_BLOCK &&
        simd_varint_masks_avx2(data + place.bytes, 0).more == 0) {
        simd_varint_ones_u64_avx2(data + place.bytes, out + place.values);
        place.bytes += SIMD_VARINT_BLOCK;
        place.values += SIMD_VARINT_BLOCK;
    }
    uint64_t begins = 1;
    if (complete < 8) {
        return place;
    }
    while (complete - place.bytes >= 16) {
        const size_t room = capacity - place.values;
        const __m128i sixteen = simd_varint_load_128(data + place.bytes);
        const uint64_t more = SIMD_VARINT_AS(uint32_t, _mm_movemask_epi8(sixteen));
        const uint64_t starts = (~more << 1 | begins) & 0xff;
        const size_t count = SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts));
        if (simd_varint_runs_of_4(more)) { // a value of five bytes or more
            const size_t until = place.bytes + 8;
            place = simd_varint_settle(data, place, begins);
            begins = 1;
            place = simd_varint_each_u64_avx2(data, complete, out, capacity, place, until, fast_pext);
            if (place.bytes < until) {
                return place;
            }
            continue;
        }
        if (count > room) {
            return simd_varint_settle(data, place, begins);
        }
        simd_varint_eight_u64_avx2(out + place.values, simd_varint_lanes_avx2(sixteen, starts, 0), count, room);
        place.bytes += 8;
        place.values += count;
        begins = ~more >> 7 & 1;
    }
    const size_t left = complete - place.bytes;
    if (left == 0) {
        return place;
    }
    const __m128i last = simd_varint_last_avx2(data, complete, left);
    const uint64_t more = SIMD_VARINT_AS(uint32_t, _mm_movemask_epi8(last));
    const uint64_t starts = _bzhi_u64(~more << 1 | begins, SIMD_VARINT_AS(unsigned, left));
    const size_t count = SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts));
    if (simd_varint_runs_of_4(more)) {
        place = simd_varint_settle(data, place, begins);
        return simd_varint_each_u64_avx2(data, complete, out, capacity, place, complete, fast_pext);
    }
    if (count > capacity - place.values) {
        return simd_varint_settle(data, place, begins);
    }
    const size_t count_low = SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts & 0xff));
    simd_varint_eight_u64_avx2(out + place.values, simd_varint_lanes_avx2(last, starts, 0), count_low,
                               capacity - place.values);
    place.values += count_low;
    if (left > 8) {
        const __m128i behind = _mm_srli_si128(last, 8);
        simd_varint_eight_u64_avx2(out + place.values, simd_varint_lanes_avx2(behind, starts >> 8, 0),
                                   count - count_low, capacity - place.values);
        place.values += count - count_low;
    }
    place.bytes = complete;
    return place;
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_APART struct simd_varint_place
simd_varint_long_u32_avx2(const uint8_t *data, size_t complete, uint32_t *out, size_t capacity) {
    return simd_varint_blocks_u32_avx2(data, complete, out, capacity, 1);
}

SIMD_VARINT_TARGET_AVX2 static inline struct simd_varint_result
simd_varint_u32_avx2(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    const size_t complete = simd_varint_complete_size(data, size);
    struct simd_varint_place place = {0, 0};
    if (complete >= SIMD_VARINT_BLOCK + SIMD_VARINT_BEHIND) {
        place = simd_varint_long_u32_avx2(data, complete, out, capacity);
    }
    place = simd_varint_tail_u32_avx2(data, complete, out, capacity, place);
    return simd_varint_finish_u32(data, size, out, capacity, place);
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_APART struct simd_varint_place
simd_varint_long_u32_avx2_slow_pext(const uint8_t *data, size_t complete, uint32_t *out, size_t capacity) {
    return simd_varint_blocks_u32_avx2(data, complete, out, capacity, 0);
}

SIMD_VARINT_TARGET_AVX2 static inline struct simd_varint_result
simd_varint_u32_avx2_slow_pext(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    const size_t complete = simd_varint_complete_size(data, size);
    struct simd_varint_place place = {0, 0};
    if (complete >= SIMD_VARINT_BLOCK + SIMD_VARINT_BEHIND) {
        place = simd_varint_long_u32_avx2_slow_pext(data, complete, out, capacity);
    }
    place = simd_varint_tail_u32_avx2(data, complete, out, capacity, place);
    return simd_varint_finish_u32(data, size, out, capacity, place);
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_APART struct simd_varint_place
simd_varint_long_u64_avx2(const uint8_t *data, size_t complete, uint64_t *out, size_t capacity) {
    return simd_varint_blocks_u64_avx2(data, complete, out, capacity, 1);
}

SIMD_VARINT_TARGET_AVX2 static inline struct simd_varint_result
simd_varint_u64_avx2(const uint8_t *data, size_t size, uint64_t *out, size_t capacity) {
    const size_t complete = simd_varint_complete_size(data, size);
    struct simd_varint_place place = {0, 0};
    if (complete >= SIMD_VARINT_BLOCK + SIMD_VARINT_BEHIND) {
        place = simd_varint_long_u64_avx2(data, complete, out, capacity);
    }
    place = simd_varint_tail_u64_avx2(data, complete, out, capacity, place, 1);
    return simd_varint_finish_u64(data, size, out, capacity, place);
}

SIMD_VARINT_TARGET_AVX2 SIMD_VARINT_APART struct simd_varint_place
simd_varint_long_u64_avx2_slow_pext(const uint8_t *data, size_t complete, uint64_t *out, size_t capacity) {
    return simd_varint_blocks_u64_avx2(data, complete, out, capacity, 0);
}

SIMD_VARINT_TARGET_AVX2 static inline struct simd_varint_result
simd_varint_u64_avx2_slow_pext(const uint8_t *data, size_t size, uint64_t *out, size_t capacity) {
    const size_t complete = simd_varint_complete_size(data, size);
    struct simd_varint_place place = {0, 0};
    if (complete >= SIMD_VARINT_BLOCK + SIMD_VARINT_BEHIND) {
        place = simd_varint_long_u64_avx2_slow_pext(data, complete, out, capacity);
    }
    place = simd_varint_tail_u64_avx2(data, complete, out, capacity, place, 0);
    return simd_varint_finish_u64(data, size, out, capacity, place);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized" // of avx512fintrin.h in C++: gcc bug 105593
#endif

// ---- AVX-512 ------------------------------------------------------------------------------------------------------

// Byte i is i.
SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE __m512i simd_varint_count_avx512(void) {
    return _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928, 0x2726252423222120,
                            0x1f1e1d1c1b1a1918, 0x1716151413121110, 0x0f0e0d0c0b0a0908, 0x0706050403020100);
}

// Byte i is first + i / 4 (i / 8): which value of the block a lane of four (eight) bytes is for.
SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE __m512i simd_varint_lanes_of_4_avx512(int first) {
    const __m512i quarter = _mm512_and_si512(_mm512_srli_epi16(simd_varint_count_avx512(), 2), _mm512_set1_epi8(15));
    return _mm512_add_epi8(quarter, _mm512_set1_epi8(SIMD_VARINT_AS(char, first)));
}

SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE __m512i simd_varint_lanes_of_8_avx512(int first) {
    const __m512i eighth = _mm512_and_si512(_mm512_srli_epi16(simd_varint_count_avx512(), 3), _mm512_set1_epi8(7));
    return _mm512_add_epi8(eighth, _mm512_set1_epi8(SIMD_VARINT_AS(char, first)));
}

// What the values of a block are made from.
struct simd_varint_gathered {
    __m512i block;
    __m512i places; // byte i: where in the block the i-th value begins
    __m512i tops;   // u32: byte i: the i-th value's fifth byte, shifted up by four, or 0
    uint64_t longs; // u64: bit i: the i-th value has nine or ten bytes
    size_t values;
};

// Joins the groups of seven bits of each lane's first value: below its lowest stop bit all bits are its own.
SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE __m512i simd_varint_join_avx512(__m512i lanes, __m512i below_stop) {
    const __m512i groups = _mm512_ternarylogic_epi64(lanes, below_stop, _mm512_set1_epi8(0x7f), 0x80); // all three
    const __m512i pairs = _mm512_maddubs_epi16(_mm512_set1_epi16(SIMD_VARINT_AS(short, 0x8001)), groups); // 1 and 2^7
    return _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x40000001));                                    // 1 and 2^14
}

// 16 values from the `first`-th on.
SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE __m512i simd_varint_sixteen_avx512(struct simd_varint_gathered from,
                                                                                int first, int has_tops) {
    const __m512i owner = simd_varint_lanes_of_4_avx512(first);
    const __m512i byte = _mm512_and_si512(simd_varint_count_avx512(), _mm512_set1_epi8(3));
    const __m512i wanted = _mm512_add_epi8(_mm512_permutexvar_epi8(owner, from.places), byte);
    const __m512i lanes = _mm512_permutexvar_epi8(wanted, from.block);
    const __m512i stops = _mm512_andnot_si512(lanes, _mm512_set1_epi8(SIMD_VARINT_AS(char, 0x80)));
    const __m512i joined = simd_varint_join_avx512(lanes, _mm512_sub_epi32(stops, _mm512_set1_epi32(1)));
    if (!has_tops) {
        return joined;
    }
    const __m512i tops = _mm512_maskz_permutexvar_epi8(UINT64_C(0x8888888888888888), owner, from.tops);
    return _mm512_or_si512(joined, tops);
}

SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE struct simd_varint_gathered
simd_varint_gather_u32_avx512(__m512i block, uint64_t starts, uint64_t fives) {
    struct simd_varint_gathered from;
    from.block = block;
    from.places = _mm512_maskz_compress_epi8(starts, simd_varint_count_avx512());
    from.tops = _mm512_setzero_si512();
    from.longs = 0;
    from.values = SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts));
    if (fives) {
        const __m512i fifth = _mm512_add_epi8(from.places, _mm512_set1_epi8(4));
        from.tops = _mm512_maskz_permutexvar_epi8(_pext_u64(fives, starts), fifth, block);
        from.tops = _mm512_slli_epi16(from.tops, 4); // at most 0x0f each: nothing is shifted into a neighbour
    }
    return from;
}

SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE void
simd_varint_rows_u32_avx512(struct simd_varint_gathered from, uint32_t *out, int has_tops) {
    _mm512_storeu_si512(out, simd_varint_sixteen_avx512(from, 0, has_tops));
    if (has_tops && from.values <= 16) {
        return;
    }
    _mm512_storeu_si512(out + 16, simd_varint_sixteen_avx512(from, 16, has_tops));
    if (from.values > 32) {
        _mm512_storeu_si512(out + 32, simd_varint_sixteen_avx512(from, 32, has_tops));
        _mm512_storeu_si512(out + 48, simd_varint_sixteen_avx512(from, 48, has_tops));
    }
}

// All blocks with room for 64 values.
SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE struct simd_varint_place
simd_varint_blocks_u32_avx512(const uint8_t *data, size_t complete, uint32_t *out, size_t capacity) {
    struct simd_varint_place place = {0, 0};
    uint64_t begins = 1; // a value begins with the block
    while (complete - place.bytes >= SIMD_VARINT_BLOCK && capacity - place.values >= SIMD_VARINT_BLOCK) {
        const uint8_t *const at = data + place.bytes;
        uint32_t *const to = out + place.values;
        const __m512i block = _mm512_loadu_si512(at);
        const uint64_t more = _mm512_movepi8_mask(block);
        if ((more | (begins ^ 1)) == 0) {
            _mm512_storeu_si512(to, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(block)));
            _mm512_storeu_si512(to + 16, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(block, 1)));
            _mm512_storeu_si512(to + 32, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(block, 2)));
            _mm512_storeu_si512(to + 48, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(block, 3)));
            place.bytes += SIMD_VARINT_BLOCK;
            place.values += SIMD_VARINT_BLOCK;
            continue;
        }
        const uint64_t fives = simd_varint_runs_of_4(more);
        if (simd_varint_bad_u32(more, _mm512_cmpgt_epu8_mask(block, _mm512_set1_epi8(0x0f)))) {
            break;
        }
        const uint64_t starts = _bzhi_u64(~more << 1 | begins, SIMD_VARINT_STRIDE_U32);
        const struct simd_varint_gathered from = simd_varint_gather_u32_avx512(block, starts, fives);
        if (fives) {
            simd_varint_rows_u32_avx512(from, to, 1);
        } else {
            simd_varint_rows_u32_avx512(from, to, 0);
        }
        begins = ~more >> (SIMD_VARINT_STRIDE_U32 - 1) & 1;
        place.bytes += SIMD_VARINT_STRIDE_U32;
        place.values += from.values;
    }
    return simd_varint_settle(data, place, begins);
}

// What fits of the last block: of the values at `starts` as many as there is room for, which is at least one.
struct simd_varint_part {
    uint64_t starts;
    size_t values;
    size_t bytes;
};

SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE struct simd_varint_part
simd_varint_part_avx512(uint64_t starts, uint64_t more, size_t room) {
    struct simd_varint_part part;
    part.values = SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts));
    if (part.values > room) {
        const uint64_t beyond = _pdep_u64(UINT64_C(1) << room, starts);
        part.starts = starts & (beyond - 1);
        part.values = room;
        part.bytes = SIMD_VARINT_AS(size_t, _tzcnt_u64(beyond));
        return part;
    }
    const uint64_t last = 63 - _lzcnt_u64(starts);
    part.starts = starts;
    part.bytes = SIMD_VARINT_AS(size_t, last + _tzcnt_u64(~more >> last) + 1);
    return part;
}

// The rest, with masked loads and stores: a masked byte is not touched, whatever page it would be on.
SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE struct simd_varint_place
simd_varint_tail_u32_avx512(const uint8_t *data, size_t complete, uint32_t *out, size_t capacity,
                            struct simd_varint_place place) {
    while (place.bytes < complete && place.values < capacity) {
        const size_t left = complete - place.bytes;
        const unsigned readable = left < SIMD_VARINT_BLOCK ? SIMD_VARINT_AS(unsigned, left) : SIMD_VARINT_BLOCK;
        const __m512i block = _mm512_maskz_loadu_epi8(_bzhi_u64(UINT64_MAX, readable), data + place.bytes);
        const uint64_t more = _mm512_movepi8_mask(block);
        const uint64_t fives = simd_varint_runs_of_4(more);
        if (simd_varint_bad_u32(more, _mm512_cmpgt_epu8_mask(block, _mm512_set1_epi8(0x0f)))) {
            break;
        }
        const unsigned used = readable < SIMD_VARINT_STRIDE_U32 ? readable : SIMD_VARINT_STRIDE_U32;
        const uint64_t starts = _bzhi_u64(~more << 1 | 1, used);
        const struct simd_varint_part part = simd_varint_part_avx512(starts, more, capacity - place.values);
        const struct simd_varint_gathered from = simd_varint_gather_u32_avx512(block, part.starts, fives);
        const uint64_t slots = _bzhi_u64(UINT64_MAX, SIMD_VARINT_AS(unsigned, part.values));
        uint32_t *const to = out + place.values;
        _mm512_mask_storeu_epi32(to, SIMD_VARINT_AS(__mmask16, slots), simd_varint_sixteen_avx512(from, 0, 1));
        if (part.values > 16) {
            _mm512_mask_storeu_epi32(to + 16, SIMD_VARINT_AS(__mmask16, slots >> 16),
                                     simd_varint_sixteen_avx512(from, 16, 1));
        }
        if (part.values > 32) {
            _mm512_mask_storeu_epi32(to + 32, SIMD_VARINT_AS(__mmask16, slots >> 32),
                                     simd_varint_sixteen_avx512(from, 32, 1));
            _mm512_mask_storeu_epi32(to + 48, SIMD_VARINT_AS(__mmask16, slots >> 48),
                                     simd_varint_sixteen_avx512(from, 48, 1));
        }
        place.values += part.values;
        place.bytes += part.bytes;
    }
    return place;
}

// 8 values from the `first`-th on.
SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE __m512i simd_varint_eight_avx512(struct simd_varint_gathered from,
                                                                              int first, int has_longs) {
    const __m512i owner = simd_varint_lanes_of_8_avx512(first);
    const __m512i byte = _mm512_and_si512(simd_varint_count_avx512(), _mm512_set1_epi8(7));
    const __m512i wanted = _mm512_add_epi8(_mm512_permutexvar_epi8(owner, from.places), byte);
    const __m512i lanes = _mm512_permutexvar_epi8(wanted, from.block);
    const __m512i flags = _mm512_set1_epi8(SIMD_VARINT_AS(char, 0x80));
    const __m512i stops = _mm512_andnot_si512(lanes, flags);
    const __m512i halves = simd_varint_join_avx512(lanes, _mm512_sub_epi64(stops, _mm512_set1_epi64(1)));
    // Each half has 28 bits: the upper one moves down by four.
    const __m512i joined = _mm512_ternarylogic_epi64(_mm512_set1_epi64(0x0fffffff), halves,
                                                     _mm512_srli_epi64(halves, 4), 0xca); // first ? second : third
    if (!has_longs) {
        return joined;
    }
    const __m512i behind = _mm512_permutexvar_epi8(_mm512_add_epi8(wanted, _mm512_set1_epi8(8)), from.block);
    const __m512i behind_stops = _mm512_andnot_si512(behind, flags);
    const __m512i top = simd_varint_join_avx512(behind, _mm512_sub_epi64(behind_stops, _mm512_set1_epi64(1)));
    return _mm512_mask_or_epi64(joined, SIMD_VARINT_AS(__mmask8, from.longs >> first), joined,
                                _mm512_slli_epi64(top, 56));
}

SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE struct simd_varint_gathered
simd_varint_gather_u64_avx512(__m512i block, uint64_t starts, uint64_t nines) {
    struct simd_varint_gathered from;
    from.block = block;
    from.places = _mm512_maskz_compress_epi8(starts, simd_varint_count_avx512());
    from.tops = _mm512_setzero_si512();
    from.longs = _pext_u64(nines, starts);
    from.values = SIMD_VARINT_AS(size_t, _mm_popcnt_u64(starts));
    return from;
}

SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE void
simd_varint_rows_u64_avx512(struct simd_varint_gathered from, uint64_t *out, int has_longs) {
    _mm512_storeu_si512(out, simd_varint_eight_avx512(from, 0, has_longs));
    _mm512_storeu_si512(out + 8, simd_varint_eight_avx512(from, 8, has_longs));
    if (from.values > 16) {
        _mm512_storeu_si512(out + 16, simd_varint_eight_avx512(from, 16, has_longs));
        _mm512_storeu_si512(out + 24, simd_varint_eight_avx512(from, 24, has_longs));
    }
    if (from.values > 32) {
        _mm512_storeu_si512(out + 32, simd_varint_eight_avx512(from, 32, has_longs));
        _mm512_storeu_si512(out + 40, simd_varint_eight_avx512(from, 40, has_longs));
        _mm512_storeu_si512(out + 48, simd_varint_eight_avx512(from, 48, has_longs));
    }
}

// 16 values of at most four bytes each, from the `first`-th on.
SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE void
simd_varint_short_row_u64_avx512(struct simd_varint_gathered from, int first, uint64_t *out) {
    const __m512i sixteen = simd_varint_sixteen_avx512(from, first, 0);
    _mm512_storeu_si512(out + first, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(sixteen)));
    _mm512_storeu_si512(out + first + 8, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(sixteen, 1)));
}

SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE void
simd_varint_short_rows_u64_avx512(struct simd_varint_gathered from, uint64_t *out) {
    simd_varint_short_row_u64_avx512(from, 0, out);
    simd_varint_short_row_u64_avx512(from, 16, out);
    if (from.values > 32) {
        simd_varint_short_row_u64_avx512(from, 32, out);
        simd_varint_short_row_u64_avx512(from, 48, out);
    }
}

SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE struct simd_varint_place
simd_varint_blocks_u64_avx512(const uint8_t *data, size_t complete, uint64_t *out, size_t capacity) {
    struct simd_varint_place place = {0, 0};
    uint64_t begins = 1;
    while (complete - place.bytes >= SIMD_VARINT_BLOCK && capacity - place.values >= SIMD_VARINT_BLOCK) {
        const uint8_t *const at = data + place.bytes;
        uint64_t *const to = out + place.values;
        const __m512i block = _mm512_loadu_si512(at);
        const uint64_t more = _mm512_movepi8_mask(block);
        if ((more | (begins ^ 1)) == 0) {
            for (unsigned i = 0; i < SIMD_VARINT_BLOCK; i += 8) {
                const __m128i bytes = simd_varint_load_64(at + i);
                _mm512_storeu_si512(to + i, _mm512_cvtepu8_epi64(bytes));
            }
            place.bytes += SIMD_VARINT_BLOCK;
            place.values += SIMD_VARINT_BLOCK;
            continue;
        }
        const uint64_t nines = simd_varint_runs_of_8(more);
        if (simd_varint_bad_u64(more, _mm512_cmpgt_epu8_mask(block, _mm512_set1_epi8(0x01)))) {
            break;
        }
        const uint64_t starts = _bzhi_u64(~more << 1 | begins, SIMD_VARINT_STRIDE_U64);
        const struct simd_varint_gathered from = simd_varint_gather_u64_avx512(block, starts, nines);
        if (nines) {
            simd_varint_rows_u64_avx512(from, to, 1);
        } else if (simd_varint_runs_of_4(more)) {
            simd_varint_rows_u64_avx512(from, to, 0);
        } else {
            simd_varint_short_rows_u64_avx512(from, to);
        }
        begins = ~more >> (SIMD_VARINT_STRIDE_U64 - 1) & 1;
        place.bytes += SIMD_VARINT_STRIDE_U64;
        place.values += from.values;
    }
    return simd_varint_settle(data, place, begins);
}

SIMD_VARINT_TARGET_AVX512 SIMD_VARINT_INLINE struct simd_varint_place
simd_varint_tail_u64_avx512(const uint8_t *data, size_t complete, uint64_t *out, size_t capacity,
                            struct simd_varint_place place) {
    while (place.bytes < complete && place.values < capacity) {
        const size_t left = complete - place.bytes;
        const unsigned readable = left < SIMD_VARINT_BLOCK ? SIMD_VARINT_AS(unsigned, left) : SIMD_VARINT_BLOCK;
        const __m512i block = _mm512_maskz_loadu_epi8(_bzhi_u64(UINT64_MAX, readable), data + place.bytes);
        const uint64_t more = _mm512_movepi8_mask(block);
        const uint64_t nines = simd_varint_runs_of_8(more);
        if (simd_varint_bad_u64(more, _mm512_cmpgt_epu8_mask(block, _mm512_set1_epi8(0x01)))) {
            break;
        }
        const unsigned used = readable < SIMD_VARINT_STRIDE_U64 ? readable : SIMD_VARINT_STRIDE_U64;
        const uint64_t starts = _bzhi_u64(~more << 1 | 1, used);
        const struct simd_varint_part part = simd_varint_part_avx512(starts, more, capacity - place.values);
        const struct simd_varint_gathered from = simd_varint_gather_u64_avx512(block, part.starts, nines);
        const uint64_t slots = _bzhi_u64(UINT64_MAX, SIMD_VARINT_AS(unsigned, part.values));
        uint64_t *const to = out + place.values;
        _mm512_mask_storeu_epi64(to, SIMD_VARINT_AS(__mmask8, slots), simd_varint_eight_avx512(from, 0, 1));
        if (part.values > 8) {
            _mm512_mask_storeu_epi64(to + 8, SIMD_VARINT_AS(__mmask8, slots >> 8),
                                     simd_varint_eight_avx512(from, 8, 1));
        }
        if (part.values > 16) {
            _mm512_mask_storeu_epi64(to + 16, SIMD_VARINT_AS(__mmask8, slots >> 16),
                                     simd_varint_eight_avx512(from, 16, 1));
            _mm512_mask_storeu_epi64(to + 24, SIMD_VARINT_AS(__mmask8, slots >> 24),
                                     simd_varint_eight_avx512(from, 24, 1));
        }
        if (part.values > 32) {
            _mm512_mask_storeu_epi64(to + 32, SIMD_VARINT_AS(__mmask8, slots >> 32),
                                     simd_varint_eight_avx512(from, 32, 1));
            _mm512_mask_storeu_epi64(to + 40, SIMD_VARINT_AS(__mmask8, slots >> 40),
                                     simd_varint_eight_avx512(from, 40, 1));
            _mm512_mask_storeu_epi64(to + 48, SIMD_VARINT_AS(__mmask8, slots >> 48),
                                     simd_varint_eight_avx512(from, 48, 1));
        }
        place.values += part.values;
        place.bytes += part.bytes;
    }
    return place;
}

SIMD_VARINT_TARGET_AVX512 static inline struct simd_varint_result
simd_varint_u32_avx512(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    const size_t complete = simd_varint_complete_size(data, size);
    struct simd_varint_place place = {0, 0};
    if (complete < SIMD_VARINT_FEW_BYTES) {
        place = simd_varint_tail_u32_avx2(data, complete, out, capacity, place);
    } else {
        place = simd_varint_blocks_u32_avx512(data, complete, out, capacity);
        place = simd_varint_tail_u32_avx512(data, complete, out, capacity, place);
    }
    return simd_varint_finish_u32(data, size, out, capacity, place);
}

SIMD_VARINT_TARGET_AVX512 static inline struct simd_varint_result
simd_varint_u64_avx512(const uint8_t *data, size_t size, uint64_t *out, size_t capacity) {
    const size_t complete = simd_varint_complete_size(data, size);
    struct simd_varint_place place = {0, 0};
    if (complete < SIMD_VARINT_FEW_BYTES) {
        place = simd_varint_tail_u64_avx2(data, complete, out, capacity, place, 1);
    } else {
        place = simd_varint_blocks_u64_avx512(data, complete, out, capacity);
        place = simd_varint_tail_u64_avx512(data, complete, out, capacity, place);
    }
    return simd_varint_finish_u64(data, size, out, capacity, place);
}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif // x86-64

// ---- the choice ---------------------------------------------------------------------------------------------------

static inline enum simd_varint_level simd_varint_detect(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                     __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (!avx2) {
        return SIMD_VARINT_SCALAR;
    }
    if (SIMD_VARINT_HAS_AVX512()) {
        return SIMD_VARINT_AVX512;
    }
    // Excavator, Zen and Zen 2 run pext as microcode, 18 cycles and more.
    return __builtin_cpu_is("amdfam15h") || __builtin_cpu_is("amdfam17h") ? SIMD_VARINT_AVX2_SLOW_PEXT
                                                                          : SIMD_VARINT_AVX2;
#else
    return SIMD_VARINT_SCALAR;
#endif
}

// The best level this processor and its system can run; asked once.
static inline enum simd_varint_level simd_varint_best(void) {
    static int known; // the level + 1; threads that ask at once find the same
    int level = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (level == 0) {
        level = SIMD_VARINT_AS(int, simd_varint_detect()) + 1;
        __atomic_store_n(&known, level, __ATOMIC_RELAXED);
    }
    return SIMD_VARINT_AS(enum simd_varint_level, level - 1);
}

// By one level's code, at most simd_varint_best(): for tests and measurements.
static inline struct simd_varint_result simd_varint_decode_u32_by(enum simd_varint_level level, const uint8_t *data,
                                                                  size_t size, uint32_t *out, size_t capacity) {
    const struct simd_varint_place start = {0, 0};
#if defined(__x86_64__) && defined(__GNUC__)
    switch (level) {
    case SIMD_VARINT_AVX512:
        return simd_varint_u32_avx512(data, size, out, capacity);
    case SIMD_VARINT_AVX2:
        return simd_varint_u32_avx2(data, size, out, capacity);
    case SIMD_VARINT_AVX2_SLOW_PEXT:
        return simd_varint_u32_avx2_slow_pext(data, size, out, capacity);
    case SIMD_VARINT_SCALAR:
        break;
    }
#else
    (void)level;
#endif
    return simd_varint_finish_u32(data, size, out, capacity, start);
}

static inline struct simd_varint_result simd_varint_decode_u64_by(enum simd_varint_level level, const uint8_t *data,
                                                                  size_t size, uint64_t *out, size_t capacity) {
    const struct simd_varint_place start = {0, 0};
#if defined(__x86_64__) && defined(__GNUC__)
    switch (level) {
    case SIMD_VARINT_AVX512:
        return simd_varint_u64_avx512(data, size, out, capacity);
    case SIMD_VARINT_AVX2:
        return simd_varint_u64_avx2(data, size, out, capacity);
    case SIMD_VARINT_AVX2_SLOW_PEXT:
        return simd_varint_u64_avx2_slow_pext(data, size, out, capacity);
    case SIMD_VARINT_SCALAR:
        break;
    }
#else
    (void)level;
#endif
    return simd_varint_finish_u64(data, size, out, capacity, start);
}

// Decodes [data, data + size) into `out`, which has `capacity` slots.
static inline struct simd_varint_result
simd_varint_decode_u32(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    return simd_varint_decode_u32_by(simd_varint_best(), data, size, out, capacity);
}

static inline struct simd_varint_result
simd_varint_decode_u64(const uint8_t *data, size_t size, uint64_t *out, size_t capacity) {
    return simd_varint_decode_u64_by(simd_varint_best(), data, size, out, capacity);
}

#endif
