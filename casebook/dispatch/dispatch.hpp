// The plugins of this study, and the seven ways to reach them.
//
// A selector is one byte of the input and names a plugin. A monomorphic stream begins with SINGLE and is a
// single plugin from its first byte to its last: then it is chosen once, ahead of the loop, as a program
// chooses by its argument. In every other stream each call has a selector of its own.
//
// Who calls what is decided by functions of factory.cpp, another translation unit, so that no compiler can
// know it while it compiles the loops. The stores themselves are what differs between the mechanisms: those
// of virtual, fnptr and crtp are functions of their own, those of switch, visit, final and direct may be
// inlined where the compiler sees fit.
#ifndef DISPATCH_HPP
#define DISPATCH_HPP

#include <cstddef>
#include <cstdint>
#include <variant>

// With -DSELECTIVE the stores of g1 begin lines, and nothing else is aligned: the document's advice for production.
#ifdef SELECTIVE
#define HOT __attribute__((aligned(64)))
#else
#define HOT
#endif

namespace dispatch {

constexpr std::size_t CELLS = 64;
constexpr std::size_t SELECTORS = 256;
constexpr std::uint8_t SINGLE = 'g';

// What the stores do beside their write: a flag that others may read, and the old value, kept where the
// optimiser cannot drop it.
extern volatile int flag;
extern volatile int old_value;

inline void store_epsilon(int *at, int value) { *at = value; }

inline void store_serial(int *at, int value) {
    *at = value;
    flag = value;
}

inline void store_g1(int *at, int value) {
    old_value = *at;
    *at = value;
    flag = value;
}

enum class Kind : std::uint8_t { epsilon, serial, g1 };

// virtual: a base class, the stores in factory.cpp.
struct Barrier {
    virtual void store(int *at, int value) = 0;

  protected:
    ~Barrier() = default;
};

// fnptr: a pointer to the store.
using Store = void (*)(int *, int);

// visit: one of three types, the stores inline.
struct Epsilon {
    void store(int *at, int value) { store_epsilon(at, value); }
};
struct Serial {
    void store(int *at, int value) { store_serial(at, value); }
};
struct G1 {
    void store(int *at, int value) { store_g1(at, value); }
};
using AnyBarrier = std::variant<Epsilon, Serial, G1>;

// final: a class that is reached by its own type, so that its virtual call is none.
template <Kind kind> struct Final;
template <> struct Final<Kind::epsilon> final : Barrier {
    void store(int *at, int value) override { store_epsilon(at, value); }
};
template <> struct Final<Kind::serial> final : Barrier {
    void store(int *at, int value) override { store_serial(at, value); }
};
template <> struct Final<Kind::g1> final : Barrier {
    void store(int *at, int value) override { store_g1(at, value); }
};

// crtp: a base that knows its plugin's type, reached by a pointer that the first call resolves.
template <class Plugin> struct Decoupled {
    HOT static void store(int *at, int value) { Plugin::store_in_place(at, value); }
};

// Which plugin a selector names, in each mechanism's terms. Other bytes name epsilon.
Kind kind_of(std::uint8_t selector);
Barrier *barrier_of(std::uint8_t selector);
Store store_of(std::uint8_t selector);
Store decoupled_of(std::uint8_t selector);
AnyBarrier any_of(std::uint8_t selector);

} // namespace dispatch

#endif
