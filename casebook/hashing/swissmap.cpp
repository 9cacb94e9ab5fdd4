// Fleetbench's two states of a SwissMap, as performance tip 75 has them: hot looks up in one table, cold in one of many, drawn for
// each lookup. The tables hold the same keys, so both give the same answer, and both read the same list of draws.
#include "tables.hpp"
#include <absl/container/flat_hash_map.h>
#include <assay.h>

static constexpr size_t TABLES = 64;

// The SwissMap itself, from the distribution, with its own hash function or ours.
struct Mixed {
    size_t operator()(uint64_t key) const { return mixed(key); }
};

template <class Hash> using Abseil = Library<absl::flat_hash_map<uint64_t, uint64_t, Hash>>;

struct Draw {
    uint64_t table, key;
};

// Hot reads the same draws as cold and takes no notice of them.
template <class Table> struct Hot {
    Table table;
    std::vector<Draw> draws;
};

template <class Table> struct Cold {
    std::vector<Table> tables;
    std::vector<Draw> draws;
};

static Keys keys_of(Keys wanted)
{
    struct assay_input given = assay_input(wanted.data(), "table");
    return Keys(reinterpret_cast<const uint64_t *>(given.data), given.size / 8);
}

// Knuth's MMIX generator; its upper bits choose.
static std::vector<Draw> drawn(Keys wanted)
{
    std::vector<Draw> draws;
    uint64_t state = 42;
    for (uint64_t key : wanted) {
        state = state * 6364136223846793005 + 1442695040888963407;
        draws.push_back({place(state, TABLES), key});
    }
    return draws;
}

template <class Table> static Hot<Table> hot(Keys wanted) { return {Table(keys_of(wanted)), drawn(wanted)}; }

template <class Table> static Cold<Table> cold(Keys wanted)
{
    Cold<Table> made{{}, drawn(wanted)};
    for (size_t i = 0; i < TABLES; i++) {
        made.tables.emplace_back(keys_of(wanted));
    }
    return made;
}

template <class Table> static uint64_t find_hot(const Hot<Table> &lookups)
{
    uint64_t sum = 0;
    for (const Draw &draw : lookups.draws) {
        sum += lookups.table.find(draw.key);
    }
    return sum;
}

template <class Table> static uint64_t find_cold(const Cold<Table> &lookups)
{
    uint64_t sum = 0;
    for (const Draw &draw : lookups.draws) {
        sum += lookups.tables[draw.table].find(draw.key);
    }
    return sum;
}

using Own = Abseil<absl::flat_hash_map<uint64_t, uint64_t>::hasher>;
using Ours = Abseil<Mixed>;

ASSAY_VARIANT_PREPARED("hot", hot<Own>, find_hot<Own>)
ASSAY_VARIANT_PREPARED("cold", cold<Own>, find_cold<Own>)
ASSAY_VARIANT_PREPARED("hot_mixed", hot<Ours>, find_hot<Ours>)
ASSAY_VARIANT_PREPARED("cold_mixed", cold<Ours>, find_cold<Ours>)
ASSAY_VARIANT_PREPARED("hot_small", hot<Swiss>, find_hot<Swiss>)
ASSAY_VARIANT_PREPARED("cold_small", cold<Swiss>, find_cold<Swiss>)
ASSAY_VARIANT_PREPARED("hot_std", hot<Std>, find_hot<Std>)
ASSAY_VARIANT_PREPARED("cold_std", cold<Std>, find_cold<Std>)
ASSAY_MAIN()
