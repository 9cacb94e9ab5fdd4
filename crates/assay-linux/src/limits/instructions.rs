//! How long does an instruction take, alone, after another, many side by side? Loops of a known number of instructions.
//!
//! Method: each loop repeats one instruction, or a few, 32 or 64 times between a decrement and a jump back. Where it can,
//! it returns what tells that all of it was executed. Checked: by these values; the counts by the text of the loops.
//! Known limits: written for x86-64 and AArch64; elsewhere there are none.

/// What a loop shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shows {
    /// An addition that needs the one before: a cycle, on every processor of today.
    DependentAdd,
    /// Additions that need nothing of each other.
    IndependentAdd,
    /// Instructions at best: candidates, of which the fastest counts. None of them is a nop, which processors fuse or drop.
    Width,
    /// A multiplication that needs the one before.
    DependentMultiply,
    /// A store and a load of the same place that needs it.
    StoreLoad,
    /// A jump that is always taken to the next line's quarter.
    TakenJump,
    /// A conditional jump that is never taken.
    UntakenBranch,
    /// The shortest loop: one turn.
    ShortestLoop,
    /// A call and its return.
    Call,
    /// A call through a register, always to one place, and its return.
    IndirectCall,
}

/// A loop.
#[derive(Clone, Copy, Debug)]
pub struct InstructionLoop {
    /// What for.
    pub shows: Shows,
    /// What it repeats.
    pub repeats: &'static str,
    /// How often it is done in one turn.
    pub per_turn: u64,
    /// Instructions in one turn, the loop's own included.
    pub instructions: u64,
    turn: fn(u64) -> u64,
    /// What a turn adds to the value returned, where it adds something.
    #[cfg(test)]
    adds: u64,
}

impl InstructionLoop {
    /// Does so many turns, at least one; returns what they computed.
    pub fn run(&self, turns: u64) -> u64 {
        (self.turn)(turns.max(1))
    }
}

/// All loops for this architecture.
pub fn all() -> &'static [InstructionLoop] {
    loops::ALL
}

/// A loop of `$per_turn` of what it shows and `$instructions` besides the two of the loop itself.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! listed {
    ($shows:ident, $repeats:literal, $per_turn:literal, $instructions:literal, $turn:ident, $adds:literal) => {
        super::InstructionLoop {
            shows: super::Shows::$shows,
            repeats: $repeats,
            per_turn: $per_turn,
            instructions: $instructions + 2,
            turn: $turn,
            #[cfg(test)]
            adds: $adds,
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod loops {
    use super::InstructionLoop;

    /// A function of `turns` turns, each of which repeats `$step` `$times` times. `{x}` starts at 0 and is returned, `{one}` is
    /// 1, `{a}` to `{e}` are free, `{place}` is the address of a word. `$first` stands before the loop, `$each` before the
    /// repetitions; label 8 is a function that adds 1 to `{x}`, label 9 the end.
    macro_rules! turns {
        ($name:ident, $times:literal, [$($step:literal),*], [$($first:literal),*], [$($each:literal),*]) => {
            fn $name(turns: u64) -> u64 {
                let (mut x, mut place) = (0u64, 0u64);
                // SAFETY: calculates in registers named here, stores to `place` alone, and calls only code of its own text, for
                // which the compiler leaves the stack as a call needs it (no `nostack`).
                unsafe {
                    std::arch::asm!(
                        $($first,)*
                        ".p2align 6",
                        "2:",
                        $($each,)*
                        concat!(".rept ", $times),
                        $($step,)*
                        ".endr",
                        "dec {turns}",
                        "jnz 2b",
                        "jmp 9f",
                        "8:",
                        "add {x}, {one}",
                        "ret",
                        "9:",
                        "/* {a} {b} {c} {d} {e} {place} */",
                        x = inout(reg) x,
                        one = inout(reg) 1u64 => _,
                        a = inout(reg) 0u64 => _,
                        b = inout(reg) 0u64 => _,
                        c = inout(reg) 0u64 => _,
                        d = inout(reg) 0u64 => _,
                        e = inout(reg) 0u64 => _,
                        turns = inout(reg) turns => _,
                        place = in(reg) &raw mut place,
                    );
                }
                x
            }
        };
    }

    turns!(add_chain, "64", ["add {x}, {one}"], [], []);
    turns!(
        adds,
        "16",
        [
            "add {x}, {one}",
            "add {a}, {one}",
            "add {b}, {one}",
            "add {c}, {one}",
            "add {d}, {one}",
            "add {e}, {one}"
        ],
        [],
        []
    );
    turns!(moves, "16", ["mov {a}, {one}", "mov {b}, {one}", "mov {c}, {one}", "mov {d}, {one}"], [], []);
    turns!(
        fused,
        "12",
        [
            "cmp {one}, {one}",
            "jne 9f",
            "mov {a}, {one}",
            "add {b}, {one}",
            "mov {c}, {one}",
            "add {d}, {one}"
        ],
        [],
        []
    );
    turns!(
        fused_moves,
        "16",
        ["cmp {one}, {one}", "jne 9f", "mov {a}, {one}", "mov {b}, {one}", "mov {c}, {one}"],
        [],
        []
    );
    turns!(multiply_chain, "64", ["imul {x}, {one}"], [], []);
    turns!(store_load, "32", ["mov [{place}], {x}", "mov {x}, [{place}]"], [], []);
    turns!(taken_jumps, "64", ["jmp 3f", ".p2align 4", "3:"], [], []);
    turns!(untaken_branches, "64", ["jz 9f"], [], ["test {one}, {one}"]);
    turns!(shortest_loop, "0", ["nop"], [], []);
    turns!(calls, "32", ["call 8f"], [], []);
    turns!(indirect_calls, "32", ["call {a}"], ["lea {a}, [rip + 8f]"], []);

    pub const ALL: &[InstructionLoop] = &[
        listed!(DependentAdd, "add", 64, 64, add_chain, 64),
        listed!(IndependentAdd, "add", 96, 96, adds, 16),
        listed!(Width, "mov between registers", 66, 64, moves, 0),
        listed!(Width, "cmp with jne, mov, add", 74, 72, fused, 0),
        listed!(Width, "cmp with jne, mov", 82, 80, fused_moves, 0),
        listed!(DependentMultiply, "imul", 64, 64, multiply_chain, 0),
        listed!(StoreLoad, "mov", 32, 64, store_load, 0),
        listed!(TakenJump, "jmp", 64, 64, taken_jumps, 0),
        listed!(UntakenBranch, "jz", 64, 65, untaken_branches, 0),
        listed!(ShortestLoop, "dec, jnz", 1, 0, shortest_loop, 0),
        listed!(Call, "call, add, ret", 32, 96, calls, 32),
        listed!(IndirectCall, "call, add, ret", 32, 96, indirect_calls, 32),
    ];
}

#[cfg(target_arch = "aarch64")]
mod loops {
    use super::InstructionLoop;

    /// As on x86-64.
    macro_rules! turns {
        ($name:ident, $times:literal, [$($step:literal),*], [$($first:literal),*]) => {
            fn $name(turns: u64) -> u64 {
                let (mut x, mut place) = (0u64, 0u64);
                // SAFETY: calculates in registers named here, stores to `place` alone, and calls only code of its own text.
                unsafe {
                    std::arch::asm!(
                        $($first,)*
                        "2:",
                        concat!(".rept ", $times),
                        $($step,)*
                        ".endr",
                        "subs {turns}, {turns}, #1",
                        "b.ne 2b",
                        "b 9f",
                        "8:",
                        "add {x}, {x}, {one}",
                        "ret",
                        "9:",
                        "/* {a} {b} {c} {d} {e} {place} */",
                        x = inout(reg) x,
                        one = inout(reg) 1u64 => _,
                        a = inout(reg) 0u64 => _,
                        b = inout(reg) 0u64 => _,
                        c = inout(reg) 0u64 => _,
                        d = inout(reg) 0u64 => _,
                        e = inout(reg) 0u64 => _,
                        turns = inout(reg) turns => _,
                        place = in(reg) &raw mut place,
                        out("x30") _,
                    );
                }
                x
            }
        };
    }

    turns!(add_chain, "64", ["add {x}, {x}, {one}"], []);
    turns!(
        adds,
        "16",
        [
            "add {x}, {x}, {one}",
            "add {a}, {a}, {one}",
            "add {b}, {b}, {one}",
            "add {c}, {c}, {one}",
            "add {d}, {d}, {one}",
            "add {e}, {e}, {one}"
        ],
        []
    );
    turns!(moves, "16", ["mov {a}, {one}", "mov {b}, {one}", "mov {c}, {one}", "mov {d}, {one}"], []);
    turns!(
        fused,
        "12",
        [
            "cmp {one}, {one}",
            "b.ne 9f",
            "mov {a}, {one}",
            "add {b}, {b}, {one}",
            "mov {c}, {one}",
            "add {d}, {d}, {one}"
        ],
        []
    );
    turns!(multiply_chain, "64", ["mul {x}, {x}, {one}"], []);
    turns!(store_load, "32", ["str {x}, [{place}]", "ldr {x}, [{place}]"], []);
    turns!(taken_jumps, "64", ["b 3f", ".p2align 4", "3:"], []);
    turns!(untaken_branches, "64", ["cbz {one}, 9f"], []);
    turns!(shortest_loop, "0", ["nop"], []);
    turns!(calls, "32", ["bl 8f"], []);
    turns!(indirect_calls, "32", ["blr {a}"], ["adr {a}, 8f"]);

    pub const ALL: &[InstructionLoop] = &[
        listed!(DependentAdd, "add", 64, 64, add_chain, 64),
        listed!(IndependentAdd, "add", 96, 96, adds, 16),
        listed!(Width, "mov between registers", 66, 64, moves, 0),
        listed!(Width, "cmp with b.ne, mov, add", 74, 72, fused, 0),
        listed!(DependentMultiply, "mul", 64, 64, multiply_chain, 0),
        listed!(StoreLoad, "str, ldr", 32, 64, store_load, 0),
        listed!(TakenJump, "b", 64, 64, taken_jumps, 0),
        listed!(UntakenBranch, "cbz", 64, 64, untaken_branches, 0),
        listed!(ShortestLoop, "subs, b.ne", 1, 0, shortest_loop, 0),
        listed!(Call, "bl, add, ret", 32, 96, calls, 32),
        listed!(IndirectCall, "blr, add, ret", 32, 96, indirect_calls, 32),
    ];
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod loops {
    pub const ALL: &[super::InstructionLoop] = &[];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loop_computes_what_its_number_of_turns_and_repetitions_says() {
        for own in all() {
            for turns in [1, 2, 1000] {
                assert_eq!(own.run(turns), turns * own.adds, "{own:?}");
            }
            assert_eq!(own.run(0), own.adds, "at least one turn of {own:?}");
        }
    }

    #[test]
    fn there_is_a_loop_for_everything_shown() {
        if all().is_empty() {
            println!("skipped: no loops are written for {}", std::env::consts::ARCH);
            return;
        }
        use Shows::*;
        let shows = [
            DependentAdd,
            IndependentAdd,
            Width,
            DependentMultiply,
            StoreLoad,
            TakenJump,
            UntakenBranch,
            ShortestLoop,
            Call,
            IndirectCall,
        ];
        for shown in shows {
            assert!(all().iter().any(|own| own.shows == shown), "{shown:?}");
        }
        // What a turn shows is among its instructions; a width counts the loop's own too.
        assert!(all().iter().all(|own| own.per_turn <= own.instructions));
        assert!(all().iter().filter(|own| own.shows == Width).all(|own| own.per_turn == own.instructions));
    }
}
