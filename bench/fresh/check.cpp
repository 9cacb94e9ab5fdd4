// How far a fresh variant's time is from that of a hand-made loop that subtracts the copy: std::sort on 1,000 elements.
//
//     bench/fresh/run.sh [ELEMENTS [WINDOWS [ROUNDS]]]
//
// The hand-made loop copies into one buffer and sorts it, again and again, and subtracts a loop that only copies. Both
// ways see the same windows in the same order. They are taken in turn, and the ratio is that of neighbours in time, so
// that a change of the machine's speed meets both.
#include <assay.h>
#include <algorithm>
#include <cstdlib>
#include <vector>

using element = uint32_t;

static void *make(const uint8_t *data, size_t size)
{
    auto *copy = new std::vector<element>(size / sizeof(element));
    memcpy(copy->data(), data, size);
    return copy;
}

static uint64_t run(void *fresh)
{
    auto &copy = *static_cast<std::vector<element> *>(fresh);
    std::sort(copy.begin(), copy.end());
    return copy[copy.size() / 2];
}

static void drop(void *fresh) { delete static_cast<std::vector<element> *>(fresh); }

ASSAY_VARIANT_FRESH("sort", make, run, drop)

// What the copy costs alone: a call that only reads one element.
__attribute__((noinline)) static uint64_t leave(void *fresh)
{
    const auto &copy = *static_cast<std::vector<element> *>(fresh);
    return copy[copy.size() / 2];
}

// The same function on the same kind of object, through a pointer as the harness calls it.
static double by_hand(const assay_loaded &input, uint64_t calls, size_t &at, uint64_t (*work)(void *))
{
    static std::vector<element> buffer;
    uint64_t (*volatile hidden)(void *) = work;
    buffer.resize(input.windows[0].size / sizeof(element));
    uint64_t begun = assay_wall_ns();
    for (uint64_t i = 0; i < calls; i++) {
        memcpy(buffer.data(), input.windows[at].data, input.windows[at].size);
        assay_use(hidden(&buffer));
        at = (at + 1) % input.window_count;
    }
    return double(assay_wall_ns() - begun) / double(calls);
}

int main(int argc, char **argv)
{
    size_t elements = argc > 1 ? strtoul(argv[1], nullptr, 10) : 1000, windows = argc > 2 ? strtoul(argv[2], nullptr, 10) : 500;
    size_t rounds = argc > 3 ? strtoul(argv[3], nullptr, 10) : 301;
    assay_program program;
    char why[256];
    assay_loaded loaded;
    if (!assay_collect(&program, why, sizeof why)) {
        return 1;
    }
    memset(&loaded, 0, sizeof loaded);
    loaded.size = elements * sizeof(element) * windows;
    loaded.map = assay_reserve(loaded.size, PROT_READ | PROT_WRITE, &loaded.mapped_bytes);
    assay_fill(loaded.map, loaded.size);
    loaded.windows = static_cast<assay_window *>(calloc(windows, sizeof(assay_window)));
    loaded.window_count = windows;
    for (size_t i = 0; i < windows; i++) {
        loaded.windows[i] = {loaded.map + i * elements * sizeof(element), elements * sizeof(element), elements};
    }
    assay_keep_input(&program, &loaded);
    assay_loaded *input = &program.inputs[0];
    assay_costs costs = assay_calibrate();
    printf("%zu elements, %zu windows, medians of %zu rounds\n%8s %12s %12s %8s   %s\n", elements, windows, rounds,
           "calls", "by hand ns", "fresh ns", "ratio", "states");
    for (uint64_t calls = 1; calls <= 256; calls *= 4) {
        std::vector<double> ratios, hands, fresh;
        // Half a turn apart: the predictor would know what the other way has just sorted (it read 25 % faster).
        size_t at = 0, at_hand = windows / 2, at_copy = windows / 2;
        for (size_t round = 0; round < rounds; round++) {
            uint64_t combined = 0, units;
            assay_region region;
            double hand = by_hand(*input, calls, at_hand, run) - by_hand(*input, calls, at_copy, leave);
            if (assay_plain_sample(&program, 0, input, &at, calls, &combined, &units, &region) != nullptr) {
                return 1;
            }
            double ours = (double(region.wall_ns) - costs.region_wall_ns) / double(calls);
            ratios.push_back(ours / hand);
            hands.push_back(hand);
            fresh.push_back(ours);
        }
        printf("%8llu %12.1f %12.1f %8.4f   %llu bytes each\n", (unsigned long long)calls, assay_median(hands.data(), rounds),
               assay_median(fresh.data(), rounds), assay_median(ratios.data(), rounds),
               (unsigned long long)input->prepared[0].state_bytes);
    }
    return 0;
}
