// `table`: the same loop, with the payload and the continuation bit looked up instead of masked.
//
// It executes the same conditional branches as `branch`, on the same outcomes; what differs is a
// load between the byte and the branch that depends on it.

#include "varint.h"

struct entry {
    uint8_t value;
    uint8_t more;
};

// clang-format off
#define FINAL1(n) {(n), 0}
#define MORE1(n)  {(n), 1}
#define FINAL4(n) FINAL1(n), FINAL1((n) + 1), FINAL1((n) + 2), FINAL1((n) + 3)
#define MORE4(n)  MORE1(n), MORE1((n) + 1), MORE1((n) + 2), MORE1((n) + 3)
#define FINAL16(n) FINAL4(n), FINAL4((n) + 4), FINAL4((n) + 8), FINAL4((n) + 12)
#define MORE16(n)  MORE4(n), MORE4((n) + 4), MORE4((n) + 8), MORE4((n) + 12)
#define FINAL64(n) FINAL16(n), FINAL16((n) + 16), FINAL16((n) + 32), FINAL16((n) + 48)
#define MORE64(n)  MORE16(n), MORE16((n) + 16), MORE16((n) + 32), MORE16((n) + 48)
// clang-format on

static const struct entry entries[256] = {FINAL64(0), FINAL64(64), MORE64(0), MORE64(64)};

uint64_t decode_table(const uint8_t *data, size_t size) {
    const size_t complete = varint_complete_size(data, size);
    const uint8_t *const end = data + complete;
    const uint8_t *at = data;
    uint64_t sum = 0, count = 0;

    while (at < end) {
        const uint8_t *const start = at;
        uint64_t value = 0;
        unsigned shift = 0;
        for (;;) {
            const struct entry entry = entries[*at++];
            value |= (uint64_t)entry.value << shift;
            if (!entry.more) {
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
