// The second document's very first benchmark: a value is decoded and not used. A compiler leaves the work out, and the
// loop takes no time. `assay run dead.toml` refuses it and says why.

#include "one_value.h"

#include <assay.h>

// As the document has it: nothing keeps the value.
ASSAY_LOOP("unused", state, in) {
    while (assay_next(state)) {
        uint32_t value = parse_branch(in.data);
        (void)value;
    }
}

// With a right answer, got once behind the loop: the loop is empty all the same.
ASSAY_LOOP("answered", state, in) {
    while (assay_next(state)) {
        uint32_t value = parse_branch(in.data);
        (void)value;
    }
    assay_answer(state, parse_branch(in.data));
}

// What it became in the document: the value is used in each iteration.
ASSAY_LOOP("used", state, in) {
    uint32_t value = 0;
    while (assay_next(state)) {
        value = parse_branch(in.data);
        assay_use(value);
    }
    assay_answer(state, value);
}

ASSAY_MAIN()
