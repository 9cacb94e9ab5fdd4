// Chooses plugins, away from the loops: see dispatch.hpp.

#include "dispatch.hpp"

namespace dispatch {

volatile int flag;
volatile int old_value;

namespace {

struct VirtualEpsilon final : Barrier {
    void store(int *at, int value) override;
};
struct VirtualSerial final : Barrier {
    void store(int *at, int value) override;
};
struct VirtualG1 final : Barrier {
    HOT void store(int *at, int value) override;
};

void VirtualEpsilon::store(int *at, int value) { store_epsilon(at, value); }
void VirtualSerial::store(int *at, int value) { store_serial(at, value); }
void VirtualG1::store(int *at, int value) { store_g1(at, value); }

VirtualEpsilon virtual_epsilon;
VirtualSerial virtual_serial;
VirtualG1 virtual_g1;

void pointed_epsilon(int *at, int value) { store_epsilon(at, value); }
void pointed_serial(int *at, int value) { store_serial(at, value); }
HOT void pointed_g1(int *at, int value) { store_g1(at, value); }

struct DecoupledEpsilon : Decoupled<DecoupledEpsilon> {
    static void store_in_place(int *at, int value) { store_epsilon(at, value); }
};
struct DecoupledSerial : Decoupled<DecoupledSerial> {
    static void store_in_place(int *at, int value) { store_serial(at, value); }
};
struct DecoupledG1 : Decoupled<DecoupledG1> {
    static void store_in_place(int *at, int value) { store_g1(at, value); }
};

} // namespace

// '0' to '2' are the thirds of the round robin and of the random stream; of the ten letters 'A' to 'J' nine
// are g1 and one is serial.
Kind kind_of(std::uint8_t selector) {
    if (selector == SINGLE || selector == '0' || (selector >= 'A' && selector <= 'I')) {
        return Kind::g1;
    }
    return selector == '1' || selector == 'J' ? Kind::serial : Kind::epsilon;
}

Barrier *barrier_of(std::uint8_t selector) {
    switch (kind_of(selector)) {
    case Kind::serial:
        return &virtual_serial;
    case Kind::g1:
        return &virtual_g1;
    case Kind::epsilon:
        break;
    }
    return &virtual_epsilon;
}

Store store_of(std::uint8_t selector) {
    switch (kind_of(selector)) {
    case Kind::serial:
        return pointed_serial;
    case Kind::g1:
        return pointed_g1;
    case Kind::epsilon:
        break;
    }
    return pointed_epsilon;
}

Store decoupled_of(std::uint8_t selector) {
    switch (kind_of(selector)) {
    case Kind::serial:
        return DecoupledSerial::store;
    case Kind::g1:
        return DecoupledG1::store;
    case Kind::epsilon:
        break;
    }
    return DecoupledEpsilon::store;
}

AnyBarrier any_of(std::uint8_t selector) {
    switch (kind_of(selector)) {
    case Kind::serial:
        return Serial{};
    case Kind::g1:
        return G1{};
    case Kind::epsilon:
        break;
    }
    return Epsilon{};
}

} // namespace dispatch
