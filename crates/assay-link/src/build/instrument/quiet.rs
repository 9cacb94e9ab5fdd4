//! Returns of regions that need no record: the walk knows where the function was called from.
//!
//! Method: what compilers write returns to behind its call, and in a region nothing but this code is executed. Only who is not over when
//! a region begins may return to where nobody saw it called from: a function that calls a mark, itself or by functions of its text. All
//! others have no record where they return. A function that has no branch but its returns logs nothing at all, and whoever calls it
//! by name has the pointer in a register meanwhile: a loop that calls a small function would otherwise wait for the pointer's way through
//! memory twice a turn. Limits: a function that is not over when a region begins because it called a mark through another text, and
//! returns in the region, ends the count; so does code that changes its stack.

use super::functions::Function;
use super::registers::RegisterSet;
use super::spare;
use super::statements::Statement;
use std::collections::{HashMap, HashSet};

/// Of a text.
#[derive(Debug, Default)]
pub struct QuietFunctions {
    /// What each function without records touches, by its names, where no other text's can take its place.
    named: HashMap<String, RegisterSet>,
    /// Statements of such functions.
    silent: HashSet<usize>,
    /// Instructions of functions whose returns have no record.
    behind_calls: HashSet<usize>,
}

impl QuietFunctions {
    /// Looks for them.
    pub fn of(statements: &[Statement<'_>], functions: &[Function]) -> QuietFunctions {
        let mut all = QuietFunctions::default();
        if !spare::is_compiled(statements) {
            return all;
        }
        let weak: HashSet<&str> = statements
            .iter()
            .filter_map(|statement| statement.instruction().filter(|(name, _)| *name == ".weak"))
            .map(|(_, symbol)| symbol)
            .collect();
        for function in functions.iter().filter(|function| function.is_straight()) {
            all.silent.extend(function.body.iter().map(|(at, _)| *at));
            let labels = function.labels.iter().flat_map(|at| statements[*at].labels());
            let own = labels.filter(|label| !weak.contains(label));
            all.named.extend(own.map(|label| (label.to_owned(), function.registers)));
        }
        for (function, marks) in functions.iter().zip(reach_marks(statements, functions)) {
            if !marks && !function.is_open {
                all.behind_calls.extend(function.body.iter().map(|(at, _)| *at));
            }
        }
        all
    }

    /// What a call touches, if it is one of a function without records.
    pub fn called(&self, call: &Statement<'_>) -> Option<RegisterSet> {
        let Some(("call" | "callq", operands)) = call.instruction() else { return None };
        self.named.get(operands.split('@').next().unwrap_or(operands).trim()).copied()
    }

    /// Whether a statement is in a function without records.
    pub fn is_silent(&self, statement: usize) -> bool {
        self.silent.contains(&statement)
    }

    /// Whether a return has no record.
    pub fn returns_behind_its_call(&self, statement: usize) -> bool {
        self.behind_calls.contains(&statement)
    }
}

/// Of each function whether it may call the system, or does with returns what compilers do against speculation.
fn reach_marks(statements: &[Statement<'_>], functions: &[Function]) -> Vec<bool> {
    let is_one = |(at, _): &(usize, _)| match statements[*at].instruction() {
        Some(("syscall", _)) => true,
        Some(("call" | "callq", operands)) => operands.starts_with(".L"),
        _ => false,
    };
    let mut reach: Vec<bool> = functions.iter().map(|function| function.body.iter().any(is_one)).collect();
    let callers = spare::callers(statements, functions);
    loop {
        let before = reach.clone();
        for (callee, caller) in callers.iter().filter_map(|(callee, caller)| Some((*callee, (*caller)?))) {
            reach[caller] |= reach[callee];
        }
        if before == reach {
            return reach;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::functions::functions;
    use super::super::statements::statements;
    use super::*;

    #[test]
    fn a_function_that_only_returns_is_quiet_and_its_calls_by_name_touch_what_it_touches() {
        let text = "\t.type f, @function\n\t.type g, @function\n\t.type h, @function\n\t.weak h\nf:\n\tmovq %rdi, %rcx\n\tret\n\
                    g:\n\tje .L1\n.L1:\n\tcall f@PLT\n\tcall g\n\tcall h\n\tcall *%rax\n\tret\nh:\n\tret\n";
        let quiet = |text: &str| {
            let statements = statements(text);
            let quiet = QuietFunctions::of(&statements, &functions(&statements));
            let called =
                statements.iter().filter_map(|statement| quiet.called(statement)).collect::<Vec<_>>();
            let returns = (0..statements.len()).filter(|at| {
                quiet.is_silent(*at) && statements[*at].instruction().is_some_and(|(name, _)| name == "ret")
            });
            (called, returns.count())
        };
        let compiled = quiet(&format!("{text}\t.ident \"clang version\"\n"));
        assert_eq!(compiled, (vec![RegisterSet::named("%rdi %rcx")], 2));
        assert_eq!(quiet(text), (Vec::new(), 0), "somebody wrote it by hand");
    }

    #[test]
    fn returns_of_functions_that_lead_to_no_mark_have_no_record() {
        let text = "\t.type f, @function\n\t.type g, @function\n\t.type h, @function\n\t.type i, @function\n\
                    f:\n\tje .L1\n.L1:\n\tcall *%rax\n\tret\ng:\n\tcall h\n\tret\nh:\n\tsyscall\n\tret\n\
                    i:\n\tcall .L2\n.L2:\n\tret\n\t.ident \"GCC\"\n";
        let statements = statements(text);
        let quiet = QuietFunctions::of(&statements, &functions(&statements));
        let is_return = |at: &usize| statements[*at].instruction().is_some_and(|(name, _)| name == "ret");
        let found: Vec<bool> =
            (0..statements.len()).filter(is_return).map(|at| quiet.returns_behind_its_call(at)).collect();
        assert_eq!(found, [true, false, false, false]);
    }
}
