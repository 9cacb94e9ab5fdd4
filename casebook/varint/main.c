// The measured program of the varint study: registers the decoders, nothing else.

#include <assay.h>

#include "varint.h"

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
ASSAY_MAIN()
