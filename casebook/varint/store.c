// The measured program of the study's second half: decoders that store 32-bit values, as they are used, and memcpy beside
// them as the second document does it.
//
// Values go through a ring of four megabytes, so that they are written as those of a long stream are, beyond the
// second-level cache. The answer of a call is made from its status, the number of values, and every 61st of them:
// all would cost more than the fastest decoder, and 61 meets every lane of every register. That all values are right
// is test_simd.c's business.

#include <assay.h>

#include "copied.h"
#include "u32.h"
#include "varint.h"

enum { SLOTS = 1 << 20, SAMPLED = 61 };

static uint32_t ring[SLOTS];
static size_t next_slot;

// A page that was never written costs more than all values that fit it.
__attribute__((constructor)) static void touch_ring(void) {
    memset(ring, 1, sizeof ring);
}

// An input of more values than the ring has is decoded in pieces.
static inline __attribute__((always_inline)) uint64_t store(u32_decoder *decode, const uint8_t *data, size_t size) {
    uint64_t sum = 0, count = 0;
    size_t done = 0;
    for (;;) {
        const size_t most = size - done < SLOTS ? size - done : SLOTS;
        next_slot = SLOTS - next_slot < most ? 0 : next_slot;
        uint32_t *const out = ring + next_slot;
        const struct simd_varint_result result = decode(data + done, size - done, out, most);
        next_slot += result.values;
        for (size_t i = 0; i < result.values; i += SAMPLED) {
            sum += out[i];
        }
        count += result.values;
        done += result.bytes;
        if (result.status != SIMD_VARINT_FULL) {
            return result.status == SIMD_VARINT_OK ? varint_digest(sum, count)
                                                   : varint_error_answer((enum varint_error)result.status, done);
        }
    }
}

static void *prepare_copy(const uint8_t *data, size_t size) {
    return copied_prepare(data, size, store(u32_loop, data, size));
}

#define STORE(name, level, reason)                                       \
    static uint64_t store_##name(const uint8_t *data, size_t size) {     \
        return store(u32_##name, data, size);                            \
    }                                                                    \
    ASSAY_VARIANT_IF(#name, store_##name, simd_varint_best() >= level, reason)

STORE(loop, SIMD_VARINT_SCALAR, "")
STORE(unrolled, SIMD_VARINT_SCALAR, "")
STORE(swar, SIMD_VARINT_SCALAR, "")
#if defined(__x86_64__)
STORE(pext, SIMD_VARINT_AVX2_SLOW_PEXT, "needs an x86-64 processor with BMI2")
STORE(first, SIMD_VARINT_AVX2_SLOW_PEXT, "needs an x86-64 processor with BMI2")
STORE(mask8, SIMD_VARINT_AVX2_SLOW_PEXT, "needs an x86-64 processor with BMI2")
STORE(avx2, SIMD_VARINT_AVX2, "needs an x86-64 processor with AVX2 and a fast pext")
STORE(avx512, SIMD_VARINT_AVX512, "needs an x86-64 processor with AVX-512 VBMI2")
#endif
ASSAY_VARIANT_PREPARED("memcpy", prepare_copy, copied_run, free)
ASSAY_MAIN()
