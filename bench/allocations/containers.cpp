// What the standard library's containers allocate.
#include <assay.h>
#include <map>
#include <numeric>
#include <unordered_map>
#include <vector>

template <class Map> static uint64_t counted(const uint8_t *data, size_t size)
{
    Map counts;
    for (size_t i = 0; i < size; i++) {
        counts[data[i]] += data[i];
    }
    uint64_t total = 0;
    for (const auto &[byte, sum] : counts) {
        total += sum;
    }
    return total;
}

static uint64_t vector(const uint8_t *data, size_t size)
{
    std::vector<uint64_t> values;
    for (size_t i = 0; i < size; i++) {
        values.push_back(data[i]);
    }
    return std::accumulate(values.begin(), values.end(), uint64_t{0});
}

static uint64_t tree(const uint8_t *data, size_t size) { return counted<std::map<uint8_t, uint64_t>>(data, size); }
static uint64_t table(const uint8_t *data, size_t size) { return counted<std::unordered_map<uint8_t, uint64_t>>(data, size); }

ASSAY_VARIANT("vector", vector)
ASSAY_VARIANT("tree", tree)
ASSAY_VARIANT("table", table)
ASSAY_MAIN()
