// See u32.h. The decoders take what they can with whole 8-byte loads and leave the last bytes, and every fault, to
// simd_varint_finish_u32(): a value is given back unread where it has more than five bytes or 32 bits.

#include "u32.h"

#define CONTINUATION UINT64_C(0x8080808080808080)
#define PAYLOAD UINT64_C(0x7f7f7f7f7f7f7f7f)

struct simd_varint_result u32_loop(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    const struct simd_varint_place start = {0, 0};
    return simd_varint_finish_u32(data, size, out, capacity, start);
}

// One load, then a test for each length in turn.
struct simd_varint_result u32_unrolled(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    struct simd_varint_place place = {0, 0};
    while (size - place.bytes >= 8 && place.values < capacity) {
        uint64_t word;
        memcpy(&word, data + place.bytes, sizeof word);
        uint64_t value = word & 0x7f;
        if ((word & 0x80) == 0) {
            place.bytes += 1;
        } else if (value |= word >> 1 & UINT64_C(0x7f) << 7, (word & 0x8000) == 0) {
            place.bytes += 2;
        } else if (value |= word >> 2 & UINT64_C(0x7f) << 14, (word & 0x800000) == 0) {
            place.bytes += 3;
        } else if (value |= word >> 3 & UINT64_C(0x7f) << 21, (word & 0x80000000) == 0) {
            place.bytes += 4;
        } else if (value |= word >> 4 & UINT64_C(0x0f) << 28, (word & UINT64_C(0xf000000000)) == 0) {
            place.bytes += 5;
        } else {
            break;
        }
        out[place.values++] = (uint32_t)value;
    }
    return simd_varint_finish_u32(data, size, out, capacity, place);
}

// No branch on a length and no instruction beyond the baseline.
struct simd_varint_result u32_swar(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    struct simd_varint_place place = {0, 0};
    while (size - place.bytes >= 8 && place.values < capacity) {
        uint64_t word;
        memcpy(&word, data + place.bytes, sizeof word);
        const uint64_t stops = ~word & UINT64_C(0x8080808080);
        uint64_t value = word & (stops - 1) & PAYLOAD;
        value = (value & UINT64_C(0x007f007f007f007f)) | (value & UINT64_C(0x7f007f007f007f00)) >> 1;
        value = (value & UINT64_C(0x00003fff00003fff)) | (value & UINT64_C(0x3fff00003fff0000)) >> 2;
        value = (value & UINT64_C(0x0fffffff)) | (value & UINT64_C(0x0fffffff00000000)) >> 4;
        if (stops == 0 || value > UINT32_MAX) {
            break;
        }
        place.bytes += ((size_t)__builtin_ctzll(stops) >> 3) + 1;
        out[place.values++] = (uint32_t)value;
    }
    return simd_varint_finish_u32(data, size, out, capacity, place);
}

#if defined(__x86_64__)

#define BMI __attribute__((target("bmi,bmi2")))

// The same with pext.
BMI struct simd_varint_result u32_pext(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    struct simd_varint_place place = {0, 0};
    while (size - place.bytes >= 8 && place.values < capacity) {
        uint64_t word;
        memcpy(&word, data + place.bytes, sizeof word);
        const uint64_t stops = ~word & UINT64_C(0x8080808080);
        const uint64_t value = _pext_u64(word, (stops - 1) & PAYLOAD);
        if (stops == 0 || value > UINT32_MAX) {
            break;
        }
        place.bytes += ((size_t)__builtin_ctzll(stops) >> 3) + 1;
        out[place.values++] = (uint32_t)value;
    }
    return simd_varint_finish_u32(data, size, out, capacity, place);
}

// A value of one byte by a branch, longer ones with pext.
BMI struct simd_varint_result u32_first(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    struct simd_varint_place place = {0, 0};
    while (size - place.bytes >= 8 && place.values < capacity) {
        const uint8_t *const at = data + place.bytes;
        if (*at < 0x80) {
            out[place.values++] = *at;
            place.bytes++;
            continue;
        }
        uint64_t word;
        memcpy(&word, at, sizeof word);
        const uint64_t stops = ~word & UINT64_C(0x8080808080);
        const uint64_t value = _pext_u64(word, (stops - 1) & PAYLOAD);
        if (stops == 0 || value > UINT32_MAX) {
            break;
        }
        place.bytes += ((size_t)__builtin_ctzll(stops) >> 3) + 1;
        out[place.values++] = (uint32_t)value;
    }
    return simd_varint_finish_u32(data, size, out, capacity, place);
}

// The continuation bits of 8 bytes choose one of 256 pieces of straight code. A value of more than 32 bits is given back
// with all those of its 8 bytes.
#define BYTE(index)                                                                                            \
    if ((mask >> (index) & 1) == 0) {                                                                          \
        const uint64_t value = bits >> 7 * found.bytes & UINT64_MAX >> (64 - 7 * ((index) + 1 - found.bytes)); \
        too_large |= (index) + 1 - found.bytes > 5 ? 1 : value >> 32;                                           \
        out[found.values++] = (uint32_t)value;                                                                 \
        found.bytes = (index) + 1;                                                                             \
    }

// Its 1024 stores are left out of the undefined behaviour sanitiser, which takes 10 seconds of clang for them.
static inline __attribute__((always_inline, no_sanitize("undefined"))) struct simd_varint_place read_masked(uint64_t bits, unsigned mask, uint32_t *out) {
    struct simd_varint_place found = {0, 0};
    uint64_t too_large = 0;
    BYTE(0) BYTE(1) BYTE(2) BYTE(3) BYTE(4) BYTE(5) BYTE(6) BYTE(7)
    if (too_large != 0) {
        found.bytes = 0;
    }
    return found;
}

// clang-format off
#define CASE(mask) case (mask): found = read_masked(bits, (mask), out + place.values); break;
#define CASES4(n) CASE(n) CASE((n) + 1) CASE((n) + 2) CASE((n) + 3)
#define CASES16(n) CASES4(n) CASES4((n) + 4) CASES4((n) + 8) CASES4((n) + 12)
#define CASES64(n) CASES16(n) CASES16((n) + 16) CASES16((n) + 32) CASES16((n) + 48)
// clang-format on

BMI struct simd_varint_result u32_mask8(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    struct simd_varint_place place = {0, 0};
    while (size - place.bytes >= 8 && capacity - place.values >= 8) {
        uint64_t word;
        memcpy(&word, data + place.bytes, sizeof word);
        const uint64_t bits = _pext_u64(word, PAYLOAD);
        struct simd_varint_place found = {0, 0};
        switch (_pext_u64(word, CONTINUATION)) {
            CASES64(0) CASES64(64) CASES64(128) CASES64(192)
        }
        if (found.bytes == 0) {
            break;
        }
        place.bytes += found.bytes;
        place.values += found.values;
    }
    return simd_varint_finish_u32(data, size, out, capacity, place);
}

struct simd_varint_result u32_avx2_slow_pext(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    return simd_varint_u32_avx2_slow_pext(data, size, out, capacity);
}

struct simd_varint_result u32_avx2(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    return simd_varint_u32_avx2(data, size, out, capacity);
}

struct simd_varint_result u32_avx512(const uint8_t *data, size_t size, uint32_t *out, size_t capacity) {
    return simd_varint_u32_avx512(data, size, out, capacity);
}

#endif

int u32_can_run(const struct u32_variant *variant) {
    return simd_varint_best() >= variant->needs;
}

const struct u32_variant u32_variants[] = {
    {"loop", u32_loop, SIMD_VARINT_SCALAR},
    {"unrolled", u32_unrolled, SIMD_VARINT_SCALAR},
    {"swar", u32_swar, SIMD_VARINT_SCALAR},
#if defined(__x86_64__)
    {"pext", u32_pext, SIMD_VARINT_AVX2_SLOW_PEXT},
    {"first", u32_first, SIMD_VARINT_AVX2_SLOW_PEXT},
    {"mask8", u32_mask8, SIMD_VARINT_AVX2_SLOW_PEXT},
    {"avx2_slow_pext", u32_avx2_slow_pext, SIMD_VARINT_AVX2_SLOW_PEXT},
    {"avx2", u32_avx2, SIMD_VARINT_AVX2},
    {"avx512", u32_avx512, SIMD_VARINT_AVX512},
#endif
};
const size_t u32_variant_count = sizeof u32_variants / sizeof *u32_variants;
