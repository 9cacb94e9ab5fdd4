// One value decoded again and again in a loop of the program's own, as the second document does: no call, no digest, and
// no iteration waits for the one before.

#include "one_value.h"

#include <assay.h>

#include <string.h>

ASSAY_LOOP("branch", state, in) {
    uint32_t value = 0;
    while (assay_next(state)) {
        value = parse_branch(in.data);
        assay_use(value);
    }
    assay_answer(state, value);
}

#if defined(__x86_64__)

#include <immintrin.h>

// The same without a branch: 64 readable bytes follow every input, so eight can always be loaded.
__attribute__((target("bmi,bmi2"))) static inline uint32_t parse_bmi2(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    const uint64_t stops = ~word & UINT64_C(0x8080808080);
    return (uint32_t)_pext_u64(word & (stops ^ (stops - 1)), UINT64_C(0x7f7f7f7f7f));
}

// The loop is a function of its own, since the harness's is not built for BMI2 and could not take the parser in. So is
// the state, which would otherwise be counted down in memory.
__attribute__((target("bmi,bmi2"), noinline)) static uint32_t loop_bmi2(struct assay_state *state, const uint8_t *data) {
    struct assay_state own = *state;
    uint32_t value = 0;
    while (assay_next(&own)) {
        value = parse_bmi2(data);
        assay_use(value);
    }
    *state = own;
    return value;
}

ASSAY_LOOP("bmi2", state, in) { assay_answer(state, loop_bmi2(state, in.data)); }

#endif

ASSAY_MAIN()
