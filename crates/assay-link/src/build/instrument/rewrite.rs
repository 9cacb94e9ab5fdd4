//! Assembly in which each branch leaves its outcome in a log, made from what gcc and clang write.
//!
//! Method: text to text, for x86-64 in AT&T's syntax. In front of each conditional branch, indirect jump, indirect call, return
//! and call of the system goes code that appends a record (assay-pure, `outcomes`) behind a thread's pointer (`records`, `stream.c`).
//! The same text with labels and no code is what must be the measured program byte for byte: its table says where each site lies there.
//! Of a whole program ([`Scope::Program`]) control also comes back from code that has no records. Where it may come in
//! (`entrances`) a record says that it did.
//! Limits: what is refused says so ([`Unwritable`]).
//! Checked: against the emulator's branches, one by one, in `assay/tests/instrument.rs`.

use super::entrances::{self, Behind, Entrances};
use super::kept::with_kept;
use super::named::NamedBranches;
use super::pointers::{PlannedPointer, Pointers};
use super::records::{Holder, Pointer};
use super::sections::Sections;
use super::statements::{Statement, repeated, statements};
use assay_pure::outcomes::{self, SECTION, SiteKind, outcome};
use std::fmt::Write as _;

/// A text that cannot be instrumented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// Its line, from 1.
    pub line: usize,
    /// What stands there.
    pub found: String,
    /// Why it cannot be.
    pub why: &'static str,
}

impl std::fmt::Display for Unwritable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} of its assembly, `{}`: {}", self.line, self.found, self.why)
    }
}

/// One source's assembly, twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The same code, with a table of its sites.
    pub marked: String,
    /// With records, and the same table.
    pub logging: String,
    /// The number that the next source's first site has.
    pub next_site: u32,
}

/// What of a program is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Regions between marks of the harness, in which no other code is executed.
    Regions,
    /// All of it, other code in between.
    Program,
}

impl Scope {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Regions => "regions",
            Scope::Program => "program",
        }
    }

    /// The one of this word.
    pub fn named(word: &str) -> Scope {
        if word == "regions" { Scope::Regions } else { Scope::Program }
    }
}

/// Rewrites one source, whose first site has the number `first`, not 0.
///
/// # Errors
/// Something in it cannot be instrumented.
pub fn rewrite(text: &str, first: u32, scope: Scope) -> Result<Rewritten, Unwritable> {
    let statements = repeated(statements(text));
    let entrances = (scope == Scope::Program).then(|| Entrances::of(&statements));
    let named = match &entrances {
        Some(entrances) => NamedBranches::of_program(&statements, entrances),
        None => NamedBranches::of_regions(&statements),
    };
    let pointers = Pointers::of(&statements, scope);
    let mut writer = Writer {
        marked: String::with_capacity(2 * text.len()),
        logging: String::with_capacity(3 * text.len()),
        table: format!("\t.section {SECTION},\"\",@progbits\n"),
        next_site: first,
        labels: 0,
        first,
        sections: Sections::default(),
        entrances,
        is_named: false,
        pending: false,
        planned: Pointers::IN_MEMORY,
    };
    let mut prefix = String::new();
    for (at, statement) in statements.iter().enumerate() {
        let refuse = |why| Unwritable { line: statement.line, found: statement.text.trim().to_owned(), why };
        if statement.is_bare_prefix() {
            // `rep; ret`: nothing may come between a prefix and its instruction.
            let _ = write!(prefix, "{} ", statement.text.trim());
            continue;
        }
        let whole = format!("{prefix}{}", statement.text.trim());
        prefix.clear();
        let whole = Statement { text: &whole, ..*statement };
        if writer.next_site >= SiteKind::MAX_SITES {
            return Err(refuse("there are more branches than a record can name"));
        }
        writer.is_named = named.at(at);
        writer.planned = pointers.at(at);
        writer.statement(&whole).map_err(refuse)?;
        writer.behind(&whole, &statements[at + 1..]);
    }
    let (mut marked, mut logging) = (writer.marked, writer.logging);
    marked.push_str(&writer.table);
    logging.push_str(&writer.table);
    Ok(Rewritten { marked, logging, next_site: writer.next_site })
}

struct Writer {
    marked: String,
    logging: String,
    table: String,
    next_site: u32,
    labels: u32,
    first: u32,
    sections: Sections,
    /// Where control may come in from other code; of regions nothing.
    entrances: Option<Entrances>,
    /// Whether the statement, if it is a conditional branch, names itself in its record; of regions, if a call, has one behind it.
    is_named: bool,
    /// Control may come in ahead of the next instruction.
    pending: bool,
    /// Where the pointer to the next record is, at the statement.
    planned: PlannedPointer,
}

/// Branches that test a register, and reach 127 bytes.
const SHORT: &[&str] =
    &["loop", "loope", "loopne", "loopz", "loopnz", "jcxz", "jecxz", "jrcxz", "loopq", "loopl"];

impl Writer {
    fn statement(&mut self, statement: &Statement<'_>) -> Result<(), &'static str> {
        for label in statement.labels() {
            self.both(&format!("{label}:\n"));
            if self.sections.is_code() {
                self.point();
                self.pending |= self.entrances.as_ref().is_some_and(|entrances| entrances.at(label));
            }
        }
        self.fetch(self.planned.arrives);
        let text = statement.body();
        let Some((name, operands)) = statement.instruction() else { return Ok(()) };
        if name.starts_with('.') {
            refused_directive(name, operands, self.entrances.is_some())?;
            self.sections.directive(name, operands);
            if self.sections.is_code() && (name.starts_with(".p2align") || name.ends_with("align")) {
                // Padding may be needed in one text and not in the other: places before and behind it must stay two.
                self.logging.push_str("\tnop\n");
            }
            self.both(&format!("{text}\n"));
            return Ok(());
        }
        if std::mem::take(&mut self.pending) {
            self.passage();
        }
        self.instruction(text, name, operands)?;
        self.fetch(self.planned.returns);
        Ok(())
    }

    fn instruction(&mut self, text: &str, name: &str, operands: &str) -> Result<(), &'static str> {
        let base = name.split(',').next().unwrap_or(name);
        if matches!(operands.trim_start_matches('*').as_bytes(), [b'.', b'+' | b'-' | b' ', ..])
            && base.starts_with(['j', 'c', 'l'])
        {
            return Err("it counts bytes of code, which are others with records");
        }
        if entrances::is_condition(base) {
            return self.conditional(text, &base[1..], operands);
        }
        if SHORT.contains(&base) {
            return self.short(text, operands);
        }
        match base {
            "jmp" | "jmpq" if operands.starts_with('*') => self.indirect(text, operands),
            "call" | "callq" if operands.starts_with('*') => {
                self.indirect(text, operands)?;
                self.point();
                Ok(())
            }
            "call" | "callq" => {
                self.leave();
                self.both(&format!("{text}\n"));
                self.point();
                Ok(())
            }
            "ret" | "retq" if self.planned.is_quiet => {
                let site = self.site(SiteKind::Quiet);
                self.leave();
                self.original(site, text);
                Ok(())
            }
            "ret" | "retq" => {
                self.departure(SiteKind::Return, "(%rsp)", text);
                Ok(())
            }
            // What is called may come back in another process or thread.
            "syscall" if self.entrances.is_some() => {
                self.leave();
                self.both(&format!("{text}\n"));
                self.point();
                self.pending = true;
                Ok(())
            }
            "syscall" => {
                self.system_call(text);
                Ok(())
            }
            "ljmp" | "lcall" | "lret" | "lretq" | "iret" | "iretq" | "retw" | "sysenter" | "sysexit"
            | "sysret" | "xbegin" | "ljmpq" | "lcallq" | "jmpw" | "callw" => {
                Err("a way to branch that is not instrumented")
            }
            _ => {
                self.leave();
                let _ = writeln!(self.marked, "{text}");
                let statement = Statement { line: 0, text };
                let form =
                    |register| with_kept(&statement, register).expect("it was planned by its form").text;
                let kept = self.planned.finds_kept.map(form);
                let _ = writeln!(self.logging, "{}", kept.as_deref().unwrap_or(text));
                Ok(())
            }
        }
    }

    fn scope(&self) -> Scope {
        if self.entrances.is_some() { Scope::Program } else { Scope::Regions }
    }

    /// Ahead of an instruction that may go where the pointer is looked for in memory.
    fn leave(&mut self) {
        if let Some(holder) = self.planned.leaves {
            self.logging.push_str(&holder.left(self.scope()));
        }
    }

    fn fetch(&mut self, holder: Option<Holder<'_>>) {
        if let Some(holder) = holder {
            self.logging.push_str(&holder.fetched());
        }
    }

    /// Behind a call, where what was called may have left to other code, or what comes next wants to know.
    fn behind(&mut self, call: &Statement<'_>, rest: &[Statement<'_>]) {
        if self.sections.is_code() {
            self.pending |= match &self.entrances {
                Some(entrances) => entrances.behind(call, rest) == Behind::Passage,
                None => self.is_named && call.instruction().is_some_and(|(name, _)| name.starts_with("call")),
            };
        }
    }

    /// Control came by here.
    fn passage(&mut self) {
        let site = self.site(SiteKind::Passage);
        self.logging.push_str(&self.planned.pointer.passage(outcomes::word(site, outcome::PASSED)));
        self.both(&format!(".Lassay_s{site}:\n"));
    }

    fn both(&mut self, text: &str) {
        self.marked.push_str(text);
        self.logging.push_str(text);
    }

    /// A label of ours here, in both texts.
    fn label(&mut self) -> String {
        self.labels += 1;
        // Numbers of sites are those of the program, so labels of two sources that are joined differ.
        let label = format!(".Lassay_{}_{}", self.first, self.labels);
        self.both(&format!("{label}:\n"));
        label
    }

    /// A place that control may come to from elsewhere.
    fn point(&mut self) {
        let label = self.label();
        let _ = writeln!(self.table, "\t.quad {label}\n\t.quad {}", SiteKind::Point as u32);
    }

    /// A site's number; its line of the table. The label comes with [`Writer::original`].
    fn site(&mut self, kind: SiteKind) -> u32 {
        let site = self.next_site;
        self.next_site += 1;
        let _ = writeln!(self.table, "\t.quad .Lassay_s{site}\n\t.quad {}", site << 8 | kind as u32);
        site
    }

    /// The instruction itself at its label.
    fn original(&mut self, site: u32, text: &str) {
        self.both(&format!(".Lassay_s{site}:\n{text}\n"));
    }

    fn conditional(&mut self, text: &str, condition: &str, target: &str) -> Result<(), &'static str> {
        let kind = if self.is_named { SiteKind::Named } else { SiteKind::Conditional };
        let site = self.site(kind);
        let (pointer, scope) = (self.planned.pointer, self.scope());
        let (ahead, behind) = match kind {
            SiteKind::Named => {
                (pointer.named(condition, outcomes::word(site, outcome::NAMED)), String::new())
            }
            _ => pointer.condition(condition, scope),
        };
        self.logging.push_str(&ahead);
        match self.planned.leaves {
            None => self.original(site, text),
            // Only where it is taken, out of the way.
            Some(holder) => {
                let branch = without_target(text, target)?;
                let _ = write!(self.marked, ".Lassay_s{site}:\n{text}\n");
                let _ = write!(
                    self.logging,
                    ".Lassay_s{site}:\n{branch} .Lassay_t{site}\n\t.subsection 1\n.Lassay_t{site}:\n{}\tjmp {target}\n\
                     \t.subsection 0\n",
                    holder.left(scope)
                );
            }
        }
        self.logging.push_str(&behind);
        Ok(())
    }

    /// What reaches 127 bytes goes over its record by a jump of ours, and from there where it wants.
    fn short(&mut self, text: &str, target: &str) -> Result<(), &'static str> {
        let site = self.site(SiteKind::Conditional);
        let _ = write!(self.marked, ".Lassay_s{site}:\n{text}\n");
        let branch = without_target(text, target)?;
        // It may test the register that has the pointer.
        self.leave();
        let pointer = if self.planned.leaves.is_some() { Pointer::Memory } else { self.planned.pointer };
        let scope = self.scope();
        let _ = write!(
            self.logging,
            ".Lassay_s{site}:\n{branch} .Lassay_t{site}\n{}\tjmp .Lassay_n{site}\n\
             .Lassay_t{site}:\n{}\tjmp {target}\n.Lassay_n{site}:\n",
            pointer.outcome(outcome::NOT_TAKEN, scope),
            pointer.outcome(outcome::TAKEN, scope)
        );
        Ok(())
    }

    fn indirect(&mut self, text: &str, operands: &str) -> Result<(), &'static str> {
        if operands.contains("__tls_get_addr") {
            return Err("the linker knows this sequence only as it is");
        }
        self.departure(SiteKind::Indirect, operands.trim_start_matches('*').trim(), text);
        Ok(())
    }

    fn departure(&mut self, kind: SiteKind, operand: &str, text: &str) {
        let site = self.site(kind);
        let word = outcomes::word(site, outcome::WENT);
        self.logging.push_str(&self.planned.pointer.departure(operand, word, self.planned.spare));
        self.leave();
        self.original(site, text);
    }

    fn system_call(&mut self, text: &str) {
        let site = self.site(SiteKind::SystemCall);
        self.leave();
        let _ = write!(
            self.logging,
            "\tleaq -128(%rsp), %rsp\n\tmovl ${:#x}, %ecx\n\tcall __assay_system_call\n\tleaq 128(%rsp), %rsp\n",
            outcomes::word(site, outcome::SYSTEM_CALL)
        );
        self.original(site, text);
    }
}

/// A branch without its target.
fn without_target<'a>(text: &'a str, target: &str) -> Result<&'a str, &'static str> {
    let branch = text.strip_suffix(target).map(str::trim_end);
    branch.ok_or("its target is not at its end, which is not instrumented")
}

fn refused_directive(name: &str, operands: &str, whole: bool) -> Result<(), &'static str> {
    match name {
        ".type" if whole && operands.contains("gnu_indirect_function") => {
            Err("it is resolved before the log is there (ifunc, target_clones)")
        }
        ".macro" | ".altmacro" | ".irp" | ".irpc" => Err("macros are not looked into"),
        ".rept" | ".endr" => {
            Err("it repeats something that does not end, or so often that it is no number here")
        }
        ".include" => Err("what is included is not looked into"),
        ".intel_syntax" => Err("only AT&T's syntax is read"),
        ".code32" | ".code16" => Err("only 64-bit code is read"),
        ".section" if operands.starts_with(".gnu.lto") || operands.starts_with("\".gnu.lto") => {
            Err("with link-time optimisation the linker generates the code")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logging(text: &str) -> String {
        rewrite(text, 1, Scope::Regions).expect("it can be instrumented").logging
    }

    /// What the rewriter added in front of the table, a line each.
    fn added(text: &str) -> Vec<String> {
        let code = logging(text);
        let code = code.split("\t.section .debug_assay").next().expect("the code comes first");
        code.lines().map(|line| line.trim().to_owned()).filter(|line| !line.starts_with(".Lassay")).collect()
    }

    #[test]
    fn a_conditional_branch_stores_its_condition_behind_the_pointer() {
        assert_eq!(
            added("\tjne\t.L3\n"),
            [
                "movq %r11, %fs:__assay_kept@tpoff",
                "movq %fs:__assay_at@tpoff, %r11",
                "sete (%r11)",
                "leaq 1(%r11), %r11",
                "movq %r11, %fs:__assay_at@tpoff",
                "movq %fs:__assay_kept@tpoff, %r11",
                "jne\t.L3"
            ]
        );
    }

    #[test]
    fn a_branch_that_leads_to_a_mark_names_itself() {
        let lines = added("\tjne\t.L3\n\tsyscall\n");
        assert!(lines.contains(&"movl $0x10000001, 1(%r11)".to_owned()), "{lines:?}");
    }

    #[test]
    fn the_marked_text_has_the_same_instructions_as_the_source() {
        let source = "f:\n\ttestl %eax, %eax\n\tjg .L2 # likely\n\tcall *8(%rbx)\n\tcall g@PLT\n\trep; ret\n.L2:\n\tjmp *.L4(,%rax,8)\n\tloop .L2\n";
        let marked = rewrite(source, 7, Scope::Regions).expect("it can be instrumented").marked;
        let code = marked.split("\t.section .debug_assay").next().expect("the code comes first");
        let left: Vec<&str> =
            code.lines().map(str::trim).filter(|line| !line.starts_with(".Lassay")).collect();
        assert_eq!(
            left,
            [
                "f:",
                "testl %eax, %eax",
                "jg .L2",
                "call *8(%rbx)",
                "call g@PLT",
                "rep ret",
                ".L2:",
                "jmp *.L4(,%rax,8)",
                "loop .L2"
            ]
        );
    }

    #[test]
    fn tables_of_both_texts_are_the_same_and_name_each_site_and_point_once() {
        let both =
            rewrite("f:\n\tje f\n\tcall g\n\tret\n", 5, Scope::Regions).expect("it can be instrumented");
        let table = |text: &str| text.split_once("\t.section .debug_assay").expect("a table").1.to_owned();
        assert_eq!(table(&both.marked), table(&both.logging));
        let words: Vec<String> = table(&both.marked)
            .lines()
            .skip(1)
            .map(|line| line.trim().trim_start_matches(".quad ").to_owned())
            .collect();
        let conditional = (5 << 8 | SiteKind::Conditional as u32).to_string();
        let returning = (6 << 8 | SiteKind::Return as u32).to_string();
        assert_eq!(
            words,
            [".Lassay_5_1", "0", ".Lassay_s5", &conditional, ".Lassay_5_2", "0", ".Lassay_s6", &returning]
        );
        assert_eq!(both.next_site, 7);
    }

    #[test]
    fn labels_of_data_are_no_places_that_control_comes_to() {
        let source = "\t.section .rodata\n.LC0:\n\t.long 1\n\t.text\nf:\n\t.pushsection .data\nd:\n\t.popsection\ng:\n\
                      \t.section\t.text.hot,\"ax\",@progbits\nh:\n\t.previous\ni:\n";
        let marked = rewrite(source, 1, Scope::Regions).expect("it can be instrumented").marked;
        let pointed: Vec<&str> = marked
            .lines()
            .zip(marked.lines().skip(1))
            .filter(|(_, next)| next.starts_with(".Lassay"))
            .map(|(line, _)| line)
            .collect();
        assert_eq!(pointed, ["f:", "g:", "h:", "i:"]);
    }

    #[test]
    fn each_branch_of_a_repetition_is_a_site() {
        let source = "1:\t.rept 2\n\tje 2f; nop\n2:\n\t.endr\n\tret\n";
        let both = rewrite(source, 1, Scope::Regions).expect("it can be instrumented");
        assert_eq!(both.next_site, 4);
        let code = both.marked.lines().filter(|line| !line.starts_with(".Lassay"));
        let code: Vec<&str> = code.take_while(|line| !line.contains(".section")).collect();
        assert_eq!(code, ["1:", "je 2f", "nop", "2:", "je 2f", "nop", "2:", "ret"]);
    }

    #[test]
    fn places_on_both_sides_of_padding_stay_two() {
        assert_eq!(
            added("f:\n\t.p2align 4,,10\ng:\n\t.section .rodata\n\t.align 8\nt:\n"),
            ["f:", "nop", ".p2align 4,,10", "g:", ".section .rodata", ".align 8", "t:"]
        );
    }

    #[test]
    fn branches_that_reach_127_bytes_go_over_their_record() {
        let lines = added("\tjrcxz .L9\n");
        assert_eq!(lines[0], "jrcxz .Lassay_t1");
        assert!(lines.contains(&"jmp .L9".to_owned()) && lines.contains(&"movb $1, (%r11)".to_owned()));
    }

    #[test]
    fn what_only_looks_like_a_branch_is_left_alone() {
        let source = "\t.string \"x; jne .L3 # ret\"\n# jne .L1\n\t/* je .L2\n ret */ nop # ret; ret\n";
        let both = rewrite(source, 1, Scope::Regions).expect("it can be instrumented");
        assert_eq!(both.next_site, 1);
        assert!(both.marked.contains(".string \"x; jne .L3 # ret\"\n") && both.marked.contains("nop"));
    }

    #[test]
    fn what_cannot_be_instrumented_is_refused_with_its_line() {
        let refusal =
            |text: &str| rewrite(text, 1, Scope::Regions).expect_err("it cannot be instrumented").to_string();
        assert_eq!(
            refusal("\tnop\n\t.intel_syntax noprefix\n"),
            "line 2 of its assembly, `.intel_syntax noprefix`: only AT&T's syntax is read"
        );
        assert!(refusal("\t.macro m\n").contains("macros"));
        assert!(refusal("\tnop\n\t.rept N\n\tnop\n\t.endr\n").starts_with("line 2"));
        assert!(refusal("\txbegin .L1\n").contains("not instrumented"));
        assert!(refusal("\tcall *__tls_get_addr@GOTPCREL(%rip)\n").contains("linker"));
        assert!(refusal("\t.section\t.gnu.lto_.opts,\"e\",@progbits\n").contains("link-time"));
    }
}
