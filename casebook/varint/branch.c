// `branch`: one byte, one test of the continuation bit, the loop everybody writes first.

#include "varint.h"

uint64_t decode_branch(const uint8_t *data, size_t size) {
    const size_t complete = varint_complete_size(data, size);
    const uint8_t *const end = data + complete;
    const uint8_t *at = data;
    uint64_t sum = 0, count = 0;

    while (at < end) {
        const uint8_t *const start = at;
        uint64_t value = 0;
        unsigned shift = 0;
        for (;;) {
            const uint8_t byte = *at++;
            value |= (uint64_t)(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) {
                break;
            }
            shift += 7;
            if (shift == 63) {
                if (*at > 1) {
                    return varint_error_answer(VARINT_OVER_LONG, (size_t)(start - data));
                }
                value |= (uint64_t)*at++ << 63;
                break;
            }
        }
        sum += value;
        count++;
    }
    return varint_answer(sum, count, complete, size);
}
