// `hinted`: a value of one byte is taken first and straight through, as the hint promises; longer
// ones go on in the byte loop.

#include "varint.h"

uint64_t decode_hinted(const uint8_t *data, size_t size) {
    const size_t complete = varint_complete_size(data, size);
    const uint8_t *const end = data + complete;
    const uint8_t *at = data;
    uint64_t sum = 0, count = 0;

    while (at < end) {
        uint64_t value = *at++;
        count++;
        if (__builtin_expect(value < 0x80, 1)) {
            sum += value;
            continue;
        }
        const uint8_t *const start = at - 1;
        value &= 0x7f;
        for (unsigned shift = 7;; shift += 7) {
            if (shift == 63) {
                if (*at > 1) {
                    return varint_error_answer(VARINT_OVER_LONG, (size_t)(start - data));
                }
                value |= (uint64_t)*at++ << 63;
                break;
            }
            const uint8_t byte = *at++;
            value |= (uint64_t)(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) {
                break;
            }
        }
        sum += value;
    }
    return varint_answer(sum, count, complete, size);
}
