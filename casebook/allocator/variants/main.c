// The measured program: the seed's workload on each stage's allocator and on the C library's, side by side.
//
// The input is a stream of varints, a number for each operation, which is decoded outside the timed region; in it a
// number chooses slot and size as in bench.c. The loop is the same for all and not inlined, so that its branches, the
// harness's own, are told apart from the allocator's by the function they are in.

#include <assay.h>
#include <stdlib.h>

#define SLOTS 256

struct operations {
    size_t count;
    uint32_t numbers[];
};

static void *decode(const uint8_t *data, size_t size) {
    struct operations *operations = malloc(sizeof *operations + (size + 1) * sizeof(uint32_t));
    if (operations == NULL) {
        abort();
    }
    operations->count = 0;
    for (size_t at = 0; at < size;) {
        uint64_t number = 0;
        for (unsigned shift = 0; at < size; shift += 7) {
            const uint8_t byte = data[at++];
            number |= (uint64_t)(byte & 0x7f) << (shift % 64);
            if (byte < 0x80) {
                break;
            }
        }
        operations->numbers[operations->count++] = (uint32_t)number;
    }
    return operations;
}

// The answer: how many blocks there were, and how large they were in all. It is the same for every allocator that
// gives blocks where it should.
#define MIXED(name, take, give)                                                       \
    void *take(size_t size);                                                          \
    void give(void *block);                                                           \
    __attribute__((noinline)) static uint64_t mixed_##name(const void *prepared) {    \
        const struct operations *operations = prepared;                               \
        unsigned char *slots[SLOTS] = {NULL};                                         \
        uint64_t blocks = 0, bytes = 0;                                               \
        for (size_t i = 0; i < operations->count; i++) {                              \
            const uint32_t r = operations->numbers[i];                                \
            unsigned char **slot = &slots[r % SLOTS];                                 \
            if (*slot != NULL) {                                                      \
                give(*slot);                                                          \
                *slot = NULL;                                                         \
            } else {                                                                  \
                *slot = take(16 + (r & 0x3ff));                                       \
                **slot = (unsigned char)r;                                            \
                blocks++;                                                             \
                bytes += 16 + (r & 0x3ff);                                            \
            }                                                                         \
        }                                                                             \
        for (size_t i = 0; i < SLOTS; i++) {                                          \
            give(slots[i]);                                                           \
        }                                                                             \
        return blocks << 40 ^ bytes;                                                  \
    }                                                                                 \
    ASSAY_VARIANT_PREPARED(#name, decode, mixed_##name, free)

MIXED(libc, malloc, free)
MIXED(debug, debug_malloc, debug_free)
MIXED(release, release_malloc, release_free)
MIXED(config_once, config_once_malloc, config_once_free)
MIXED(two_layers, two_layers_malloc, two_layers_free)
MIXED(hints, hints_malloc, hints_free)
MIXED(final, final_malloc, final_free)
ASSAY_MAIN()
