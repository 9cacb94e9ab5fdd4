//! Functions of regions whose returns need no record: the walk knows where they were called from.
//!
//! Method: what compilers write returns to behind its call, and in a region nothing but this code is executed. So a function that has
//! no branch but its returns logs nothing, and whoever calls it by name has the pointer in a register meanwhile. A loop that calls
//! a small function would otherwise wait for the pointer's way through memory twice a turn. Limits: of functions that have other
//! records the returns are logged with their targets, so the walk finds its calls again where a region began within some.

use super::functions::Function;
use super::registers::RegisterSet;
use super::spare;
use super::statements::Statement;
use std::collections::{HashMap, HashSet};

/// The quiet functions of a text.
#[derive(Debug, Default)]
pub struct QuietFunctions {
    /// What each touches, by its names, where no other text's can take its place.
    named: HashMap<String, RegisterSet>,
    /// Their returns, by their statements.
    returns: HashSet<usize>,
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
            all.returns.extend(function.body.iter().map(|(at, _)| *at));
            let labels = function.labels.iter().flat_map(|at| statements[*at].labels());
            let own = labels.filter(|label| !weak.contains(label));
            all.named.extend(own.map(|label| (label.to_owned(), function.registers)));
        }
        all
    }

    /// What a call touches, if it is one of such a function.
    pub fn called(&self, call: &Statement<'_>) -> Option<RegisterSet> {
        let Some(("call" | "callq", operands)) = call.instruction() else { return None };
        self.named.get(operands.split('@').next().unwrap_or(operands).trim()).copied()
    }

    /// Whether a statement is in one.
    pub fn has(&self, statement: usize) -> bool {
        self.returns.contains(&statement)
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
                quiet.has(*at) && statements[*at].instruction().is_some_and(|(name, _)| name == "ret")
            });
            (called, returns.count())
        };
        let compiled = quiet(&format!("{text}\t.ident \"clang version\"\n"));
        assert_eq!(compiled, (vec![RegisterSet::named("%rdi %rcx")], 2));
        assert_eq!(quiet(text), (Vec::new(), 0), "somebody wrote it by hand");
    }
}
