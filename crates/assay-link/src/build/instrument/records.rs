//! The code of each record, in AT&T's syntax.
//!
//! It uses `mov`, `lea` and `set` only, so no flag changes; what it takes out of its way it keeps in memory of the thread, not on the
//! stack, so neither red zone nor unwinding tables are touched. A record's last byte is stored first, so that where that has room the
//! rest has: a full area (`stream.c`) is met with nothing of the record written. For a branch that is taken the pointer only moves on:
//! of all records these are executed most, and a store costs more than all else.

use super::registers::RegisterSet;
use super::rewrite::Scope;
use assay_pure::outcomes::{END, NAMED_BYTES, TARGET_BYTES, TARGET_WORD, WORD_BYTES, outcome};
use std::fmt::Write as _;

/// Where a thread keeps what the pointer's register held.
pub const KEPT: &str = "%fs:__assay_kept@tpoff";

/// A register that holds the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder<'a> {
    /// Its name.
    pub register: &'a str,
    /// What it held before is kept in memory of the thread.
    pub is_kept: bool,
}

/// Where a thread's pointer to the next record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// In memory of the thread: a record fetches it and puts it back.
    Memory,
    /// In a register that nothing else here names.
    Register(Holder<'static>),
}

/// What holds it for the time of a record.
const BRIEFLY: Holder<'static> = Holder { register: "%r11", is_kept: true };

impl Holder<'_> {
    /// The pointer comes out of memory, and what the register held goes there.
    pub fn fetched(self) -> String {
        let Holder { register, is_kept } = self;
        let kept = if is_kept { format!("\tmovq {register}, {KEPT}\n") } else { String::new() };
        format!("{kept}\tmovq %fs:__assay_at@tpoff, {register}\n")
    }

    /// The reverse.
    pub fn put_back(self) -> String {
        let Holder { register, is_kept } = self;
        let kept = if is_kept { format!("\tmovq {KEPT}, {register}\n") } else { String::new() };
        format!("\tmovq {register}, %fs:__assay_at@tpoff\n{kept}")
    }

    /// The same ahead of code that looks for it in memory: a whole program may end there.
    pub fn left(self, scope: Scope) -> String {
        let ends = match scope {
            Scope::Program => format!("\tmovb ${END}, ({})\n", self.register),
            Scope::Regions => String::new(),
        };
        format!("{ends}{}", self.put_back())
    }
}

impl Pointer {
    fn register(self) -> &'static str {
        self.holder().register
    }

    fn holder(self) -> Holder<'static> {
        match self {
            Pointer::Memory => BRIEFLY,
            Pointer::Register(holder) => holder,
        }
    }

    /// A record of so many bytes, of which `stores` is all but the pointer's own.
    fn record(self, stores: &str, bytes: usize) -> String {
        let register = self.register();
        let own = format!("{stores}\tleaq {bytes}({register}), {register}\n");
        match self {
            Pointer::Memory => format!("{}{own}{}", BRIEFLY.fetched(), BRIEFLY.put_back()),
            Pointer::Register(_) => own,
        }
    }

    /// The outcome of a conditional branch: what goes ahead of it, and behind it.
    pub fn condition(self, condition: &str, scope: Scope) -> (String, String) {
        match self {
            Pointer::Memory => {
                let stores =
                    format!("{}\tset{} ({})\n", self.end(scope), inverse(condition), self.register());
                (self.record(&stores, 1), String::new())
            }
            Pointer::Register(Holder { register, .. }) => (
                format!("\tleaq 1({register}), {register}\n"),
                format!("\tmovb ${}, -1({register})\n", outcome::NOT_TAKEN),
            ),
        }
    }

    /// Behind an outcome with which a whole program may end: in a register the pointer is put back first ([`Holder::left`]).
    fn end(self, scope: Scope) -> String {
        match (self, scope) {
            (Pointer::Memory, Scope::Program) => format!("\tmovb ${END}, 1({})\n", self.register()),
            _ => String::new(),
        }
    }

    /// An outcome that is known where the record stands.
    pub fn outcome(self, outcome: u32, scope: Scope) -> String {
        self.record(&format!("{}\tmovb ${outcome}, ({})\n", self.end(scope), self.register()), 1)
    }

    /// The outcome of a conditional branch, and which one it is.
    pub fn named(self, condition: &str, word: u32) -> String {
        let register = self.register();
        let inverse = inverse(condition);
        let stores = format!("\tmovl ${word:#x}, 1({register})\n\tset{inverse} ({register})\n");
        self.record(&stores, NAMED_BYTES)
    }

    /// Control came by.
    pub fn passage(self, word: u32) -> String {
        self.record(&format!("\tmovl ${word:#x}, ({})\n", self.register()), WORD_BYTES)
    }

    /// Where an indirect branch or a return goes: `operand`, which is read before any register changes. What is in `spare` may change.
    pub fn departure(self, operand: &str, word: u32, spare: RegisterSet) -> String {
        let of_operand = RegisterSet::named(operand);
        let spare = spare.without(of_operand);
        let holder = match self {
            Pointer::Memory => held(spare, of_operand),
            Pointer::Register(holder) => holder,
        };
        let pointer = holder.register;
        let taken = of_operand.and(RegisterSet::named(pointer));
        // A register's value is there already.
        let target = if operand.starts_with('%') {
            Holder { register: operand, is_kept: false }
        } else {
            held(spare.without(taken), taken)
        };
        let (register, mut ahead, mut behind) = (target.register, String::new(), String::new());
        if target.is_kept {
            ahead = format!("\tmovq {register}, %fs:__assay_target@tpoff\n");
            behind = format!("\tmovq %fs:__assay_target@tpoff, {register}\n");
        }
        if register != operand {
            let _ = writeln!(ahead, "\tmovq {operand}, {register}");
        }
        if self == Pointer::Memory {
            ahead.push_str(&holder.fetched());
            behind.insert_str(0, &holder.put_back());
        }
        format!(
            "{ahead}\tmovl ${word:#x}, {TARGET_WORD}({pointer})\n\tmovq {register}, ({pointer})\n\
             \tleaq {TARGET_BYTES}({pointer}), {pointer}\n{behind}"
        )
    }
}

/// The condition of which this one is the opposite: an outcome says whether a branch was not taken.
fn inverse(condition: &str) -> String {
    match condition.strip_prefix('n') {
        Some(opposite) => opposite.to_owned(),
        None => match condition {
            "pe" => "po".to_owned(),
            "po" => "pe".to_owned(),
            condition => format!("n{condition}"),
        },
    }
}

/// A register for the time of a record: one that may change, or else one that is not `taken`, kept.
fn held(spare: RegisterSet, taken: RegisterSet) -> Holder<'static> {
    match spare.any() {
        Some(register) => Holder { register, is_kept: false },
        None => {
            Holder { register: RegisterSet::CHANGED.without(taken).any().unwrap_or("%r11"), is_kept: true }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        text.lines().map(str::trim).collect()
    }

    fn holding(register: &'static str) -> Pointer {
        Pointer::Register(Holder { register, is_kept: true })
    }

    #[test]
    fn a_conditional_branch_that_is_taken_stores_nothing_where_the_pointer_is_in_a_register() {
        let (ahead, behind) = holding("%rbx").condition("ne", Scope::Regions);
        assert_eq!(lines(&ahead), ["leaq 1(%rbx), %rbx"]);
        assert_eq!(lines(&behind), ["movb $1, -1(%rbx)"]);
    }

    #[test]
    fn where_the_pointer_is_in_memory_an_outcome_is_stored_and_no_flag_is_touched() {
        let (ahead, behind) = Pointer::Memory.condition("pe", Scope::Regions);
        assert_eq!(
            lines(&ahead),
            [
                "movq %r11, %fs:__assay_kept@tpoff",
                "movq %fs:__assay_at@tpoff, %r11",
                "setpo (%r11)",
                "leaq 1(%r11), %r11",
                "movq %r11, %fs:__assay_at@tpoff",
                "movq %fs:__assay_kept@tpoff, %r11"
            ]
        );
        assert_eq!(behind, "");
    }

    #[test]
    fn of_a_whole_program_it_is_told_where_records_end_wherever_it_may_end() {
        let holder = Holder { register: "%r9", is_kept: true };
        assert_eq!(lines(&holder.left(Scope::Program))[0], "movb $64, (%r9)");
        let (ahead, _) = Pointer::Memory.condition("e", Scope::Program);
        assert_eq!(lines(&ahead)[2..4], ["movb $64, 1(%r11)", "setne (%r11)"]);
        assert_eq!(holder.left(Scope::Regions), holder.put_back());
    }

    #[test]
    fn each_condition_has_an_opposite() {
        let pairs =
            [("e", "ne"), ("nae", "ae"), ("g", "ng"), ("o", "no"), ("pe", "po"), ("nz", "z"), ("c", "nc")];
        for (one, other) in pairs {
            assert_eq!((inverse(one).as_str(), inverse(other).as_str()), (other, one));
        }
    }

    #[test]
    fn the_last_byte_of_a_record_is_stored_first() {
        assert_eq!(
            lines(&holding("%r9").named("a", 0x1000_0007)),
            ["movl $0x10000007, 1(%r9)", "setna (%r9)", "leaq 5(%r9), %r9"]
        );
        let departure = holding("%r11").departure("(%rsp)", 0x0200_0007, RegisterSet::NONE);
        let stored: Vec<&str> =
            lines(&departure).into_iter().filter(|line| line.contains("(%r11)")).collect();
        assert_eq!(stored, ["movl $0x2000007, 8(%r11)", "movq %r10, (%r11)", "leaq 12(%r11), %r11"]);
    }

    #[test]
    fn an_indirect_target_is_read_before_any_register_changes() {
        let departure = Pointer::Memory.departure("(%r11,%r10,8)", 7, RegisterSet::ALL);
        assert!(!departure.contains("__assay_kept") && !departure.contains("__assay_target"), "{departure}");
        let departure = Pointer::Memory.departure("(%r11,%r10,8)", 7, RegisterSet::NONE);
        assert_eq!(
            lines(&departure)[..4],
            [
                "movq %r8, %fs:__assay_target@tpoff",
                "movq (%r11,%r10,8), %r8",
                "movq %r9, %fs:__assay_kept@tpoff",
                "movq %fs:__assay_at@tpoff, %r9",
            ]
        );
    }

    #[test]
    fn a_target_in_a_register_needs_no_other() {
        let spare = RegisterSet::LINKERS;
        assert_eq!(
            lines(&Pointer::Memory.departure("%rax", 7, spare)),
            [
                "movq %fs:__assay_at@tpoff, %r11",
                "movl $0x7, 8(%r11)",
                "movq %rax, (%r11)",
                "leaq 12(%r11), %r11",
                "movq %r11, %fs:__assay_at@tpoff",
            ]
        );
        let departure = Pointer::Memory.departure("%r11", 7, spare);
        assert!(departure.contains("movq %r11, (%r10)") && departure.contains("movq %r10, %fs:__assay_kept"));
    }
}
