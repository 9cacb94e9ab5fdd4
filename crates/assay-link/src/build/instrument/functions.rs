//! A text's functions: where each begins, what of it leads where, and whether it is entered by its beginning alone.
//!
//! Method: a function is what follows the label of a symbol of its type, up to the next one or to its `.size`. Parts that jump into each
//! other's midst are one function (compilers set cold code apart). Limits: what cannot be known of assembly that somebody wrote
//! by hand, or of landing pads, makes a function one whose pointer stays in memory ([`Function::is_open`]).

use super::entrances::{is_condition, symbols};
use super::registers::RegisterSet;
use super::sections::Sections;
use super::statements::{Statement, numbered};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a statement of a function does with control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It goes on, or is no instruction.
    On,
    /// A conditional branch, or a direct jump, to this statement of the same function.
    Within(usize),
    /// A branch that has a table of this function's labels.
    Table,
    /// A branch, conditional or not, to another function.
    Leaves,
    /// A call, or a call of the system: control comes back behind it.
    Calls,
    /// A return.
    Returns,
}

/// A function.
#[derive(Debug, Default)]
pub struct Function {
    /// Statements that are its entrances: each begins with its labels.
    pub entrances: Vec<usize>,
    /// Statements with its labels.
    pub labels: Vec<usize>,
    /// Its instructions, in order, and what they do.
    pub body: Vec<(usize, Flow)>,
    /// What it names, or uses without a name.
    pub registers: RegisterSet,
    /// What it surely writes.
    pub written: RegisterSet,
    /// Control may come in otherwise, or what it does is not known.
    pub is_open: bool,
}

/// A branch as it is written.
enum Branch<'a> {
    Direct(&'a str),
    Indirect(&'a str),
    Other(Flow),
    Unknown,
}

impl Function {
    /// The instruction, counted in `body`, that control comes to by a branch to this statement.
    pub fn step_at(&self, statement: usize) -> Option<usize> {
        let step = self.body.partition_point(|(at, _)| *at < statement);
        (step < self.body.len()).then_some(step)
    }

    /// Nothing in it has a record but its returns.
    pub fn is_straight(&self) -> bool {
        let is_plain = |(_, flow): &(usize, Flow)| matches!(flow, Flow::On | Flow::Returns);
        !self.is_open && self.body.iter().all(is_plain)
    }
}

/// A part of a function: what stands together.
#[derive(Default)]
struct Part {
    function: Function,
    section: String,
    /// Its label: none but those of the same place.
    labels: Vec<String>,
}

/// What must be known of the whole text.
struct Text<'a> {
    statements: &'a [Statement<'a>],
    /// Symbols of functions.
    functions: HashSet<&'a str>,
    /// Labels, and where they stand; those of numbers are left out.
    labels: HashMap<&'a str, usize>,
    /// What is called, is known elsewhere, or whose address is in code.
    entered: HashSet<&'a str>,
    /// Labels that are numbers and whose address is somewhere, by where they stand.
    entered_numbers: Vec<usize>,
    /// What data names: a table of labels.
    tables: HashSet<&'a str>,
    /// The part of each statement.
    part_of: Vec<Option<usize>>,
}

/// The functions of a text.
pub fn functions(statements: &[Statement<'_>]) -> Vec<Function> {
    let mut text = Text::of(statements);
    let mut parts = text.parts();
    let tabled = text.tabled(&parts);
    let mut joined: Vec<usize> = (0..parts.len()).collect();
    for part in 0..parts.len() {
        for step in 0..parts[part].function.body.len() {
            let at = parts[part].function.body[step].0;
            let flow = match text.branch(at) {
                Branch::Direct(target) => text.direct(at, target, &parts).inspect(|flow| {
                    if let Flow::Within(to) = flow
                        && let Some(other) = text.part_of[*to]
                    {
                        let own = root(&joined, part);
                        joined[own] = root(&joined, other);
                    }
                }),
                Branch::Indirect(target) => text.indirect(at, target, &parts[part], tabled.contains(&part)),
                Branch::Other(flow) => Some(flow),
                Branch::Unknown => None,
            };
            match flow {
                Some(flow) => parts[part].function.body[step].1 = flow,
                None => parts[part].function.is_open = true,
            }
        }
    }
    text.close(&mut parts);
    let mut functions: BTreeMap<usize, Function> = BTreeMap::new();
    for (number, part) in parts.into_iter().enumerate() {
        let whole = functions.entry(root(&joined, number)).or_default();
        whole.entrances.extend(part.function.entrances);
        whole.labels.extend(part.function.labels);
        whole.written = whole.written.and(part.function.written);
        whole.body.extend(part.function.body);
        whole.registers = whole.registers.and(part.function.registers);
        whole.is_open |= part.function.is_open;
    }
    functions.into_values().collect()
}

fn root(joined: &[usize], part: usize) -> usize {
    let mut root = part;
    while joined[root] != root {
        root = joined[root];
    }
    root
}

impl<'a> Text<'a> {
    fn of(statements: &'a [Statement<'a>]) -> Text<'a> {
        let mut text = Text {
            statements,
            functions: HashSet::new(),
            labels: HashMap::new(),
            entered: HashSet::new(),
            entered_numbers: Vec::new(),
            tables: HashSet::new(),
            part_of: vec![None; statements.len()],
        };
        let mut sections = Sections::default();
        for (at, statement) in statements.iter().enumerate() {
            text.labels.extend(statement.labels().into_iter().map(|label| (label, at)));
            let Some((name, operands)) = statement.instruction() else { continue };
            sections.directive(name, operands);
            match name {
                ".type" if operands.contains("function") => {
                    text.functions.extend(operands.split(',').next().map(str::trim));
                }
                ".globl" | ".global" | ".weak" => text.entered.extend(symbols(operands)),
                _ if name.starts_with('.') => {
                    let is_told =
                        sections.name().starts_with(".debug") || sections.name().starts_with(".gcc_except");
                    if !sections.is_code() && !is_told {
                        text.tables.extend(symbols(operands));
                    }
                }
                "jmp" | "jmpq" if !operands.starts_with('*') => continue,
                _ if is_condition(name.split(',').next().unwrap_or(name)) || is_short(name) => continue,
                _ => text.entered.extend(symbols(operands)),
            }
            let words = operands.split(|c: char| !c.is_ascii_alphanumeric());
            text.entered_numbers.extend(words.filter_map(|word| numbered(statements, at, word)));
        }
        text
    }

    /// Where functions and their parts begin and end, and their instructions.
    fn parts(&mut self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let mut sections = Sections::default();
        let mut now: Option<usize> = None;
        let are_pads_told =
            !self.statements.iter().any(|statement| statement.text.contains("gcc_except_table"))
                || self.statements.iter().any(|statement| statement.text.contains(".cfi_lsda"));
        for (at, statement) in self.statements.iter().enumerate() {
            let labels = statement.labels();
            if labels.iter().any(|label| self.functions.contains(label)) && sections.is_code() {
                let is_same = now.is_some_and(|part| parts[part].function.body.is_empty());
                if !is_same {
                    parts.push(Part { section: sections.name().to_owned(), ..Part::default() });
                    now = Some(parts.len() - 1);
                }
                let part = parts.last_mut().expect("one was just made, or is the last");
                part.labels.extend(labels.iter().map(|label| (*label).to_owned()));
                part.function.entrances = vec![at];
                part.function.labels.push(at);
                part.function.is_open |= !are_pads_told;
            }
            // A table may stand in its midst, in a section of its own.
            self.part_of[at] = now.filter(|_| sections.is_code());
            let Some((name, operands)) = statement.instruction() else { continue };
            sections.directive(name, operands);
            let Some(part) = now.map(|now| &mut parts[now]) else { continue };
            let sized = operands.split(',').next().map(str::trim);
            if name == ".size" && part.labels.iter().any(|label| Some(label.as_str()) == sized) {
                now = None;
            } else if name.starts_with('.') {
                part.function.is_open |= name == ".cfi_lsda";
                if sections.is_code() && is_data(name) {
                    part.function.is_open = true;
                    part.function.registers = RegisterSet::ALL;
                }
            } else if !statement.is_bare_prefix() {
                let touched = RegisterSet::of(name, operands);
                part.function.registers = part.function.registers.and(touched);
                part.function.written = part.function.written.and(RegisterSet::written(name, operands));
                part.function.is_open |= part.section != sections.name();
                part.function.body.push((at, Flow::On));
            }
        }
        parts
    }

    /// What kind of branch an instruction is.
    fn branch(&self, at: usize) -> Branch<'a> {
        let Some((name, operands)) = self.statements[at].instruction() else {
            return Branch::Other(Flow::On);
        };
        let name = name.split(',').next().unwrap_or(name);
        match name {
            "ret" | "retq" => Branch::Other(Flow::Returns),
            // The linker knows the whole sequence.
            "call" | "callq"
                if operands.contains("__tls_get_addr") || operands.to_lowercase().contains("@tlscall") =>
            {
                Branch::Unknown
            }
            "call" | "callq" if operands.starts_with(|c: char| c.is_ascii_digit()) => Branch::Unknown,
            "call" | "callq" | "syscall" => Branch::Other(Flow::Calls),
            "jmp" | "jmpq" if operands.starts_with('*') => {
                Branch::Indirect(operands.trim_start_matches('*').trim())
            }
            "jmp" | "jmpq" => Branch::Direct(operands),
            _ if is_condition(name) || is_short(name) => Branch::Direct(operands),
            _ if name.starts_with('j') || name.starts_with("call") => Branch::Unknown,
            _ => Branch::Other(Flow::On),
        }
    }

    /// Where a direct branch leads.
    fn direct(&self, at: usize, target: &str, parts: &[Part]) -> Option<Flow> {
        let found = match numbered(self.statements, at, target).or(self.labels.get(target).copied()) {
            Some(found) => found,
            // Another text's function.
            None if is_symbol(target) => return self.leaves(at),
            None => return None,
        };
        let other = &parts[self.part_of[found]?];
        if other.labels.iter().any(|label| label == target) {
            return self.leaves(at);
        }
        // Ahead of where the pointer is fetched there is no telling whence control came.
        other.function.entrances.iter().all(|entrance| *entrance < found).then_some(Flow::Within(found))
    }

    fn leaves(&self, at: usize) -> Option<Flow> {
        let name = self.statements[at].instruction()?.0;
        (!is_short(name)).then_some(Flow::Leaves)
    }

    /// A jump by a table of labels stays here; one to another function does not. Where it may be both it is not known.
    fn indirect(&self, at: usize, target: &str, part: &Part, is_tabled: bool) -> Option<Flow> {
        if target.starts_with(".L") {
            return Some(Flow::Table);
        }
        if target.starts_with('%') {
            let before = part.function.body.iter().rev().map(|(step, _)| *step).filter(|step| *step < at);
            let writes = |step: &usize| {
                let operands = self.statements[*step].instruction().map_or("", |(_, operands)| operands);
                operands.ends_with(&format!(", {target}"))
            };
            let last = before.take(8).find(writes).and_then(|step| self.statements[step].instruction());
            // The table has distances, which are added to its address.
            if last.is_some_and(|(name, _)| name.starts_with("add")) {
                return Some(Flow::Table);
            }
        }
        (!is_tabled).then_some(Flow::Leaves)
    }

    /// Parts that have a label in their midst which data names.
    fn tabled(&self, parts: &[Part]) -> HashSet<usize> {
        let within = self.tables.iter().filter_map(|label| self.midst(label, parts));
        within.collect()
    }

    /// The part that has this label in its midst.
    fn midst(&self, label: &str, parts: &[Part]) -> Option<usize> {
        let part = self.part_of[*self.labels.get(label)?]?;
        (!parts[part].labels.iter().any(|own| own == label)).then_some(part)
    }

    /// Parts that control comes into in their midst, or runs out of at their end, are open.
    fn close(&self, parts: &mut [Part]) {
        for label in &self.entered {
            if let Some(part) = self.midst(label, parts) {
                parts[part].function.is_open = true;
            }
        }
        for part in self.entered_numbers.iter().filter_map(|at| self.part_of[*at]) {
            parts[part].function.is_open = true;
        }
        for part in parts {
            let last = part.function.body.last().and_then(|(at, _)| self.statements[*at].instruction());
            let ends = last.is_some_and(|(name, _)| {
                ["jmp", "ret", "call"].iter().any(|start| name.starts_with(start))
                    || ["ud2", "hlt"].contains(&name)
            });
            part.function.is_open |= !ends;
        }
    }
}

/// Whether this is a symbol alone, wherever it is found.
fn is_symbol(target: &str) -> bool {
    let name = target.split('@').next().unwrap_or(target);
    !name.starts_with(".L")
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.$".contains(c) || !c.is_ascii())
}

/// Branches that test a register.
fn is_short(name: &str) -> bool {
    name.starts_with("loop") || ["jcxz", "jecxz", "jrcxz"].contains(&name)
}

/// Directives that write bytes, which may be instructions.
fn is_data(name: &str) -> bool {
    [
        ".byte", ".short", ".value", ".word", ".hword", ".2byte", ".long", ".int", ".4byte", ".quad",
        ".8byte", ".octa", ".ascii", ".asciz", ".string", ".incbin", ".uleb128", ".sleb128", ".single",
        ".double", ".float", ".insn",
    ]
    .contains(&name)
}

#[cfg(test)]
mod tests {
    use super::super::statements::statements;
    use super::*;

    /// What a function's instructions do, and whether it is open; of a text with functions `f` and `g`.
    fn of(body: &str) -> Vec<(Vec<Flow>, bool)> {
        let text = format!("\t.type f, @function\n\t.type g, @function\n{body}");
        let statements = statements(&text);
        let mut found = functions(&statements);
        found.sort_by_key(|function| function.entrances[0]);
        let flows = |function: Function| function.body.into_iter().map(|(_, flow)| flow).collect();
        found
            .into_iter()
            .map(|function| (function.is_open, function))
            .map(|(open, function)| (flows(function), open))
            .collect()
    }

    fn is_open(body: &str) -> bool {
        of(body)[0].1
    }

    #[test]
    fn a_table_that_stands_in_the_midst_of_a_function_is_no_way_into_it() {
        let text = "f:\n\tleaq .L2(%rip), %rax\n\taddq %rax, %rcx\n\tjmp *%rcx\n\t.section .rodata\n.L2:\n\t.long .L1-.L2\n\
                    \t.text\n.L1:\n\tret\n\t.size f, .-f\n";
        assert_eq!(of(text)[0], (vec![Flow::On, Flow::On, Flow::Table, Flow::Returns], false));
        assert!(is_open(&text.replace(".L2(%rip)", ".L1(%rip)")), "its address may be anywhere");
    }

    #[test]
    fn a_function_is_what_follows_its_label_and_its_branches_stay_or_leave() {
        let found = of("f:\n.L1:\n\tje .L1\n\tcall g\n\tjne h\n\tjmp g\n\t.size f, .-f\ng:\n\tret\n");
        assert_eq!(found.len(), 2);
        assert!(
            matches!(found[0].0[..], [Flow::Within(_), Flow::Calls, Flow::Leaves, Flow::Leaves]),
            "{found:?}"
        );
        assert_eq!(found[1], (vec![Flow::Returns], false));
    }

    #[test]
    fn parts_that_jump_into_each_other_are_one_function() {
        let found = of("f:\n\tje g\n.L1:\n\tret\ng:\n\tnop\n\tjmp .L1\n");
        assert_eq!(found.len(), 1);
        assert!(
            matches!(found[0].0[..], [Flow::Leaves, Flow::Returns, Flow::On, Flow::Within(_)]),
            "{found:?}"
        );
    }

    #[test]
    fn a_jump_by_a_table_stays_and_one_by_a_pointer_leaves_unless_it_may_be_either() {
        let table = "\t.section .rodata\n.L4:\n\t.long .L1-.L4\n\t.text\n";
        let with = |jump: &str, table: &str| of(&format!("f:\n\tnop\n.L1:\n{jump}{table}"));
        assert_eq!(with("\taddq %rdx, %rax\n\tjmp *%rax\n", table)[0].0[1..], [Flow::On, Flow::Table]);
        assert_eq!(with("\tjmp *.L4(,%rax,8)\n", table)[0].0[1..], [Flow::Table]);
        assert_eq!(with("\tmovq (%rdi), %rax\n\tjmp *%rax\n", "")[0].0[1..], [Flow::On, Flow::Leaves]);
        assert!(with("\tmovq (%rdi), %rax\n\tjmp *%rax\n", table)[0].1, "it may be either");
    }

    #[test]
    fn what_is_entered_in_its_midst_or_not_known_is_open() {
        assert!(!is_open("f:\n\tret\n"));
        assert!(is_open("f:\n\tnop\ng:\n\tret\n"), "it runs into the next");
        assert!(is_open("\t.globl h\nf:\n\tnop\nh:\n\tret\n"));
        assert!(is_open("f:\n\tcall 1f\n1:\n\tret\n"));
        assert!(is_open("f:\n\tcall .L1\n.L1:\n\tret\n"));
        assert!(is_open("f:\n\tleaq 1f(%rip), %rax\n\tjmp *%rax\n1:\n\tret\n"));
        assert!(is_open("f:\n1:\n\tret\n\t.data\n\t.quad 1b\n"));
        assert!(is_open("f:\n\tleaq .L1(%rip), %rax\n.L1:\n\tret\n"));
        assert!(is_open("f:\n\t.cfi_lsda 0x1b,.LLSDA\n\tret\n"));
        assert!(is_open("f:\n\t.byte 0x90\n\tret\n"));
        assert!(is_open("f:\n\tcall __tls_get_addr@PLT\n\tret\n"));
        assert!(is_open("f:\n\tjmp .L1+2\n.L1:\n\tret\n"));
    }
}
