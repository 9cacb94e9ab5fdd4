// Lookups in a table that is made once: the sum of what is found. The table's keys are a second input; the keys that are looked
// up come in the order of the input, or for `grouped` those first that are in the table, so that its jumps are predicted.
#include "tables.hpp"
#include <assay.h>

template <class Table> struct Lookups {
    Table table;
    std::vector<uint64_t> keys;
};

template <class Table> static Lookups<Table> make(Keys wanted)
{
    struct assay_input keys = assay_input(wanted.data(), "table");
    return {Table(Keys(reinterpret_cast<const uint64_t *>(keys.data), keys.size / 8)), {wanted.begin(), wanted.end()}};
}

template <class Table> static uint64_t look_up(const Lookups<Table> &lookups)
{
    uint64_t sum = 0;
    for (uint64_t key : lookups.keys) {
        sum += lookups.table.find(key);
    }
    return sum;
}

// The control: the same table, the same keys, the same number of hits, in another order.
struct Grouped {
    Swiss table;
    std::vector<uint64_t> hits, misses;
};

static Grouped make_grouped(Keys wanted)
{
    Lookups<Swiss> made = make<Swiss>(wanted);
    Grouped grouped{std::move(made.table), {}, {}};
    for (uint64_t key : made.keys) {
        (grouped.table.find(key) != 0 ? grouped.hits : grouped.misses).push_back(key);
    }
    return grouped;
}

static uint64_t look_up_grouped(const Grouped &lookups)
{
    uint64_t sum = 0;
    for (uint64_t key : lookups.hits) {
        sum += lookups.table.find(key);
    }
    for (uint64_t key : lookups.misses) {
        sum += lookups.table.find(key);
    }
    return sum;
}

ASSAY_VARIANT_PREPARED("std", make<Std>, look_up<Std>)
ASSAY_VARIANT_PREPARED("linear", make<Linear>, look_up<Linear>)
ASSAY_VARIANT_PREPARED("sorted", make<Sorted>, look_up<Sorted>)
ASSAY_VARIANT_PREPARED("swiss", make<Swiss>, look_up<Swiss>)
ASSAY_VARIANT_PREPARED("grouped", make_grouped, look_up_grouped)
ASSAY_MAIN()
