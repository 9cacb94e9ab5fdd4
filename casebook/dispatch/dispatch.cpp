// The measured program of the dispatch study: one loop per mechanism, see dispatch.hpp.
//
// A call writes the number of the call into one of 64 ints. The answer is made of all of them, of the flag and of the
// old value that the last g1 saw, so a call that reached the wrong plugin does not go unseen.

#include <assay.h>

#include "dispatch.hpp"

namespace {

using namespace dispatch;

int cells[CELLS];

int *cell(std::size_t call) { return &cells[call % CELLS]; }

// Cleared before each stream, so that its answer is its own.
void begin() {
    for (int &value : cells) {
        value = 0;
    }
    flag = 0;
    old_value = 0;
}

std::uint64_t answer() {
    std::uint64_t digest = 0;
    for (int value : cells) {
        digest = digest * 31 + static_cast<std::uint32_t>(value);
    }
    const std::uint64_t seen = static_cast<std::uint32_t>(old_value);
    return digest * 31 + (seen << 32 | static_cast<std::uint32_t>(flag));
}

bool is_single(const std::uint8_t *selectors, std::size_t count) { return count > 0 && selectors[0] == SINGLE; }

// The choice of a plugin per selector, made once per process: what a program does when it starts.
template <class Choice, Choice (*choose)(std::uint8_t)> struct Choices {
    Choice of[SELECTORS];
    Choices() {
        for (std::size_t selector = 0; selector < SELECTORS; selector++) {
            of[selector] = choose(static_cast<std::uint8_t>(selector));
        }
    }
};

Choices<Kind, kind_of> kinds;
Choices<Barrier *, barrier_of> barriers;
Choices<Store, store_of> stores;
Choices<AnyBarrier, any_of> anys;

// ---- direct: no mechanism at all. One comparison ahead of the loop, or per call where every call may differ.

template <void (*store)(int *, int)> void loop_direct(std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
        store(cell(i), static_cast<int>(i));
    }
}

inline void chosen(Kind kind, int *at, int value) {
    if (kind == Kind::g1) {
        store_g1(at, value);
    } else if (kind == Kind::serial) {
        store_serial(at, value);
    } else {
        store_epsilon(at, value);
    }
}

std::uint64_t run_direct(const std::uint8_t *selectors, std::size_t count) {
    begin();
    if (is_single(selectors, count)) {
        switch (kinds.of[SINGLE]) {
        case Kind::epsilon:
            loop_direct<store_epsilon>(count);
            break;
        case Kind::serial:
            loop_direct<store_serial>(count);
            break;
        case Kind::g1:
            loop_direct<store_g1>(count);
            break;
        }
    } else {
        for (std::size_t i = 0; i < count; i++) {
            chosen(kinds.of[selectors[i]], cell(i), static_cast<int>(i));
        }
    }
    return answer();
}

// ---- virtual: a call through the object's table.

std::uint64_t run_virtual(const std::uint8_t *selectors, std::size_t count) {
    begin();
    if (is_single(selectors, count)) {
        Barrier *barrier = barriers.of[SINGLE];
        for (std::size_t i = 0; i < count; i++) {
            barrier->store(cell(i), static_cast<int>(i));
        }
    } else {
        for (std::size_t i = 0; i < count; i++) {
            barriers.of[selectors[i]]->store(cell(i), static_cast<int>(i));
        }
    }
    return answer();
}

// ---- fnptr: a call through a pointer.

std::uint64_t run_fnptr(const std::uint8_t *selectors, std::size_t count) {
    begin();
    if (is_single(selectors, count)) {
        Store store = stores.of[SINGLE];
        for (std::size_t i = 0; i < count; i++) {
            store(cell(i), static_cast<int>(i));
        }
    } else {
        for (std::size_t i = 0; i < count; i++) {
            stores.of[selectors[i]](cell(i), static_cast<int>(i));
        }
    }
    return answer();
}

// ---- crtp: static polymorphism, and a pointer to it that the first call through it resolves.

template <std::uint8_t selector> struct Lazy {
    static void resolve(int *at, int value);
    static Store store;
};
template <std::uint8_t selector> Store Lazy<selector>::store = Lazy<selector>::resolve;
template <std::uint8_t selector> void Lazy<selector>::resolve(int *at, int value) {
    store = decoupled_of(selector);
    store(at, value);
}

// In a mixed stream every selector has a pointer of its own, resolved by its first call too.
Store lazy[SELECTORS];

void resolve_any(std::uint8_t selector, int *at, int value) {
    lazy[selector] = decoupled_of(selector);
    lazy[selector](at, value);
}

std::uint64_t run_crtp(const std::uint8_t *selectors, std::size_t count) {
    begin();
    if (is_single(selectors, count)) {
        for (std::size_t i = 0; i < count; i++) {
            Lazy<SINGLE>::store(cell(i), static_cast<int>(i));
        }
    } else {
        for (std::size_t i = 0; i < count; i++) {
            const Store store = lazy[selectors[i]];
            if (store == nullptr) {
                resolve_any(selectors[i], cell(i), static_cast<int>(i));
            } else {
                store(cell(i), static_cast<int>(i));
            }
        }
    }
    return answer();
}

// ---- switch: over the kind, per call.

inline void switched(Kind kind, int *at, int value) {
    switch (kind) {
    case Kind::epsilon:
        store_epsilon(at, value);
        break;
    case Kind::serial:
        store_serial(at, value);
        break;
    case Kind::g1:
        store_g1(at, value);
        break;
    }
}

std::uint64_t run_switch(const std::uint8_t *selectors, std::size_t count) {
    begin();
    if (is_single(selectors, count)) {
        const Kind kind = kinds.of[SINGLE];
        for (std::size_t i = 0; i < count; i++) {
            switched(kind, cell(i), static_cast<int>(i));
        }
    } else {
        for (std::size_t i = 0; i < count; i++) {
            switched(kinds.of[selectors[i]], cell(i), static_cast<int>(i));
        }
    }
    return answer();
}

// ---- visit: std::visit over a std::variant, per call.

std::uint64_t run_visit(const std::uint8_t *selectors, std::size_t count) {
    begin();
    if (is_single(selectors, count)) {
        AnyBarrier any = anys.of[SINGLE];
        for (std::size_t i = 0; i < count; i++) {
            std::visit([i](auto &plugin) { plugin.store(cell(i), static_cast<int>(i)); }, any);
        }
    } else {
        for (std::size_t i = 0; i < count; i++) {
            std::visit([i](auto &plugin) { plugin.store(cell(i), static_cast<int>(i)); }, anys.of[selectors[i]]);
        }
    }
    return answer();
}

// ---- final: virtual functions of final classes, reached by their own types.

Final<Kind::epsilon> final_epsilon;
Final<Kind::serial> final_serial;
Final<Kind::g1> final_g1;

template <class Plugin> void loop_final(Plugin &plugin, std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
        plugin.store(cell(i), static_cast<int>(i));
    }
}

std::uint64_t run_final(const std::uint8_t *selectors, std::size_t count) {
    begin();
    if (is_single(selectors, count)) {
        switch (kinds.of[SINGLE]) {
        case Kind::epsilon:
            loop_final(final_epsilon, count);
            break;
        case Kind::serial:
            loop_final(final_serial, count);
            break;
        case Kind::g1:
            loop_final(final_g1, count);
            break;
        }
    } else {
        for (std::size_t i = 0; i < count; i++) {
            switch (kinds.of[selectors[i]]) {
            case Kind::epsilon:
                final_epsilon.store(cell(i), static_cast<int>(i));
                break;
            case Kind::serial:
                final_serial.store(cell(i), static_cast<int>(i));
                break;
            case Kind::g1:
                final_g1.store(cell(i), static_cast<int>(i));
                break;
            }
        }
    }
    return answer();
}

} // namespace

ASSAY_VARIANT("direct", run_direct)
ASSAY_VARIANT("virtual", run_virtual)
ASSAY_VARIANT("fnptr", run_fnptr)
ASSAY_VARIANT("crtp", run_crtp)
ASSAY_VARIANT("switch", run_switch)
ASSAY_VARIANT("visit", run_visit)
ASSAY_VARIANT("final", run_final)
ASSAY_MAIN()
