//! From a subject to the page.

use super::checks::CHECKS;
use super::subject::Subject;
use assay_report::doctor::page::{Check, DOCTOR_SCHEMA, DoctorPage, Finding, Traced};
use assay_report::prose::{list, plural};

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The program's file.
    pub program: String,
    /// The command that was traced; empty where it was not.
    pub command: Vec<String>,
    /// The emulator's version.
    pub emulator: Option<String>,
    /// The predictors.
    pub predictors: Vec<String>,
    /// Why it was not traced.
    pub not_traced: Option<String>,
    /// What the reader must know.
    pub warnings: Vec<String>,
}

/// Looks for everything.
pub fn compose(subject: &Subject, asked: &Asked) -> DoctorPage {
    let mut findings: Vec<Finding> = Vec::new();
    let mut checks = Vec::new();
    for check in &CHECKS {
        let ran = subject.is_traced || !check.needs_trace;
        let found = if ran { check.look(subject) } else { Vec::new() };
        checks.push(Check {
            name: check.name.to_owned(),
            title: check.title.to_owned(),
            ran,
            reason: asked.not_traced.clone().filter(|_| !ran),
            findings: found.len() as u64,
        });
        findings.extend(found);
    }
    let mut warnings = asked.warnings.clone();
    warnings.extend(unread(subject));
    DoctorPage {
        schema: DOCTOR_SCHEMA.to_owned(),
        answer: answer(&findings, &checks),
        program: asked.program.clone(),
        command: asked.command.clone(),
        emulator: asked.emulator.clone(),
        warnings,
        traced: subject.is_traced.then(|| traced(subject, asked)),
        checks,
        findings,
    }
}

fn traced(subject: &Subject, asked: &Asked) -> Traced {
    let whole = subject.whole;
    Traced {
        instructions: whole.instructions,
        branches: whole.branches,
        misses: (!asked.predictors.is_empty()).then_some(whole.misses),
        predictors: asked.predictors.clone(),
        system_calls: whole.system_calls,
        units: subject.heat.units,
        hot_from: subject.heat.least(),
        hottest: subject.heat.hottest,
    }
}

/// Files whose code or lines can't be read.
fn unread(subject: &Subject) -> Vec<String> {
    use assay_trace::sites::image::LineSource;
    use assay_trace::sites::instruction::ModuleCode;
    let mut said = Vec::new();
    for (image, _) in subject.images.iter().zip(&subject.own).filter(|(_, own)| **own) {
        if image.architecture != ModuleCode::X86_64 {
            said.push(format!(
                "{} is not for x86-64: conditions, guards and the shape of its code are not read.",
                image.path.display()
            ));
        }
        if matches!(image.lines, LineSource::Missing | LineSource::Unreadable(_)) {
            said.push(format!(
                "{} has no debug information: places are functions, not lines. Build it with -g.",
                image.path.display()
            ));
        }
    }
    said
}

fn answer(findings: &[Finding], checks: &[Check]) -> String {
    let skipped = checks.iter().filter(|check| !check.ran).count() as u64;
    let unlooked = match skipped {
        0 => String::new(),
        _ => format!(" {} of {} could not be looked for.", skipped, plural(checks.len() as u64, "thing")),
    };
    if findings.is_empty() {
        return format!("Nothing was found that should not be there.{unlooked}");
    }
    let kinds: Vec<String> = checks
        .iter()
        .filter(|check| check.findings > 0)
        .map(|check| format!("{} ({})", check.name, check.findings))
        .collect();
    format!("{}: {}.{unlooked}", plural(findings.len() as u64, "finding"), list(&kinds))
}
