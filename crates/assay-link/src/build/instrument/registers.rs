//! Which general registers does an instruction touch, named or not?
//!
//! Method: by the names in its operands, and by a table of the instructions that use some without a name. One without operands that is
//! not known to use none may use any. Source: Intel's Software Developer's Manual, volume 2. Limits: x86-64, AT&T's syntax.

/// A set of general registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterSet(u16);

/// Legacy registers: the letters that their names share.
const LEGACY: [&str; 8] = ["a", "c", "d", "b", "sp", "bp", "si", "di"];
/// Their names in 64 bits, and those of the others.
const NAMES: [&str; 16] = [
    "%rax", "%rcx", "%rdx", "%rbx", "%rsp", "%rbp", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11", "%r12",
    "%r13", "%r14", "%r15",
];
/// Which to take first: those that code names least, the stack's never.
const ORDER: [usize; 15] = [11, 10, 9, 8, 3, 14, 15, 12, 13, 7, 6, 1, 2, 5, 0];

/// Instructions without operands that use no general register but the stack's.
const HARMLESS: &[&str] = &[
    "nop",
    "ret",
    "retq",
    "ud2",
    "endbr64",
    "pause",
    "mfence",
    "lfence",
    "sfence",
    "vzeroupper",
    "vzeroall",
    "emms",
    "femms",
    "hlt",
    "int3",
    "cld",
    "std",
    "clc",
    "stc",
    "cmc",
    "fninit",
    "fnclex",
    "fwait",
    "pushf",
    "pushfq",
    "popf",
    "popfq",
];
/// Instructions that use registers without a name, and which (bits of the order of [`NAMES`]): `a` 1, `c` 2, `d` 4, `b` 8, `si` 0x40,
/// `di` 0x80. A star stands for any end of the name.
const IMPLICIT: &[(&str, u16)] = &[
    ("mul", 5),
    ("mulb", 5),
    ("mulw", 5),
    ("mull", 5),
    ("mulq", 5),
    ("mulx*", 4),
    ("imul*", 5),
    ("div", 5),
    ("divb", 5),
    ("divw", 5),
    ("divl", 5),
    ("divq", 5),
    ("idiv*", 5),
    ("leave", 0x20),
    ("leaveq", 0x20),
    ("cqto", 5),
    ("cltd", 5),
    ("cwtd", 5),
    ("cqo", 5),
    ("cdq", 5),
    ("cwd", 5),
    ("cltq", 1),
    ("cwtl", 1),
    ("cbtw", 1),
    ("cdqe", 1),
    ("cwde", 1),
    ("cbw", 1),
    ("lahf", 1),
    ("sahf", 1),
    ("cmpxchg*", 0xf),
    ("movsb", 0xc2),
    ("movsw", 0xc2),
    ("movsl", 0xc2),
    ("movsq", 0xc2),
    ("stos*", 0x83),
    ("cmpsb", 0xc2),
    ("cmpsw", 0xc2),
    ("cmpsl", 0xc2),
    ("cmpsq", 0xc2),
    ("scas*", 0x83),
    ("lods*", 0x43),
    ("insb", 0x86),
    ("insw", 0x86),
    ("insl", 0x86),
    ("outs*", 0x46),
    ("in", 5),
    ("inb", 5),
    ("inw", 5),
    ("inl", 5),
    ("out*", 5),
    ("loop*", 2),
    ("jcxz", 2),
    ("jecxz", 2),
    ("jrcxz", 2),
    ("xlat*", 9),
    ("cpuid", 0xf),
    ("rdtsc*", 7),
    ("rdpmc", 7),
    ("rdpru", 7),
    ("xgetbv", 7),
    ("xsetbv", 7),
    ("rdmsr", 7),
    ("wrmsr", 7),
    ("rdpkru", 7),
    ("wrpkru", 7),
    ("xsave*", 5),
    ("xrstor*", 5),
    ("pcmpestr*", 7),
    ("vpcmpestr*", 7),
    ("pcmpistr*", 2),
    ("vpcmpistr*", 2),
    ("maskmov*", 0x80),
    ("vmaskmovdq*", 0x80),
    ("monitor*", 7),
    ("mwait*", 7),
    ("umwait*", 5),
    ("tpause*", 5),
    ("syscall", 0x802),
    ("clzero", 1),
    ("xabort", 1),
    ("xtest", 0),
    ("xend", 0),
];
/// Beginnings of names that may use any, unless their operands are vectors.
const ANY: &[&str] = &["int", "iret", "sys", "enter", "enc", "vm", "sk", "inv", "hreset", "pconfig"];

/// Beginnings of names of instructions that overwrite their last operand without a look at it. Those of strings have none.
const OVERWRITING: &[&str] = &[
    "mov",
    "lea",
    "pop",
    "andn",
    "bextr",
    "bzhi",
    "pdep",
    "pext",
    "rorx",
    "sarx",
    "shlx",
    "shrx",
    "blsi",
    "blsmsk",
    "blsr",
    "vmov",
    "pmovmskb",
    "vpmovmskb",
    "kmov",
];
/// Beginnings of names of instructions that write their last operand.
const WRITING: &[&str] = &["mov", "lea", "xor", "add", "sub", "and", "or", "pop", "sal", "shl", "shr", "sar"];

impl RegisterSet {
    /// None.
    pub const NONE: RegisterSet = RegisterSet(0);
    /// Each.
    pub const ALL: RegisterSet = RegisterSet(u16::MAX);
    /// What a function may change and gives back nothing in, by the calling convention of Linux: rcx, rsi, rdi, r8 to r11.
    pub const CHANGED: RegisterSet = RegisterSet(0xfc2);
    /// Of these the one that never has an argument: r11.
    pub const LINKERS: RegisterSet = RegisterSet(0x800);

    /// The register that an instruction surely overwrites, all 64 bits of it; what it reads is another question.
    pub fn overwritten(name: &str, operands: &str) -> RegisterSet {
        let last = split_last(operands).1;
        let is_whole = OVERWRITING.iter().any(|start| name.starts_with(start))
            || (name.starts_with("imul") && commas(operands).count() == 2)
            || is_zero(name, operands);
        // Of this one the last operand is an address.
        let is_address = name.starts_with("movdir");
        if is_whole && is_wide(last) && !is_address { named(last) } else { RegisterSet::NONE }
    }

    /// Of what an instruction overwrites what it reads all the same.
    pub fn read_anyway(name: &str, operands: &str) -> RegisterSet {
        let sources = split_last(operands).0.unwrap_or_default();
        let read = if is_zero(name, operands) { RegisterSet::NONE } else { named(sources) };
        RegisterSet::overwritten(name, operands).common(read)
    }

    /// The register that an instruction surely writes, if it is a name of its last operand.
    pub fn written(name: &str, operands: &str) -> RegisterSet {
        let last = operands.rsplit(',').next().unwrap_or_default().trim();
        let is_written = WRITING.iter().any(|start| name.starts_with(start)) && last.starts_with('%');
        if is_written { named(last) } else { RegisterSet::NONE }
    }

    /// What operands name.
    pub fn named(operands: &str) -> RegisterSet {
        named(operands)
    }

    /// What an instruction touches.
    pub fn of(name: &str, operands: &str) -> RegisterSet {
        let mut found = named(operands);
        let name = name.split(',').next().unwrap_or(name);
        if HARMLESS.contains(&name) {
            return found;
        }
        let is_it = |known: &&(&str, u16)| match known.0.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == known.0,
        };
        if let Some((_, registers)) = IMPLICIT.iter().find(is_it) {
            found.0 |= registers;
            return found;
        }
        let is_any = !operands.contains("mm") && ANY.iter().any(|start| name.starts_with(start));
        if is_any || (operands.is_empty() && !is_x87(name)) { RegisterSet::ALL } else { found }
    }

    /// Both.
    pub fn and(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(self.0 | other.0)
    }

    /// What is in both.
    pub fn common(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(self.0 & other.0)
    }

    /// What is not in the other.
    pub fn without(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(self.0 & !other.0)
    }

    /// Each register that is in it, in 64 bits; never the stack's.
    pub fn each(self) -> impl Iterator<Item = &'static str> {
        let own = ORDER.into_iter().filter(move |register| self.0 & 1 << register != 0);
        own.map(|register| NAMES[register])
    }

    /// A register that is in it, in 64 bits; never the stack's.
    pub fn any(self) -> Option<&'static str> {
        self.each().next()
    }
}

/// Places of the commas between operands.
fn commas(operands: &str) -> impl Iterator<Item = usize> {
    let mut depth = 0;
    operands.char_indices().filter_map(move |(at, character)| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        (character == ',' && depth == 0).then_some(at)
    })
}

/// Each of these operands.
pub fn split(operands: &str) -> Vec<&str> {
    let mut from = 0;
    let mut found: Vec<&str> = Vec::new();
    for comma in commas(operands) {
        found.push(operands[from..comma].trim());
        from = comma + 1;
    }
    found.push(operands[from..].trim());
    found
}

/// The operands ahead of the last, if there are some, and the last.
fn split_last(operands: &str) -> (Option<&str>, &str) {
    match commas(operands).last() {
        Some(at) => (Some(&operands[..at]), operands[at + 1..].trim()),
        None => (None, operands.trim()),
    }
}

/// Whether it is a general register by a name that means all of it when written: of 32 bits or 64.
fn is_wide(operand: &str) -> bool {
    let Some(name) = operand.strip_prefix('%') else { return false };
    let is_numbered =
        name.strip_prefix('r').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    number(name).is_some()
        && if is_numbered { !name.ends_with(['b', 'w']) } else { name.starts_with(['r', 'e']) }
}

/// Whether it makes its last operand 0 whatever that was.
fn is_zero(name: &str, operands: &str) -> bool {
    let (sources, last) = split_last(operands);
    ["xorl", "xorq", "xor", "subl", "subq", "sub"].contains(&name) && sources.map(str::trim) == Some(last)
}

/// These use a stack of their own.
fn is_x87(name: &str) -> bool {
    name.starts_with('f') && !name.starts_with("fnstsw") && !name.starts_with("fstsw")
}

/// The registers that these operands name.
fn named(operands: &str) -> RegisterSet {
    let names = operands.split('%').skip(1);
    RegisterSet(names.filter_map(number).fold(0, |all, register| all | 1 << register))
}

/// The general register that a text begins with, behind its `%`.
fn number(text: &str) -> Option<usize> {
    let length = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name = &text[..length];
    if let Some(numbered) =
        name.strip_prefix('r').and_then(|rest| rest.trim_end_matches(['b', 'w', 'd']).parse::<usize>().ok())
    {
        return (8..16).contains(&numbered).then_some(numbered);
    }
    let core = name.strip_prefix(['r', 'e']).unwrap_or(name);
    if let Some(register) = LEGACY.iter().position(|legacy| {
        core.strip_prefix(legacy).is_some_and(|rest| {
            if legacy.len() == 1 { ["x", "l", "h"].contains(&rest) } else { ["", "l"].contains(&rest) }
        })
    }) {
        return Some(register);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, operands: &str) -> Vec<&'static str> {
        let set = RegisterSet::of(name, operands);
        (0..16).filter(|register| set.0 & 1 << register != 0).map(|register| NAMES[register]).collect()
    }

    #[test]
    fn registers_are_known_by_all_their_names() {
        assert_eq!(of("movl", "%eax, %r11d"), ["%rax", "%r11"]);
        assert_eq!(of("movb", "%bh, %sil"), ["%rbx", "%rsi"]);
        assert_eq!(of("movw", "%r9w, 8(%rsp,%rbp,2)"), ["%rsp", "%rbp", "%r9"]);
        assert_eq!(of("movb", "%r15b, %dil"), ["%rdi", "%r15"]);
        assert_eq!(of("movaps", "%xmm0, %xmm12"), [] as [&str; 0]);
        assert_eq!(of("movq", "%fs:x@tpoff, %cr3"), [] as [&str; 0]);
        assert_eq!(of("movq", "x(%rip), %dx"), ["%rdx"]);
    }

    #[test]
    fn what_is_used_without_a_name_is_known() {
        assert_eq!(of("cqto", ""), ["%rax", "%rdx"]);
        assert_eq!(of("idivl", "%ecx"), ["%rax", "%rcx", "%rdx"]);
        assert_eq!(of("movsb", ""), ["%rcx", "%rsi", "%rdi"]);
        assert_eq!(of("syscall", ""), ["%rcx", "%r11"]);
        assert_eq!(of("sall", "%cl, %eax"), ["%rax", "%rcx"]);
        assert_eq!(of("pcmpistri", "$0, %xmm0, %xmm1"), ["%rcx"]);
        assert_eq!(of("mulx", "%rax, %rbx, %r8"), ["%rax", "%rdx", "%rbx", "%r8"]);
        assert_eq!(of("movslq", "%eax, %rbx"), ["%rax", "%rbx"]);
        assert_eq!(of("mulsd", "(%rbx), %xmm0"), ["%rbx"]);
        assert_eq!(of("vmovq", "%r8, %xmm0"), ["%r8"]);
        assert_eq!(of("vzeroupper", ""), [] as [&str; 0]);
        assert_eq!(of("fsqrt", ""), [] as [&str; 0]);
    }

    #[test]
    fn an_instruction_without_operands_that_is_not_known_may_use_any_register() {
        assert_eq!(RegisterSet::of("getsec", ""), RegisterSet::ALL);
        assert_eq!(RegisterSet::of("int", "$0x80"), RegisterSet::ALL);
        assert_eq!(RegisterSet::of("int3", ""), RegisterSet::NONE);
    }

    #[test]
    fn what_is_surely_written_is_a_register_and_the_last_operand() {
        assert_eq!(RegisterSet::written("leaq", "(%rdi,%rsi), %rcx"), RegisterSet::named("%rcx"));
        assert_eq!(RegisterSet::written("movq", "%rdi, (%rcx)"), RegisterSet::NONE);
        assert_eq!(RegisterSet::written("cmpq", "%rdi, %rcx"), RegisterSet::NONE);
        assert_eq!(RegisterSet::written("jmp", "*%rcx"), RegisterSet::NONE);
        assert_eq!(RegisterSet::written("movaps", "%xmm0, %xmm1"), RegisterSet::NONE);
    }

    #[test]
    fn what_is_overwritten_is_a_whole_register_that_is_not_looked_at() {
        let of = |name: &str, operands: &str| {
            (RegisterSet::overwritten(name, operands), RegisterSet::read_anyway(name, operands))
        };
        let (rcx, none) = (RegisterSet::named("%rcx"), RegisterSet::NONE);
        for (name, operands) in [
            ("movl", "%eax, %ecx"),
            ("movzbl", "(%rax,%rdx,2), %ecx"),
            ("popq", "%rcx"),
            ("leaq", "8(%rax), %rcx"),
            ("pext", "%rax, %rdx, %rcx"),
            ("imulq", "$3, %rax, %rcx"),
            ("xorl", "%ecx, %ecx"),
            ("vmovq", "%xmm1, %rcx"),
        ] {
            assert_eq!(of(name, operands), (rcx, none), "{name} {operands}");
        }
        for (name, operands) in
            [("movq", "(%rcx), %rcx"), ("leal", "1(%rax,%rcx), %ecx"), ("andn", "%rcx, %rax, %rcx")]
        {
            assert_eq!(of(name, operands), (rcx, rcx), "{name} {operands}");
        }
        for (name, operands) in [
            ("movb", "$1, %cl"),
            ("movw", "$1, %cx"),
            ("movl", "%ecx, (%rax)"),
            ("movl", "%eax, 8(%rcx)"),
            ("imulq", "%rax, %rcx"),
            ("cmovne", "%rax, %rcx"),
            ("xorl", "%eax, %ecx"),
            ("addl", "$1, %ecx"),
            ("movaps", "%xmm0, %xmm1"),
            ("tzcntq", "%rax, %rcx"),
            ("movsb", ""),
        ] {
            assert_eq!(of(name, operands), (none, none), "{name} {operands}");
        }
        assert_eq!(of("movl", "%eax, %r9d").0, RegisterSet::named("%r9"));
        assert_eq!(of("movl", "%eax, %r9w").0, none);
    }

    #[test]
    fn a_free_register_is_one_that_nothing_names() {
        let free = |named: RegisterSet| RegisterSet::ALL.without(named).any();
        assert_eq!(free(RegisterSet::of("movq", "%r11, %r10")), Some("%r9"));
        assert_eq!(free(RegisterSet::of("int", "$0x80")), None);
        assert_eq!(RegisterSet::CHANGED.without(RegisterSet::LINKERS).any(), Some("%r10"));
    }
}
