// `unrolled`: one load of 8 bytes, then a test for each length in turn, as parsers of protocol buffers do it. The branches
// are those of the byte loop; what goes is the loop, a load for each byte, and the shift by a variable.

#include <string.h>

#include "varint.h"

uint64_t decode_unrolled(const uint8_t *data, size_t size) {
    const size_t complete = varint_complete_size(data, size);
    const uint8_t *const end = data + complete;
    const uint8_t *at = data;
    uint64_t sum = 0, count = 0;

    while (at < end) {
        const uint8_t *const start = at;
        uint64_t word = 0;
        uint64_t value;
        if (__builtin_expect(end - at >= 8, 1)) {
            memcpy(&word, at, sizeof word);
        } else {
            memcpy(&word, at, (size_t)(end - at));
        }
        value = word & 0x7f;
        if ((word & 0x80) == 0) {
            at += 1;
        } else if (value |= word >> 1 & UINT64_C(0x7f) << 7, (word & 0x8000) == 0) {
            at += 2;
        } else if (value |= word >> 2 & UINT64_C(0x7f) << 14, (word & 0x800000) == 0) {
            at += 3;
        } else if (value |= word >> 3 & UINT64_C(0x7f) << 21, (word & 0x80000000) == 0) {
            at += 4;
        } else if (value |= word >> 4 & UINT64_C(0x7f) << 28, (word & UINT64_C(0x8000000000)) == 0) {
            at += 5;
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
