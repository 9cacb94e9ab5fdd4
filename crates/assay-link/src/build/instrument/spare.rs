//! Which registers may change where a function returns, or calls another through a pointer?
//!
//! Method: by the calling convention, in texts that compilers wrote. But compilers make their own for functions that they call by name
//! in one text (gcc's `-fipa-ra`): a caller may leave a value in a register that the function does not touch. So of those that
//! the convention lets a function change, one that it does not write itself may change only if none of its callers by name, nor
//! theirs, names it. Limits: functions with a convention of their own that are called from another text (`preserve_most` of clang).

use super::entrances::is_condition;
use super::functions::Function;
use super::registers::RegisterSet;
use super::statements::Statement;
use std::collections::HashMap;

/// Of each function of a text, in their order: what may change where it returns.
pub fn at_returns(statements: &[Statement<'_>], functions: &[Function]) -> Vec<RegisterSet> {
    if !is_compiled(statements) {
        return vec![RegisterSet::NONE; functions.len()];
    }
    let callers = callers(statements, functions);
    let mut relied = vec![RegisterSet::NONE; functions.len()];
    loop {
        let before = relied.clone();
        for (callee, caller) in &callers {
            let own = match caller {
                Some(caller) => functions[*caller].registers.and(relied[*caller]),
                None => RegisterSet::ALL,
            };
            relied[*callee] = relied[*callee].and(own);
        }
        if before == relied {
            break;
        }
    }
    let may_change = |(function, relied): (&Function, RegisterSet)| {
        RegisterSet::CHANGED.without(relied.without(function.written))
    };
    functions.iter().zip(relied).map(may_change).collect()
}

/// What may change at a call through a pointer.
pub fn at_calls(statements: &[Statement<'_>]) -> RegisterSet {
    if is_compiled(statements) { RegisterSet::LINKERS } else { RegisterSet::NONE }
}

/// Whether a compiler that keeps to the convention wrote it.
pub fn is_compiled(statements: &[Statement<'_>]) -> bool {
    let is_told = |statement: &Statement<'_>| {
        statement.instruction().is_some_and(|(name, operands)| {
            name == ".ident" && (operands.contains("GCC") || operands.contains("clang"))
        })
    };
    statements.iter().rev().any(is_told)
}

/// Who is called or jumped to by name, and by whom: nobody where that is no function.
pub fn callers(statements: &[Statement<'_>], functions: &[Function]) -> Vec<(usize, Option<usize>)> {
    let mut of_label: HashMap<&str, usize> = HashMap::new();
    let mut of_statement: HashMap<usize, usize> = HashMap::new();
    for (number, function) in functions.iter().enumerate() {
        of_statement.extend(function.body.iter().map(|(at, _)| (*at, number)));
        let labels = function.labels.iter().flat_map(|at| statements[*at].labels());
        of_label.extend(labels.map(|label| (label, number)));
    }
    for statement in statements {
        // Other names of a function.
        if let Some((".set" | ".equ", operands)) = statement.instruction()
            && let Some((name, of)) = operands.split_once(',')
            && let Some(number) = of_label.get(of.trim()).copied()
        {
            of_label.insert(name.trim(), number);
        }
    }
    let mut found = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        let Some((name, operands)) = statement.instruction() else { continue };
        let name = name.split(',').next().unwrap_or(name);
        if ["call", "callq", "jmp", "jmpq"].contains(&name) || is_condition(name) {
            let target = operands.split('@').next().unwrap_or(operands).trim();
            if let Some(callee) = of_label.get(target) {
                found.push((*callee, of_statement.get(&at).copied()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::functions::functions;
    use super::super::statements::statements;
    use super::*;

    /// What may change where `f` returns.
    fn of(text: &str) -> RegisterSet {
        let text = format!("\t.type f, @function\n\t.type g, @function\n\t.type h, @function\n{text}");
        let statements = statements(&text);
        let functions = functions(&statements);
        let spare = at_returns(&statements, &functions);
        let is_f = |function: &Function| statements[function.entrances[0]].labels().contains(&"f");
        spare[functions.iter().position(is_f).expect("it is there")]
    }

    const IDENT: &str = "\t.ident \"GCC: 12\"\n";

    #[test]
    fn a_function_that_is_not_called_by_name_may_change_what_the_convention_lets_it() {
        assert_eq!(of(&format!("f:\n\tret\n{IDENT}")), RegisterSet::CHANGED);
        assert_eq!(of("f:\n\tret\n"), RegisterSet::NONE, "somebody wrote it by hand");
    }

    #[test]
    fn what_a_caller_by_name_or_its_caller_names_may_not_change_unless_the_function_writes_it() {
        let called = |body: &str| {
            of(&format!(
                "f:\n{body}\tret\ng:\n\tmovq %rcx, %rdx\n\tcall f\n\tret\nh:\n\tmovq %r11, %rax\n\tcall g\n\tret\n{IDENT}"
            ))
        };
        let relied = RegisterSet::named("%rcx %r11");
        assert_eq!(called(""), RegisterSet::CHANGED.without(relied));
        assert_eq!(called("\tmovl $1, %ecx\n"), RegisterSet::CHANGED.without(RegisterSet::LINKERS));
        assert_eq!(of(&format!("\tcall f\nf:\n\tret\n{IDENT}")), RegisterSet::NONE, "the caller is unknown");
    }

    #[test]
    fn a_function_is_called_by_its_other_names_too() {
        let text = format!("f:\n\tret\n\t.set other, f\ng:\n\tmovl $1, %r9d\n\tjmp other\n{IDENT}");
        assert_eq!(of(&text), RegisterSet::CHANGED.without(RegisterSet::named("%r9")));
    }
}
