// `bmi2`: no branch depends on a value of up to 8 bytes. One load takes 8 bytes, the lowest clear
// continuation bit gives the length, and pext packs the payloads of the bytes up to it.
//
// Values of 9 and 10 bytes, and those that start in the last 7 bytes (where the load would read past the
// end of the data), are read byte by byte; the first are rare, the second at most 7 in a call.

#include "varint.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define CONTINUATION UINT64_C(0x8080808080808080)
#define PAYLOAD UINT64_C(0x7f7f7f7f7f7f7f7f)

__attribute__((target("bmi,bmi2")))
uint64_t decode_bmi2(const uint8_t *data, size_t size) {
    const size_t complete = varint_complete_size(data, size);
    const uint8_t *const end = data + complete;
    const uint8_t *at = data;
    uint64_t sum = 0, count = 0;

    while (at < end) {
        const uint8_t *const start = at;
        uint64_t value;
        uint64_t stops = 0;
        uint64_t word = 0;
        if (__builtin_expect(end - at >= 8, 1)) {
            memcpy(&word, at, sizeof word);
            stops = ~word & CONTINUATION;
        }
        if (__builtin_expect(stops != 0, 1)) {
            // All bits up to the first clear continuation bit, itself included.
            const uint64_t own = stops ^ (stops - 1);
            value = _pext_u64(word & own, PAYLOAD);
            at += ((unsigned)__builtin_ctzll(stops) >> 3) + 1;
        } else {
            at = varint_read_by_byte(at, &value);
            if (at == NULL) {
                return varint_error_answer(VARINT_OVER_LONG, (size_t)(start - data));
            }
        }
        sum += value;
        count++;
    }
    return varint_answer(sum, count, complete, size);
}

int bmi2_can_run(void) {
    return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

#else

uint64_t decode_bmi2(const uint8_t *data, size_t size) {
    return decode_branch(data, size);
}

int bmi2_can_run(void) {
    return 0;
}

#endif
