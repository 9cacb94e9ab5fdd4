// `swar`: no branch on a length and no instruction beyond the baseline. The lowest clear continuation bit of 8 bytes gives
// the length; the groups of seven bits are joined in pairs, then fours, then eights, by masks and shifts.
//
// Each value waits for the length of the one before: about nine cycles, whatever the data.

#include <string.h>

#include "varint.h"

#define CONTINUATION UINT64_C(0x8080808080808080)
#define PAYLOAD UINT64_C(0x7f7f7f7f7f7f7f7f)

uint64_t decode_swar(const uint8_t *data, size_t size) {
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
            // Below the lowest stop bit all bits are the value's own.
            value = word & (stops - 1) & PAYLOAD;
            value = (value & UINT64_C(0x007f007f007f007f)) | (value & UINT64_C(0x7f007f007f007f00)) >> 1;
            value = (value & UINT64_C(0x00003fff00003fff)) | (value & UINT64_C(0x3fff00003fff0000)) >> 2;
            value = (value & UINT64_C(0x0fffffff)) | (value & UINT64_C(0x0fffffff00000000)) >> 4;
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
