//! Which records must say where control is?
//!
//! A conditional branch's record is its outcome alone, as the walk knows where it is. Where it does not know, the next record must tell:
//! - Of regions the walk begins at a mark, and wants what was executed between the last branch and that. So branches name themselves that
//!   lead straight to a call of the system, and behind calls that do a record says that control came by.
//! - Of whole programs control may come back from other code behind a call of a function of the same text. The first branch behind
//!   it names itself.

use super::entrances::{Behind, Entrances, is_condition};
use super::statements::{Statement, numbered};
use std::collections::{HashMap, HashSet};

/// Direct jumps and calls that are followed.
const JUMPS: usize = 8;

/// The statements that are such branches, and such calls, by their index.
#[derive(Debug, Default)]
pub struct NamedBranches(HashSet<usize>);

impl NamedBranches {
    /// Of a program's regions.
    pub fn of_regions(statements: &[Statement<'_>]) -> NamedBranches {
        if !statements
            .iter()
            .any(|statement| statement.instruction().is_some_and(|(name, _)| name == "syscall"))
        {
            return NamedBranches::default();
        }
        let mut labels = HashMap::new();
        for (at, statement) in statements.iter().enumerate() {
            labels.extend(statement.labels().into_iter().map(|label| (label, at)));
        }
        let text = Text { statements, labels };
        let leads = |at: usize| {
            let Some((name, target)) = statements[at].instruction() else { return false };
            let name = name.split(',').next().unwrap_or(name);
            let is_branch = is_condition(name);
            (is_branch || name.starts_with("call")) && text.is_straight_to_a_call(at + 1, JUMPS)
                || is_branch && text.is_target_straight(at, target, JUMPS)
        };
        NamedBranches((0..statements.len()).filter(|at| leads(*at)).collect())
    }

    /// Of a whole program.
    pub fn of_program(statements: &[Statement<'_>], entrances: &Entrances) -> NamedBranches {
        let telling = statements.iter().enumerate().filter_map(|(at, statement)| {
            match entrances.behind(statement, &statements[at + 1..]) {
                Behind::Branch(further) => Some(at + 1 + further),
                Behind::Passage | Behind::Known => None,
            }
        });
        NamedBranches(telling.collect())
    }

    /// Whether the statement of this index is one.
    pub fn at(&self, index: usize) -> bool {
        self.0.contains(&index)
    }
}

struct Text<'a> {
    statements: &'a [Statement<'a>],
    labels: HashMap<&'a str, usize>,
}

impl Text<'_> {
    fn is_target_straight(&self, at: usize, target: &str, jumps: usize) -> bool {
        let target = target.split('@').next().unwrap_or(target);
        let found = numbered(self.statements, at, target).or(self.labels.get(target).copied());
        found.is_some_and(|found| self.is_straight_to_a_call(found, jumps))
    }

    /// Whether code leads from here to a call of the system without another branch that has a record.
    fn is_straight_to_a_call(&self, from: usize, jumps: usize) -> bool {
        for (at, statement) in self.statements.iter().enumerate().skip(from) {
            let Some((name, operands)) = statement.instruction() else { continue };
            match name {
                "syscall" => return true,
                "jmp" | "jmpq" | "call" | "callq" if !operands.starts_with('*') => {
                    return jumps > 0 && self.is_target_straight(at, operands, jumps - 1);
                }
                _ if ["j", "loop", "ret", "call"].iter().any(|start| name.starts_with(start)) => {
                    return false;
                }
                _ => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::statements::statements;
    use super::*;

    fn of_regions(text: &str) -> Vec<usize> {
        let statements = statements(text);
        let named = NamedBranches::of_regions(&statements);
        (0..statements.len()).filter(|at| named.at(*at)).collect()
    }

    #[test]
    fn of_regions_branches_name_themselves_that_lead_straight_to_a_call_of_the_system() {
        assert_eq!(of_regions("\tje .L1\n\tnop\n\tsyscall\n.L1:\n\tret\n"), [0]);
        assert_eq!(of_regions("\tje .L1\n\tret\n.L2:\n\tsyscall\n.L1:\n\tnop\n\tjmp .L2\n"), [0]);
        assert_eq!(of_regions("\tje .L1\n\tcall f\n\tsyscall\n.L1:\n\tret\n"), [1], "behind the call");
        assert_eq!(of_regions("\tje .L1\n\tcall *%rax\n\tjmp .L2\n.L1:\n\tret\n.L2:\n\tsyscall\n"), [1]);
        assert_eq!(of_regions("\tcall f\n\tje .L1\n.L1:\n\tsyscall\n"), [1]);
        assert_eq!(of_regions("\tcall f\n\tcall g@PLT\n\tret\ng:\n\tsyscall\n\tret\n"), [0], "into g");
        assert_eq!(of_regions("\tje .L1\n\tjne .L1\n\tsyscall\n.L1:\n\tret\n"), [1]);
        assert_eq!(of_regions("1:\n\tje 1b\n\tret\n1:\n\tsyscall\n"), [] as [usize; 0]);
        assert_eq!(of_regions("1:\n\tje 1f\n\tret\n1:\n\tsyscall\n"), [1]);
        assert_eq!(of_regions(".L1:\n\tje .L1\n\tjmp .L1\n"), [] as [usize; 0]);
    }

    #[test]
    fn of_programs_the_first_branch_behind_a_call_that_other_code_may_return_from_names_itself() {
        let statements = statements("g:\n\tcall g\n\tnop\n\tje .L1\n\tje .L2\n\tret\n");
        let entrances = Entrances::of(&statements);
        let named = NamedBranches::of_program(&statements, &entrances);
        let found: Vec<usize> = (0..statements.len()).filter(|at| named.at(*at)).collect();
        assert_eq!(statements[found[0]].text.trim(), "je .L1");
        assert_eq!(found.len(), 1);
    }
}
