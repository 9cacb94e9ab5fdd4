/* What a state loop of assay.h costs per iteration; compiled as C and as C++. google.cpp and the example loops.rs of
 * crates/assay-harness hold the same two bodies. */
#include <assay.h>

ASSAY_LOOP("empty", state, in)
{
    while (assay_next(state)) {
    }
}

ASSAY_LOOP("use", state, in)
{
    uint64_t x = in.size;
    while (assay_next(state)) {
        assay_use(x);
    }
}

ASSAY_MAIN()
