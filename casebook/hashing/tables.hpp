// Three hash tables from a 64-bit key to a number, and a sorted array. No key is 0. Each table is as full at every size: a key for
// each bucket (std), half of the slots (linear), three quarters of them (swiss).
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <emmintrin.h>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

using Keys = std::span<const uint64_t>;

inline uint64_t mixed(uint64_t key)
{
    uint64_t product = key * 0x9e3779b97f4a7c15;
    return product ^ product >> 32;
}

// A place among so many, by the upper bits of a hash. No power of two is needed, so no size is emptier than another.
inline size_t place(uint64_t hash, size_t places)
{
    return static_cast<size_t>(static_cast<unsigned __int128>(hash) * places >> 64);
}

// A map of somebody's library.
template <class Map> class Library {
    Map map;

public:
    explicit Library(Keys keys)
    {
        map.reserve(keys.size());
        for (uint64_t key : keys) {
            map.emplace(key, map.size() + 1);
        }
    }
    // The number of a key, 0 if it is not there.
    uint64_t find(uint64_t key) const
    {
        auto found = map.find(key);
        return found == map.end() ? 0 : found->second;
    }
};

// What comes with a compiler: a list of nodes for each bucket, as many buckets as keys.
using Std = Library<std::unordered_map<uint64_t, uint64_t>>;

struct Slot {
    uint64_t key, value;
};

// Linear probing: from the key's own slot to the next empty one.
class Linear {
    std::vector<Slot> slots;

    size_t slot_of(uint64_t key) const
    {
        size_t at = place(mixed(key), slots.size());
        while (slots[at].key != key && slots[at].key != 0) {
            at = at + 1 == slots.size() ? 0 : at + 1;
        }
        return at;
    }

public:
    explicit Linear(Keys keys) : slots(keys.size() * 2 + 2)
    {
        uint64_t count = 0;
        for (uint64_t key : keys) {
            Slot &slot = slots[slot_of(key)];
            if (slot.key == 0) {
                slot = {key, ++count};
            }
        }
    }
    uint64_t find(uint64_t key) const { return slots[slot_of(key)].value; }
};

// As in "Swiss tables": groups of 16 slots, each slot with a tag of seven bits of its hash. One comparison tells which slots
// of a group may hold the key; an empty one ends the search.
class Swiss {
    static constexpr int8_t EMPTY = -128;
    struct alignas(16) Group {
        int8_t tags[16];
    };
    std::vector<Group> groups;
    std::vector<Slot> slots;

    static unsigned matches(const Group &group, int8_t tag)
    {
        __m128i tags = _mm_load_si128(reinterpret_cast<const __m128i *>(group.tags));
        return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8(tag))));
    }
    static int8_t tag_of(uint64_t hash) { return static_cast<int8_t>(hash & 0x7f); }

public:
    explicit Swiss(Keys keys) : groups(keys.size() / 12 + 1), slots(groups.size() * 16)
    {
        for (Group &group : groups) {
            for (int8_t &tag : group.tags) {
                tag = EMPTY;
            }
        }
        uint64_t count = 0;
        for (uint64_t key : keys) {
            if (find(key) != 0) {
                continue;
            }
            uint64_t hash = mixed(key);
            size_t at = place(hash, groups.size());
            unsigned empty;
            while ((empty = matches(groups[at], EMPTY)) == 0) {
                at = at + 1 == groups.size() ? 0 : at + 1;
            }
            size_t free = static_cast<size_t>(std::countr_zero(empty));
            groups[at].tags[free] = tag_of(hash);
            slots[at * 16 + free] = {key, ++count};
        }
    }
    uint64_t find(uint64_t key) const
    {
        uint64_t hash = mixed(key);
        size_t at = place(hash, groups.size());
        for (;;) {
            for (unsigned left = matches(groups[at], tag_of(hash)); left != 0; left &= left - 1) {
                const Slot &slot = slots[at * 16 + static_cast<size_t>(std::countr_zero(left))];
                if (slot.key == key) {
                    return slot.value;
                }
            }
            if (matches(groups[at], EMPTY) != 0) {
                return 0;
            }
            at = at + 1 == groups.size() ? 0 : at + 1;
        }
    }
};

// No hash table: the keys in order, halved until one is left. A lookup takes the same steps whether the key is there or not, and
// what each step finds is added, not jumped on: no key decides a jump.
class Sorted {
    std::vector<uint64_t> keys, values;

public:
    // Below all keys, as no key is 0, there is the number of what is not there.
    explicit Sorted(Keys given) : keys{0}, values{0}
    {
        std::map<uint64_t, uint64_t> ordered;
        for (uint64_t key : given) {
            ordered.emplace(key, ordered.size() + 1);
        }
        for (auto [key, value] : ordered) {
            keys.push_back(key);
            values.push_back(value);
        }
    }
    uint64_t find(uint64_t key) const
    {
        size_t at = 0;
        for (size_t left = keys.size(); left > 1;) {
            size_t half = left / 2;
            at += half & -static_cast<size_t>(keys[at + half] <= key);
            left -= half;
        }
        return values[at] & -static_cast<uint64_t>(keys[at] == key);
    }
};
