//! Where in a function does nobody need what a register holds?
//!
//! Method: liveness by the usual iteration over the function's branches, backwards. An instruction reads each register that it touches,
//! unless it surely overwrites it whole. A return reads all that may not change (`spare`), a jump to another function all, and a call
//! all but what only linkers use: arguments, and what unwinding gives back to callers. A jump by a table may lead to each label.
//! In code that somebody wrote by hand all registers are needed everywhere.

use super::functions::{Flow, Function};
use super::registers::RegisterSet;
use super::statements::Statement;

/// What is needed ahead of and behind each instruction of a function, in the order of [`Function::body`].
pub struct Liveness {
    ahead: Vec<RegisterSet>,
    behind: Vec<RegisterSet>,
    /// Where control goes from each.
    followers: Vec<Vec<usize>>,
}

/// What one instruction reads, and what it overwrites.
struct Effect {
    reads: RegisterSet,
    kills: RegisterSet,
}

impl Liveness {
    /// Of a function whose ways are all known; `at_return` may change where it returns. Nothing: the function keeps to no convention.
    pub fn of(statements: &[Statement<'_>], function: &Function, at_return: Option<RegisterSet>) -> Liveness {
        let length = function.body.len();
        let followers: Vec<Vec<usize>> =
            (0..length).map(|step| followers(statements, function, step)).collect();
        let Some(at_return) = at_return else {
            let all = vec![RegisterSet::ALL; length];
            return Liveness { ahead: all.clone(), behind: all, followers };
        };
        let effects = effects(statements, function, at_return);
        let mut ahead = vec![RegisterSet::NONE; length];
        let mut behind = vec![RegisterSet::NONE; length];
        loop {
            let mut is_stable = true;
            for step in (0..length).rev() {
                let needed = followers[step].iter().map(|next| ahead[*next]);
                behind[step] = needed.fold(RegisterSet::NONE, RegisterSet::and);
                let own = behind[step].without(effects[step].kills).and(effects[step].reads);
                is_stable &= own == ahead[step];
                ahead[step] = own;
            }
            if is_stable {
                return Liveness { ahead, behind, followers };
            }
        }
    }

    /// What is needed ahead of an instruction.
    pub fn ahead(&self, step: usize) -> RegisterSet {
        self.ahead[step]
    }

    /// What is needed behind it, wherever it leads.
    pub fn behind(&self, step: usize) -> RegisterSet {
        self.behind[step]
    }

    /// The instructions of the function that control goes to from it.
    pub fn followers(&self, step: usize) -> &[usize] {
        &self.followers[step]
    }
}

fn followers(statements: &[Statement<'_>], function: &Function, step: usize) -> Vec<usize> {
    let (at, flow) = function.body[step];
    let is_jump = statements[at].instruction().is_some_and(|(name, _)| name.starts_with("jmp"));
    let mut found = match flow {
        Flow::Within(to) => function.step_at(to).into_iter().collect(),
        Flow::Table => {
            let has_label = |step: &usize| {
                let from = step.checked_sub(1).map_or(0, |before| function.body[before].0 + 1);
                let between = statements.get(from..=function.body[*step].0).unwrap_or_default();
                between.is_empty() || between.iter().any(|statement| !statement.labels().is_empty())
            };
            (0..function.body.len()).filter(has_label).collect()
        }
        _ => Vec::new(),
    };
    let ends = match flow {
        Flow::Returns => true,
        Flow::Within(_) | Flow::Table | Flow::Leaves => is_jump,
        Flow::On | Flow::Calls => false,
    };
    if !ends && step + 1 < function.body.len() {
        found.push(step + 1);
    }
    found
}

fn effects(statements: &[Statement<'_>], function: &Function, at_return: RegisterSet) -> Vec<Effect> {
    let instructions: Vec<(&str, &str)> =
        function.body.iter().map(|(at, _)| statements[*at].instruction().unwrap_or_default()).collect();
    let pops = instructions.iter().filter(|(name, _)| name.starts_with("pop"));
    let popped = pops.fold(RegisterSet::NONE, |all, (_, operands)| all.and(RegisterSet::named(operands)));
    let at_call = RegisterSet::ALL.without(RegisterSet::LINKERS);
    let at_return = RegisterSet::ALL.without(at_return).and(popped);
    let effect = |((_, flow), (name, operands)): (&(usize, Flow), &(&str, &str))| {
        let kills = RegisterSet::overwritten(name, operands);
        let own =
            RegisterSet::of(name, operands).without(kills).and(RegisterSet::read_anyway(name, operands));
        let reads = match flow {
            Flow::On | Flow::Within(_) | Flow::Table => own,
            Flow::Calls if *name == "syscall" => RegisterSet::ALL,
            Flow::Calls => own.and(at_call),
            Flow::Returns => own.and(at_return),
            Flow::Leaves => RegisterSet::ALL,
        };
        Effect { reads, kills }
    };
    function.body.iter().zip(&instructions).map(effect).collect()
}

#[cfg(test)]
mod tests {
    use super::super::functions::functions;
    use super::super::statements::statements;
    use super::*;

    /// Which of these registers are needed ahead of each instruction of `f`, a string each.
    fn needed(body: &str, registers: &[&str]) -> Vec<String> {
        let text = format!("\t.type f, @function\nf:\n{body}");
        let statements = statements(&text);
        let functions = functions(&statements);
        let liveness = Liveness::of(&statements, &functions[0], Some(RegisterSet::CHANGED));
        let is_in =
            |set: RegisterSet, name: &&&str| set.common(RegisterSet::named(name)) != RegisterSet::NONE;
        let of = |step| {
            let names = registers.iter().filter(|name| is_in(liveness.ahead(step), name));
            names.map(|name| name.trim_start_matches('%')).collect::<Vec<_>>().join(" ")
        };
        (0..functions[0].body.len()).map(of).collect()
    }

    #[test]
    fn what_is_overwritten_before_it_is_read_is_not_needed() {
        assert_eq!(
            needed(
                "\tmovl $1, %ecx\n\taddl %ecx, %eax\n\tleaq (%rcx,%rcx), %rcx\n\tret\n",
                &["%rcx", "%rax"]
            ),
            ["rax", "rcx rax", "rcx rax", "rax"]
        );
        assert_eq!(needed("\tmovb $1, %cl\n\tmovl %ecx, %eax\n\tret\n", &["%rcx"]), ["rcx", "rcx", ""]);
        assert_eq!(needed("\txorl %ecx, %ecx\n\tmovl %ecx, %eax\n\tret\n", &["%rcx"]), ["", "rcx", ""]);
    }

    #[test]
    fn what_a_loop_needs_in_its_next_turn_is_needed_all_along_it() {
        let body = "\tmovl $9, %ecx\n.L1:\n\tmovl $1, %edx\n\tje .L2\n\taddl %edx, %eax\n.L2:\n\tdecl %ecx\n\tjne .L1\n\tret\n";
        assert_eq!(
            needed(body, &["%rcx", "%rdx"]),
            ["", "rcx", "rcx rdx", "rcx rdx", "rcx rdx", "rcx rdx", "rdx"],
            "rdx is a result"
        );
        let other = body.replace("edx", "esi");
        assert_eq!(needed(&other, &["%rcx", "%rsi"]), ["", "rcx", "rcx rsi", "rcx rsi", "rcx", "rcx", ""]);
    }

    #[test]
    fn a_preserved_register_is_free_between_its_push_and_its_pop_but_at_calls() {
        let body = "\tpushq %r12\n\tmovl $1, %r12d\n\tcall g\n\tmovl $1, %r12d\n\tpopq %r12\n\tret\n";
        assert_eq!(needed(body, &["%r12"]), ["r12", "", "r12", "", "", "r12"]);
    }

    #[test]
    fn a_jump_by_a_table_may_lead_to_each_label_and_one_to_another_function_needs_all() {
        let table = "\tjmp *.L9(,%rax,8)\n.L1:\n\tmovl %ecx, %eax\n\tret\n.L2:\n\tmovl %esi, %eax\n\tret\n";
        assert_eq!(needed(table, &["%rcx", "%rsi"])[0], "rcx rsi");
        assert_eq!(needed("\tjmp g\n", &["%rcx", "%r11", "%rbx"]), ["rcx r11 rbx"]);
    }
}
