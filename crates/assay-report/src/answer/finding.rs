//! One candidate's contrasts, classed by input.

use super::super::page::{PageContrast, Verdict};
use assay_pure::words;

/// Inputs that a clause names; more are counted.
const MOST_NAMED: usize = 3;

/// What all builds together say on one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum InputClass {
    /// Every decided contrast is faster.
    Faster,
    /// Every decided contrast is slower.
    Slower,
    /// Every decided contrast is equivalent.
    Same,
    /// Decided contrasts disagree.
    Mixed,
    /// No contrast is decided.
    Undecided,
}

/// A value of the build axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BuildRef<'a> {
    /// Compiler name.
    pub(super) compiler: &'a str,
    /// Flag set name.
    pub(super) flags: &'a str,
}

impl<'a> BuildRef<'a> {
    pub(super) fn of(contrast: &'a PageContrast) -> Self {
        Self { compiler: &contrast.compiler, flags: &contrast.flags }
    }
}

/// One candidate's contrasts with the class of each input. Never without a contrast.
pub(super) struct CandidateFinding<'a> {
    /// Variant.
    pub(super) candidate: &'a str,
    /// Variant.
    pub(super) baseline: &'a str,
    /// All of them, in page order.
    pub(super) contrasts: Vec<&'a PageContrast>,
    inputs: Vec<(&'a str, InputClass)>,
    /// Inputs of the whole page: some may be missing here.
    total: usize,
}

impl<'a> CandidateFinding<'a> {
    /// Classes the contrasts of one candidate, at least one; `total` inputs are on the page.
    pub(super) fn of(contrasts: Vec<&'a PageContrast>, total: usize) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for contrast in &contrasts {
            if !names.contains(&contrast.input.as_str()) {
                names.push(&contrast.input);
            }
        }
        let class = |name: &str| class(contrasts.iter().filter(|c| c.input == name).map(|c| c.verdict));
        let inputs = names.into_iter().map(|name| (name, class(name))).collect();
        Self {
            candidate: &contrasts[0].candidate,
            baseline: &contrasts[0].baseline,
            contrasts,
            inputs,
            total,
        }
    }

    /// The classes that occur, each once, in the order of [`InputClass`].
    pub(super) fn classes(&self) -> Vec<InputClass> {
        let mut classes: Vec<InputClass> = self.inputs.iter().map(|&(_, class)| class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Inputs of a class.
    pub(super) fn held(&self, class: InputClass) -> usize {
        self.inputs.iter().filter(|(_, own)| *own == class).count()
    }

    /// All its inputs.
    pub(super) fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// A build's decided verdicts are not the same on all inputs.
    pub(super) fn some_build_differs_between_inputs(&self) -> bool {
        self.builds().into_iter().any(|build| {
            let own = self.contrasts.iter().filter(|c| BuildRef::of(c) == build).map(|c| c.verdict);
            let mut decided = own.filter(|verdict| *verdict != Verdict::Undecided);
            decided.next().is_some_and(|first| decided.any(|other| other != first))
        })
    }

    /// The estimated ratios behind a class.
    pub(super) fn ratios(&self, class: InputClass) -> Vec<f64> {
        let verdict = match class {
            InputClass::Faster => Verdict::Faster,
            InputClass::Slower => Verdict::Slower,
            InputClass::Same => Verdict::Equivalent,
            InputClass::Mixed | InputClass::Undecided => return Vec::new(),
        };
        let matching =
            self.contrasts.iter().filter(|c| c.verdict == verdict && self.class_of(&c.input) == class);
        matching.filter_map(|c| c.code.map(|code| code.ratio)).collect()
    }

    /// "on all 9 inputs", "on all-1 and p80", "on 5 of 9 inputs".
    pub(super) fn place(&self, class: InputClass) -> String {
        let named: Vec<&str> =
            self.inputs.iter().filter(|(_, c)| *c == class).map(|&(name, _)| name).collect();
        self.place_of(&named)
    }

    /// The same of any inputs.
    pub(super) fn place_of(&self, named: &[&str]) -> String {
        let total = self.total;
        match named.len() {
            n if n == total && total == 2 => "on both inputs".to_owned(),
            n if n == total && total > 2 => format!("on all {total} inputs"),
            n if n <= MOST_NAMED => format!("on {}", words::list(named)),
            n => format!("on {n} of {total} inputs"),
        }
    }

    /// Undecided contrasts on inputs that other builds decide alike.
    pub(super) fn open(&self) -> Vec<&'a PageContrast> {
        let is_open = |c: &&&PageContrast| {
            let class = self.class_of(&c.input);
            c.verdict == Verdict::Undecided && class != InputClass::Undecided && class != InputClass::Mixed
        };
        self.contrasts.iter().filter(is_open).copied().collect()
    }

    /// Inputs on which builds disagree, in groups of which the same builds say the same.
    pub(super) fn disagreeing(&self) -> Vec<(Vec<&'a str>, Vec<&'a PageContrast>)> {
        let mut groups: Vec<(Vec<&'a str>, Vec<&'a PageContrast>)> = Vec::new();
        for &(input, _) in self.inputs.iter().filter(|(_, class)| *class == InputClass::Mixed) {
            let own: Vec<&PageContrast> =
                self.contrasts.iter().copied().filter(|c| c.input == input).collect();
            let says = |found: &[&'a PageContrast]| -> Vec<(BuildRef<'a>, Verdict)> {
                found.iter().map(|c| (BuildRef::of(c), c.verdict)).collect()
            };
            match groups
                .iter_mut()
                .find(|(_, known)| says(&known[..own.len().min(known.len())]) == says(&own))
            {
                Some((inputs, known)) => {
                    inputs.push(input);
                    known.extend(own);
                }
                None => groups.push((vec![input], own)),
            }
        }
        groups
    }

    /// Its builds, in page order.
    pub(super) fn builds(&self) -> Vec<BuildRef<'a>> {
        let mut builds = Vec::new();
        for contrast in &self.contrasts {
            let build = BuildRef::of(contrast);
            if !builds.contains(&build) {
                builds.push(build);
            }
        }
        builds
    }

    /// The builds in groups that contradict each other nowhere; an undecided contrast contradicts nothing. Builds that decide nothing
    /// are on no side: they are the last group.
    pub(super) fn agreeing_builds(&self) -> Vec<CandidateFinding<'a>> {
        let mut groups: Vec<Vec<&'a PageContrast>> = Vec::new();
        let mut open: Vec<&'a PageContrast> = Vec::new();
        for build in self.builds() {
            let own: Vec<&PageContrast> =
                self.contrasts.iter().copied().filter(|c| BuildRef::of(c) == build).collect();
            if own.iter().all(|contrast| contrast.verdict == Verdict::Undecided) {
                open.extend(own);
                continue;
            }
            match groups.iter_mut().find(|group| !contradict(group, &own)) {
                Some(group) => group.extend(own),
                None => groups.push(own),
            }
        }
        groups.extend((!open.is_empty()).then_some(open));
        groups.into_iter().map(|group| CandidateFinding::of(group, self.total)).collect()
    }

    fn class_of(&self, input: &str) -> InputClass {
        self.inputs.iter().find(|(name, _)| *name == input).map_or(InputClass::Undecided, |&(_, class)| class)
    }
}

fn class(verdicts: impl Iterator<Item = Verdict>) -> InputClass {
    verdicts.fold(InputClass::Undecided, |class, verdict| {
        let own = match verdict {
            Verdict::Faster => InputClass::Faster,
            Verdict::Slower => InputClass::Slower,
            Verdict::Equivalent => InputClass::Same,
            Verdict::Undecided => return class,
        };
        if class == InputClass::Undecided || class == own { own } else { InputClass::Mixed }
    })
}

fn contradict(group: &[&PageContrast], other: &[&PageContrast]) -> bool {
    let clash = |a: &PageContrast, b: &PageContrast| {
        let decided = a.verdict != Verdict::Undecided && b.verdict != Verdict::Undecided;
        a.input == b.input && decided && a.verdict != b.verdict
    };
    group.iter().any(|a| other.iter().any(|b| clash(a, b)))
}
