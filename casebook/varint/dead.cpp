// The second document's very first benchmark: a value is decoded and not used. A compiler leaves the work out, and the
// loop takes no time. `assay run dead.toml` refuses it and says why.

#include <assay.h>

static inline uint32_t parse(const uint8_t *at) {
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

// As the document has it: nothing keeps the value.
ASSAY_LOOP("unused", state, in) {
    while (assay_next(state)) {
        uint32_t value = parse(in.data);
        (void)value;
    }
}

// With a right answer, got once behind the loop: the loop is empty all the same.
ASSAY_LOOP("answered", state, in) {
    while (assay_next(state)) {
        uint32_t value = parse(in.data);
        (void)value;
    }
    assay_answer(state, parse(in.data));
}

// What it became in the document: the value is used in each iteration.
ASSAY_LOOP("used", state, in) {
    uint32_t value = 0;
    while (assay_next(state)) {
        value = parse(in.data);
        assay_use(value);
    }
    assay_answer(state, value);
}

ASSAY_MAIN()
