/* A buffer that is resized, cleared memory, aligned memory. */
#include <assay.h>

static uint64_t resized(const uint8_t *data, size_t size)
{
    size_t room = 8, used = 0, i;
    uint8_t *bytes = (uint8_t *)malloc(room);
    uint64_t total = 0;
    for (i = 0; i < size; i++) {
        if (used == room) {
            bytes = (uint8_t *)realloc(bytes, room += room / 2);
        }
        bytes[used++] = data[i];
    }
    for (i = 0; i < used; i++) {
        total += bytes[i];
    }
    free(bytes);
    return total;
}

static uint64_t aligned(const uint8_t *data, size_t size)
{
    uint8_t *clear = (uint8_t *)calloc(size, 2), *lines = (uint8_t *)aligned_alloc(64, (size + 63) / 64 * 64);
    uint64_t total = 0;
    size_t i;
    for (i = 0; i < size; i++) {
        lines[i] = (uint8_t)(data[i] + clear[2 * i]);
    }
    for (i = 0; i < size; i++) {
        total += lines[i];
    }
    assay_use(lines);
    assay_use(clear);
    free(clear);
    free(lines);
    return total;
}

ASSAY_VARIANT("resized", resized)
ASSAY_VARIANT("aligned", aligned)
ASSAY_MAIN()
