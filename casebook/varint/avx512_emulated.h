// The AVX-512 instructions that simd_varint.h uses, in plain C: its AVX-512 code can be proved on every processor, and
// by the sanitisers. Slow, and for tests only: test.sh includes it ahead of everything else (-include).
//
// Source: the pseudo-code of Intel's intrinsics guide. Masked loads and stores touch no byte whose bit is not set, so a
// read beyond the data faults here as it would there.
#ifndef AVX512_EMULATED_H
#define AVX512_EMULATED_H

#define _GNU_SOURCE // as test_simd.c, which comes too late for it

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

struct emulated_512 {
    uint8_t bytes[64];
};

// Lane x of `in`, for each i, gives lane `r_of` of the result.
#define EMULATED_LANES(type, count, r_of, in)                  \
    for (int i = 0; i < (count); i++) {                        \
        type x, r;                                             \
        memcpy(&x, (in).bytes + (size_t)i * sizeof x, sizeof x); \
        r = (r_of);                                            \
        memcpy(out.bytes + (size_t)i * sizeof r, &r, sizeof r); \
    }                                                          \
    return out

#define EMULATED static inline struct emulated_512
typedef struct emulated_512 emulated;

static inline uint64_t emulated_lane_64(emulated a, int i) {
    uint64_t lane;
    memcpy(&lane, a.bytes + 8 * i, sizeof lane);
    return lane;
}
static inline uint32_t emulated_lane_32(emulated a, int i) {
    uint32_t lane;
    memcpy(&lane, a.bytes + 4 * i, sizeof lane);
    return lane;
}
static inline int16_t emulated_lane_16(emulated a, int i) {
    int16_t lane;
    memcpy(&lane, a.bytes + 2 * i, sizeof lane);
    return lane;
}

EMULATED emulated_loadu(const void *from) {
    emulated out;
    memcpy(out.bytes, from, 64);
    return out;
}
EMULATED emulated_zero(void) {
    emulated out;
    memset(out.bytes, 0, 64);
    return out;
}
static inline void emulated_storeu(void *to, emulated a) { memcpy(to, a.bytes, 64); }

EMULATED emulated_maskz_loadu_8(uint64_t mask, const void *from) {
    emulated out = emulated_zero();
    for (int i = 0; i < 64; i++) {
        if (mask >> i & 1) {
            out.bytes[i] = ((const uint8_t *)from)[i];
        }
    }
    return out;
}
static inline void emulated_mask_storeu(void *to, uint64_t mask, emulated a, size_t width) {
    for (size_t i = 0; i < 64 / width; i++) {
        if (mask >> i & 1) {
            memcpy((uint8_t *)to + i * width, a.bytes + i * width, width);
        }
    }
}

EMULATED emulated_set1_8(char v) {
    emulated out;
    memset(out.bytes, v, 64);
    return out;
}
EMULATED emulated_set1(const void *value, size_t width) {
    emulated out;
    for (size_t i = 0; i < 64; i += width) {
        memcpy(out.bytes + i, value, width);
    }
    return out;
}
EMULATED emulated_set1_16(short v) { return emulated_set1(&v, sizeof v); }
EMULATED emulated_set1_32(int v) { return emulated_set1(&v, sizeof v); }
EMULATED emulated_set1_64(long long v) { return emulated_set1(&v, sizeof v); }
EMULATED emulated_set_64(uint64_t h, uint64_t g, uint64_t f, uint64_t e, // the highest lane first
                         uint64_t d, uint64_t c, uint64_t b, uint64_t a) {
    const uint64_t lanes[8] = {a, b, c, d, e, f, g, h};
    return emulated_loadu(lanes);
}

EMULATED emulated_and(emulated a, emulated b) {
    emulated out;
    EMULATED_LANES(uint64_t, 8, x & emulated_lane_64(b, i), a);
}
EMULATED emulated_or(emulated a, emulated b) {
    emulated out;
    EMULATED_LANES(uint64_t, 8, x | emulated_lane_64(b, i), a);
}
EMULATED emulated_andnot(emulated a, emulated b) {
    emulated out;
    EMULATED_LANES(uint64_t, 8, ~x & emulated_lane_64(b, i), a);
}
EMULATED emulated_add_8(emulated a, emulated b) {
    emulated out;
    EMULATED_LANES(uint8_t, 64, (uint8_t)(x + b.bytes[i]), a);
}
EMULATED emulated_sub_32(emulated a, emulated b) {
    emulated out;
    EMULATED_LANES(uint32_t, 16, x - emulated_lane_32(b, i), a);
}
EMULATED emulated_sub_64(emulated a, emulated b) {
    emulated out;
    EMULATED_LANES(uint64_t, 8, x - emulated_lane_64(b, i), a);
}
EMULATED emulated_slli_16(emulated a, unsigned n) {
    emulated out;
    EMULATED_LANES(uint16_t, 32, (uint16_t)(x << n), a);
}
EMULATED emulated_srli_16(emulated a, unsigned n) {
    emulated out;
    EMULATED_LANES(uint16_t, 32, (uint16_t)(x >> n), a);
}
EMULATED emulated_slli_64(emulated a, unsigned n) {
    emulated out;
    EMULATED_LANES(uint64_t, 8, x << n, a);
}
EMULATED emulated_srli_64(emulated a, unsigned n) {
    emulated out;
    EMULATED_LANES(uint64_t, 8, x >> n, a);
}

EMULATED emulated_mask_or_64(emulated from, uint8_t mask, emulated a, emulated b) {
    emulated out;
    EMULATED_LANES(uint64_t, 8, mask >> i & 1 ? x | emulated_lane_64(b, i) : emulated_lane_64(from, i), a);
}

// Bit 4 a + 2 b + c of `table` for each bit.
EMULATED emulated_ternarylogic(emulated a, emulated b, emulated c, unsigned table) {
    emulated out = emulated_zero();
    for (int bit = 0; bit < 512; bit++) {
        const int byte = bit / 8, at = bit % 8;
        const int index = (a.bytes[byte] >> at & 1) << 2 | (b.bytes[byte] >> at & 1) << 1 | (c.bytes[byte] >> at & 1);
        out.bytes[byte] |= (uint8_t)((table >> index & 1) << at);
    }
    return out;
}

static inline int16_t emulated_saturated(int wide) {
    return (int16_t)(wide > INT16_MAX ? INT16_MAX : wide < INT16_MIN ? INT16_MIN : wide);
}
// Unsigned bytes of a times signed bytes of b, pairs added.
EMULATED emulated_maddubs(emulated a, emulated b) {
    emulated out;
    for (int i = 0; i < 32; i++) {
        const int low = a.bytes[2 * i] * (int8_t)b.bytes[2 * i];
        const int high = a.bytes[2 * i + 1] * (int8_t)b.bytes[2 * i + 1];
        const int16_t sum = emulated_saturated(low + high);
        memcpy(out.bytes + 2 * i, &sum, sizeof sum);
    }
    return out;
}
EMULATED emulated_madd(emulated a, emulated b) {
    emulated out;
    for (int i = 0; i < 16; i++) {
        const int32_t low = emulated_lane_16(a, 2 * i) * emulated_lane_16(b, 2 * i);
        const int32_t high = emulated_lane_16(a, 2 * i + 1) * emulated_lane_16(b, 2 * i + 1);
        const uint32_t sum = (uint32_t)low + (uint32_t)high;
        memcpy(out.bytes + 4 * i, &sum, sizeof sum);
    }
    return out;
}

EMULATED emulated_maskz_permutexvar_8(uint64_t mask, emulated index, emulated a) {
    emulated out;
    for (int i = 0; i < 64; i++) {
        out.bytes[i] = mask >> i & 1 ? a.bytes[index.bytes[i] & 63] : 0;
    }
    return out;
}
EMULATED emulated_maskz_compress_8(uint64_t mask, emulated a) {
    emulated out = emulated_zero();
    for (int i = 0, to = 0; i < 64; i++) {
        if (mask >> i & 1) {
            out.bytes[to++] = a.bytes[i];
        }
    }
    return out;
}
static inline uint64_t emulated_movepi8_mask(emulated a) {
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) {
        mask |= (uint64_t)(a.bytes[i] >> 7) << i;
    }
    return mask;
}
static inline uint64_t emulated_cmpgt_epu8_mask(emulated a, emulated b) {
    uint64_t mask = 0;
    for (int i = 0; i < 64; i++) {
        mask |= (uint64_t)(a.bytes[i] > b.bytes[i]) << i;
    }
    return mask;
}

static inline __m128i emulated_extract_128(emulated a, int i) {
    __m128i out;
    memcpy(&out, a.bytes + 16 * i, sizeof out);
    return out;
}
__attribute__((target("avx2"))) static inline __m256i emulated_extract_256(emulated a, int i) {
    __m256i out;
    memcpy(&out, a.bytes + 32 * i, sizeof out);
    return out;
}
EMULATED emulated_widen(const void *from, size_t width, size_t to_width) {
    emulated out = emulated_zero();
    for (size_t i = 0; i < 64 / to_width; i++) {
        memcpy(out.bytes + i * to_width, (const uint8_t *)from + i * width, width);
    }
    return out;
}
EMULATED emulated_cvtepu8_32(__m128i a) { return emulated_widen(&a, 1, 4); }
EMULATED emulated_cvtepu8_64(__m128i a) { return emulated_widen(&a, 1, 8); }
__attribute__((target("avx2"))) EMULATED emulated_cvtepu32_64(__m256i a) { return emulated_widen(&a, 4, 8); }

// Macros of the headers', in clang and in builds without optimisation.
#undef _mm512_add_epi8
#undef _mm512_and_si512
#undef _mm512_andnot_si512
#undef _mm512_castsi512_si128
#undef _mm512_castsi512_si256
#undef _mm512_cmpgt_epu8_mask
#undef _mm512_cvtepu32_epi64
#undef _mm512_cvtepu8_epi32
#undef _mm512_cvtepu8_epi64
#undef _mm512_extracti32x4_epi32
#undef _mm512_extracti64x4_epi64
#undef _mm512_loadu_si512
#undef _mm512_madd_epi16
#undef _mm512_maddubs_epi16
#undef _mm512_mask_or_epi64
#undef _mm512_mask_storeu_epi32
#undef _mm512_mask_storeu_epi64
#undef _mm512_maskz_compress_epi8
#undef _mm512_maskz_loadu_epi8
#undef _mm512_maskz_permutexvar_epi8
#undef _mm512_movepi8_mask
#undef _mm512_or_si512
#undef _mm512_permutexvar_epi8
#undef _mm512_set1_epi16
#undef _mm512_set1_epi32
#undef _mm512_set1_epi64
#undef _mm512_set1_epi8
#undef _mm512_set_epi64
#undef _mm512_setzero_si512
#undef _mm512_slli_epi16
#undef _mm512_slli_epi64
#undef _mm512_srli_epi16
#undef _mm512_srli_epi64
#undef _mm512_storeu_si512
#undef _mm512_sub_epi32
#undef _mm512_sub_epi64
#undef _mm512_ternarylogic_epi64

#define __m512i struct emulated_512
#define _mm512_add_epi8 emulated_add_8
#define _mm512_and_si512 emulated_and
#define _mm512_andnot_si512 emulated_andnot
#define _mm512_castsi512_si128(a) emulated_extract_128(a, 0)
#define _mm512_castsi512_si256(a) emulated_extract_256(a, 0)
#define _mm512_cmpgt_epu8_mask emulated_cmpgt_epu8_mask
#define _mm512_cvtepu32_epi64 emulated_cvtepu32_64
#define _mm512_cvtepu8_epi32 emulated_cvtepu8_32
#define _mm512_cvtepu8_epi64 emulated_cvtepu8_64
#define _mm512_extracti32x4_epi32 emulated_extract_128
#define _mm512_extracti64x4_epi64 emulated_extract_256
#define _mm512_loadu_si512 emulated_loadu
#define _mm512_madd_epi16 emulated_madd
#define _mm512_maddubs_epi16 emulated_maddubs
#define _mm512_mask_or_epi64 emulated_mask_or_64
#define _mm512_mask_storeu_epi32(to, mask, a) emulated_mask_storeu(to, mask, a, 4)
#define _mm512_mask_storeu_epi64(to, mask, a) emulated_mask_storeu(to, mask, a, 8)
#define _mm512_maskz_compress_epi8 emulated_maskz_compress_8
#define _mm512_maskz_loadu_epi8 emulated_maskz_loadu_8
#define _mm512_maskz_permutexvar_epi8 emulated_maskz_permutexvar_8
#define _mm512_movepi8_mask emulated_movepi8_mask
#define _mm512_or_si512 emulated_or
#define _mm512_permutexvar_epi8(index, a) emulated_maskz_permutexvar_8(UINT64_MAX, index, a)
#define _mm512_set1_epi16 emulated_set1_16
#define _mm512_set1_epi32 emulated_set1_32
#define _mm512_set1_epi64 emulated_set1_64
#define _mm512_set1_epi8 emulated_set1_8
#define _mm512_set_epi64 emulated_set_64
#define _mm512_setzero_si512 emulated_zero
#define _mm512_slli_epi16 emulated_slli_16
#define _mm512_slli_epi64 emulated_slli_64
#define _mm512_srli_epi16 emulated_srli_16
#define _mm512_srli_epi64 emulated_srli_64
#define _mm512_storeu_si512 emulated_storeu
#define _mm512_sub_epi32 emulated_sub_32
#define _mm512_sub_epi64 emulated_sub_64
#define _mm512_ternarylogic_epi64 emulated_ternarylogic

// What the compiler may use for the rest, and what the choice at run time is told.
#define SIMD_VARINT_TARGET_AVX512 __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define SIMD_VARINT_HAS_AVX512() 1

#endif
