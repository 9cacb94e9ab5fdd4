//! What a STAGES.toml says, with every default filled in.

use super::claims::DiaryClaim;
use crate::stats::margin::Margin;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An optimisation diary as its author planned it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diary {
    /// By which the ledger knows it.
    pub name: String,
    /// What the author wants to know.
    pub question: String,
    /// What figures are divided by, in the singular.
    pub unit: String,
    /// The equivalence margin.
    pub minimum_effect: Margin,
    /// Of all verdicts of a session together.
    pub confidence: f64,
    /// Seconds of measuring time of one session.
    pub budget_seconds: f64,
    /// Shuffles; as many as the budget allows if not given.
    pub rotations: Option<u32>,
    /// Passes over all placements; as many as the budget allows if not given.
    pub rounds: Option<u32>,
    /// Of orders, shuffles and surroundings.
    pub seed: u64,
    /// Predictors that are simulated, the one that the table shows first; those of `assay stat` if empty.
    pub predictors: Vec<String>,
    /// Files that the roles read: another content is another input.
    pub inputs: Vec<String>,
    /// What is done with each stage.
    pub roles: Vec<Role>,
    /// Functions by component, whose branches are summed.
    pub components: Vec<Component>,
    /// Stages and references: what is built and measured, stages first, in file order.
    pub entrants: Vec<Entrant>,
    /// What somebody says of a step.
    pub claims: Vec<DiaryClaim>,
}

/// One thing that a stage is measured at: sender, receiver; alloc, free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// What it is, in the author's words.
    pub note: Option<String>,
}

/// Functions that do one job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// The job.
    pub name: String,
    /// Globs of function names.
    pub functions: Vec<String>,
}

/// Whether something is a step of the work or what it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EntrantKind {
    /// A stage.
    Stage,
    /// A reference.
    Reference,
}

impl EntrantKind {
    /// As the ledger spells it.
    pub fn word(self) -> &'static str {
        match self {
            EntrantKind::Stage => "stage",
            EntrantKind::Reference => "reference",
        }
    }

    /// The one that is spelt so.
    pub fn of(word: &str) -> Option<EntrantKind> {
        [EntrantKind::Stage, EntrantKind::Reference].into_iter().find(|kind| kind.word() == word)
    }
}

/// A stage or a reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entrant {
    /// Its name; stages and references share one set of names.
    pub name: String,
    /// Which of the two.
    pub kind: EntrantKind,
    /// The stage that it is a step from, by number; `None` for the first and for references.
    pub after: Option<usize>,
    /// In the author's words.
    pub note: Option<String>,
    /// How it is built; `None`: its commands are run as they are.
    pub recipe: Option<BuildRecipe>,
    /// What is run of it, by the number of the role.
    pub tasks: BTreeMap<usize, Task>,
    /// Functions by component, where they are other ones than the diary's.
    pub components: Vec<Component>,
}

impl Entrant {
    /// Whether it is a stage.
    pub fn is_stage(&self) -> bool {
        self.kind == EntrantKind::Stage
    }

    /// The task of a role.
    pub fn task(&self, role: usize) -> Option<&Task> {
        self.tasks.get(&role)
    }
}

/// How a program is built. Texts still hold placeholders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildRecipe {
    /// For `sh -c`.
    pub command: String,
    /// What `{flags}` stands for.
    pub flags: String,
    /// What `{defines}` stands for, as compiler flags.
    pub defines: String,
    /// Variables of the build and of the commands.
    pub environment: Vec<(String, String)>,
    /// The folder that is built, from the diary's.
    pub source: Option<String>,
    /// The git revision that is built.
    pub revision: Option<String>,
    /// The program that it leaves: what `{program}` stands for.
    pub program: String,
    /// The file whose code is its size; the program if not given.
    pub size: Option<String>,
}

/// A command of a role. Texts still hold placeholders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// For `sh -c`.
    pub command: String,
    /// How much it does.
    pub units: Units,
    /// How its time is read.
    pub time: TimeReading,
    /// Whether its branches are counted.
    pub count: bool,
    /// What only starts up, the same way: subtracted from the counts.
    pub empty_command: Option<String>,
}

/// How much work a command does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Units {
    /// So many units.
    Fixed(u64),
    /// The number that this regular expression's group `value` finds in its output.
    Pattern(String),
}

/// How the time of a command is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeReading {
    /// From its launch to its end.
    Wall,
    /// CPU time of all its processes.
    Cpu,
    /// What it prints: the group `value` of a regular expression, in the unit of the group `unit`, ns without it.
    Pattern {
        /// The expression.
        pattern: String,
        /// True: it prints the time of one unit, not of all.
        per_unit: bool,
    },
}

/// What placeholders stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceholderValues {
    /// `{out}`: the stage's own folder.
    pub out: String,
    /// `{program}`.
    pub program: String,
    /// `{stage}`: its name.
    pub stage: String,
    /// `{flags}`.
    pub flags: String,
    /// `{defines}`.
    pub defines: String,
    /// `{folder}`: the folder of the diary's file.
    pub folder: String,
}

/// Every placeholder.
pub const PLACEHOLDERS: [&str; 6] = ["out", "program", "stage", "flags", "defines", "folder"];

impl PlaceholderValues {
    /// The text with all placeholders replaced; other braces stay.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        // The program may be named by {out}, so it comes first.
        for (name, value) in [
            ("program", &self.program),
            ("flags", &self.flags),
            ("defines", &self.defines),
            ("stage", &self.stage),
            ("out", &self.out),
            ("folder", &self.folder),
        ] {
            filled = filled.replace(&format!("{{{name}}}"), value);
        }
        filled
    }
}

impl Diary {
    /// The stages, in file order; their numbers are those of [`Diary::entrants`].
    pub fn stages(&self) -> impl Iterator<Item = &Entrant> {
        self.entrants.iter().filter(|entrant| entrant.is_stage())
    }

    /// The number of an entrant.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.entrants.iter().position(|entrant| entrant.name == name)
    }

    /// The number of a role.
    pub fn role(&self, name: &str) -> Option<usize> {
        self.roles.iter().position(|role| role.name == name)
    }

    /// From the first stage to the last one, each a step from the one before; stages beside that way are left out.
    pub fn chain(&self) -> Vec<usize> {
        let mut chain = Vec::new();
        let mut at = self.stages().count().checked_sub(1);
        while let Some(stage) = at {
            chain.push(stage);
            at = self.entrants[stage].after;
        }
        chain.reverse();
        chain
    }

    /// The first stage of the chain that a stage belongs to.
    pub fn first_of(&self, stage: usize) -> usize {
        let mut at = stage;
        while let Some(before) = self.entrants[at].after {
            at = before;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_other_braces_stay() {
        let places = PlaceholderValues {
            out: "/o".into(),
            program: "{out}/bench".into(),
            flags: "-O2".into(),
            ..PlaceholderValues::default()
        };
        assert_eq!(
            places.fill("make F='{flags}' O={out}; {program} ${HOME} {x}"),
            "make F='-O2' O=/o; /o/bench ${HOME} {x}"
        );
    }

    #[test]
    fn the_chain_leads_from_the_first_to_the_last_stage() {
        let stage = |name: &str, after| Entrant {
            name: name.into(),
            kind: EntrantKind::Stage,
            after,
            note: None,
            recipe: None,
            tasks: BTreeMap::new(),
            components: vec![],
        };
        let mut diary = Diary {
            name: "d".into(),
            question: String::new(),
            unit: "call".into(),
            minimum_effect: Margin::of(0.02),
            confidence: 0.95,
            budget_seconds: 60.0,
            rotations: None,
            rounds: None,
            seed: 1,
            predictors: vec![],
            inputs: vec![],
            roles: vec![],
            components: vec![],
            entrants: vec![
                stage("a", None),
                stage("b", Some(0)),
                stage("side", Some(0)),
                stage("c", Some(1)),
            ],
            claims: vec![],
        };
        assert_eq!(diary.chain(), [0, 1, 3]);
        assert_eq!((diary.first_of(2), diary.first_of(3), diary.first_of(0)), (0, 0, 0));
        diary.entrants.clear();
        assert!(diary.chain().is_empty());
    }
}
