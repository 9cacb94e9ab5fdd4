// `memcpy` of the encoded bytes, as the second document measures it: what reading a stream and writing as much costs at
// least. It reads no value; its answer is a decoder's, taken while preparing. Include after assay.h.
#ifndef COPIED_H
#define COPIED_H

#include <stdlib.h>
#include <string.h>

struct copied {
    const uint8_t *data;
    size_t size;
    uint64_t answer;
};

// Longer streams are copied to the same four megabytes again and again: a process for each placement is alive at once.
static uint8_t copied_to[4 << 20];

static void *copied_prepare(const uint8_t *data, size_t size, uint64_t answer) {
    struct copied *const copied = malloc(sizeof *copied);
    if (copied != NULL) {
        *copied = (struct copied){data, size, answer};
    }
    memset(copied_to, 1, size < sizeof copied_to ? size : sizeof copied_to); // a page's first write is not the copy's
    return copied;
}

static uint64_t copied_run(const void *prepared) {
    const struct copied *const from = prepared;
    for (size_t done = 0; done < from->size; done += sizeof copied_to) {
        const size_t left = from->size - done;
        memcpy(copied_to, from->data + done, left < sizeof copied_to ? left : sizeof copied_to);
        assay_clobber();
    }
    return from->answer;
}

#endif
