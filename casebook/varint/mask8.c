// `mask8`: the continuation bits of 8 bytes choose one of 256 pieces of straight code that knows where each value of
// them begins and ends, as SFVInt (DaMoN 2024) does with 6 and more bytes. One indirect jump for several values:
// where the lengths are random it is mispredicted nearly each time, but that is once for all of them.

#include "varint.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define CONTINUATION UINT64_C(0x8080808080808080)
#define PAYLOAD UINT64_C(0x7f7f7f7f7f7f7f7f)

struct eight {
    uint64_t sum;
    unsigned count;
    unsigned bytes; // of the values that end in these 8 bytes
};

// The groups of seven bits from byte `first` to byte `last`.
#define GROUPS(bits, first, last) ((bits) >> 7 * (first) & UINT64_MAX >> (64 - 7 * ((last) + 1 - (first))))

// If byte `index` ends a value, that value begins at byte `bytes`, a constant in each piece of code.
#define BYTE(index)                                    \
    if ((mask >> (index) & 1) == 0) {                  \
        found.sum += GROUPS(bits, found.bytes, index); \
        found.count++;                                 \
        found.bytes = (index) + 1;                     \
    }

static inline __attribute__((always_inline)) struct eight read_masked(uint64_t bits, unsigned mask) {
    struct eight found = {0, 0, 0};
    BYTE(0) BYTE(1) BYTE(2) BYTE(3) BYTE(4) BYTE(5) BYTE(6) BYTE(7)
    return found;
}

// clang-format off
#define CASE(mask) case (mask): found = read_masked(bits, (mask)); break;
#define CASES4(n) CASE(n) CASE((n) + 1) CASE((n) + 2) CASE((n) + 3)
#define CASES16(n) CASES4(n) CASES4((n) + 4) CASES4((n) + 8) CASES4((n) + 12)
#define CASES64(n) CASES16(n) CASES16((n) + 16) CASES16((n) + 32) CASES16((n) + 48)
// clang-format on

__attribute__((target("bmi,bmi2")))
uint64_t decode_mask8(const uint8_t *data, size_t size) {
    const size_t complete = varint_complete_size(data, size);
    const uint8_t *const end = data + complete;
    const uint8_t *at = data;
    uint64_t sum = 0, count = 0;

    while (end - at >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        const uint64_t bits = _pext_u64(word, PAYLOAD);
        struct eight found = {0, 0, 0};
        switch (_pext_u64(word, CONTINUATION)) {
            CASES64(0) CASES64(64) CASES64(128) CASES64(192)
        }
        if (__builtin_expect(found.bytes == 0, 0)) {
            const uint8_t *const start = at;
            at = varint_read_by_byte(at, &found.sum);
            if (at == NULL) {
                return varint_error_answer(VARINT_OVER_LONG, (size_t)(start - data));
            }
            found.count = 1;
        }
        sum += found.sum;
        count += found.count;
        at += found.bytes;
    }
    while (at < end) { // at most 7 bytes: nothing can be over-long
        uint64_t value = 0;
        at = varint_read_by_byte(at, &value);
        sum += value;
        count++;
    }
    return varint_answer(sum, count, complete, size);
}

#else

uint64_t decode_mask8(const uint8_t *data, size_t size) {
    return decode_branch(data, size);
}

#endif
