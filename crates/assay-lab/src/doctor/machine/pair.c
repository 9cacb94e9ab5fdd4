/* Two functions that are the same: only the machine and their placement differ. An ordinary loop, with a branch that
 * no predictor can guess now and then. */
#include <assay.h>

#if defined(__clang__)
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone, no_icf, no_reorder))
#endif

#define SUM_OF_VARINTS(name)                                        \
    APART static uint64_t name(const uint8_t *data, size_t size)    \
    {                                                               \
        uint64_t sum = 0;                                           \
        size_t at = 0;                                              \
        while (at < size) {                                         \
            uint64_t value = 0;                                     \
            unsigned shift = 0;                                     \
            uint8_t byte;                                           \
            do {                                                    \
                byte = data[at++];                                  \
                value |= (uint64_t)(byte & 127) << shift;           \
                shift += 7;                                         \
            } while (byte & 128 && at < size);                      \
            sum += value;                                           \
        }                                                           \
        return sum;                                                 \
    }

SUM_OF_VARINTS(one)
SUM_OF_VARINTS(other)
ASSAY_VARIANT("one", one)
ASSAY_VARIANT("other", other)
ASSAY_MAIN()
