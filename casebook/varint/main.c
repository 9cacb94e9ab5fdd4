// The measured program of the varint study: registers the decoders and memcpy, nothing else.

#include <assay.h>

#include "copied.h"
#include "varint.h"

static void *prepare_copy(const uint8_t *data, size_t size) {
    return copied_prepare(data, size, decode_branch(data, size));
}

ASSAY_VARIANT("branch", decode_branch)
ASSAY_VARIANT("table", decode_table)
ASSAY_VARIANT("hinted", decode_hinted)
ASSAY_VARIANT("unrolled", decode_unrolled)
ASSAY_VARIANT("swar", decode_swar)
ASSAY_VARIANT("hybrid", decode_hybrid)
ASSAY_VARIANT_IF("bmi2", decode_bmi2, bmi2_can_run(), "needs an x86-64 processor with BMI1 and BMI2")
ASSAY_VARIANT_IF("first", decode_first, bmi2_can_run(), "needs an x86-64 processor with BMI1 and BMI2")
ASSAY_VARIANT_IF("mask8", decode_mask8, bmi2_can_run(), "needs an x86-64 processor with BMI1 and BMI2")
ASSAY_VARIANT_IF("avx2", decode_avx2, avx2_can_run(), "needs an x86-64 processor with AVX2 and BMI2")
ASSAY_VARIANT_IF("avx512", decode_avx512, avx512_can_run(), "needs an x86-64 processor with AVX-512 VBMI2")
ASSAY_VARIANT_PREPARED("memcpy", prepare_copy, copied_run, free)
ASSAY_MAIN()
