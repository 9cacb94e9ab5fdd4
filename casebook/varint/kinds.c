// The measured program of kinds.toml: four of the decoders, so that a slow machine builds it soon.

#include <assay.h>

#include "varint.h"

ASSAY_VARIANT("branch", decode_branch)
ASSAY_VARIANT("table", decode_table)
ASSAY_VARIANT("swar", decode_swar)
ASSAY_VARIANT_IF("bmi2", decode_bmi2, bmi2_can_run(), "needs an x86-64 processor with BMI1 and BMI2")
ASSAY_MAIN()
