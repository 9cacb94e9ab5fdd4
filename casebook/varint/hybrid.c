// `hybrid`: what the crossovers of this study suggest where there is no SIMD decoder. Lengths that can be foretold are
// read by branches, which cost nothing then; lengths that cannot, without: a chain of nine cycles for each value beats
// the price of a misprediction every few values.
//
// Which of the two a stream is, is told from the stream: values are read in runs of 256, and in each the changes of length
// from a value to the next are counted. More of them than LIMIT, and the next run is read without branches. Of lengths
// drawn independently from one and two bytes, a share p of one byte makes 2 p (1 - p) changes; loop and chain cross at about
// p = 0.67, which makes 0.44. Lengths that alternate regularly look worse than they are, and those that a predictor knows by
// heart too.

#include <string.h>

#include "varint.h"

#define CONTINUATION UINT64_C(0x8080808080808080)
#define PAYLOAD UINT64_C(0x7f7f7f7f7f7f7f7f)

enum { RUN = 256, LIMIT = 112 };

struct place {
    const uint8_t *at;    // NULL: over-long
    const uint8_t *start; // of the value that is
    uint64_t sum;
    unsigned changes;
};

// Both read up to RUN values, as long as there are eight bytes to load.
static struct place read_by_branches(struct place place, const uint8_t *end, uint64_t *count) {
    ptrdiff_t last = 0;
    for (unsigned i = 0; i < RUN && end - place.at >= 8; i++) {
        const uint8_t *const start = place.at;
        uint64_t word;
        memcpy(&word, start, sizeof word);
        uint64_t value = word & 0x7f;
        if ((word & 0x80) == 0) {
            place.at += 1;
        } else if (value |= word >> 1 & UINT64_C(0x7f) << 7, (word & 0x8000) == 0) {
            place.at += 2;
        } else if (value |= word >> 2 & UINT64_C(0x7f) << 14, (word & 0x800000) == 0) {
            place.at += 3;
        } else if (value |= word >> 3 & UINT64_C(0x7f) << 21, (word & 0x80000000) == 0) {
            place.at += 4;
        } else if (value |= word >> 4 & UINT64_C(0x7f) << 28, (word & UINT64_C(0x8000000000)) == 0) {
            place.at += 5;
        } else {
            place.at = varint_read_by_byte(start, &value);
            if (place.at == NULL) {
                place.start = start;
                return place;
            }
        }
        place.changes += place.at - start != last;
        last = place.at - start;
        place.sum += value;
        ++*count;
    }
    return place;
}

static struct place read_without(struct place place, const uint8_t *end, uint64_t *count) {
    unsigned last = 0;
    for (unsigned i = 0; i < RUN && end - place.at >= 8; i++) {
        const uint8_t *const start = place.at;
        uint64_t word;
        memcpy(&word, start, sizeof word);
        const uint64_t stops = ~word & CONTINUATION;
        if (__builtin_expect(stops == 0, 0)) {
            uint64_t value;
            place.at = varint_read_by_byte(start, &value);
            if (place.at == NULL) {
                place.start = start;
                return place;
            }
            place.sum += value;
            ++*count;
            continue;
        }
        uint64_t value = word & (stops - 1) & PAYLOAD;
        value = (value & UINT64_C(0x007f007f007f007f)) | (value & UINT64_C(0x7f007f007f007f00)) >> 1;
        value = (value & UINT64_C(0x00003fff00003fff)) | (value & UINT64_C(0x3fff00003fff0000)) >> 2;
        value = (value & UINT64_C(0x0fffffff)) | (value & UINT64_C(0x0fffffff00000000)) >> 4;
        const unsigned bits = (unsigned)__builtin_ctzll(stops);
        place.at += (bits >> 3) + 1;
        place.changes += bits != last;
        last = bits;
        place.sum += value;
        ++*count;
    }
    return place;
}

uint64_t decode_hybrid(const uint8_t *data, size_t size) {
    const size_t complete = varint_complete_size(data, size);
    const uint8_t *const end = data + complete;
    struct place place = {data, data, 0, 0};
    uint64_t count = 0;

    while (end - place.at >= 8) {
        const unsigned changes = place.changes;
        place.changes = 0;
        place = changes <= LIMIT ? read_by_branches(place, end, &count) : read_without(place, end, &count);
        if (place.at == NULL) {
            return varint_error_answer(VARINT_OVER_LONG, (size_t)(place.start - data));
        }
    }
    while (place.at < end) { // at most 7 bytes: nothing can be over-long
        uint64_t value = 0;
        place.at = varint_read_by_byte(place.at, &value);
        place.sum += value;
        count++;
    }
    return varint_answer(place.sum, count, complete, size);
}
