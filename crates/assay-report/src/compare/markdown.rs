//! The summary for a pull request or a CI job: Markdown, the answer first, what is equivalent folded away.

use super::page::{ComparePage, Compared};
use super::terminal::function_told;
use crate::number;
use crate::page::{AsBuiltSays, Verdict};
use crate::terminal::{cause_name, says_word, verdict_word};

/// The page as GitHub-flavoured Markdown.
pub fn markdown(page: &ComparePage) -> String {
    let mut text = String::new();
    let names: Vec<&str> = page.sides.iter().map(|side| side.name.as_str()).collect();
    text += &format!("### assay compare: {}\n\n{}\n\n", escape(&names.join(" → ")), escape(&page.answer));
    if let Some(gate) = &page.gate {
        let word = if gate.passed { "passed" } else { "**failed**" };
        text += &format!("Gate `{}`: {word}.", gate.gate);
        if !gate.failed.is_empty() {
            text += &format!(" {}", escape(&gate.failed.join(", ")));
        }
        text += "\n\n";
    }
    for warning in page.warnings.iter().chain(&page.limits) {
        text += &format!("> {}\n>\n", escape(warning));
    }
    let telling = |found: &&Compared| {
        found.verdict != Some(Verdict::Equivalent)
            || found.as_built_says.is_some_and(|says| says != AsBuiltSays::Confirmed)
    };
    let (shown, folded): (Vec<&Compared>, Vec<&Compared>) = page.benchmarks.iter().partition(telling);
    text += &table(&shown);
    text += &evidence(&shown);
    if !folded.is_empty() {
        text += &format!("<details><summary>{} equivalent</summary>\n\n", folded.len());
        text += &table(&folded);
        text += "</details>\n\n";
    }
    for found in &page.one_sided {
        text += &format!("- {} is only in {}\n", escape(&found.benchmark), escape(&found.only_in));
    }
    for spoilt in &page.spoilt {
        text += &format!(
            "- {} visits of {} failed: {}\n",
            spoilt.visits,
            escape(&spoilt.side),
            escape(&spoilt.reason)
        );
    }
    text += &format!(
        "\n<sub>Code effect: mean over {} rotations of 4 placements, interval at {} for all benchmarks together; as \
         built: the links that the builds made. Margin {}.</sub>\n",
        page.measured.rotations,
        number::confidence(page.measured.confidence),
        number::asked(page.measured.minimum_effect)
    );
    text
}

fn table(rows: &[&Compared]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text =
        "| benchmark | as built | code effect | verdict | as built is | cause |\n|---|--:|--:|---|---|---|\n"
            .to_owned();
    for found in rows {
        let causes: Vec<&str> = found.causes.iter().map(|cause| cause_name(cause.cause)).collect();
        text += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            escape(&found.benchmark),
            found.as_built.map_or("-".into(), |effect| number::change(effect.ratio)),
            found.code.map_or("-".into(), |effect| number::change_with_interval(&effect)),
            found.verdict.map_or("-", |verdict| verdict_word(verdict).0),
            found.as_built_says.map_or("", |says| says_word(says).0),
            causes.join(", ")
        );
    }
    text + "\n"
}

fn evidence(rows: &[&Compared]) -> String {
    let mut text = String::new();
    for found in rows {
        let told = found
            .causes
            .iter()
            .map(|cause| format!("{}: {}", cause_name(cause.cause), cause.evidence))
            .chain(found.functions.iter().take(3).map(function_told));
        for line in told {
            text += &format!("- {}: {}\n", escape(&found.benchmark), escape(&line));
        }
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Names are code of strangers: what Markdown or HTML would read as its own is taken literally.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '#' | '\\' => escaped.extend(['\\', c]),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
