/* Functions whose cost is known where something is cold; see README.md. */
#include <assay.h>

/* One load per call, from the first line of its window. */
static uint64_t touch(const uint8_t *data, size_t size)
{
    (void)size;
    return data[0];
}

/* Straight code of 4 KiB and no data beside one byte: eight sums that do not wait for each other. */
#define STEP a += 0x12345; b += 0x23456; c += 0x34567; d += 0x45678; e += 0x56789; f += 0x6789a; g += 0x789ab; h += 0x89abc;
#define KEEP __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
#define STEPS_4 STEP KEEP STEP KEEP STEP KEEP STEP KEEP
#define STEPS_16 STEPS_4 STEPS_4 STEPS_4 STEPS_4

static uint64_t straight(const uint8_t *data, size_t size)
{
    uint64_t a = data[0], b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7;
    (void)size;
    STEPS_16 STEPS_16 STEPS_16 STEPS_16 STEPS_4 STEPS_4
    return (a + b + c + d + e + f + g + h) & 0xff;
}

/* 64 branches in a small loop, each as the first byte's bits say: learned at once where the predictor is warm. */
static uint64_t branches(const uint8_t *data, size_t size)
{
    uint64_t sum = 0, bits = 0x5bd1e995a9d34c17u ^ (uint64_t)(data[0] & 0);
    int i;
    (void)size;
    for (i = 0; i < 64; i++) {
        if (bits >> i & 1) {
            __asm__ volatile("" : "+r"(sum)); /* stays a branch */
            sum += 3;
        }
    }
    return sum;
}

ASSAY_VARIANT("touch", touch)
ASSAY_VARIANT("straight", straight)
ASSAY_VARIANT("branches", branches)
ASSAY_MAIN()
