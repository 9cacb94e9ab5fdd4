//! Where the pointer to the next record is kept, for each statement of a text.
//!
//! A record that fetches the pointer from memory and puts it back makes each record wait for the one before. So a function keeps it in a
//! register wherever that is less work. Whatever touches the register, and each call, return and jump to another function, finds the
//! pointer in memory and in the register what it held: that is kept in memory meanwhile, unless nobody needs it (`dead`). Around a
//! call of a function without records (`quiet`) that does not touch it it stays, and so it does where an instruction that names the
//! register takes its value out of that memory as well (`kept`).
//! Method: for each register, places that lead to each other are one class: all have the pointer in the register, or all in memory. Each
//! class takes what costs less, by the loops that the text has, and the function the register that costs least.
//! Functions that are open ([`Function::is_open`]) keep it in memory.

use super::dead::Liveness;
use super::functions::{Flow, Function, functions};
use super::kept::with_kept;
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
/// What a conditional branch's record costs more with the pointer in memory than in a register: instructions, and that it waits.
const OUTCOME: u64 = 8;
/// The same of the other records, which have registers to use.
const DEPARTURE: u64 = 4;
/// What it costs to fetch the pointer, or to put it back.
const MOVE: u64 = 3;
/// What it costs an instruction to find in memory what the pointer's register held.
const FINDING: u64 = 1;
/// The same where it changes it: who reads it next waits for the store, which in a loop may be itself.
const CHANGING: u64 = 4;
/// More than all else together.
const NEVER: u64 = 1 << 48;

/// What goes around a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedPointer {
    /// Where the pointer is at its record.
    pub pointer: Pointer,
    /// It is fetched behind the statement's labels.
    pub arrives: Option<Holder<'static>>,
    /// It is put back ahead of the statement; of a conditional branch to another function only if that is taken.
    pub leaves: Option<Holder<'static>>,
    /// It is fetched behind the statement.
    pub returns: Option<Holder<'static>>,
    /// What may change at the record.
    pub spare: RegisterSet,
    /// It returns to behind its call, which needs no record.
    pub is_quiet: bool,
    /// What this register held the statement finds in memory.
    pub finds_kept: Option<&'static str>,
}

/// Of the statements of a text.
#[derive(Debug)]
pub struct Pointers(Vec<PlannedPointer>);

impl Pointers {
    /// A record fetches it and puts it back.
    pub const IN_MEMORY: PlannedPointer = PlannedPointer {
        pointer: Pointer::Memory,
        arrives: None,
        leaves: None,
        returns: None,
        spare: RegisterSet::NONE,
        is_quiet: false,
        finds_kept: None,
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
            // One without records has no use for it, and must leave its caller's alone.
            let is_silent = function.body.iter().any(|(at, _)| quiet.is_silent(*at));
            if !function.is_open && !is_silent {
                let liveness = Liveness::of(statements, function, is_compiled.then_some(at_return));
                let step = |((at, flow), weight): (&(usize, Flow), u64)| {
                    Step::of(statements, *at, *flow, weight, &quiet)
                };
                let steps = function.body.iter().zip(weights(function)).map(step).collect();
                all.keep(&Work { function, liveness, steps });
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
                planned.is_quiet = quiet.returns_behind_its_call(*at);
            }
        }
        all
    }

    /// In the register that costs least, where that costs less than memory.
    fn keep(&mut self, work: &Work<'_>) {
        let registers = RegisterSet::ALL.each().map(|register| Held::of(work, register));
        // Of equals the first.
        let Some(best) = registers.reduce(|best, other| if other.cost < best.cost { other } else { best })
        else {
            return;
        };
        for (step, (at, _)) in work.function.body.iter().enumerate() {
            self.0[*at] = best.planned(work, step);
        }
        for entrance in &work.function.entrances {
            let first = work.function.step_at(*entrance);
            let arrives =
                first.filter(|first| best.ahead[*first]).map(|first| best.holder(work.liveness.ahead(first)));
            self.0[*entrance].arrives = arrives;
        }
    }

    /// Of the statement of this index.
    pub fn at(&self, index: usize) -> PlannedPointer {
        self.0[index]
    }
}

/// A function whose pointer is to be placed.
struct Work<'a> {
    function: &'a Function,
    liveness: Liveness,
    steps: Vec<Step<'a>>,
}

/// What an instruction is to a pointer in a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passing {
    /// Nothing.
    Stays,
    /// Nothing, as it finds in memory what the register held; what that costs.
    FindsKept(u64),
    /// It wants it in memory, and control goes on behind it.
    Comes,
    /// The same, but where control goes to it stays in memory.
    Goes,
    /// It may go to another function, and else stays here.
    MayLeave,
}

/// An instruction.
struct Step<'a> {
    statement: &'a Statement<'a>,
    /// How often it is executed.
    weight: u64,
    /// Registers that cannot have the pointer across it.
    touched: RegisterSet,
    /// What it is to a pointer in one of these.
    passing: Passing,
    /// What its record costs more in memory.
    in_memory: u64,
    /// It has nothing to do with where control goes, and no prefix that stands by itself.
    is_plain: bool,
}

impl<'a> Step<'a> {
    fn of(
        statements: &'a [Statement<'a>],
        at: usize,
        flow: Flow,
        weight: u64,
        quiet: &QuietFunctions,
    ) -> Step<'a> {
        let statement = &statements[at];
        let (name, operands) = statement.instruction().unwrap_or_default();
        let is_jump = name.starts_with("jmp");
        let named = RegisterSet::of(name, operands);
        let (touched, passing) = match flow {
            Flow::On => (named, Passing::Comes),
            Flow::Within(_) | Flow::Table => (named, Passing::Goes),
            Flow::Calls => (quiet.called(statement).unwrap_or(RegisterSet::ALL), Passing::Comes),
            Flow::Leaves if !is_jump => (RegisterSet::ALL, Passing::MayLeave),
            Flow::Leaves | Flow::Returns => (RegisterSet::ALL, Passing::Goes),
        };
        let has_departure = match flow {
            Flow::Returns => !quiet.returns_behind_its_call(at),
            _ => operands.starts_with('*'),
        };
        let in_memory = match flow {
            Flow::Within(_) | Flow::Table | Flow::Leaves if !is_jump => OUTCOME,
            Flow::On => 0,
            _ => u64::from(has_departure) * DEPARTURE,
        };
        let is_prefixed = at > 0 && statements[at - 1].is_bare_prefix();
        let is_plain = flow == Flow::On && !is_prefixed;
        Step { statement, weight, touched, passing, in_memory, is_plain }
    }

    fn passing(&self, register: &str) -> Passing {
        if self.touched.common(RegisterSet::named(register)) == RegisterSet::NONE {
            Passing::Stays
        } else if self.is_plain
            && let Some(form) = with_kept(self.statement, register)
        {
            Passing::FindsKept(if form.is_written { CHANGING } else { FINDING })
        } else {
            self.passing
        }
    }
}

/// A register that has the pointer at some places.
struct Held {
    register: &'static str,
    /// Whether it has it ahead of each instruction, and behind it.
    ahead: Vec<bool>,
    behind: Vec<bool>,
    cost: u64,
}

impl Held {
    fn of(work: &Work<'_>, register: &'static str) -> Held {
        let length = work.function.body.len();
        let own = RegisterSet::named(register);
        // Places ahead of instructions, then those behind them.
        let mut classes = Classes::new(2 * length);
        let (mut in_register, mut in_memory) = (vec![0; 2 * length], vec![0; 2 * length]);
        let move_at = |needed: RegisterSet| MOVE + u64::from(needed.common(own) != RegisterSet::NONE);
        for step in 0..length {
            let (ahead, behind) = (step, length + step);
            let Step { weight, in_memory: own_in_memory, .. } = work.steps[step];
            in_memory[ahead] += own_in_memory * weight;
            let leave = move_at(work.liveness.ahead(step));
            let passing = work.steps[step].passing(register);
            match passing {
                Passing::Stays => classes.join(ahead, behind),
                Passing::FindsKept(cost) => {
                    in_register[ahead] += cost * weight;
                    classes.join(ahead, behind);
                }
                Passing::MayLeave => {
                    in_register[ahead] += leave;
                    classes.join(ahead, behind);
                }
                Passing::Comes | Passing::Goes => in_register[ahead] += leave * weight,
            }
            if passing == Passing::Comes {
                in_register[behind] += move_at(work.liveness.behind(step)) * weight;
            }
            if passing == Passing::Goes {
                in_register[behind] = NEVER;
            }
            for next in work.liveness.followers(step) {
                classes.join(behind, *next);
            }
        }
        for first in work.function.entrances.iter().filter_map(|at| work.function.step_at(*at)) {
            in_register[first] += move_at(work.liveness.ahead(first));
        }
        let (in_register, in_memory) = (classes.sums(&in_register), classes.sums(&in_memory));
        let is_cheaper = |class: usize| in_register[class] < in_memory[class];
        let mut is_in: Vec<bool> = (0..2 * length).map(|place| is_cheaper(classes.root(place))).collect();
        // What is no root has no sum.
        let cost = in_register.iter().zip(&in_memory).map(|(one, other)| one.min(other)).sum();
        let behind = is_in.split_off(length);
        Held { register, ahead: is_in, behind, cost }
    }

    /// Where these registers are needed.
    fn holder(&self, needed: RegisterSet) -> Holder<'static> {
        let is_kept = needed.common(RegisterSet::named(self.register)) != RegisterSet::NONE;
        Holder { register: self.register, is_kept }
    }

    fn planned(&self, work: &Work<'_>, step: usize) -> PlannedPointer {
        let ahead = self.holder(work.liveness.ahead(step));
        let behind = self.holder(work.liveness.behind(step));
        let passing = work.steps[step].passing(self.register);
        let is_passed = !matches!(passing, Passing::Stays | Passing::FindsKept(_));
        PlannedPointer {
            pointer: if self.ahead[step] { Pointer::Register(ahead) } else { Pointer::Memory },
            leaves: Some(ahead).filter(|_| self.ahead[step] && is_passed),
            returns: Some(behind).filter(|_| self.behind[step] && passing == Passing::Comes),
            finds_kept: Some(self.register)
                .filter(|_| self.ahead[step] && matches!(passing, Passing::FindsKept(_))),
            ..Pointers::IN_MEMORY
        }
    }
}

/// Places that belong together.
struct Classes(Vec<usize>);

impl Classes {
    fn new(length: usize) -> Classes {
        Classes((0..length).collect())
    }

    fn root(&mut self, place: usize) -> usize {
        let mut root = place;
        while self.0[root] != root {
            self.0[root] = self.0[self.0[root]];
            root = self.0[root];
        }
        root
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one] = other;
    }

    /// Of each class, at its root.
    fn sums(&mut self, costs: &[u64]) -> Vec<u64> {
        let mut sums = vec![0; costs.len()];
        for (place, cost) in costs.iter().enumerate() {
            sums[self.root(place)] += cost;
        }
        sums
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

    /// Of each statement of a compiler's text of `f` what is planned, in words.
    fn planned(body: &str) -> Vec<(String, String)> {
        of(&format!("\t.type f, @function\n{body}\t.ident \"GCC\"\n"))
    }

    fn of(text: &str) -> Vec<(String, String)> {
        let statements = statements(text);
        let pointers = Pointers::of(&statements, Scope::Regions);
        let with = |(at, one): (usize, &Statement<'_>)| (one.text.trim().to_owned(), words(pointers.at(at)));
        statements.iter().enumerate().map(with).collect()
    }

    /// Where it is at the record, and what is done; a star where the register's value is kept.
    fn words(planned: PlannedPointer) -> String {
        let mut words = vec![match planned.pointer {
            Pointer::Register(holder) => holder.register.to_owned(),
            Pointer::Memory => "memory".to_owned(),
        }];
        let done = [("arrives", planned.arrives), ("leaves", planned.leaves), ("returns", planned.returns)];
        for (name, holder) in done {
            let star = |holder: Holder<'_>| if holder.is_kept { "*" } else { "" };
            words.extend(holder.map(|holder| format!("{name}{}", star(holder))));
        }
        words.extend(planned.finds_kept.map(|_| "finds".to_owned()));
        words.join(" ")
    }

    /// What is planned of the first statement of this text.
    fn at<'a>(found: &'a [(String, String)], text: &str) -> &'a str {
        &found.iter().find(|(own, _)| own == text).expect("it is there").1
    }

    #[test]
    fn a_loop_has_the_pointer_in_a_register_that_it_does_not_name() {
        let found = planned("f:\n\tmovq %r11, %rax\n.L1:\n\tdecq %rax\n\tjne .L1\n\tret\n");
        assert_eq!(at(&found, "f:"), "memory arrives");
        assert_eq!(at(&found, "jne .L1"), "%r10");
        assert_eq!(at(&found, "ret"), "%r10 leaves");
    }

    #[test]
    fn where_all_registers_are_needed_what_one_holds_is_kept() {
        let found = of("\t.type f, @function\nf:\n.L1:\n\tdecq %rax\n\tjne .L1\n\tret\n");
        assert_eq!(at(&found, "f:"), "memory arrives*", "somebody wrote it by hand");
        assert_eq!(at(&found, "ret"), "%r11 leaves*");
    }

    #[test]
    fn around_a_call_it_is_in_memory_and_a_jump_to_another_function_takes_it_there_if_it_is_taken() {
        let body = "f:\n.L1:\n\tje .L2\n\tjs .L2\n\tdecq %rax\n\tjne .L1\n\tcall g\n.L3:\n\tjnp .L3\n.L2:\n\tjo g\n\tret\n";
        let found = planned(body);
        assert_eq!(at(&found, "je .L2"), "%r11");
        assert_eq!(at(&found, "call g"), "%r11 leaves* returns*");
        assert_eq!(at(&found, "jo g"), "%r11 leaves*", "the other may want it");
    }

    #[test]
    fn around_a_call_of_a_function_without_records_that_does_not_touch_the_register_it_stays() {
        let text =
            "f:\n.L1:\n\tcall g\n\tjne .L1\n\tret\n\t.type g, @function\ng:\n\tmovq %r11, %rax\n\tret\n";
        let found = planned(text);
        assert_eq!(at(&found, "call g"), "%r10", "g touches r11");
        assert_eq!(at(&found, "g:"), "memory", "it leaves the register alone");
    }

    #[test]
    fn between_two_calls_without_a_record_it_stays_in_memory() {
        let found = planned("f:\n.L1:\n\tcall g\n\tnop\n\tcall g\n\tjne .L1\n\tret\n");
        assert_eq!(
            found.iter().filter(|(text, words)| text == "call g" && words.contains("returns")).count(),
            1
        );
        assert_eq!(at(&found, "nop"), "memory");
    }

    /// Names all registers, and pushes and pops them.
    fn around(body: &str) -> Vec<(String, String)> {
        let names = [
            "rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
            "r15",
        ];
        let push: String = names.iter().map(|name| format!("\tpushq %{name}\n")).collect();
        let pop: String = names.iter().rev().map(|name| format!("\tpopq %{name}\n")).collect();
        planned(&format!("f:\n{push}{body}{pop}\tret\n"))
    }

    /// Needs all registers but r11.
    fn all_but_one() -> String {
        let others = "rax rcx rdx rbx rbp rsi rdi r8 r9 r10 r12 r13 r14 r15";
        others.split(' ').map(|name| format!("\tincq %{name}\n")).collect()
    }

    #[test]
    fn a_function_that_names_all_registers_has_it_in_one_that_nobody_needs() {
        let found = around(&format!(".L1:\n{}\tjne .L1\n", all_but_one()));
        assert_eq!(at(&found, "jne .L1"), "%r11");
        assert_eq!(at(&found, "pushq %r11"), "memory returns");
        assert_eq!(at(&found, "popq %r11"), "%r11 leaves");
        assert_eq!(at(&found, "ret"), "memory");
    }

    #[test]
    fn where_something_touches_the_register_the_pointer_is_in_memory_and_the_value_back() {
        let uses = all_but_one().repeat(3);
        let body = format!(
            "\tmovq (%rax), %r11\n.L1:\n{uses}\tje .L3\n.L2:\n\tjns .L1\n\tjmp .L4\n\
             .L3:\n\taddq %r11, (%rax)\n\tjmp .L2\n.L4:\n\tnop\n"
        );
        let found = around(&body);
        assert_eq!(at(&found, "je .L3"), "%r11");
        assert_eq!(at(&found, "addq %r11, (%rax)"), "%r11 leaves* returns*");
        assert_eq!(at(&found, "jns .L1"), "%r11");
    }

    #[test]
    fn what_writes_the_register_for_nobody_touches_it() {
        let uses = all_but_one().repeat(3);
        let found = around(&format!(".L1:\n{uses}\tleal 1(%rax), %r11d\n\tjne .L1\n\tjs .L1\n"));
        assert_eq!(at(&found, "leal 1(%rax), %r11d"), "%r11 leaves returns");
    }

    #[test]
    fn what_finds_the_value_in_memory_leaves_the_pointer_in_the_register() {
        let uses = all_but_one().repeat(3);
        let body =
            format!("\tmovq (%rax), %r11\n.L1:\n{uses}\taddq %r11, %rax\n\tjne .L1\n\tjs .L1\n\tincq %r11\n");
        let found = around(&body);
        assert_eq!(at(&found, "movq (%rax), %r11"), "memory returns*");
        assert_eq!(at(&found, "addq %r11, %rax"), "%r11 finds");
        assert_eq!(at(&found, "incq %r11"), "%r11 finds");
        let prefixed = around(&body.replace("addq %r11, %rax", "rep; bsfq %r11, %rax"));
        assert_eq!(
            at(&prefixed, "bsfq %r11, %rax"),
            "%r11 leaves* returns*",
            "with its prefix it is another"
        );
    }

    #[test]
    fn a_branch_that_tests_the_register_has_it_in_memory_wherever_it_goes() {
        let found = around(&format!(".L1:\n{}\tje .L1\n\tjs .L1\n\tjrcxz .L1\n\tincq %r11\n", all_but_one()));
        assert_eq!(at(&found, "jrcxz .L1"), "%r11");
        let all = "rax rdx rbx rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15";
        let uses: String = all.split(' ').map(|name| format!("\tincq %{name}\n").repeat(2)).collect();
        let found = around(&format!(".L1:\n{uses}\tje .L1\n\tjs .L1\n\tjrcxz .L2\n.L2:\n\tnop\n"));
        assert_eq!(at(&found, "jrcxz .L2"), "%rcx leaves*");
        assert_eq!(at(&found, "je .L1"), "%rcx");
    }
}
