//! An instruction that finds a register's value in memory, where it is kept while the register has the pointer.
//!
//! Most instructions that name a register take memory in its place, and do the same to flags. So one that touches the pointer's
//! register need not have the value back: that takes four moves, and who needs the pointer next waits for two of them.
//! Source: Intel's Software Developer's Manual, volume 2. Limits: x86-64, AT&T's syntax with the suffixes that compilers write; one
//! operand may be memory, so none of the others is.
//! Checked: each form is executed with the value in the register and in memory, below.

use super::records::KEPT;
use super::registers::{RegisterSet, split};
use super::statements::Statement;

/// Two operands, the first of which is read and may be memory; the second is a register.
const READING: &[&str] = &[
    "mov", "add", "sub", "and", "or", "xor", "cmp", "adc", "sbb", "imul", "movzb", "movzw", "movsb", "movsw",
    "movsl", "popcnt", "tzcnt", "lzcnt", "bsf", "bsr",
];
/// Two operands, the second of which may be memory; the first is a register or a number.
const WRITING: &[&str] = &["mov", "add", "sub", "and", "or", "xor", "cmp", "test", "adc", "sbb"];
/// The same, by a number or `%cl`, which may be 0.
const SHIFTS: &[&str] = &["sal", "shl", "shr", "sar", "rol", "ror"];
/// One operand.
const SINGLE: &[&str] = &["inc", "dec", "neg", "not", "sal", "shl", "shr", "sar"];

/// What stands for an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptForm {
    /// One statement or two.
    pub text: String,
    /// It changes the value.
    pub is_written: bool,
}

impl KeptForm {
    fn reads(text: String) -> KeptForm {
        KeptForm { text, is_written: false }
    }

    fn writes(text: String) -> KeptForm {
        KeptForm { text, is_written: true }
    }
}

/// The same with the kept value in place of `register`, a general one by its name of 64 bits.
pub fn with_kept(statement: &Statement<'_>, register: &str) -> Option<KeptForm> {
    let (name, operands) = statement.instruction()?;
    // A prefix may make another instruction of it.
    if !statement.body().starts_with(name) {
        return None;
    }
    let own = RegisterSet::named(register);
    let is_own = |operand: &str| RegisterSet::named(operand).common(own) != RegisterSet::NONE;
    let operands = split(operands);
    if !operands.iter().all(|operand| is_plain(operand))
        || operands.iter().any(|operand| is_own(operand) && bytes(operand).is_none())
    {
        return None;
    }
    match operands[..] {
        [only] if is_own(only) => {
            let is_set = name.starts_with("set") && bytes(only) == Some(1);
            (is_set || SINGLE.contains(&name.strip_suffix('q')?))
                .then(|| KeptForm::writes(format!("{name} {KEPT}")))
        }
        [first, second] if is_own(first) && is_own(second) => twice(name, first, second),
        [first, second] if is_own(first) => read(name, second),
        [first, second] if is_own(second) => written(name, first, second),
        [number, factor, product] if name == "imulq" && is_own(factor) && !is_own(product) => {
            Some(KeptForm::reads(format!("{name} {number}, {KEPT}, {product}")))
        }
        _ => None,
    }
}

/// Both operands are the register.
fn twice(name: &str, first: &str, second: &str) -> Option<KeptForm> {
    if first != second {
        return None;
    }
    match name {
        // Carry and overflow are 0 behind either.
        "testq" | "testl" | "testw" | "testb" => {
            Some(KeptForm::reads(format!("cmp{} $0, {KEPT}", &name[4..])))
        }
        "xorl" | "xorq" => Some(KeptForm::writes(format!("andq $0, {KEPT}"))),
        "movl" => Some(KeptForm::writes(format!("movl $0, {KEPT}+4"))),
        _ => None,
    }
}

/// The first operand is the register.
fn read(name: &str, second: &str) -> Option<KeptForm> {
    bytes(second)?;
    let size = name.chars().last().filter(|size| "qlwb".contains(*size));
    if name.starts_with("test") && size.is_some() && name.len() == 5 {
        return Some(KeptForm::reads(format!("{name} {second}, {KEPT}")));
    }
    let is_known =
        name.starts_with("cmov") || size.is_some_and(|_| READING.contains(&&name[..name.len() - 1]));
    is_known.then(|| KeptForm::reads(format!("{name} {KEPT}, {second}")))
}

/// The second operand is the register.
fn written(name: &str, first: &str, second: &str) -> Option<KeptForm> {
    if name == "movabsq" && bytes(second) == Some(8) {
        // Memory is given no more than 32 bits at once.
        let value = number(first)? as u64;
        let (low, high) = (value as u32, value >> 32);
        return Some(KeptForm::writes(format!("movl ${low:#x}, {KEPT}\n\tmovl ${high:#x}, {KEPT}+4")));
    }
    let (operation, size) = name.split_at(name.len().checked_sub(1)?);
    let is_comparison = ["cmp", "test"].contains(&operation);
    let is_shift = SHIFTS.contains(&operation);
    let width = match size {
        "q" => 8,
        "l" => 4,
        "w" => 2,
        "b" => 1,
        _ => return None,
    };
    // By none at all it is not sure that the upper half becomes 0.
    let may_stay = width == 4 && is_shift && first.starts_with('%');
    if !(is_shift || WRITING.contains(&operation))
        || may_stay
        || bytes(second) != Some(width)
        || !fits(first, width)
    {
        return None;
    }
    // Who writes the lower half of a register makes the upper one 0.
    let upper = if width == 4 && !is_comparison { format!("\n\tmovl $0, {KEPT}+4") } else { String::new() };
    let text = format!("{name} {first}, {KEPT}{upper}");
    Some(KeptForm { text, is_written: !is_comparison })
}

/// A register, or a number of which an instruction that writes memory can have so many bytes.
fn fits(operand: &str, width: u64) -> bool {
    if !operand.starts_with('$') {
        return bytes(operand).is_some();
    }
    number(operand)
        .is_some_and(|value| i32::try_from(value).is_ok() || (width == 4 && u32::try_from(value).is_ok()))
}

/// The value of an operand that is a number, of 64 bits with a sign or without.
fn number(operand: &str) -> Option<i128> {
    let text = operand.strip_prefix('$')?;
    let (digits, is_negative) = text.strip_prefix('-').map_or((text, false), |digits| (digits, true));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        // To an assembler it is octal.
        None if digits.starts_with('0') && digits.len() > 1 => return None,
        None => digits.parse().ok()?,
    };
    let value = i128::from(value);
    Some(if is_negative { -value } else { value })
}

/// Neither memory nor anything that stands for an address.
fn is_plain(operand: &str) -> bool {
    let is_name = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    operand.strip_prefix('%').is_some_and(is_name) || operand.starts_with('$')
}

/// Bytes of a general register by one of its names; none of what is no such register, or not the lowest bytes of one.
fn bytes(operand: &str) -> Option<u64> {
    let name = operand.strip_prefix('%')?;
    if RegisterSet::named(operand) == RegisterSet::NONE {
        return None;
    }
    let is_numbered = name.starts_with('r') && name.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    Some(match name.as_bytes() {
        [.., b'b'] if is_numbered => 1,
        [.., b'w'] if is_numbered => 2,
        [.., b'd'] if is_numbered => 4,
        [b'r', ..] => 8,
        [b'e', ..] => 4,
        [.., b'h'] => return None,
        [.., b'l'] => 1,
        _ => 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;
    use std::process::Command;

    fn kept(text: &str, register: &str) -> Option<KeptForm> {
        with_kept(&Statement { line: 1, text }, register)
    }

    #[test]
    fn what_can_be_memory_is() {
        let of = |text: &str| kept(text, "%rdi").map(|form| (form.text, form.is_written));
        let form = |text: &str, is_written: bool| Some((text.replace('K', KEPT), is_written));
        assert_eq!(of("\tmovq\t%rdi, %rbx"), form("movq K, %rbx", false));
        assert_eq!(of("movzbl %dil, %eax"), form("movzbl K, %eax", false));
        assert_eq!(of("cmovne %rdi, %rax"), form("cmovne K, %rax", false));
        assert_eq!(of("testq %rdi, %rax"), form("testq %rax, K", false));
        assert_eq!(of("testl %edi, %edi"), form("cmpl $0, K", false));
        assert_eq!(of("cmpq $-5, %rdi"), form("cmpq $-5, K", false));
        assert_eq!(of("addq $1, %rdi"), form("addq $1, K", true));
        assert_eq!(of("movl %eax, %edi"), form("movl %eax, K\n\tmovl $0, K+4", true));
        assert_eq!(of("incq %rdi"), form("incq K", true));
        let halves = form("movl $0x80008, K\n\tmovl $0xffffffff, K+4", true);
        assert_eq!(of("movabsq $-4294443000, %rdi"), halves);
        assert_eq!(of("movabsq $0xffffffff00080008, %rdi"), halves);
        assert_eq!(of("sete %dil"), form("sete K", true));
        assert_eq!(of("imulq $10, %rdi, %rax"), form("imulq $10, K, %rax", false));
    }

    #[test]
    fn what_cannot_be_memory_is_left_alone() {
        for text in [
            "leaq 1(%rdi), %rax",
            "movq %rdi, (%rsp)",
            "movq x(%rip), %rdi",
            "movq x, %rdi",
            "movq %fs:x@tpoff, %rdi",
            "movabsq $x, %rdi",
            "movabsq $010, %rdi",
            "movabsq x, %rax",
            "movq $4294967295, %rdi",
            "movq $x, %rdi",
            "movq %rdi, %xmm0",
            "movq %xmm0, %rdi",
            "rep bsfq %rdi, %rax",
            "rep; bsfq %rdi, %rax",
            "imulq %rax, %rdi",
            "imulq %rdi",
            "movzbl %al, %edi",
            "cmovne %rax, %rdi",
            "addq %rdi, %rdi",
            "incl %edi",
            "shll %cl, %edi",
            "xchgq %rdi, %rax",
            "nop",
            "cqto",
        ] {
            assert_eq!(kept(text, "%rdi"), None, "{text}");
        }
        assert_eq!(kept("movb %ah, %bl", "%rax"), None);
        assert_eq!(kept("shlq %cl, %rax", "%rcx"), None);
        assert_eq!(kept("addq %rbx, %rdx", "%rax"), None);
    }

    /// The names of a register in each width.
    const NAMES: [[&str; 4]; 3] =
        [["%rdi", "%edi", "%di", "%dil"], ["%rbx", "%ebx", "%bx", "%bl"], ["%r9", "%r9d", "%r9w", "%r9b"]];

    /// Instructions of a register by its names that have a form, the others' in `%rax` and `%cl`.
    fn instructions([q, l, w, b]: [&str; 4]) -> Vec<String> {
        let mut found = Vec::new();
        for operation in READING {
            let (sizes, own) = match *operation {
                "movzb" | "movsb" => ("lq", [b, b]),
                "movzw" | "movsw" => ("lq", [w, w]),
                "movsl" => ("q", [l, l]),
                _ => ("lq", [l, q]),
            };
            for (size, own) in sizes.chars().zip(own) {
                found.push(format!("{operation}{size} {own}, {}", if size == 'l' { "%eax" } else { "%rax" }));
            }
        }
        for operation in WRITING.iter().chain(SHIFTS) {
            let is_shift = SHIFTS.contains(operation);
            let others = if is_shift { ["%cl"; 4] } else { ["%rax", "%eax", "%ax", "%al"] };
            for (size, (own, other)) in "qlwb".chars().zip([q, l, w, b].into_iter().zip(others)) {
                found.push(format!("{operation}{size} $3, {own}"));
                if !(is_shift && size == 'l') {
                    found.push(format!("{operation}{size} {other}, {own}"));
                }
            }
        }
        found.extend(SINGLE.iter().map(|operation| format!("{operation}q {q}")));
        found.extend([("q", q, "%rax"), ("l", l, "%eax"), ("w", w, "%ax"), ("b", b, "%al")].iter().flat_map(
            |(size, own, other)| {
                [
                    format!("test{size} {own}, {own}"),
                    format!("test{size} {own}, {other}"),
                    format!("test{size} {other}, {own}"),
                ]
            },
        ));
        for condition in ["e", "ne", "b", "ae", "s", "o", "p", "g", "le"] {
            found.extend([format!("cmov{condition} {q}, %rax"), format!("cmov{condition} {l}, %eax")]);
            found.push(format!("set{condition} {b}"));
        }
        found.extend([format!("xorl {l}, {l}"), format!("xorq {q}, {q}"), format!("movl {l}, {l}")]);
        found.extend([
            format!("imulq $-7, {q}, %rax"),
            format!("movl $4294967295, {l}"),
            format!("movq $-1, {q}"),
        ]);
        found
    }

    /// A function that loads registers and flags from what `%rdi` points to, executes an instruction and stores them again. The value
    /// of `register` is in memory if `is_kept`; then the register is left alone.
    fn function(name: &str, register: &str, instruction: &str, is_kept: bool) -> String {
        let (load, store) = if is_kept {
            (
                format!("\tmovq 0(%r15), %rdx\n\tmovq %rdx, {KEPT}\n\tmovq $77, {register}\n"),
                format!("\tmovq {register}, 32(%r15)\n\tmovq {KEPT}, %rdx\n\tmovq %rdx, 0(%r15)\n"),
            )
        } else {
            let store = format!("\tmovq {register}, 0(%r15)\n\tmovq $77, 32(%r15)\n");
            (format!("\tmovq 0(%r15), {register}\n"), store)
        };
        format!(
            "\t.globl {name}\n{name}:\n\tpushq %rbx\n\tpushq %r15\n\tmovq %rdi, %r15\n{load}\tmovq 8(%r15), %rax\n\
             \tmovq 16(%r15), %rcx\n\tpushq 24(%r15)\n\tpopfq\n\t{instruction}\n\tpushfq\n\tpopq 24(%r15)\n\
             \tmovq %rax, 8(%r15)\n{store}\tpopq %r15\n\tpopq %rbx\n\tret\n"
        )
    }

    /// Asks each pair of functions the same; prints the pairs that differ. What a flag of carry between nibbles says is left out: of
    /// two instructions here it is undefined.
    const DRIVER: &str = "#include <stdio.h>\n#include <string.h>\ntypedef unsigned long u;\n\
        _Thread_local u __assay_kept;\nextern void (*const pairs[][2])(u *);\nextern const u count;\n\
        static const u values[] = {0, 1, 2, -1ul, 0x80, 0xff80, 0x80000000, 0x7fffffff, 1ul << 63, ~0ul >> 1, 0x123456789abcdef0};\n\
        enum { VALUES = sizeof values / sizeof *values };\n\
        int main(void) {\n  for (u pair = 0; pair < count; pair++)\n    for (u at = 0; at < VALUES * VALUES * 4; at++) {\n\
              u both[2][5];\n      for (int way = 0; way < 2; way++) {\n\
                const u flags = at % 4 == 0 ? 0x202 : at % 4 == 1 ? 0x203 : at % 4 == 2 ? 0xa42 : 0x2c7;\n\
                const u set[5] = {values[at / 4 % VALUES], values[at / 4 / VALUES], at % 67, flags, 0};\n\
                memcpy(both[way], set, sizeof set);\n        pairs[pair][way](both[way]);\n        both[way][3] &= 0x8c5;\n      }\n\
              if (memcmp(both[0], both[1], sizeof both[0])) { printf(\"%lu\\n\", pair); break; }\n    }\n  return 0;\n}\n";

    #[test]
    fn each_form_does_what_the_instruction_does_with_the_value_in_the_register() {
        let (mut code, mut table, mut tried) = ("\t.text\n".to_owned(), String::new(), Vec::new());
        for names in NAMES {
            for instruction in instructions(names) {
                let form = kept(&instruction, names[0]).unwrap_or_else(|| panic!("{instruction} has a form"));
                let number = tried.len();
                code += &function(&format!("plain{number}"), names[0], &instruction, false);
                code += &function(&format!("kept{number}"), names[0], &form.text, true);
                let _ = writeln!(table, "\t.quad plain{number}, kept{number}");
                tried.push(instruction);
            }
        }
        let count = tried.len();
        let _ = write!(
            code,
            "\t.data\n\t.globl pairs, count\n\t.p2align 4\npairs:\n{table}count:\n\t.quad {count}\n\
             \t.section .note.GNU-stack,\"\",@progbits\n"
        );
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("forms.s"), code).expect("it can be written");
        std::fs::write(path("driver.c"), DRIVER).expect("it can be written");
        let built = Command::new("gcc")
            .args(["-O1", "-no-pie", "-o", "forms", "driver.c", "forms.s"])
            .current_dir(folder.path())
            .output()
            .expect("gcc is there");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let ran = Command::new(path("forms")).output().expect("it runs");
        let differing = String::from_utf8(ran.stdout).expect("numbers");
        let named: Vec<&str> =
            differing.lines().map(|pair| tried[pair.parse::<usize>().expect("a number")].as_str()).collect();
        assert!(ran.status.success() && named.is_empty(), "{named:?}");
    }
}
