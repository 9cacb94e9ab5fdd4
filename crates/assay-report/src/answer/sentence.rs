//! Findings as sentences.

use super::asked::Asked;
use super::finding::{BuildRef, CandidateFinding, InputClass};
use crate::page::{AsBuiltSays, Axis, Page, PageContrast, Verdict};
use assay_pure::words;

/// Groups of agreeing builds that get a clause each; with more, contrasts are counted.
const MOST_BUILD_GROUPS: usize = 3;
/// Builds that are named; more are counted.
const MOST_BUILDS_NAMED: usize = 4;
/// Groups of inputs on which builds disagree that are told build by build.
const MOST_MIXED: usize = 2;
/// Undecided contrasts that are named; more are counted.
const MOST_OPEN_NAMED: usize = 2;

/// Verdicts as a clause says them.
const WORDS: [(Verdict, &str); 4] = [
    (Verdict::Faster, "less"),
    (Verdict::Slower, "more"),
    (Verdict::Equivalent, "the same"),
    (Verdict::Undecided, "undecided"),
];

/// What all sentences of one answer share.
pub(super) struct Sentence<'a> {
    /// "(within ±1 %)"
    margin: String,
    /// All builds of the page.
    builds: Vec<BuildRef<'a>>,
    /// Whether a build needs its flag set to be told from others.
    names_flags: bool,
    /// Whether a build needs its compiler.
    names_compiler: bool,
}

impl<'a> Sentence<'a> {
    pub(super) fn for_page(page: &'a Page) -> Self {
        let mut builds: Vec<BuildRef> = Vec::new();
        for build in page.along(Axis::Variant).map(BuildRef::of) {
            if !builds.contains(&build) {
                builds.push(build);
            }
        }
        // Without a build there is no contrast of variants, and nothing to be named.
        let names_flags = builds.iter().any(|build| build.flags != builds[0].flags);
        let names_compiler = builds.iter().any(|build| build.compiler != builds[0].compiler) || !names_flags;
        let margin = format!("(within ±{})", words::asked(page.campaign.minimum_effect));
        Self { margin, builds, names_flags, names_compiler }
    }

    /// One candidate, with the word that the question asks for.
    pub(super) fn one(&self, finding: &CandidateFinding, asked: Asked) -> String {
        let (candidate, baseline) = (finding.candidate, finding.baseline);
        let builds = self.names(&finding.builds());
        match finding.classes().as_slice() {
            [InputClass::Undecided] => {
                let place = finding.place(InputClass::Undecided);
                format!("Undecided: {candidate} against {baseline} {place} ({builds}).")
            }
            [InputClass::Same] => {
                let (place, open) = (finding.place(InputClass::Same), self.open_clause(finding));
                let ghost = ghost_clause(finding);
                let take = format!("{candidate} and {baseline} take the same time {}", self.margin);
                format!("No difference: {take} {place}{open} ({builds}){ghost}.")
            }
            classes if classes.contains(&InputClass::Mixed) => self.by_build(finding),
            classes => {
                let lead = lead(classes, !finding.open().is_empty(), asked);
                format!(
                    "{lead}{candidate} takes {} ({builds}).",
                    self.clause(finding, &format!(" than {baseline}"))
                )
            }
        }
    }

    /// Builds contradict each other on some input.
    fn by_build(&self, finding: &CandidateFinding) -> String {
        let (candidate, baseline) = (finding.candidate, finding.baseline);
        let groups = finding.agreeing_builds();
        let depends = format!("It depends on {}", self.depends_on(finding));
        if groups.len() > MOST_BUILD_GROUPS {
            let builds = self.names(&finding.builds());
            let said = self.clause(finding, &format!(" than {baseline}"));
            return format!("{depends}: {candidate} takes {said} ({builds}).");
        }
        let mut clauses = Vec::new();
        for group in &groups {
            let than = if clauses.is_empty() { format!(" than {baseline}") } else { String::new() };
            let names = self.names(&group.builds());
            let clause = match group.classes().as_slice() {
                [InputClass::Undecided] => format!("is {}", self.clause(group, "")),
                _ => format!("takes {}", self.clause(group, &than)),
            };
            clauses.push(format!("with {names} {candidate} {clause}"));
        }
        format!("{depends}: {}.", clauses.join("; "))
    }

    /// "Against branch (gcc-12 and clang-16)".
    pub(super) fn against(&self, baseline: &str) -> String {
        format!("Against {baseline} ({})", self.names(&self.builds))
    }

    /// A clause per candidate.
    pub(super) fn several(&self, findings: &[&CandidateFinding]) -> String {
        let clause = |finding: &&CandidateFinding| {
            let candidate = finding.candidate;
            let builds = finding.builds();
            let only = if builds.len() < self.builds.len() {
                format!(" ({} only)", self.names(&builds))
            } else {
                String::new()
            };
            let said = match finding.classes().as_slice() {
                [InputClass::Undecided] => format!("is {}", self.clause(finding, "")),
                _ => format!("takes {}", self.clause(finding, "")),
            };
            format!("{candidate} {said}{only}")
        };
        let clauses: Vec<String> = findings.iter().map(clause).collect();
        clauses.join("; ")
    }

    /// Candidates by what was found of them.
    pub(super) fn many(&self, findings: &[&CandidateFinding]) -> String {
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for finding in findings {
            let sizes = |class| format!(" ({})", words::size_span(finding.ratios(class)));
            let (title, note) = match finding.classes().as_slice() {
                [InputClass::Faster] => ("less time".to_owned(), sizes(InputClass::Faster)),
                [InputClass::Slower] => ("more time".to_owned(), sizes(InputClass::Slower)),
                [InputClass::Same] => (format!("the same time {}", self.margin), String::new()),
                [InputClass::Undecided] => ("undecided".to_owned(), String::new()),
                _ => (format!("depends on {}", self.depends_on(finding)), String::new()),
            };
            let name = format!("{}{note}", finding.candidate);
            match groups.iter_mut().find(|(known, _)| *known == title) {
                Some((_, names)) => names.push(name),
                None => groups.push((title, vec![name])),
            }
        }
        let clauses: Vec<String> =
            groups.iter().map(|(title, names)| format!("{title}: {}", words::list(names))).collect();
        clauses.join("; ")
    }

    /// "12 to 38 % more time than branch on 7 of 9 inputs, the same (within ±1 %) on p80, less or more by compiler on burst".
    ///
    /// The largest holding first; inputs on which builds disagree, then those that are undecided, last.
    fn clause(&self, finding: &CandidateFinding, than: &str) -> String {
        let mut classes = finding.classes();
        classes.sort_by_key(|class| {
            let last = matches!(class, InputClass::Mixed | InputClass::Undecided);
            (last, last as usize * *class as usize, std::cmp::Reverse(finding.held(*class)))
        });
        let mut parts: Vec<String> = Vec::new();
        for class in classes {
            let place = finding.place(class);
            let (noun, than) = if parts.is_empty() { (" time", than) } else { ("", "") };
            let size = || words::size_span(finding.ratios(class));
            match class {
                InputClass::Faster => parts.push(format!("{} less{noun}{than} {place}", size())),
                InputClass::Slower => parts.push(format!("{} more{noun}{than} {place}", size())),
                InputClass::Same => {
                    let than = than.replacen(" than", " as", 1);
                    parts.push(format!("the same{noun}{than} {} {place}", self.margin));
                }
                InputClass::Mixed => parts.extend(self.mixed(finding, noun, than)),
                InputClass::Undecided => parts.push(format!("undecided {place}")),
            }
        }
        format!("{}{}", parts.join(", "), self.open_clause(finding))
    }

    /// What builds say that disagree: each by name where there is room, else that they do.
    fn mixed(&self, finding: &CandidateFinding, noun: &str, than: &str) -> Vec<String> {
        let groups = finding.disagreeing();
        if groups.len() > MOST_MIXED {
            let says = |verdict| groups.iter().any(|(_, found)| found.iter().any(|c| c.verdict == verdict));
            let words = match (says(Verdict::Faster), says(Verdict::Slower)) {
                (true, true) => "more or less",
                (true, false) => "less or the same",
                _ => "more or the same",
            };
            return vec![format!(
                "{words}{noun}{than}, by {}, {}",
                self.axis(),
                finding.place(InputClass::Mixed)
            )];
        }
        let of_group = |(inputs, contrasts): &(Vec<&str>, Vec<&PageContrast>), noun: &str, than: &str| {
            let mut said = Vec::new();
            for (verdict, word) in WORDS {
                let own: Vec<&PageContrast> =
                    contrasts.iter().copied().filter(|c| c.verdict == verdict).collect();
                if own.is_empty() {
                    continue;
                }
                let mut builds: Vec<BuildRef> = own.iter().map(|c| BuildRef::of(c)).collect();
                builds.truncate(own.iter().filter(|c| c.input == own[0].input).count());
                let size = match verdict {
                    Verdict::Faster | Verdict::Slower => {
                        words::size_span(own.iter().filter_map(|c| c.code.map(|code| code.ratio))) + " "
                    }
                    Verdict::Equivalent | Verdict::Undecided => String::new(),
                };
                let (noun, than) = if said.is_empty() { (noun, than) } else { ("", "") };
                said.push(format!("{size}{word}{noun}{than} with {}", self.names(&builds)));
            }
            format!("{} {}", said.join(", "), finding.place_of(inputs))
        };
        let each = groups.iter().enumerate();
        each.map(|(at, group)| if at == 0 { of_group(group, noun, than) } else { of_group(group, "", "") })
            .collect()
    }

    /// ", undecided on p80 with clang-16", or how many, of those on inputs that other builds decide.
    fn open_clause(&self, finding: &CandidateFinding) -> String {
        let open = finding.open();
        match open.as_slice() {
            [] => String::new(),
            few if few.len() <= MOST_OPEN_NAMED => {
                let names: Vec<String> = few
                    .iter()
                    .map(|c| format!("on {} with {}", c.input, self.names(&[BuildRef::of(c)])))
                    .collect();
                format!(", undecided {}", words::list(&names))
            }
            many => format!(", {} undecided", words::plural(many.len() as u64, "contrast")),
        }
    }

    /// "the input", "the compiler", or both, with the inputs on which builds disagree where they do not on all.
    ///
    /// A build that says one thing of one input and another of the next depends on the input, whatever other builds say.
    fn depends_on(&self, finding: &CandidateFinding) -> String {
        let disagreeing = finding.held(InputClass::Mixed);
        if disagreeing == 0 {
            return "the input".to_owned();
        }
        let place = if disagreeing == finding.inputs() {
            String::new()
        } else {
            format!(" {}", finding.place(InputClass::Mixed))
        };
        match finding.some_build_differs_between_inputs() {
            true if place.is_empty() => format!("the input and the {}", self.axis()),
            true => format!("the input, and{place} on the {}", self.axis()),
            false => format!("the {}{place}", self.axis()),
        }
    }

    /// What the builds differ in.
    pub(super) fn axis(&self) -> &'static str {
        match (self.names_compiler, self.names_flags) {
            (true, true) => "build",
            (false, true) => "flags",
            _ => "compiler",
        }
    }

    /// "gcc-12 and clang-16", or how many builds where the names would fill the line.
    fn names(&self, builds: &[BuildRef]) -> String {
        if builds.len() > MOST_BUILDS_NAMED {
            return format!("{} builds", builds.len());
        }
        let name = |build: &BuildRef| match (self.names_compiler, self.names_flags) {
            (true, true) => format!("{} {}", build.compiler, build.flags),
            (false, _) => build.flags.to_owned(),
            _ => build.compiler.to_owned(),
        };
        words::list(&builds.iter().map(name).collect::<Vec<_>>())
    }
}

/// The sentence with a capital, unless it begins with a variant's name, which is spelled as the program spells it.
pub(super) fn capital(sentence: &str) -> String {
    match sentence.strip_prefix("no ") {
        Some(rest) => format!("No {rest}"),
        None => sentence.to_owned(),
    }
}

/// How the sentence about one candidate opens.
fn lead(classes: &[InputClass], open: bool, asked: Asked) -> &'static str {
    let has = |class| classes.contains(&class);
    let undecided = open || has(InputClass::Undecided);
    match (has(InputClass::Faster), has(InputClass::Slower), asked) {
        (true, true, _) => "It depends on the input: ",
        (true, false, Asked::WhetherSlower) | (false, true, Asked::WhetherFaster) => "No: ",
        _ if has(InputClass::Same) => "On some inputs: ",
        (true, false, Asked::WhetherFaster) | (false, true, Asked::WhetherSlower) if undecided => {
            "Yes, where decided: "
        }
        (true, false, Asked::WhetherFaster) | (false, true, Asked::WhetherSlower) => "Yes: ",
        _ => "",
    }
}

/// "; the +20.6 % seen as built on p80 is placement" for the largest ghost.
fn ghost_clause(finding: &CandidateFinding) -> String {
    let ghosts = finding.contrasts.iter().filter(|c| c.as_built_says == Some(AsBuiltSays::Ghost));
    let sized = ghosts.filter_map(|c| c.as_built.map(|as_built| (as_built.ratio, &c.input)));
    let largest = sized.max_by(|a, b| a.0.ln().abs().total_cmp(&b.0.ln().abs()));
    largest.map_or(String::new(), |(ratio, input)| {
        format!("; the {} seen as built on {input} is placement", words::change(ratio))
    })
}
