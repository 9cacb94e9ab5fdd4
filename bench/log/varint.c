/* The casebook's decoder that branches at each byte, in the place of a kernel of fixtures/nulls. Of bytes below 128 each is a
 * value, so half of them are given the continuation bit when the program starts. */
#include "../../casebook/varint/branch.c"

enum { MOST = 1 << 14 };
static uint8_t values[MOST];

uint64_t pair_a(const uint8_t *data, size_t size)
{
    /* A pass writes its window anew: a loop without a branch to guess, a small part of the work. */
    for (size_t at = 0; at < size; at++) {
        values[at] = (uint8_t)(data[at] << 1 | data[at] >> 6);
    }
    values[size - 1] = 0;
    return decode_branch(values, size);
}
