// The decoders that store 32-bit values: the same ideas as in varint.h's, to the contract of simd_varint.h.
#ifndef U32_H
#define U32_H

#include "simd_varint.h"

typedef struct simd_varint_result u32_decoder(const uint8_t *data, size_t size, uint32_t *out, size_t capacity);

u32_decoder u32_loop;
u32_decoder u32_unrolled;
u32_decoder u32_swar;

// x86-64 only, and only where u32_can_run() says so.
u32_decoder u32_pext;
u32_decoder u32_first;
u32_decoder u32_mask8;
u32_decoder u32_avx2_slow_pext;
u32_decoder u32_avx2;
u32_decoder u32_avx512;

struct u32_variant {
    const char *name;
    u32_decoder *decode;
    enum simd_varint_level needs; // at least
};

// Those of this architecture.
extern const struct u32_variant u32_variants[];
extern const size_t u32_variant_count;

int u32_can_run(const struct u32_variant *variant);

#endif
