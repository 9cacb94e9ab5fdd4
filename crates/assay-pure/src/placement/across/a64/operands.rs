//! Which general registers an A64 instruction reads and writes, by its bit pattern.
//!
//! Source: Arm Architecture Reference Manual for A-profile, DDI 0487, chapter C4. Limits: what is not told apart (SVE,
//! reserved patterns) reads every register that its fields could name, so that no use of an address is missed. Checked:
//! the assembler's own encodings in a64/tests.rs.

/// Registers, a bit each; x31 is none, as it is the stack pointer or zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    /// What its fields name to be read.
    pub reads: u32,
    /// What it overwrites.
    pub writes: u32,
}

const NONE: u32 = 0;

/// The registers of one instruction, without those that a call or a return takes by convention.
pub fn operands(word: u32) -> Operands {
    let (reads, writes) = match word >> 25 & 15 {
        8 | 9 => immediate(word),
        10 | 11 => branch(word),
        5 | 13 => register(word),
        4 | 6 | 12 | 14 => memory(word),
        7 | 15 => vector(word),
        _ => (d(word) | n(word) | a(word) | m(word), d(word)),
    };
    let tracked = |registers: u32| registers & !(1 << 31);
    Operands { reads: tracked(reads), writes: tracked(writes) }
}

/// Whether it reads the stack pointer, other than to compare or to move it.
pub fn reads_stack_pointer(word: u32) -> bool {
    // To compare it, or to move it.
    let stays = d(word) == STACK_POINTER;
    match word >> 25 & 15 {
        8 | 9 => is_sum_with_number(word) && n(word) == STACK_POINTER && !stays,
        5 | 13 => is_sum_with_extended(word) && n(word) == STACK_POINTER && !stays,
        // All but literal loads.
        4 | 6 | 12 | 14 => word & 0x3b00_0000 != 0x1800_0000 && n(word) == STACK_POINTER,
        2 if is_sum_with_vectors(word) => m(word) == STACK_POINTER && !stays,
        // Loads and stores of SVE.
        2 => word >> 31 == 1 && n(word) == STACK_POINTER,
        _ => false,
    }
}

/// Whether it puts the stack pointer somewhere, other than as the base of a load or store of whole registers.
pub fn writes_stack_pointer(word: u32) -> bool {
    let sets_flags = word >> 29 & 1 == 1;
    let structures = word & 0x3c80_0000 == 0x0c80_0000;
    match word >> 25 & 15 {
        8 | 9 if word & 0x1f80_0000 == 0x1200_0000 => d(word) == STACK_POINTER && word >> 29 & 3 != 3,
        8 | 9 => is_sum_with_number(word) && d(word) == STACK_POINTER && !sets_flags,
        5 | 13 => is_sum_with_extended(word) && d(word) == STACK_POINTER && !sets_flags,
        4 | 6 | 12 | 14 => structures && n(word) == STACK_POINTER,
        2 => is_sum_with_vectors(word) && d(word) == STACK_POINTER,
        _ => false,
    }
}

/// Whether it computes with registers or a number.
pub fn is_arithmetic(word: u32) -> bool {
    matches!(word >> 25 & 15, 5 | 8 | 9 | 13)
}

const STACK_POINTER: u32 = 1 << 31;

/// `add`, `sub`, and those that set flags or change tags.
fn is_sum_with_number(word: u32) -> bool {
    word & 0x1f00_0000 == 0x1100_0000
}

fn is_sum_with_extended(word: u32) -> bool {
    word & 0x1fe0_0000 == 0x0b20_0000
}

/// `addvl` and `addpl`, which add a multiple of the length of a vector or predicate.
fn is_sum_with_vectors(word: u32) -> bool {
    word & 0xffa0_f000 == 0x0420_5000
}

fn d(word: u32) -> u32 {
    1 << (word & 31)
}

fn n(word: u32) -> u32 {
    1 << (word >> 5 & 31)
}

fn a(word: u32) -> u32 {
    1 << (word >> 10 & 31)
}

fn m(word: u32) -> u32 {
    1 << (word >> 16 & 31)
}

/// C4.1.92, data processing with an immediate.
fn immediate(word: u32) -> (u32, u32) {
    let opc = word >> 29 & 3;
    let reads = match word & 0x1f80_0000 {
        _ if word & 0x1f00_0000 == 0x1000_0000 => NONE,
        // movn and movz read nothing, movk keeps the rest of its register.
        0x1280_0000 if opc == 3 => d(word),
        0x1280_0000 => NONE,
        0x1300_0000 if opc == 1 => n(word) | d(word),
        0x1380_0000 => n(word) | m(word),
        _ => n(word),
    };
    (reads, d(word))
}

/// C4.1.93, branches and system instructions.
fn branch(word: u32) -> (u32, u32) {
    let compares = word & 0x7c00_0000 == 0x3400_0000;
    match word & 0xfff8_0000 {
        _ if compares => (d(word), NONE),
        _ if word & 0xfe00_0000 == 0xd600_0000 => (n(word), NONE),
        // msr and sys; mrs and sysl.
        0xd508_0000 | 0xd510_0000 | 0xd518_0000 => (d(word), NONE),
        0xd528_0000 | 0xd530_0000 | 0xd538_0000 => (NONE, d(word)),
        _ => (NONE, NONE),
    }
}

/// C4.1.95, data processing on registers.
fn register(word: u32) -> (u32, u32) {
    match word {
        // A conditional comparison writes flags alone.
        _ if word & 0x1fe0_0000 == 0x1a40_0000 => {
            (n(word) | if word >> 11 & 1 == 1 { 0 } else { m(word) }, NONE)
        }
        _ if word & 0x5fe0_0000 == 0x5ac0_0000 => (n(word), d(word)),
        _ if word & 0x1f00_0000 == 0x1b00_0000 => (n(word) | m(word) | a(word), d(word)),
        _ => (n(word) | m(word), d(word)),
    }
}

/// C4.1.94, loads and stores.
fn memory(word: u32) -> (u32, u32) {
    let vector = word >> 26 & 1 == 1;
    let all = d(word) | n(word) | a(word) | m(word);
    let back = |yes: bool| if yes { n(word) } else { NONE };
    match word >> 28 & 3 {
        0 if vector => (n(word) | m(word), back(word >> 23 & 1 == 1)),
        0 => (all, d(word) | a(word) | m(word)),
        // A literal load reads no register; its fourth kind is a prefetch.
        1 if word >> 24 & 1 == 0 => (NONE, if vector || word >> 30 == 3 { NONE } else { d(word) }),
        1 => (all, d(word) | n(word) | m(word)),
        2 => {
            let pair = if vector { NONE } else { d(word) | a(word) };
            let loads = word >> 22 & 1 == 1;
            let (reads, writes) = if loads { (NONE, pair) } else { (pair, NONE) };
            (n(word) | reads, writes | back(word >> 23 & 1 == 1))
        }
        _ => single(word, vector),
    }
}

fn single(word: u32, vector: bool) -> (u32, u32) {
    let opc = word >> 22 & 3;
    let prefetch = !vector && word >> 30 == 3 && opc == 2;
    let (reads, writes) = match (vector || prefetch, opc) {
        (true, _) => (NONE, NONE),
        (false, 0) => (d(word), NONE),
        (false, _) => (NONE, d(word)),
    };
    let n = n(word);
    if word >> 24 & 1 == 1 {
        return (n | reads, writes);
    }
    match (word >> 21 & 1, word >> 10 & 3) {
        (0, 1 | 3) => (n | reads, writes | n),
        (0, _) => (n | reads, writes),
        (_, 2) => (n | m(word) | reads, writes),
        // Atomic operations, and loads through an authenticated pointer.
        (_, 0) => (d(word) | n | m(word), d(word)),
        _ => (n, d(word) | n),
    }
}

/// C4.1.96, floating point and vectors, which meet general registers only to convert or to move.
fn vector(word: u32) -> (u32, u32) {
    let converts = word & 0x5f20_fc00 == 0x1e20_0000 || word & 0x5f20_0000 == 0x1e00_0000;
    if converts {
        return match word >> 16 & 7 {
            2 | 3 | 7 => (n(word), NONE),
            _ => (NONE, d(word)),
        };
    }
    match word & 0xbfe0_fc00 {
        // dup and ins from a general register; smov and umov to one.
        0x0e00_0c00 | 0x0e00_1c00 => (n(word), NONE),
        0x0e00_2c00 | 0x0e00_3c00 => (NONE, d(word)),
        _ => (NONE, NONE),
    }
}
