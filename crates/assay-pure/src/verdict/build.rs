//! Who compiled a side of a contrast and how, and how the two sides are called in sentences.

use crate::experiment::Axis;
use crate::experiment::matrix::CellName;

/// The two sides of a contrast or a comparison, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// What it is compared with.
    Baseline,
    /// What is in question.
    Candidate,
}

impl Side {
    /// Both, the baseline first.
    pub const BOTH: [Side; 2] = [Side::Baseline, Side::Candidate];

    /// 0 for the baseline, 1 for the candidate.
    pub fn number(self) -> usize {
        self as usize
    }
}

/// A compiler with a flag set, by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// Compiler name.
    pub compiler: String,
    /// Flag set name.
    pub flags: String,
}

/// The two sides of a contrast by name.
#[derive(Clone, Copy, Debug)]
pub struct Between<'a> {
    /// Candidate variant.
    pub candidate: &'a str,
    /// Baseline variant.
    pub baseline: &'a str,
    /// Input name.
    pub input: &'a str,
    /// The candidate's compiler.
    pub compiler: &'a str,
    /// The candidate's flag set.
    pub flags: &'a str,
    /// The baseline's build, where it is another one.
    pub against: Option<&'a Build>,
}

impl<'a> Between<'a> {
    /// The cell of a side.
    pub fn cell(&self, side: Side) -> CellName<'a> {
        let own = CellName {
            variant: self.candidate,
            input: self.input,
            compiler: self.compiler,
            flags: self.flags,
        };
        match (side, self.against) {
            (Side::Candidate, _) => own,
            (Side::Baseline, None) => CellName { variant: self.baseline, ..own },
            (Side::Baseline, Some(build)) => {
                CellName { variant: self.baseline, compiler: &build.compiler, flags: &build.flags, ..own }
            }
        }
    }

    /// The axis that the sides differ in; of several the one that moves the code most: variant, compiler, flags.
    pub fn axis(&self) -> Axis {
        let (candidate, baseline) = (self.cell(Side::Candidate), self.cell(Side::Baseline));
        let same_build = candidate.compiler == baseline.compiler && candidate.flags == baseline.flags;
        if same_build || candidate.variant != baseline.variant {
            Axis::Variant
        } else if candidate.compiler != baseline.compiler {
            Axis::Compiler
        } else {
            Axis::Flags
        }
    }

    /// How a side is called beside the other: its variant, with what differs of its build in brackets.
    pub fn name(&self, side: Side) -> String {
        let (own, other) = match side {
            Side::Candidate => (self.cell(Side::Candidate), self.cell(Side::Baseline)),
            Side::Baseline => (self.cell(Side::Baseline), self.cell(Side::Candidate)),
        };
        let differs = [(own.compiler, other.compiler), (own.flags, other.flags)];
        let build: Vec<&str> =
            differs.iter().filter(|(own, other)| own != other).map(|(own, _)| *own).collect();
        match build.is_empty() {
            true => own.variant.to_owned(),
            false => format!("{} ({})", own.variant, build.join(", ")),
        }
    }

    /// Both names, the candidate's first.
    pub fn names(&self) -> (String, String) {
        (self.name(Side::Candidate), self.name(Side::Baseline))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between<'a>(baseline: &'a str, against: Option<&'a Build>) -> Between<'a> {
        Between { candidate: "visit", baseline, input: "mono", compiler: "gcc-12", flags: "O2", against }
    }

    fn build(compiler: &str, flags: &str) -> Build {
        Build { compiler: compiler.into(), flags: flags.into() }
    }

    #[test]
    fn names_what_differs_and_nothing_else() {
        let (old, aligned, both) = (build("gcc-11", "O2"), build("gcc-12", "a64"), build("gcc-11", "a64"));
        let names = |baseline, against| between(baseline, against).names();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(names("direct", None), pair("visit", "direct"));
        assert_eq!(names("visit", Some(&old)), pair("visit (gcc-12)", "visit (gcc-11)"));
        assert_eq!(names("visit", Some(&aligned)), pair("visit (O2)", "visit (a64)"));
        assert_eq!(names("visit", Some(&both)), pair("visit (gcc-12, O2)", "visit (gcc-11, a64)"));
    }

    #[test]
    fn knows_the_axis_and_the_cell_of_each_side() {
        let (old, aligned) = (build("gcc-11", "O2"), build("gcc-12", "a64"));
        assert_eq!(between("direct", None).axis(), Axis::Variant);
        assert_eq!(between("visit", None).axis(), Axis::Variant);
        assert_eq!(between("visit", Some(&old)).axis(), Axis::Compiler);
        assert_eq!(between("visit", Some(&aligned)).axis(), Axis::Flags);
        assert_eq!(between("direct", Some(&old)).axis(), Axis::Variant);
        let found = between("visit", Some(&old));
        let of = |compiler| CellName { variant: "visit", input: "mono", compiler, flags: "O2" };
        assert_eq!(found.cell(Side::Candidate), of("gcc-12"));
        assert_eq!(found.cell(Side::Baseline), of("gcc-11"));
    }
}
