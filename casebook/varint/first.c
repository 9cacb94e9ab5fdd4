// `first`: a value of one byte by a branch, longer ones as in `bmi2`: one branch on the data for each value, where the
// byte loop has as many as the value has bytes.

#include "varint.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define CONTINUATION UINT64_C(0x8080808080808080)
#define PAYLOAD UINT64_C(0x7f7f7f7f7f7f7f7f)

__attribute__((target("bmi,bmi2")))
uint64_t decode_first(const uint8_t *data, size_t size) {
    const size_t complete = varint_complete_size(data, size);
    const uint8_t *const end = data + complete;
    const uint8_t *at = data;
    uint64_t sum = 0, count = 0;

    while (at < end) {
        const uint8_t *const start = at;
        uint64_t value = *at;
        uint64_t stops = 0;
        uint64_t word = 0;
        count++;
        if (value < 0x80) {
            sum += value;
            at++;
            continue;
        }
        if (__builtin_expect(end - at >= 8, 1)) {
            memcpy(&word, at, sizeof word);
            stops = ~word & CONTINUATION;
        }
        if (__builtin_expect(stops != 0, 1)) {
            value = _pext_u64(word, (stops - 1) & PAYLOAD);
            at += ((unsigned)__builtin_ctzll(stops) >> 3) + 1;
        } else {
            at = varint_read_by_byte(at, &value);
            if (at == NULL) {
                return varint_error_answer(VARINT_OVER_LONG, (size_t)(start - data));
            }
        }
        sum += value;
    }
    return varint_answer(sum, count, complete, size);
}

#else

uint64_t decode_first(const uint8_t *data, size_t size) {
    return decode_branch(data, size);
}

#endif
