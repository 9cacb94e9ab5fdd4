// The decoder of one value that the second document begins with, for its loops that decode one again and again.

#pragma once

#include <stdint.h>

// A 32-bit value, a byte at a time.
static inline uint32_t parse_branch(const uint8_t *at) {
    uint32_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = *at++;
        value |= (uint32_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}
