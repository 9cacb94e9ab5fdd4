//! Where may control come into a text from code that has no records?
//!
//! Method: into functions that others know (global ones, and those whose address is taken), at landing pads of exceptions, and
//! behind calls. Behind a call of a function of the same text that is not replaced by another's, only where a direct call or jump
//! comes before the next record: elsewhere that record tells where control is, and whoever reads the log knows who called.
//! Checked: against the emulator in `assay/tests/instrument/whole.rs`.

use super::statements::Statement;
use std::collections::HashSet;

const CONDITIONS: &[&str] = &[
    "a", "ae", "b", "be", "c", "e", "g", "ge", "l", "le", "na", "nae", "nb", "nbe", "nc", "ne", "ng", "nge",
    "nl", "nle", "no", "np", "ns", "nz", "o", "p", "pe", "po", "s", "z",
];
/// Directives that name a symbol without taking its address.
const NAMING: &[&str] = &[
    ".type",
    ".size",
    ".local",
    ".hidden",
    ".protected",
    ".internal",
    ".file",
    ".loc",
    ".ident",
    ".section",
    ".comm",
];

/// Whether an instruction of this name is a conditional branch that reaches anywhere.
pub fn is_condition(name: &str) -> bool {
    name.strip_prefix('j').is_some_and(|condition| CONDITIONS.contains(&condition))
}

/// What tells that control came back behind a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// A record of its own.
    Passage,
    /// The record of a conditional branch, so many statements further.
    Branch(usize),
    /// The next record, or it is no call.
    Known,
}

/// The entrances of one text.
#[derive(Debug, Default)]
pub struct Entrances {
    labels: HashSet<String>,
    /// Functions of this text that no other takes the place of.
    own: HashSet<String>,
}

impl Entrances {
    /// Looks a text through.
    pub fn of(statements: &[Statement<'_>]) -> Entrances {
        let (mut defined, mut entered, mut weak) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut pads = false;
        for statement in statements {
            defined.extend(statement.labels());
            let Some((name, operands)) = statement.instruction() else { continue };
            match name {
                ".section" | ".pushsection" => pads = operands.contains("gcc_except_table"),
                ".text" | ".data" | ".bss" | ".previous" | ".popsection" => pads = false,
                ".globl" | ".global" => entered.extend(symbols(operands)),
                ".weak" => {
                    entered.extend(symbols(operands));
                    weak.extend(symbols(operands));
                }
                ".uleb128" if pads => entered.extend(operands.split('-').next().map(str::trim)),
                _ if NAMING.contains(&name) || name.starts_with(".cfi") => {}
                _ if is_direct(name, operands) => {}
                // A table of a switch is reached by a jump of ours.
                _ => entered.extend(symbols(operands).filter(|symbol| !symbol.starts_with(".L"))),
            }
        }
        let is_here = |symbol: &&str| defined.contains(symbol);
        Entrances {
            labels: entered.into_iter().filter(is_here).map(str::to_owned).collect(),
            own: defined
                .iter()
                .filter(|symbol| !weak.contains(*symbol))
                .map(|symbol| (*symbol).to_owned())
                .collect(),
        }
    }

    /// Whether control may come in at this label.
    pub fn at(&self, label: &str) -> bool {
        self.labels.contains(label)
    }

    /// What tells that control came in behind this statement.
    pub fn behind(&self, statement: &Statement<'_>, rest: &[Statement<'_>]) -> Behind {
        let Some(("call" | "callq", operands)) = statement.instruction() else { return Behind::Known };
        let callee = operands.split('@').next().unwrap_or(operands).trim();
        if !self.own.contains(callee) {
            return Behind::Passage;
        }
        for (further, next) in rest.iter().enumerate() {
            if next.labels().iter().any(|label| self.at(label)) {
                return Behind::Passage;
            }
            let Some((name, operands)) = next.instruction() else { continue };
            match name.split(',').next().unwrap_or(name) {
                name if name.starts_with("ret") => return Behind::Known,
                name if is_condition(name) => return Behind::Branch(further),
                "jmp" | "call" | "jmpq" | "callq" if operands.starts_with('*') => return Behind::Known,
                name if name.starts_with('j') || name.starts_with("loop") || name.starts_with("call") => {
                    return Behind::Passage;
                }
                _ => {}
            }
        }
        Behind::Passage
    }
}

/// A call or jump to a symbol: no address is taken.
fn is_direct(name: &str, operands: &str) -> bool {
    (matches!(name, "call" | "callq" | "jmp" | "jmpq") || is_condition(name)) && !operands.starts_with('*')
}

/// What may be a symbol in these operands.
pub fn symbols(operands: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c) || !c.is_ascii();
    let words = operands.split(move |c| !is_part(c)).map(|word| word.trim_start_matches('$'));
    words.filter(|word| word.starts_with(|c: char| !c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::statements::statements;
    use super::*;

    #[test]
    fn functions_that_others_know_are_entrances_and_those_that_are_only_called_are_not() {
        let text = "\t.globl main\n\t.type one,@function\none:\n\tret\ntwo:\n\tret\nmain:\n\tcall one\n\tleaq two(%rip), %rdi\n\tret\nthree:\n\tmovl $three, %edi\n";
        let entrances = Entrances::of(&statements(text));
        let found = ["main", "one", "two", "three"].map(|label| entrances.at(label));
        assert_eq!(found, [true, false, true, true]);
    }

    #[test]
    fn landing_pads_are_entrances() {
        let text =
            "f:\n.L3:\n.L5:\n\tret\n\t.section\t.gcc_except_table,\"a\",@progbits\n\t.uleb128 .L5-.LFB1\n";
        let entrances = Entrances::of(&statements(text));
        assert!(entrances.at(".L5") && !entrances.at(".L3"));
    }

    #[test]
    fn behind_a_call_a_record_is_needed_unless_the_next_one_tells() {
        let of = |text: &str| {
            let statements = statements(text);
            let call =
                statements.iter().position(|one| one.instruction().is_some_and(|(name, _)| name == "call"));
            let at = call.expect("there is a call");
            Entrances::of(&statements).behind(&statements[at], &statements[at + 1..])
        };
        assert_eq!(of("f:\n\tcall g@PLT\n\tret\n"), Behind::Passage, "another text's");
        assert_eq!(of("g:\n\tcall g@PLT\n\tnop\n\tret\n"), Behind::Known, "the return's record tells");
        assert_eq!(of("g:\n\tcall g\n\tnop\n\tje g\n"), Behind::Branch(1), "the branch's can");
        assert_eq!(of("g:\n\tcall g\n\tjmp .L1\n"), Behind::Passage, "the jump leads elsewhere");
        assert_eq!(of("g:\n\tcall g\n\tjrcxz g\n"), Behind::Passage, "its record is its outcome alone");
        assert_eq!(of("\t.weak g\ng:\n\tcall g\n\tret\n"), Behind::Passage, "another's may be taken");
        assert_eq!(of("f:\n\tcall *%rax\n\tret\n"), Behind::Passage);
    }
}
