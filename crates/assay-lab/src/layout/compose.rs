//! The page of one or several files.

use super::against;
use super::measured::SymbolTimes;
use super::program::LinkedFile;
use super::selection::LayoutSelection;
use crate::lead::Misuse;
use anyhow::Result;
use assay_pure::placement::facts::{self, nearest_names};
use assay_pure::placement::front_end::{
    AtPhase, FrontEnd, at_phases, depends_on_place, front_end, without_rule,
};
use assay_pure::words::{self, plural};
use assay_report::layout::LayoutPage;
use assay_report::layout::page::{
    AlignmentAdvice, Binary, Border, FunctionLayout, Host, IterationAtPhase, LAYOUT_SCHEMA, LoopLayout,
    MeasuredVariant, Rule,
};
use assay_trace::sites::names::demangle;

/// Loops longer than this are not advised on: what a border costs once is spread over too much.
const SHORT_LOOP_BYTES: u64 = 256;

/// By what the places of a file's loops are judged.
#[derive(Clone, Copy)]
enum Judge {
    /// The rule of this machine's front end; without one, the 64-byte lines and 32-byte windows that x86-64 processors have in common.
    Host(Option<FrontEnd>),
    /// Nothing: code of another instruction set.
    Nobody,
}

impl Judge {
    fn rule(self) -> Option<FrontEnd> {
        match self {
            Judge::Host(rule) => rule,
            Judge::Nobody => None,
        }
    }
}

/// The page of some programs, the first of them compared with another.
///
/// # Errors
/// No function fits, or a file is damaged.
pub fn compose(
    programs: &[LinkedFile],
    old: Option<&LinkedFile>,
    selection: &LayoutSelection,
) -> Result<LayoutPage> {
    let host = Judge::Host(front_end(&selection.cpu_id));
    let mut binaries = Vec::new();
    for program in programs {
        binaries.push(binary(program, selection, host)?);
    }
    // Where it judges nothing, the host's rule is no part of the page.
    let rule = host.rule().filter(|_| binaries.iter().any(|binary| binary.without_rule.is_none()));
    let against = match (old, programs.first()) {
        (Some(old), Some(new)) => Some(against::compose(old, new, selection)?),
        _ => None,
    };
    let mut page = LayoutPage {
        schema: LAYOUT_SCHEMA.to_owned(),
        answer: String::new(),
        warnings: warnings(&binaries, selection),
        host: Host { cpu: selection.cpu.clone(), rule: rule.map(rule_of) },
        binaries,
        against,
    };
    page.answer = answer(&page);
    Ok(page)
}

fn rule_of(rule: FrontEnd) -> Rule {
    Rule {
        name: rule.name.to_owned(),
        fetch_bytes: rule.fetch_bytes,
        window_bytes: rule.window_bytes,
        entry_operations: rule.entry_operations as u64,
        jump_erratum: rule.jump_erratum,
        source: rule.source.to_owned(),
    }
}

fn binary(program: &LinkedFile, selection: &LayoutSelection, host: Judge) -> Result<Binary> {
    let path = program.path.display().to_string();
    let damaged = |error: assay_pure::placement::layout::LayoutError| Misuse(format!("{path}: {error}"));
    let all = facts::functions(program.linked(), |_| true).map_err(damaged)?;
    let without_rule = without_rule(program.linked().elf).map_err(damaged)?;
    let judge = if without_rule.is_some() { Judge::Nobody } else { host };
    let wanted = |function: &&facts::DecodedFunction| {
        selection.wants(&function.place.name) || function.aliases.iter().any(|alias| selection.wants(alias))
    };
    let functions: Vec<FunctionLayout> =
        all.iter().filter(wanted).map(|function| describe(function, judge, &selection.timed)).collect();
    if functions.is_empty() {
        let glob = selection.functions.as_deref().unwrap_or("*");
        return Err(Misuse(no_function(&path, glob, &all)).into());
    }
    Ok(Binary {
        advice: advice(&functions),
        text_bytes: program.text_bytes(),
        padding_bytes: all.iter().map(|function| function.padding_bytes).sum(),
        functions_in_file: all.len() as u64,
        without_rule,
        functions,
        path,
    })
}

fn no_function(path: &str, glob: &str, all: &[facts::DecodedFunction]) -> String {
    let names: Vec<String> = all.iter().map(|function| demangle(&function.place.name)).collect();
    let near = nearest_names(names.iter().map(String::as_str), glob, 3);
    let hint = match near.is_empty() {
        true => "; `*` matches any text, `?` one character".to_owned(),
        false => format!("; the nearest are {}", near.join(", ")),
    };
    format!("no function of {path} matches `{glob}`{hint}")
}

fn describe(found: &facts::DecodedFunction, judge: Judge, timed: &SymbolTimes) -> FunctionLayout {
    let names = std::iter::once(&found.place.name).chain(&found.aliases);
    let measured: Vec<MeasuredVariant> = names.flat_map(|name| timed.get(name)).collect();
    let borders = match judge {
        Judge::Host(_) => found.border_branches(0),
        Judge::Nobody => Vec::new(),
    };
    FunctionLayout {
        name: demangle(&found.place.name),
        symbol: found.place.name.clone(),
        address: found.place.address,
        size: found.place.size,
        line_offset: found.place.offset,
        window_offset: found.window_offset(),
        lines: found.lines(),
        windows: found.windows(),
        padding_bytes: found.padding_bytes,
        pinning_bytes: found.pinning_bytes(),
        border_branches: borders
            .into_iter()
            .map(|at| Border { at: at.at, bytes: at.bytes, fused: at.fused, crosses: at.crosses })
            .collect(),
        loops: found.loops.iter().map(|body| describe_loop(found, body, judge)).collect(),
        undecodable: found.undecodable,
        measured,
    }
}

fn describe_loop(function: &facts::DecodedFunction, body: &facts::Loop, judge: Judge) -> LoopLayout {
    let at = match judge {
        Judge::Host(rule) => at_phases(function, body, rule).to_vec(),
        Judge::Nobody => Vec::new(),
    };
    LoopLayout {
        head: body.head,
        branches: body.branches.clone(),
        bytes: body.bytes,
        instructions: body.instructions as u64,
        calls: body.calls as u64,
        innermost: body.innermost,
        depends_on_place: depends_on_place(&at),
        at: at.iter().map(describe_phase).collect(),
    }
}

fn describe_phase(at: &AtPhase) -> IterationAtPhase {
    IterationAtPhase {
        phase_bytes: at.phase_bytes,
        offset: at.offset,
        head_offset: at.head_offset,
        lines: at.lines,
        windows: at.windows,
        border_branches: at.border_branches as u64,
        fetches: at.ruled.map(|ruled| ruled.fetches),
        op_cache_windows: at.ruled.map(|ruled| ruled.windows),
        op_cache_entries: at.ruled.map(|ruled| ruled.entries as u64),
        left_out: at.ruled.map(|ruled| ruled.left_out as u64),
    }
}

/// Functions with a short innermost loop that touches more at some offsets than at others; measured ones first.
fn advice(functions: &[FunctionLayout]) -> Vec<AlignmentAdvice> {
    let mut found: Vec<(u64, AlignmentAdvice)> = functions
        .iter()
        .filter_map(|function| {
            let short = function
                .loops
                .iter()
                .filter(|body| body.innermost && body.depends_on_place && body.bytes <= SHORT_LOOP_BYTES);
            let body = short.min_by_key(|body| body.bytes)?;
            let pinned_ratio = pinned(&function.measured);
            let advice = AlignmentAdvice {
                function: function.name.clone(),
                pin_bytes: function.pinning_bytes,
                reason: reason(body),
                pinned_ratio,
            };
            Some((if pinned_ratio.is_some() { 0 } else { body.bytes }, advice))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.function.cmp(&b.1.function)));
    found.into_iter().map(|(_, advice)| advice).collect()
}

/// Time at offset 0 over the mean of the offsets, the geometric mean over what was measured.
fn pinned(measured: &[MeasuredVariant]) -> Option<f64> {
    let ratios: Vec<f64> = measured
        .iter()
        .filter_map(|one| {
            let pinned = one.by_offset.iter().find(|at| at.offset == 0)?.ns_per_unit;
            let sum: f64 = one.by_offset.iter().map(|at| at.ns_per_unit).sum();
            (one.by_offset.len() > 1).then(|| pinned * one.by_offset.len() as f64 / sum)
        })
        .collect();
    let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (logs / ratios.len() as f64).exp())
}

fn reason(body: &LoopLayout) -> String {
    let span = |of: &dyn Fn(&IterationAtPhase) -> Option<u64>, what: &str| {
        let values: Vec<u64> = body.at.iter().filter_map(of).collect();
        let (least, most) = (values.iter().min()?, values.iter().max()?);
        (least < most).then(|| format!("{least} to {most} {what}"))
    };
    let parts: Vec<String> = [
        span(&|at| Some(at.lines), "lines"),
        span(&|at| at.fetches, "fetches"),
        span(&|at| at.op_cache_entries, "op-cache entries"),
        span(&|at| at.left_out, "windows that the op cache cannot hold"),
    ]
    .into_iter()
    .flatten()
    .collect();
    format!(
        "depending on the offset, an iteration of its {}-byte loop takes {}",
        body.bytes,
        parts.join(", ")
    )
}

fn warnings(binaries: &[Binary], selection: &LayoutSelection) -> Vec<String> {
    let mut found = Vec::new();
    for binary in binaries {
        let strange: Vec<&str> = binary
            .functions
            .iter()
            .filter(|function| function.undecodable.is_some())
            .map(|function| function.name.as_str())
            .collect();
        if let Some(first) = strange.first() {
            let count = plural(strange.len() as u64, "function");
            found.push(format!(
                "{}: {count} could not be decoded to the end, for example `{first}`",
                binary.path
            ));
        }
    }
    let shown = |symbol: &&str| {
        binaries.iter().flat_map(|binary| &binary.functions).any(|function| function.symbol == *symbol)
    };
    let absent: Vec<&str> = selection.timed.symbols().filter(|symbol| !shown(symbol)).collect();
    if let (Some(first), None) = (absent.first(), &selection.functions) {
        let count = plural(absent.len() as u64, "measured function");
        found.push(format!(
            "{count} of the campaign not found in these files, for example `{}`",
            demangle(first)
        ));
    }
    found
}

fn answer(page: &LayoutPage) -> String {
    if let Some(against) = &page.against {
        let counts = against.counts;
        let same = counts.identical + counts.moved + counts.respaced;
        let unknown = match counts.unknown {
            0 => String::new(),
            count => format!(", {count} unknown"),
        };
        return format!(
            "{} changed, {same} did not ({} of them moved){unknown}; {} new, {} gone.",
            plural(counts.changed, "function"),
            counts.moved + counts.respaced,
            counts.only_new,
            counts.only_old
        );
    }
    let (judged, others): (Vec<&Binary>, Vec<&Binary>) =
        page.binaries.iter().partition(|binary| binary.without_rule.is_none());
    let mut sets: Vec<&str> = others.iter().filter_map(|binary| binary.without_rule.as_deref()).collect();
    sets.dedup();
    let unjudged = (!sets.is_empty()).then(|| {
        format!(
            "For code of {} no rule of a front end is known, so nothing is said of where its loops lie.",
            words::list(&sets)
        )
    });
    if judged.is_empty() {
        return unjudged.unwrap_or_default();
    }
    let functions = || judged.iter().flat_map(|binary| &binary.functions);
    let depending = functions()
        .filter(|function| function.loops.iter().any(|body| body.innermost && body.depends_on_place))
        .count();
    let all = functions().count() as u64;
    let said = match depending {
        0 => format!(
            "None of {} has an innermost loop whose speed can depend on where it lies.",
            plural(all, "function")
        ),
        1 => format!(
            "1 of {} has an innermost loop whose speed can depend on where it lies.",
            plural(all, "function")
        ),
        _ => format!(
            "{depending} of {all} functions have an innermost loop whose speed can depend on where it lies."
        ),
    };
    [Some(said), unjudged].into_iter().flatten().collect::<Vec<_>>().join(" ")
}
