//! The diary as Markdown: the answer first, a table per role.

use super::page::{Against, Kind, Role, StagesPage};
use super::words::{
    Row, brought, count_change, counted, part, rate, rows, session_of, time_change, time_verdict, times,
};
use crate::compare::escape;
use crate::number;
use crate::page::ClaimStatus;

/// The page as GitHub-flavoured Markdown.
pub fn markdown(page: &StagesPage) -> String {
    let mut text = format!("### assay stages: {}\n\n", escape(&page.diary));
    if !page.question.is_empty() {
        text += &format!("*{}*\n\n", escape(&page.question));
    }
    text += &format!("{}\n\n", escape(&page.answer));
    for warning in page.warnings.iter().chain(&page.limits) {
        text += &format!("> {}\n>\n", escape(warning));
    }
    for role in &page.roles {
        text += &of_role(page, role);
    }
    text += &distances(page);
    for role in &page.roles {
        text += &components(page, role);
    }
    for step in &page.steps {
        for trap in &step.traps {
            text += &format!(
                "- {} against {} in {}: {}\n",
                escape(&step.stage),
                escape(&step.baseline),
                escape(&step.role),
                escape(trap)
            );
        }
    }
    for entrant in page.entrants.iter().filter(|entrant| entrant.failed.is_some()) {
        let why = entrant.failed.as_deref().unwrap_or_default();
        text += &format!(
            "- {} was not measured: {}\n",
            escape(&entrant.name),
            escape(why.lines().next().unwrap_or_default())
        );
    }
    text += &claims(page);
    text += &format!(
        "\n<sub>Times: median over placements; changes over rotations, interval at {} for all steps of a session together, \
         margin {}; compared within a session only, where builds take turns. Branches and instructions are exact{}.</sub>\n",
        number::confidence(page.confidence),
        number::asked(page.minimum_effect),
        page.predictor.as_ref().map_or_else(String::new, |name| match name.as_str() {
            "counted" => "; misses are the processor's own count".to_owned(),
            name => format!("; misses are simulated by {}", escape(name)),
        })
    );
    text
}

fn of_role(page: &StagesPage, role: &Role) -> String {
    let unit = escape(&page.unit);
    let mut text = format!(
        "#### {}\n\n| stage | ns/{unit} | against before | brought | of all | against first | branches/{unit} | change | misses/{unit} | rate | \
         instructions/{unit} | code, bytes | session |\n|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        escape(&role.name)
    );
    for Row { cell, entrant, before, first, share } in rows(page, role) {
        let is_reference = entrant.kind == Kind::Reference;
        let name = if is_reference { format!("*{}*", escape(&cell.entrant)) } else { escape(&cell.entrant) };
        text += &format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            cell.time.map_or_else(|| "-".into(), |time| number::ns(time.ns_per_unit)),
            time_change(before),
            before.map_or("", |step| brought(step).0),
            part(share),
            time_verdict(first.or(before)),
            counted(cell, |counts| counts.branches_per_unit),
            count_change(before, "branches"),
            counted(cell, |counts| counts.misses_per_unit),
            rate(cell),
            counted(cell, |counts| counts.instructions_per_unit),
            entrant.text_bytes.map(number::count).unwrap_or_default(),
            session_of(page, entrant),
        );
    }
    text + "\n"
}

fn distances(page: &StagesPage) -> String {
    let mut text = String::new();
    for step in page.steps.iter().filter(|step| step.against == Against::Reference) {
        let code = step.time.as_ref().and_then(|time| time.code);
        let branches =
            step.counts.iter().find(|count| count.quantity == "branches").and_then(|count| count.ratio);
        text += &format!(
            "| {} | {} | {} | {} | {} |\n",
            escape(&step.stage),
            escape(&step.baseline),
            escape(&step.role),
            code.map_or_else(
                || "-".into(),
                |code| format!("{} ({} to {})", times(code.ratio), times(code.lower), times(code.upper))
            ),
            branches.map_or_else(|| "-".into(), times)
        );
    }
    if text.is_empty() {
        return text;
    }
    format!(
        "| stage | reference | role | times its time | times its branches |\n|---|---|---|--:|--:|\n{text}\n"
    )
}

fn components(page: &StagesPage, role: &Role) -> String {
    let cells: Vec<_> = role.cells.iter().filter_map(|cell| Some((cell, cell.counts.as_ref()?))).collect();
    let cells: Vec<_> = cells.into_iter().filter(|(_, counts)| counts.components.len() > 2).collect();
    if cells.is_empty() {
        return String::new();
    }
    let mut text =
        format!("{}: branches per {} by component (per call)\n\n", escape(&role.name), escape(&page.unit));
    text += "| stage | component | branches | calls | per call |\n|---|---|--:|--:|--:|\n";
    for (cell, counts) in cells {
        for component in &counts.components {
            text += &format!(
                "| {} | {} | {} | {} | {} |\n",
                escape(&cell.entrant),
                escape(&component.name),
                number::ns(component.branches_per_unit),
                number::ns(component.calls_per_unit),
                component.branches_per_call.map(number::ns).unwrap_or_default()
            );
        }
    }
    text + "\n"
}

fn claims(page: &StagesPage) -> String {
    let mut text = String::new();
    for claim in &page.claims {
        let word = match claim.status {
            ClaimStatus::Confirmed => "confirmed",
            ClaimStatus::Refuted => "**refuted**",
            ClaimStatus::Undecided => "undecided",
        };
        text += &format!("- {word}: \"{}\": {}\n", escape(&claim.text), escape(&claim.found));
    }
    text
}
