//! The answer: what the contrasts say to the question in the file, in plain words, at most about three lines.
//!
//! Method: per candidate, each input is classed by the verdicts it has in all builds ([`Finding`]); a sentence names the
//! classes with the span of the estimates. It opens with "Yes" or "No" only where the question can be understood to ask
//! for that ([`Asked`]). A failed twin control comes before everything. Sizes are of the code effect, never as built;
//! percentages are of the baseline's time ("12 % less time", as "12 % faster" has two meanings).
//! Limits: candidates are only compared with the baseline, as the contrasts are, not with each other.

mod asked;
mod finding;

use self::asked::Asked;
use self::finding::{Build, Class, Finding};
use super::number;
use super::page::{AsBuiltSays, Contrast, Page, Verdict};
use super::prose;

/// Candidates that get a clause of their own; with more they are listed by what was found.
const MOST_CLAUSES: usize = 3;
/// Groups of agreeing builds that get a clause each; with more, contrasts are counted.
const MOST_BUILD_GROUPS: usize = 3;

/// The answer to the page's question, composed from its contrasts, its twin control and its failures.
pub fn answer(page: &Page) -> String {
    let candidates = findings(page);
    let scope = Scope::of(page);
    let found = match candidates.as_slice() {
        [] => return nothing_compared(page),
        [one] => scope.one(one, Asked::read(&page.question, one.candidate, one.baseline)),
        several if several.len() <= MOST_CLAUSES => scope.several(several),
        many => scope.many(many),
    };
    match twin_distance(page) {
        Some(distance) => format!(
            "Not to be trusted: the twin control found the baseline {distance} apart from itself. {found}"
        ),
        None => found,
    }
}

/// One finding per pair of candidate and baseline, in order of appearance.
fn findings(page: &Page) -> Vec<Finding<'_>> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for contrast in &page.contrasts {
        let pair = (contrast.candidate.as_str(), contrast.baseline.as_str());
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let of_pair = |(candidate, baseline): &(&str, &str)| {
        let matching = |c: &&Contrast| c.candidate == *candidate && c.baseline == *baseline;
        Finding::of(page.contrasts.iter().filter(matching).collect())
    };
    pairs.iter().map(of_pair).collect()
}

fn nothing_compared(page: &Page) -> String {
    match page.failures.first() {
        Some(failure) => {
            let reason = failure.reason.trim_end_matches('.');
            format!("No answer: nothing could be compared ({}: {reason}).", failure.what)
        }
        None => "No answer: nothing was compared.".to_owned(),
    }
}

/// How far apart the twins are, where they are known to differ.
fn twin_distance(page: &Page) -> Option<String> {
    let differs = matches!(page.twin_control.verdict, Verdict::Faster | Verdict::Slower);
    differs.then(|| {
        page.twin_control.ratio.map_or("measurably".to_owned(), |ratio| number::fraction(ratio - 1.0))
    })
}

/// What every sentence of one answer shares.
struct Scope {
    /// "(within ±1 %)"
    margin: String,
    /// Whether a build needs its flag set to be told from others.
    names_flags: bool,
    /// Whether a build needs its compiler.
    names_compiler: bool,
}

impl Scope {
    fn of(page: &Page) -> Self {
        let differs =
            |key: fn(&Contrast) -> &str| page.contrasts.iter().any(|c| key(c) != key(&page.contrasts[0]));
        let names_flags = differs(|c| &c.flags);
        Self {
            margin: format!("(within ±{})", number::fraction(page.campaign.minimum_effect)),
            names_flags,
            names_compiler: differs(|c| &c.compiler) || !names_flags,
        }
    }

    fn one(&self, finding: &Finding, asked: Asked) -> String {
        let (candidate, baseline) = (finding.candidate, finding.baseline);
        let builds = self.builds(&finding.builds());
        let text = match finding.classes().as_slice() {
            [Class::Undecided] => {
                let cost = finding.cost().map(|cost| format!("; {cost} would tell")).unwrap_or_default();
                return format!(
                    "Not decided: {candidate} against {baseline} {}{cost} ({builds}).",
                    finding.everywhere()
                );
            }
            [Class::Same] => format!(
                "No difference: {candidate} and {baseline} take the same time {} {} ({builds}){}",
                self.margin,
                finding.everywhere(),
                ghost_clause(finding)
            ),
            classes if classes.contains(&Class::Mixed) => return self.mixed(finding),
            classes => format!(
                "{}{candidate} takes {} ({builds})",
                lead(classes, asked),
                self.clause(finding, &format!(" than {baseline}"))
            ),
        };
        format!("{text}.{}", misled(finding.contrasts.iter().copied(), finding.classes() == [Class::Same]))
    }

    /// Builds disagree about the sign on some input.
    fn mixed(&self, finding: &Finding) -> String {
        let (candidate, baseline) = (finding.candidate, finding.baseline);
        let groups = finding.agreeing_builds();
        let axis = match (self.names_compiler, self.names_flags) {
            (true, true) => "build",
            (false, true) => "flags",
            _ => "compiler",
        };
        let misled = misled(finding.contrasts.iter().copied(), false);
        if groups.len() > MOST_BUILD_GROUPS {
            return format!(
                "It depends on the {axis}: {candidate} against {baseline} {}.{misled}",
                self.tally(finding)
            );
        }
        let mut than = format!(" than {baseline}");
        let mut clauses = Vec::new();
        for group in &groups {
            let clause = self.clause(group, &than);
            clauses.push(format!("with {} {candidate} takes {clause}", self.builds(&group.builds())));
            than.clear();
        }
        format!("It depends on the {axis}: {}.{misled}", clauses.join("; "))
    }

    fn several(&self, findings: &[Finding]) -> String {
        let clause = |finding: &Finding| {
            let candidate = finding.candidate;
            match finding.classes().as_slice() {
                [Class::Undecided] => format!("{candidate} is {}", self.clause(finding, "")),
                classes if classes.contains(&Class::Mixed) => {
                    format!("{candidate} depends on the build, {}", self.tally(finding))
                }
                _ => format!("{candidate} takes {}", self.clause(finding, "")),
            }
        };
        let clauses: Vec<String> = findings.iter().map(clause).collect();
        let builds = self.builds(&findings[0].builds());
        let misled = misled(findings.iter().flat_map(|finding| finding.contrasts.iter().copied()), false);
        format!("Against {} ({builds}): {}.{misled}", findings[0].baseline, clauses.join("; "))
    }

    /// Candidates by what was found of them.
    fn many(&self, findings: &[Finding]) -> String {
        let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
        for finding in findings {
            let (title, note) = match finding.classes().as_slice() {
                [Class::Faster] => ("less time", number::size_span(finding.ratios(Class::Faster))),
                [Class::Slower] => ("more time", number::size_span(finding.ratios(Class::Slower))),
                [Class::Same] => ("the same time", String::new()),
                [Class::Undecided] => ("not decided", String::new()),
                classes if classes.contains(&Class::Mixed) => ("depends on the build", String::new()),
                _ => ("depends on the input", String::new()),
            };
            let name = if note.is_empty() {
                finding.candidate.to_owned()
            } else {
                format!("{} ({note})", finding.candidate)
            };
            match groups.iter_mut().find(|(known, _)| *known == title) {
                Some((_, names)) => names.push(name),
                None => groups.push((title, vec![name])),
            }
        }
        let clauses: Vec<String> =
            groups.iter().map(|(title, names)| format!("{title}: {}", prose::list(names))).collect();
        let misled = misled(findings.iter().flat_map(|finding| finding.contrasts.iter().copied()), false);
        format!("Against {}: {}.{misled}", findings[0].baseline, clauses.join("; "))
    }

    /// "12 to 38 % more time than branch on all 9 inputs, the same (within ±1 %) on p80".
    fn clause(&self, finding: &Finding, than: &str) -> String {
        let mut parts = Vec::new();
        for class in finding.classes() {
            let place = finding.place(class);
            let (noun, than) = if parts.is_empty() { (" time", than) } else { ("", "") };
            parts.push(match class {
                Class::Faster => {
                    format!("{} less{noun}{than} {place}", number::size_span(finding.ratios(class)))
                }
                Class::Slower => {
                    format!("{} more{noun}{than} {place}", number::size_span(finding.ratios(class)))
                }
                Class::Same if than.is_empty() => format!("the same{noun} {} {place}", self.margin),
                Class::Same => {
                    format!("the same{noun} as{} {} {place}", than.trim_start_matches(" than"), self.margin)
                }
                Class::Mixed => format!("less or more by build {place}"),
                Class::Undecided => {
                    let cost = finding.cost().map(|cost| format!(" ({cost} would tell)")).unwrap_or_default();
                    format!("not decided {place}{cost}")
                }
            });
        }
        parts.join(", ")
    }

    /// "is faster in 12 of 40 contrasts, slower in 20, the same in 8".
    fn tally(&self, finding: &Finding) -> String {
        let names = [
            (Verdict::Faster, "faster"),
            (Verdict::Slower, "slower"),
            (Verdict::Equivalent, "the same"),
            (Verdict::Inconclusive, "not decided"),
        ];
        let total = finding.contrasts.len();
        let mut parts = Vec::new();
        for (verdict, name) in names {
            let count = finding.contrasts.iter().filter(|c| c.verdict == verdict).count();
            if count > 0 {
                let of = if parts.is_empty() { format!(" of {total} contrasts") } else { String::new() };
                parts.push(format!("{name} in {count}{of}"));
            }
        }
        format!("is {}", parts.join(", "))
    }

    /// "gcc-12, clang-16", or how many builds where the names would fill the line.
    fn builds(&self, builds: &[Build]) -> String {
        if builds.len() > 4 {
            return format!("{} builds", builds.len());
        }
        let name = |build: &Build| match (self.names_compiler, self.names_flags) {
            (true, true) => format!("{} {}", build.compiler, build.flags),
            (false, _) => build.flags.to_owned(),
            _ => build.compiler.to_owned(),
        };
        prose::list(&builds.iter().map(name).collect::<Vec<_>>())
    }
}

/// How the sentence about one candidate opens.
fn lead(classes: &[Class], asked: Asked) -> &'static str {
    let has = |class| classes.contains(&class);
    let (faster, slower, same, undecided) =
        (has(Class::Faster), has(Class::Slower), has(Class::Same), has(Class::Undecided));
    match (faster, slower, asked) {
        (true, true, _) => "It depends on the input: ",
        (true, false, Asked::WhetherSlower) | (false, true, Asked::WhetherFaster) => "No: ",
        _ if same => "On some inputs: ",
        (true, false, Asked::WhetherFaster) | (false, true, Asked::WhetherSlower) if undecided => {
            "Yes, as far as decided: "
        }
        (true, false, Asked::WhetherFaster) | (false, true, Asked::WhetherSlower) => "Yes: ",
        _ => "",
    }
}

/// "; the +20.6 % seen as built on p80 is placement" for the largest ghost.
fn ghost_clause(finding: &Finding) -> String {
    let ghosts = finding.contrasts.iter().filter(|c| c.as_built_says == Some(AsBuiltSays::Ghost));
    let sized = ghosts.filter_map(|c| c.as_built.map(|as_built| (as_built.ratio, &c.input)));
    let largest = sized.max_by(|a, b| a.0.ln().abs().total_cmp(&b.0.ln().abs()));
    largest.map_or(String::new(), |(ratio, input)| {
        format!("; the {} seen as built on {input} is placement", number::change(ratio))
    })
}

/// " As built, 3 of 18 contrasts mislead: 2 ghosts, 1 reversed." where that is news.
fn misled<'a>(contrasts: impl Iterator<Item = &'a Contrast>, ghosts_are_told: bool) -> String {
    let contrasts: Vec<&Contrast> = contrasts.collect();
    let count = |says| contrasts.iter().filter(|c| c.as_built_says == Some(says)).count();
    let (ghosts, reversed, masked) =
        (count(AsBuiltSays::Ghost), count(AsBuiltSays::Reversed), count(AsBuiltSays::Masked));
    let all = ghosts + reversed + masked;
    if all == 0 || (ghosts_are_told && ghosts == all && ghosts == 1) {
        return String::new();
    }
    let mut kinds = Vec::new();
    if ghosts > 0 {
        kinds.push(prose::plural(ghosts as u64, "ghost"));
    }
    if reversed > 0 {
        kinds.push(format!("{reversed} reversed"));
    }
    if masked > 0 {
        kinds.push(format!("{masked} masked"));
    }
    let verb = if all == 1 { "misleads" } else { "mislead" };
    format!(
        " As built, {all} of {} {verb}: {}.",
        prose::plural(contrasts.len() as u64, "contrast"),
        prose::list(&kinds)
    )
}

#[cfg(test)]
mod tests;
