//! Where the pointer to the next record is kept, for each statement of a text.
//!
//! A record that fetches the pointer from memory and puts it back makes each record wait for the one before. So a function keeps it in a
//! register that it names nowhere, if that is less work by the loops that its text has: fetched at its beginning and behind
//! each call, put back ahead of each call, return and jump to another function. Whatever the register held is put back with it, so that
//! what is called, returned to or unwound finds it as it was: it need not be one that functions may change. Where it is one that
//! may change (`spare`), nothing is kept. Around a call of a function without records (`quiet`) that does not touch it it stays.
//! In a function that names all registers it is in one wherever nobody needs what that holds (`dead`), and else in memory.
//! Functions that are open ([`Function::is_open`]) keep it in memory.

use super::dead::Liveness;
use super::functions::{Flow, Function, functions};
use super::quiet::QuietFunctions;
use super::records::{Holder, Pointer};
use super::registers::RegisterSet;
use super::rewrite::Scope;
use super::spare;
use super::statements::Statement;
use std::collections::HashSet;

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
    /// The register that it is fetched to and put back from.
    pub holder: Option<Holder<'static>>,
    /// It is fetched behind the statement's labels.
    pub arrives: bool,
    /// It is put back ahead of the statement.
    pub leaves: bool,
    /// It is fetched behind the statement.
    pub returns: bool,
    /// It is stored, and stays: ahead of a branch, behind anything else. Others come to the same place with the pointer in memory.
    pub shares: bool,
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
        holder: None,
        arrives: false,
        leaves: false,
        returns: false,
        shares: false,
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
        let is_compiled = spare::is_compiled(statements);
        for (function, at_return) in functions.iter().zip(at_returns) {
            let work = Work { statements, quiet: &quiet, function };
            // A quiet one has no use for it, and must leave its caller's alone.
            let is_quiet = function.body.iter().any(|(at, _)| quiet.has(*at));
            let may_hold = !function.is_open && !is_quiet;
            match work.holder(at_return).filter(|_| may_hold) {
                Some(holder) if work.is_less_in_a_register() => all.keep(&work, holder),
                None if may_hold && is_compiled => all.keep_where_dead(&work, at_return),
                _ => {}
            }
            for (at, flow) in &function.body {
                let planned = &mut all.0[*at];
                let taken = match planned.pointer {
                    Pointer::Register(holder) => RegisterSet::named(holder.register),
                    Pointer::Memory => RegisterSet::NONE,
                };
                let spare = match flow {
                    Flow::Returns => at_return,
                    Flow::Calls => at_calls,
                    // Whoever calls this function may rely on what the other does not touch.
                    Flow::Leaves => at_calls.common(at_return),
                    Flow::On | Flow::Within(_) | Flow::Table => RegisterSet::NONE,
                };
                planned.spare = spare.without(taken);
                planned.is_quiet = quiet.has(*at);
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
            self.0[*at] =
                PlannedPointer { pointer, holder: Some(holder), leaves, returns, ..Pointers::IN_MEMORY };
        }
        for entrance in &function.entrances {
            self.0[*entrance].arrives = true;
            self.0[*entrance].holder = Some(holder);
        }
    }

    /// In the register that saves most, wherever that is dead.
    fn keep_where_dead(&mut self, work: &Work<'_>, at_return: RegisterSet) {
        let function = work.function;
        let liveness = Liveness::of(work.statements, function, at_return);
        let weights = weights(function);
        let entered: HashSet<usize> =
            function.entrances.iter().filter_map(|at| function.step_at(*at)).collect();
        let planned = RegisterSet::ALL.without(RegisterSet::named("%rsp %rbp")).each().map(|register| {
            let dead = Dead { work, liveness: &liveness, entered: &entered, register };
            let planned = dead.planned();
            let saved = dead.saved(&planned, &weights);
            (saved, planned)
        });
        // Of equals the first.
        let best = planned.reduce(|best, other| if other.0 > best.0 { other } else { best });
        if let Some((1.., planned)) = best {
            for ((at, _), planned) in function.body.iter().zip(planned) {
                self.0[*at] = planned;
            }
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
            let is_quiet = self.quiet.called(&self.statements[*at]).is_some();
            match flow {
                Flow::Leaves | Flow::Calls if !is_quiet => in_register += ROUND * weight,
                Flow::Returns => in_register += ROUND / 2 * weight,
                _ => {}
            }
            if self.has_record(*at, *flow) {
                in_memory += ROUND * weight;
            }
        }
        in_register <= in_memory
    }

    /// Whether a branch has a record; calls are not asked for.
    fn has_record(&self, statement: usize, flow: Flow) -> bool {
        let is_direct = self.statements[statement]
            .instruction()
            .is_some_and(|(name, operands)| name.starts_with("jmp") && !operands.starts_with('*'));
        !is_direct && !matches!(flow, Flow::On | Flow::Calls)
    }
}

/// A register that has the pointer wherever nobody needs what it holds.
struct Dead<'a> {
    work: &'a Work<'a>,
    liveness: &'a Liveness,
    /// Instructions that the function is entered by.
    entered: &'a HashSet<usize>,
    register: &'static str,
}

impl Dead<'_> {
    /// Whether it is free ahead of an instruction, and behind it on all ways.
    fn is_free(&self, step: usize) -> (bool, bool) {
        let own = RegisterSet::named(self.register);
        let lacks = |needed: RegisterSet| needed.common(own) == RegisterSet::NONE;
        (lacks(self.liveness.ahead(step)), lacks(self.liveness.behind(step)))
    }

    /// Of each instruction of the function.
    fn planned(&self) -> Vec<PlannedPointer> {
        let body = &self.work.function.body;
        let holder = Holder { register: self.register, is_kept: false };
        let plan = |(step, (at, flow)): (usize, &(usize, Flow))| {
            let (ahead, behind) = self.is_free(step);
            let (name, operands) = self.work.statements[*at].instruction().unwrap_or_default();
            let touched = RegisterSet::of(name, operands).common(RegisterSet::named(self.register));
            // Something may be written that nobody reads.
            let goes =
                touched != RegisterSet::NONE || matches!(flow, Flow::Calls | Flow::Returns | Flow::Leaves);
            let comes = match flow {
                Flow::On | Flow::Calls => true,
                Flow::Leaves => !name.starts_with("jmp"),
                // What a branch needs is needed on one of its ways: where the other comes to, it is fetched.
                Flow::Within(_) | Flow::Table | Flow::Returns => false,
            };
            PlannedPointer {
                pointer: if ahead { Pointer::Register(holder) } else { Pointer::Memory },
                holder: Some(holder),
                leaves: ahead && (goes || !behind),
                returns: behind && comes && (goes || !ahead),
                ..Pointers::IN_MEMORY
            }
        };
        let mut planned: Vec<PlannedPointer> = body.iter().enumerate().map(plan).collect();
        let stays = |planned: &PlannedPointer| {
            planned.returns || (planned.pointer != Pointer::Memory && !planned.leaves)
        };
        // Where ways meet it is in memory on all of them if it is there on one.
        let mut arrives: Vec<bool> = (0..body.len()).map(|step| self.entered.contains(&step)).collect();
        for step in (0..body.len()).filter(|step| !stays(&planned[*step])) {
            self.liveness.followers(step).iter().for_each(|next| arrives[*next] = true);
        }
        for (step, planned) in planned.iter_mut().enumerate() {
            let meets = self.liveness.followers(step).iter().any(|next| arrives[*next]);
            planned.shares = meets && stays(planned) && !planned.returns;
            planned.arrives = arrives[step] && planned.pointer != Pointer::Memory;
        }
        planned
    }

    /// Instructions that this saves, as often as they are executed.
    fn saved(&self, planned: &[PlannedPointer], weights: &[u64]) -> i64 {
        let mut saved = 0;
        for ((planned, weight), (at, flow)) in planned.iter().zip(weights).zip(&self.work.function.body) {
            let is_in_register = planned.pointer != Pointer::Memory;
            if is_in_register && self.work.has_record(*at, *flow) {
                saved += (ROUND * weight) as i64;
            }
            let moves = [planned.arrives, planned.leaves, planned.returns, planned.shares];
            saved -= (moves.into_iter().filter(|is_there| *is_there).count() as u64 * weight) as i64;
        }
        saved
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
            let first = function.step_at(*to).unwrap_or(step);
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

    /// In a register whose value is kept.
    fn holding(register: &'static str) -> PlannedPointer {
        let holder = Holder { register, is_kept: true };
        PlannedPointer { pointer: Pointer::Register(holder), holder: Some(holder), ..Pointers::IN_MEMORY }
    }

    #[test]
    fn a_loop_without_calls_keeps_the_pointer_in_a_register_that_the_function_does_not_name() {
        let found = of("f:\n\tmovq %r11, %rax\n.L1:\n\tdecq %rax\n\tjne .L1\n\tret\n");
        assert!(found[0].1.arrives && found.iter().skip(1).all(|(_, planned)| !planned.arrives));
        assert_eq!(found[4], ("jne .L1".to_owned(), holding("%r10")));
        assert_eq!(found[5], ("ret".to_owned(), PlannedPointer { leaves: true, ..holding("%r10") }));
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

    /// Names all registers, and pushes and pops them.
    fn around(body: &str) -> Vec<(String, PlannedPointer)> {
        let names = [
            "rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
            "r15",
        ];
        let push: String = names.iter().map(|name| format!("\tpushq %{name}\n")).collect();
        let pop: String = names.iter().rev().map(|name| format!("\tpopq %{name}\n")).collect();
        of(&format!("f:\n{push}{body}{pop}\tret\n\t.ident \"GCC\"\n"))
    }

    /// What is done around a statement of this text.
    fn at(found: &[(String, PlannedPointer)], text: &str) -> String {
        let planned = found.iter().find(|(own, _)| own == text).expect("it is there").1;
        let register = match planned.pointer {
            Pointer::Register(holder) => holder.register,
            Pointer::Memory => "memory",
        };
        let done = [
            ("arrives", planned.arrives),
            ("leaves", planned.leaves),
            ("returns", planned.returns),
            ("shares", planned.shares),
        ];
        let done = done.iter().filter(|(_, is_done)| *is_done).map(|(name, _)| *name);
        [register].into_iter().chain(done).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_function_that_names_all_registers_has_it_in_one_that_nobody_needs() {
        let found = around(".L1:\n\tdecq %rax\n\tjne .L1\n");
        assert_eq!(at(&found, "jne .L1"), "%r11");
        assert_eq!(at(&found, "pushq %r11"), "memory returns");
        assert_eq!(at(&found, "popq %r11"), "%r11 leaves");
        assert_eq!(at(&found, "ret"), "memory");
    }

    #[test]
    fn where_the_register_is_needed_the_pointer_is_in_memory_and_fetched_where_it_is_no_more() {
        // Every register is needed somewhere in the loop's slow way, r11 there alone.
        let others = "rax rcx rdx rbx rsi rdi r8 r9 r10 r12 r13 r14 r15";
        let uses: String = others.split(' ').map(|name| format!("\tincq %{name}\n")).collect();
        let body = format!(
            ".L1:\n{uses}\tje .L3\n.L2:\n\tjns .L1\n\tjmp .L4\n.L3:\n\tmovq (%rax), %r11\n\tjo .L2\n\tmovq %r11, (%rax)\n\tjmp .L2\n.L4:\n\tnop\n"
        );
        let found = around(&body);
        assert_eq!(at(&found, "je .L3"), "%r11 shares", "one comes to .L2 from where r11 is needed");
        assert_eq!(at(&found, "movq (%rax), %r11"), "%r11 leaves");
        assert_eq!(at(&found, "jo .L2"), "memory");
        assert_eq!(at(&found, "movq %r11, (%rax)"), "memory returns");
        assert_eq!(at(&found, "jns .L1"), "%r11 arrives");
    }

    #[test]
    fn around_what_writes_the_register_for_nobody_the_pointer_is_in_memory() {
        let found = around(".L1:\n\tmovl $1, %r11d\n\tjne .L1\n\tjs .L1\n");
        assert_eq!(at(&found, "jne .L1"), "%r10", "another saves more");
        let all = "rax rcx rdx rbx rsi rdi r8 r9 r10 r12 r13 r14 r15";
        let uses: String = all.split(' ').map(|name| format!("\tincq %{name}\n")).collect();
        let found = around(&format!(".L1:\n{uses}\tmovl $1, %r11d\n\tjne .L1\n\tjs .L1\n"));
        assert_eq!(at(&found, "movl $1, %r11d"), "%r11 leaves returns");
    }

    #[test]
    fn a_function_written_by_hand_that_names_all_registers_keeps_it_in_memory() {
        let names = "%rax %rcx %rdx %rbx %rbp %rsi %rdi %r8d %r9b %r10w %r11 %r12 %r13 %r14 %r15";
        let all: String = names.split(' ').map(|name| format!("\tpushq {name}\n")).collect();
        let found = of(&format!("f:\n{all}.L1:\n\tjne .L1\n\tret\n"));
        assert!(found.iter().all(|(_, planned)| planned.pointer == Pointer::Memory));
    }
}
