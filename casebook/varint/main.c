// The measured program of the varint study: registers the decoders, nothing else.

#include <assay.h>

#include "varint.h"

ASSAY_VARIANT("branch", decode_branch)
ASSAY_VARIANT("table", decode_table)
ASSAY_VARIANT("hinted", decode_hinted)
ASSAY_VARIANT_IF("bmi2", decode_bmi2, bmi2_can_run(), "needs an x86-64 processor with BMI1 and BMI2")
ASSAY_MAIN()
