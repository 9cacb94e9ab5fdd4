/* The program that harness/vectors.txt speaks to; crates/assay-harness/examples/vectors.rs is the same in Rust. Compiles
 * as C11 and as C++17. */
#include <assay.h>

static uint64_t sum(const uint8_t *data, size_t size)
{
    uint64_t total = 0;
    size_t i;
    for (i = 0; i < size; i++) {
        total += data[i];
    }
    return total;
}

struct bytes {
    const uint8_t *data;
    size_t size;
};

static void *prepare(const uint8_t *data, size_t size)
{
    struct bytes *bytes = (struct bytes *)malloc(sizeof *bytes);
    if (bytes == NULL) {
        abort();
    }
    bytes->data = data;
    bytes->size = size;
    return bytes;
}

static uint64_t sum_prepared(const void *prepared)
{
    const struct bytes *bytes = (const struct bytes *)prepared;
    return sum(bytes->data, bytes->size);
}

ASSAY_VARIANT("sum", sum)
ASSAY_VARIANT_PREPARED("sum/prepared", prepare, sum_prepared, free)
ASSAY_LOOP("sum/looped", state, in)
{
    uint64_t total = 0;
    while (assay_next(state)) {
        total = sum(in.data, in.size);
        assay_use(total);
    }
    assay_answer(state, total);
}
ASSAY_VARIANT_IF("absent", sum, 0, "no machine can run this")
static void *copy_of(const uint8_t *data, size_t size)
{
    struct bytes *copy = (struct bytes *)malloc(sizeof *copy + size);
    if (copy == NULL) {
        abort();
    }
    copy->data = (uint8_t *)(copy + 1);
    copy->size = size;
    memcpy(copy + 1, data, size);
    return copy;
}

static uint64_t sum_and_clear(void *fresh)
{
    struct bytes *copy = (struct bytes *)fresh;
    uint64_t total = sum(copy->data, copy->size);
    memset(copy + 1, 0, copy->size);
    return total;
}

ASSAY_VARIANT_FRESH("sum/fresh", copy_of, sum_and_clear, free)
ASSAY_MAIN()
