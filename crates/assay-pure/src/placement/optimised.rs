//! Was the code built without optimisation, so that its times say nothing about the code that ships?
//!
//! Method: the flags that were given; in a binary with debug information, the producer that GNU compilers record with their
//! flags; and the shape of a function's code, for compilers that record none. Limits: compressed debug information is not
//! read; the shape is known for x86-64, of functions that do more than call others.

use super::layout;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic, OpKind, Register};
use object::{Object, ObjectSection};
use std::collections::BTreeSet;
use std::fmt;

/// Why the code counts as unoptimised, or `None`.
///
/// Input: all flags of the compilation in order (the last `-O` counts, as for the compilers); the linked binary, of
/// which the debug information is read if there is any. A file that cannot be read is judged by the flags alone.
pub fn unoptimised(flags: &[String], elf: &[u8]) -> Option<String> {
    by_flags(flags).or_else(|| by_producer(elf))
}

fn by_flags(flags: &[String]) -> Option<String> {
    match flags.iter().rev().find(|flag| flag.starts_with("-O")) {
        None => Some("no -O flag was given, and compilers do not optimise by themselves".into()),
        Some(flag) if flag == "-O0" => Some("-O0 was given".into()),
        Some(_) => None,
    }
}

/// A string of `.debug_str` like "GNU C17 12.2.0 -mtune=generic -g" without any `-O`.
fn by_producer(elf: &[u8]) -> Option<String> {
    let file = layout::parse(elf).ok()?;
    let mut found = None;
    for name in [".debug_str", ".debug_line_str"] {
        let Some(section) = file.section_by_name(name) else { continue };
        let Ok(data) = section.data() else { continue };
        for string in data.split(|&byte| byte == 0) {
            // GNU AS writes a producer too, and assembly is as its author wrote it.
            if string.starts_with(b"GNU C") && unoptimised_producer(&String::from_utf8_lossy(string)) {
                found = Some(format!("the debug information names {}", String::from_utf8_lossy(string)));
            }
        }
    }
    found
}

fn unoptimised_producer(producer: &str) -> bool {
    matches!(level_of_producer(producer), Some(OptimisationLevel::Unstated | OptimisationLevel::None))
}

/// A level of optimisation, as a compiler wrote it down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptimisationLevel {
    /// No level among its flags: compilers do not optimise by themselves.
    Unstated,
    /// -O0.
    None,
    /// -Og: for debugging.
    Debug,
    /// Another, as the flag has it.
    Some(String),
}

impl OptimisationLevel {
    /// Whether code of this level is not what is shipped.
    pub fn is_unoptimised(&self) -> bool {
        !matches!(self, OptimisationLevel::Some(_))
    }
}

impl fmt::Display for OptimisationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OptimisationLevel::Unstated => "no -O flag",
            OptimisationLevel::None => "-O0",
            OptimisationLevel::Debug => "-Og",
            OptimisationLevel::Some(flag) => flag,
        })
    }
}

/// The level that a producer of debug information names; `None` where it holds no flags.
pub fn level_of_producer(producer: &str) -> Option<OptimisationLevel> {
    match producer.split_whitespace().rev().find(|word| word.starts_with("-O")) {
        None => {
            (producer.starts_with("GNU C") && producer.contains(" -m")).then_some(OptimisationLevel::Unstated)
        }
        Some("-O0") => Some(OptimisationLevel::None),
        Some("-Og") => Some(OptimisationLevel::Debug),
        Some(flag) => Some(OptimisationLevel::Some(flag.to_owned())),
    }
}

/// How a function's code deals with its variables.
///
/// Without optimisation each variable has its place on the stack, is stored there when it changes and loaded when it is
/// used, even right after. Most functions of 10 instructions and more have an eighth of such instructions and load again at
/// every fortieth at least, as gcc 12 and clang 14 make them at -O0; from -O1 and -Og on none has (counted over sources of this
/// project: docs/methodology/doctor.md). Zig and Rust have a function in a hundred so at their release levels: one alone says little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeShape {
    /// Instructions, padding left out.
    pub instructions: u32,
    /// Those that read or write a variable on the stack.
    pub of_stack: u32,
    /// Those that read what was stored there since the last branch, or change it there.
    pub reloads: u32,
    /// It begins by making a frame that `rbp` points to.
    pub has_frame: bool,
}

impl CodeShape {
    /// Of a function of x86-64 that begins at an address.
    pub fn of(code: &[u8], address: u64) -> CodeShape {
        let mut shape = CodeShape::default();
        let mut stored: BTreeSet<(u32, u64)> = BTreeSet::new();
        for instruction in &mut Decoder::with_ip(64, code, address, DecoderOptions::NONE) {
            if instruction.is_invalid() {
                break;
            }
            if matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Int3) {
                continue;
            }
            shape.instructions += 1;
            shape.has_frame |= shape.instructions <= 3
                && instruction.mnemonic() == Mnemonic::Mov
                && instruction.op0_register() == Register::RBP
                && instruction.op1_register() == Register::RSP;
            if instruction.flow_control() != FlowControl::Next {
                stored.clear();
                continue;
            }
            let is_stack = matches!(instruction.memory_base(), Register::RSP | Register::RBP)
                && instruction.memory_index() == Register::None
                && instruction.mnemonic() != Mnemonic::Lea;
            if !is_stack {
                continue;
            }
            shape.of_stack += 1;
            let slot = (instruction.memory_base() as u32, instruction.memory_displacement64());
            let is_written = instruction.op0_kind() == OpKind::Memory;
            let is_changed = is_written && changes(instruction.mnemonic());
            let is_store = is_written && is_move(instruction.mnemonic());
            if is_changed || !is_store && stored.contains(&slot) {
                shape.reloads += 1;
            }
            if is_changed || is_store {
                stored.insert(slot);
            }
        }
        shape
    }

    /// Whether it is the shape of unoptimised code. Of short functions nothing is said.
    pub fn is_unoptimised(&self) -> bool {
        self.instructions >= 10
            && self.reloads >= 2
            && 8 * self.of_stack >= self.instructions
            && 40 * self.reloads >= self.instructions
    }
}

fn changes(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Add
            | Mnemonic::Sub
            | Mnemonic::Inc
            | Mnemonic::Dec
            | Mnemonic::And
            | Mnemonic::Or
            | Mnemonic::Xor
            | Mnemonic::Shl
            | Mnemonic::Shr
            | Mnemonic::Sar
            | Mnemonic::Not
            | Mnemonic::Neg
    )
}

fn is_move(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Mov
            | Mnemonic::Movss
            | Mnemonic::Movsd
            | Mnemonic::Movaps
            | Mnemonic::Movups
            | Mnemonic::Movapd
            | Mnemonic::Movd
            | Mnemonic::Movq
            | Mnemonic::Movdqa
            | Mnemonic::Movdqu
            | Mnemonic::Vmovss
            | Mnemonic::Vmovsd
            | Mnemonic::Vmovaps
            | Mnemonic::Vmovups
            | Mnemonic::Vmovdqa
            | Mnemonic::Vmovdqu
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_last_flag_counts() {
        assert_eq!(unoptimised(&flags("-O0 -g -O2"), b""), None);
        assert_eq!(unoptimised(&flags("-O3 -O0"), b""), Some("-O0 was given".into()));
        assert!(unoptimised(&flags("-g -Wall"), b"").is_some());
        for optimised in ["-O", "-O1", "-Os", "-Og", "-Ofast"] {
            assert_eq!(unoptimised(&flags(optimised), b""), None, "{optimised}");
        }
    }

    #[test]
    fn a_producer_with_flags_but_without_optimisation_is_told_from_the_others() {
        assert!(unoptimised_producer("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g"));
        assert!(unoptimised_producer("GNU C++17 12.2.0 -mtune=generic -O2 -O0"));
        assert!(!unoptimised_producer("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2"));
        assert!(!unoptimised_producer("GNU C17"));
    }

    #[test]
    fn levels_are_read_where_a_producer_holds_flags() {
        assert_eq!(
            level_of_producer("GNU C17 12.2.0 -mtune=generic -g -O2 -Og"),
            Some(OptimisationLevel::Debug)
        );
        assert_eq!(level_of_producer("GNU C17 12.2.0 -mtune=generic"), Some(OptimisationLevel::Unstated));
        assert_eq!(
            level_of_producer("GNU C17 12.2.0 -mtune=generic -Os"),
            Some(OptimisationLevel::Some("-Os".into()))
        );
        for without in
            ["clang version 14.0.6", "zig 0.15.2", "GNU AS 2.40", "clang LLVM (rustc version 1.89.0)"]
        {
            assert_eq!(level_of_producer(without), None, "{without}");
        }
        assert!(
            OptimisationLevel::Debug.is_unoptimised()
                && !OptimisationLevel::Some("-O1".into()).is_unoptimised()
        );
    }

    /// `int f(int a, int b) { int c = a + b; if (c > 3) c = a; return c; }` by gcc 12 -O0 and -O2.
    #[test]
    fn code_that_loads_what_it_has_just_stored_is_unoptimised() {
        let unoptimised = [
            0x55, 0x48, 0x89, 0xe5, 0x89, 0x7d, 0xec, 0x89, 0x75, 0xe8, 0x8b, 0x55, 0xec, 0x8b, 0x45, 0xe8,
            0x01, 0xd0, 0x89, 0x45, 0xfc, 0x83, 0x7d, 0xfc, 0x03, 0x7e, 0x06, 0x8b, 0x45, 0xec, 0x89, 0x45,
            0xfc, 0x8b, 0x45, 0xfc, 0x5d, 0xc3,
        ];
        let shape = CodeShape::of(&unoptimised, 0);
        // Stored: a, b, c; loaded again before the branch: a, b, c; behind it a is stored no more, c is.
        assert_eq!(shape, CodeShape { instructions: 15, of_stack: 9, reloads: 4, has_frame: true });
        assert!(shape.is_unoptimised());
        let optimised = [0x8d, 0x04, 0x37, 0x83, 0xf8, 0x04, 0x0f, 0x4d, 0xc7, 0xc3];
        assert!(!CodeShape::of(&optimised, 0).is_unoptimised());
    }

    #[test]
    fn spilling_registers_is_not_enough_nor_is_a_short_function() {
        let spilled = CodeShape { instructions: 100, of_stack: 60, reloads: 2, has_frame: true };
        let short = CodeShape { instructions: 9, of_stack: 6, reloads: 3, has_frame: true };
        let seldom = CodeShape { instructions: 100, of_stack: 12, reloads: 9, has_frame: true };
        assert!(![spilled, short, seldom].iter().any(CodeShape::is_unoptimised));
        assert!(CodeShape { instructions: 100, of_stack: 13, reloads: 3, has_frame: false }.is_unoptimised());
        // A store, a call, a load: what the callee may have changed is loaded again by optimised code too.
        let across = [0x89, 0x44, 0x24, 0x08, 0xe8, 0, 0, 0, 0, 0x8b, 0x44, 0x24, 0x08];
        assert_eq!(CodeShape::of(&across, 0).reloads, 0);
        // add dword [rsp+8], 1; mov eax, [rsp+8]: a counter that lives in memory.
        let counter = [0x83, 0x44, 0x24, 0x08, 0x01, 0x8b, 0x44, 0x24, 0x08];
        assert_eq!((CodeShape::of(&counter, 0).reloads, CodeShape::of(&counter, 0).has_frame), (2, false));
    }
}
