//! Where the pointer to the next record is kept, for each statement of a text.
//!
//! A record that fetches the pointer from memory and puts it back makes each record wait for the one before. So a function keeps it in a
//! register that it names nowhere, if that is less work by the loops that its text has: fetched at its beginning and behind
//! each call, put back ahead of each call, return and jump to another function. Whatever the register held is put back with it, so that
//! what is called, returned to or unwound finds it as it was: it need not be one that functions may change. Where it is one that
//! may change (`spare`), nothing is kept. Around a call of a function without records (`quiet`) that does not touch it it stays.
//! Functions that are open ([`Function::is_open`]), or name all registers, keep it in memory.

use super::functions::{Flow, Function, functions};
use super::quiet::QuietFunctions;
use super::records::{Holder, Pointer};
use super::registers::RegisterSet;
use super::rewrite::Scope;
use super::spare;
use super::statements::Statement;

/// A loop is taken to be executed so often.
const TURNS: u64 = 8;
/// Loops in loops that count.
const DEEPEST: u32 = 4;
/// Instructions that fetch the pointer and put it back.
const ROUND: u64 = 4;

/// What goes around a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedPointer {
    /// Where the pointer is at its record.
    pub pointer: Pointer,
    /// It is fetched behind the statement's labels.
    pub arrives: bool,
    /// It is put back ahead of the statement.
    pub leaves: bool,
    /// It is fetched behind the statement.
    pub returns: bool,
    /// What may change at the record.
    pub spare: RegisterSet,
    /// It returns from a function without records.
    pub is_quiet: bool,
}

/// Of the statements of a text.
#[derive(Debug)]
pub struct Pointers(Vec<PlannedPointer>);

impl Pointers {
    /// A record fetches it and puts it back.
    pub const IN_MEMORY: PlannedPointer = PlannedPointer {
        pointer: Pointer::Memory,
        arrives: false,
        leaves: false,
        returns: false,
        spare: RegisterSet::NONE,
        is_quiet: false,
    };

    /// Chooses.
    pub fn of(statements: &[Statement<'_>], scope: Scope) -> Pointers {
        let mut all = Pointers(vec![Pointers::IN_MEMORY; statements.len()]);
        let functions = functions(statements);
        let quiet = match scope {
            Scope::Regions => QuietFunctions::of(statements, &functions),
            Scope::Program => QuietFunctions::default(),
        };
        let at_returns = spare::at_returns(statements, &functions);
        let at_calls = spare::at_calls(statements);
        for (function, at_return) in functions.iter().zip(at_returns) {
            let work = Work { statements, quiet: &quiet, function };
            // A quiet one has no use for it, and must leave its caller's alone.
            let is_quiet = function.body.iter().any(|(at, _)| quiet.has(*at));
            let may_hold = !function.is_open && !is_quiet && work.is_less_in_a_register();
            let holder = work.holder(at_return).filter(|_| may_hold);
            if let Some(holder) = holder {
                all.keep(&work, holder);
            }
            for (at, flow) in &function.body {
                let taken = holder.map_or(RegisterSet::NONE, |holder| RegisterSet::named(holder.register));
                let spare = match flow {
                    Flow::Returns => at_return,
                    Flow::Calls => at_calls,
                    // Whoever calls this function may rely on what the other does not touch.
                    Flow::Leaves => at_calls.common(at_return),
                    Flow::On | Flow::Within(_) | Flow::Table => RegisterSet::NONE,
                };
                all.0[*at].spare = spare.without(taken);
                all.0[*at].is_quiet = quiet.has(*at);
            }
        }
        all
    }

    fn keep(&mut self, work: &Work<'_>, holder: Holder<'static>) {
        let Work { statements, quiet, function } = work;
        let (pointer, own) = (Pointer::Register(holder), RegisterSet::named(holder.register));
        for (at, flow) in &function.body {
            let name = statements[*at].instruction().map_or("", |(name, _)| name);
            let (leaves, returns) = match flow {
                Flow::On | Flow::Within(_) | Flow::Table => (false, false),
                Flow::Leaves => (true, !name.starts_with("jmp")),
                Flow::Calls => {
                    let stays =
                        quiet.called(&statements[*at]).is_some_and(|touched| touched.without(own) == touched);
                    (!stays, !stays)
                }
                Flow::Returns => (true, false),
            };
            self.0[*at] = PlannedPointer { pointer, leaves, returns, ..Pointers::IN_MEMORY };
        }
        for entrance in &function.entrances {
            self.0[*entrance].arrives = true;
            self.0[*entrance].pointer = pointer;
        }
    }

    /// Of the statement of this index.
    pub fn at(&self, index: usize) -> PlannedPointer {
        self.0[index]
    }
}

/// A function whose pointer is to be placed.
struct Work<'a> {
    statements: &'a [Statement<'a>],
    quiet: &'a QuietFunctions,
    function: &'a Function,
}

impl Work<'_> {
    /// The register that the function may have the pointer in.
    fn holder(&self, at_return: RegisterSet) -> Option<Holder<'static>> {
        let unnamed = RegisterSet::ALL.without(self.function.registers);
        let mut touched = RegisterSet::NONE;
        let mut is_leaf = true;
        for (at, flow) in &self.function.body {
            let called = self.quiet.called(&self.statements[*at]);
            touched = touched.and(called.unwrap_or(RegisterSet::NONE));
            is_leaf &= called.is_some() || !matches!(flow, Flow::Calls | Flow::Leaves);
        }
        // Others may carry an argument through this function.
        let passing =
            if is_leaf { RegisterSet::NONE } else { RegisterSet::ALL.without(RegisterSet::LINKERS) };
        let lost = unnamed.common(at_return).without(passing);
        let held = |from: RegisterSet, is_kept| from.any().map(|register| Holder { register, is_kept });
        held(lost.without(touched), false)
            .or_else(|| held(unnamed.without(touched), true))
            .or_else(|| held(unnamed, true))
    }

    /// Whether there is less to do for a pointer in a register than in memory.
    fn is_less_in_a_register(&self) -> bool {
        let (mut in_register, mut in_memory) = (ROUND / 2, 0);
        for ((at, flow), weight) in self.function.body.iter().zip(weights(self.function)) {
            // A direct jump has no record.
            let is_direct = self.statements[*at]
                .instruction()
                .is_some_and(|(name, operands)| name.starts_with("jmp") && !operands.starts_with('*'));
            let is_quiet = self.quiet.called(&self.statements[*at]).is_some();
            match flow {
                Flow::Leaves | Flow::Calls if !is_quiet => in_register += ROUND * weight,
                Flow::Returns => in_register += ROUND / 2 * weight,
                _ => {}
            }
            if !is_direct && !matches!(flow, Flow::On | Flow::Calls) {
                in_memory += ROUND * weight;
            }
        }
        in_register <= in_memory
    }
}

/// How often each instruction is executed, going by the jumps that lead back over it.
fn weights(function: &Function) -> Vec<u64> {
    // Loops that begin and end at an instruction.
    let mut edges = vec![0_i32; function.body.len() + 1];
    for (step, (at, flow)) in function.body.iter().enumerate() {
        if let Flow::Within(to) = flow
            && to <= at
        {
            let first = function.body.partition_point(|(statement, _)| statement < to);
            edges[first.min(step)] += 1;
            edges[step + 1] -= 1;
        }
    }
    let mut depth = 0;
    let weight = |edge: &i32| {
        depth += edge;
        TURNS.pow((depth.max(0) as u32).min(DEEPEST))
    };
    edges.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::super::statements::statements;
    use super::*;

    /// Of each statement that names the function's text.
    fn of(body: &str) -> Vec<(String, PlannedPointer)> {
        let text = format!("\t.type f, @function\n{body}");
        let statements = statements(&text);
        let pointers = Pointers::of(&statements, Scope::Regions);
        let with =
            statements.iter().enumerate().map(|(at, one)| (one.text.trim().to_owned(), pointers.at(at)));
        with.skip(1).collect()
    }

    #[test]
    fn a_loop_without_calls_keeps_the_pointer_in_a_register_that_the_function_does_not_name() {
        let found = of("f:\n\tmovq %r11, %rax\n.L1:\n\tdecq %rax\n\tjne .L1\n\tret\n");
        let pointer = Pointer::Register(Holder { register: "%r10", is_kept: true });
        assert!(found[0].1.arrives && found.iter().skip(1).all(|(_, planned)| !planned.arrives));
        assert_eq!(found[4], ("jne .L1".to_owned(), PlannedPointer { pointer, ..Pointers::IN_MEMORY }));
        assert_eq!(
            found[5],
            ("ret".to_owned(), PlannedPointer { pointer, leaves: true, ..Pointers::IN_MEMORY })
        );
    }

    #[test]
    fn around_a_call_the_register_is_given_back() {
        let found =
            of("f:\n.L1:\n\tje .L2\n\tjs .L2\n\tdecq %rax\n\tjne .L1\n\tcall g\n.L2:\n\tjo g\n\tret\n");
        let of = |text: &str| found.iter().find(|(own, _)| own == text).expect("it is there").1;
        assert!(of("call g").leaves && of("call g").returns);
        assert!(of("jo g").leaves && of("jo g").returns, "it may not be taken");
        assert!(!of("je .L2").leaves);
    }

    #[test]
    fn around_a_call_of_a_quiet_function_that_does_not_touch_the_register_it_stays() {
        let text = "f:\n.L1:\n\tcall g\n\tjne .L1\n\tret\n\t.type g, @function\ng:\n\tmovq %r11, %rax\n\tret\n\t.ident \"GCC\"\n";
        let found = of(text);
        let of = |text: &str| found.iter().find(|(own, _)| own == text).expect("it is there").1;
        let pointer = Pointer::Register(Holder { register: "%r10", is_kept: false });
        let call = of("call g");
        assert_eq!((call.pointer, call.leaves, call.returns), (pointer, false, false));
        let (at, quiet) =
            found.iter().enumerate().find(|(_, (_, planned))| planned.is_quiet).expect("g is quiet");
        assert_eq!(quiet.0, "movq %r11, %rax");
        assert!(found[at - 1].0 == "g:" && !found[at - 1].1.arrives, "it leaves the register alone");
    }

    #[test]
    fn where_calls_are_more_than_branches_the_pointer_stays_in_memory() {
        let found = of("f:\n.L1:\n\tcall g\n\tcall g\n\tjne .L1\n\tret\n");
        assert!(found.iter().all(|(_, planned)| *planned == Pointers::IN_MEMORY));
    }

    #[test]
    fn a_function_that_names_all_registers_keeps_it_in_memory() {
        let names = "%rax %rcx %rdx %rbx %rbp %rsi %rdi %r8d %r9b %r10w %r11 %r12 %r13 %r14 %r15";
        let all: String = names.split(' ').map(|name| format!("\tpushq {name}\n")).collect();
        let found = of(&format!("f:\n{all}.L1:\n\tjne .L1\n\tret\n"));
        assert!(found.iter().all(|(_, planned)| planned.pointer == Pointer::Memory));
    }
}
