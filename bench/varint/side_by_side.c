// Decoders of 32-bit varints side by side, in one process, in turns: ours, and those of shared objects in a folder.
//
// A figure is nanoseconds of this process's CPU time for each value. Every repeat draws a fresh stream of each shape,
// and decodes it with every decoder in an order of its own: once unmeasured, then often enough for about a millisecond.
// Every decoder's values are compared with the generator's before it is timed.
//
// With a PIECE, the stream is cut into buffers of so many values, each decoded by a call of its own into slots of its
// own: what short messages cost that are not the same again and again.
//
// Use: side_by_side VALUES REPEATS SHAPES PIECE PEERS...     see run.sh

#define _GNU_SOURCE // RTLD_LOCAL, MAP_ANONYMOUS

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../casebook/varint/u32.h"

enum { MAX_DECODERS = 32, MAX_BYTES = 5, SLACK = 4096, SHAPES = 8 };

struct decoder {
    const char *name;
    u32_decoder *own;                                                        // NULL: a peer's
    size_t (*peer)(const uint8_t *data, size_t size, uint32_t *out, size_t count);
    size_t (*encode)(const uint32_t *values, size_t count, uint8_t *to);     // NULL: LEB128
    double *ns[SHAPES];
};

static struct decoder decoders[MAX_DECODERS];
static size_t decoder_count;

// ---- streams ------------------------------------------------------------------------------------------------------

static uint64_t state;

static uint64_t next_random(void) { // splitmix64
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// A uniform value among those that need `length` bytes.
static uint32_t of_length(unsigned length) {
    const uint64_t low = length == 1 ? 0 : UINT64_C(1) << 7 * (length - 1);
    const uint64_t high = length == MAX_BYTES ? UINT64_C(1) << 32 : UINT64_C(1) << 7 * length;
    return (uint32_t)(low + (uint64_t)((unsigned __int128)next_random() * (high - low) >> 64));
}

// By weights out of 300.
static unsigned draw_length(const unsigned weights[MAX_BYTES]) {
    uint64_t left = next_random() % 300;
    unsigned length = 1;
    while (left >= weights[length - 1]) {
        left -= weights[length - 1];
        length++;
    }
    return length;
}

static const unsigned realistic[MAX_BYTES] = {240, 54, 2, 2, 2};

static uint32_t p80_18_2(void) {
    return of_length(draw_length(realistic));
}
static uint32_t log_uniform(void) {
    const unsigned bits = next_random() % 33;
    return bits == 0 ? 0 : (uint32_t)(next_random() >> 33 | UINT64_C(1) << 31) >> (32 - bits);
}
static uint32_t by_length(void) {
    return of_length(1 + next_random() % 5);
}
static uint32_t geometric(void) {
    static const unsigned weights[MAX_BYTES] = {150, 75, 38, 19, 18};
    return of_length(draw_length(weights));
}
static uint32_t all_1(void) {
    return of_length(1);
}
static uint32_t all_5(void) {
    return of_length(5);
}
static uint32_t uniform_value(void) {
    return (uint32_t)next_random();
}
static uint32_t bursts(void) { // a length is kept for 32 values on average
    static unsigned length = 1;
    if (next_random() % 32 == 0) {
        length = draw_length(realistic);
    }
    return of_length(length);
}

static const struct {
    const char *name;
    uint32_t (*draw)(void);
} shapes[SHAPES] = {
    {"p80_18_2", p80_18_2}, {"log_uniform", log_uniform}, {"by_length", by_length},         {"all_1", all_1},
    {"all_5", all_5},       {"geometric", geometric},     {"uniform_value", uniform_value}, {"bursts", bursts}};

static size_t encode_varints(const uint32_t *values, size_t count, uint8_t *to) {
    uint8_t *at = to;
    for (size_t i = 0; i < count; i++) {
        uint32_t value = values[i];
        for (; value >= 0x80; value >>= 7) {
            *at++ = (uint8_t)(value | 0x80);
        }
        *at++ = (uint8_t)value;
    }
    return (size_t)(at - to);
}

// ---- measuring ----------------------------------------------------------------------------------------------------

static void *pages(size_t bytes) {
    void *const got = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (got == MAP_FAILED) {
        perror("side_by_side: memory");
        exit(1);
    }
    return got;
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

// A stream, cut into pieces of `piece` values: piece i is from starts[i] to starts[i + 1].
struct stream {
    const uint8_t *data;
    size_t size;
    size_t count;
    size_t piece;
    const uint32_t *starts;
};

static size_t decode_one(const struct decoder *by, const uint8_t *data, size_t size, uint32_t *out, size_t count) {
    if (by->own == NULL) {
        return by->peer(data, size, out, count);
    }
    const struct simd_varint_result result = by->own(data, size, out, count);
    return result.status == SIMD_VARINT_OK ? result.values : 0;
}

static size_t decode(const struct decoder *by, const struct stream *stream, uint32_t *out) {
    if (stream->starts == NULL) {
        return decode_one(by, stream->data, stream->size, out, stream->count);
    }
    size_t done = 0;
    for (size_t i = 0; done < stream->count; i++) {
        const uint8_t *const data = stream->data + stream->starts[i];
        const size_t count = stream->count - done < stream->piece ? stream->count - done : stream->piece;
        if (decode_one(by, data, stream->starts[i + 1] - stream->starts[i], out + done, count) != count) {
            return 0;
        }
        done += count;
    }
    return done;
}

static double measure(const struct decoder *by, const struct stream *stream, const uint32_t *values, uint32_t *out) {
    const size_t count = stream->count;
    memset(out, 0xa5, count * sizeof *out);
    if (decode(by, stream, out) != count || memcmp(out, values, count * sizeof *out) != 0) {
        fprintf(stderr, "side_by_side: %s gives other values\n", by->name);
        exit(1);
    }
    double start = now_ns();
    decode(by, stream, out);
    double took = now_ns() - start;
    const unsigned times = took > 1e6 ? 1 : (unsigned)(1e6 / (took + 1)) + 1;
    start = now_ns();
    for (unsigned i = 0; i < times; i++) {
        decode(by, stream, out);
    }
    return (now_ns() - start) / times / (double)count;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// ---- who takes part -----------------------------------------------------------------------------------------------

static void add_own(void) {
    for (size_t i = 0; i < u32_variant_count; i++) {
        if (u32_can_run(&u32_variants[i])) {
            decoders[decoder_count++] = (struct decoder){.name = u32_variants[i].name, .own = u32_variants[i].decode};
        } else {
            printf("skipped: %s (not on this processor)\n", u32_variants[i].name);
        }
    }
}

static void add_peer(const char *path) {
    void *const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) {
        fprintf(stderr, "side_by_side: %s\n", dlerror());
        exit(2);
    }
    struct decoder peer = {.name = dlsym(object, "peer_name")};
    *(void **)&peer.peer = dlsym(object, "peer_decode");
    *(void **)&peer.encode = dlsym(object, "peer_encode");
    if (peer.name == NULL || peer.peer == NULL || decoder_count == MAX_DECODERS) {
        fprintf(stderr, "side_by_side: %s has no peer_name and peer_decode, or is one too many\n", path);
        exit(2);
    }
    decoders[decoder_count++] = peer;
}

static void print_heading(const char *what, const bool *chosen) {
    printf("%-22s", what);
    for (size_t s = 0; s < SHAPES; s++) {
        if (chosen[s]) {
            printf(" %15s", shapes[s].name);
        }
    }
    printf("\n");
}

// Each repeat's ratio first, then their median: a slow minute weighs on both.
static void print_ratios(unsigned repeats, const bool *chosen) {
    double *const ratios = calloc(repeats, sizeof *ratios);
    print_heading("time / loop's", chosen);
    for (size_t d = 1; d < decoder_count; d++) {
        printf("%-22s", decoders[d].name);
        for (size_t s = 0; s < SHAPES; s++) {
            if (chosen[s]) {
                for (unsigned r = 0; r < repeats; r++) {
                    ratios[r] = decoders[d].ns[s][r] / decoders[0].ns[s][r];
                }
                qsort(ratios, repeats, sizeof *ratios, ascending);
                printf(" %15.3f", ratios[repeats / 2]);
            }
        }
        printf("\n");
    }
    free(ratios);
}

// Sorts them: after the ratios.
static void print_times(unsigned repeats, const bool *chosen) {
    print_heading("ns per value", chosen);
    for (size_t d = 0; d < decoder_count; d++) {
        printf("%-22s", decoders[d].name);
        for (size_t s = 0; s < SHAPES; s++) {
            if (chosen[s]) {
                double *const ns = decoders[d].ns[s];
                qsort(ns, repeats, sizeof *ns, ascending);
                printf("   %5.3f (%5.3f)", ns[repeats / 2], ns[0]);
            }
        }
        printf("\n");
    }
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "use: side_by_side VALUES REPEATS SHAPES PIECE PEERS...     a PIECE of 0: no pieces\n");
        return 2;
    }
    const size_t count = (size_t)strtoul(argv[1], NULL, 10);
    const unsigned repeats = (unsigned)strtoul(argv[2], NULL, 10);
    const size_t piece = (size_t)strtoul(argv[4], NULL, 10);
    add_own();
    for (int i = 5; i < argc; i++) {
        add_peer(argv[i]);
    }
    uint32_t *const values = pages(count * sizeof *values + SLACK);
    uint32_t *const out = pages(count * sizeof *out + SLACK);
    uint8_t *const data = pages(count * MAX_BYTES + SLACK);
    uint8_t *const other = pages(count * MAX_BYTES * 2 + SLACK);
    uint32_t *const starts = pages((piece == 0 ? 1 : count / piece + 2) * sizeof *starts);
    bool chosen[SHAPES];
    for (size_t s = 0; s < SHAPES; s++) {
        chosen[s] = strcmp(argv[3], "all") == 0 || strstr(argv[3], shapes[s].name) != NULL;
        for (size_t d = 0; d < decoder_count; d++) {
            decoders[d].ns[s] = calloc(repeats, sizeof(double));
        }
    }
    for (unsigned r = 0; r < repeats; r++) {
        for (size_t s = 0; s < SHAPES; s++) {
            if (!chosen[s]) {
                continue;
            }
            state = 42 + r * 1000 + s;
            for (size_t i = 0; i < count; i++) {
                values[i] = shapes[s].draw();
            }
            struct stream stream = {.data = data, .count = count, .piece = piece};
            for (size_t i = 0; piece != 0 && i < count; i += piece) {
                const size_t values_left = count - i < piece ? count - i : piece;
                starts[i / piece] = (uint32_t)stream.size;
                stream.size += encode_varints(values + i, values_left, data + stream.size);
                starts[i / piece + 1] = (uint32_t)stream.size;
                stream.starts = starts;
            }
            if (piece == 0) {
                stream.size = encode_varints(values, count, data);
            }
            size_t order[MAX_DECODERS];
            for (size_t d = 0; d < decoder_count; d++) { // the inside-out shuffle
                const size_t at = next_random() % (d + 1);
                order[d] = order[at];
                order[at] = d;
            }
            for (size_t d = 0; d < decoder_count; d++) {
                struct decoder *const by = &decoders[order[d]];
                if (by->encode != NULL) {
                    const struct stream theirs = {
                        .data = other, .size = by->encode(values, count, other), .count = count};
                    by->ns[s][r] = measure(by, &theirs, values, out);
                } else {
                    by->ns[s][r] = measure(by, &stream, values, out);
                }
            }
        }
    }
    print_ratios(repeats, chosen);
    print_times(repeats, chosen);
    return 0;
}
