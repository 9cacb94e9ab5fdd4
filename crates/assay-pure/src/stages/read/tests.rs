use super::super::file::{TimeReading, Units};
use super::*;
use crate::stages::claims::{ComparedWith, Direction};
use crate::stages::quantity::Quantity;

const WHOLE: &str = r#"
[diary]
name = "allocator"
question = "what did each step bring?"
unit = "operation"
minimum_effect = "2 %"
budget = "2 min"
predictors = ["zen4"]
inputs = ["trace.bin"]

[build]
command = "make FLAGS='{flags}' OUT={out}"
program = "{out}/bench"
env = { CC = "gcc", MODE = "a" }

[[roles]]
name = "alloc"
command = "{program} alloc 1000"
units = 1000
empty_command = "{program} alloc 0"

[[roles]]
name = "free"
command = "{program} free 1000"
units_pattern = "did (?<value>[0-9]+)"
figure = { pattern = "took (?<value>[0-9.]+) (?<unit>ms)" }
count = false

[components]
allocation = ["tiny_alloc*", "malloc"]

[[stages]]
name = "debug"
flags = "-O0"
defines = ["GUARDS", "LEVEL=2"]
note = "as found"
[[stages]]
name = "release"
flags = ["-O2", "-g"]
env = { MODE = "b" }
commands = { free = "{program} --free" }
[[stages]]
name = "side"
after = "debug"
revision = "v1"
command = "cargo build --target-dir {out}"

[[references]]
name = "glibc"
role = "alloc"
command = "./plain alloc 1000"
components = { allocation = ["malloc"] }
[[references]]
name = "copy"
role = "free"
flags = "-DCOPY"
figure = "cpu"

[[claims]]
text = "47 % fewer branches"
stage = "release"
role = "alloc"
of = "branches"
says = "fewer"
change = "-47 %"
against = "glibc"
"#;

fn read(text: &str) -> Diary {
    Diary::from_toml(text, "STAGES.toml").unwrap_or_else(|problems| panic!("{problems:#?}")).diary
}

fn problems(text: &str) -> Vec<String> {
    let problems = Diary::from_toml(text, "STAGES.toml").map(|parsed| parsed.diary).unwrap_err();
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn everything_that_a_file_says_is_read() {
    let diary = read(WHOLE);
    assert_eq!(
        (diary.name.as_str(), diary.unit.as_str(), diary.minimum_effect),
        ("allocator", "operation", Margin::of(0.02))
    );
    assert_eq!((diary.budget_seconds, diary.confidence, diary.seed), (120.0, 0.95, 1));
    assert_eq!(
        (diary.predictors.as_slice(), diary.inputs.as_slice()),
        (&["zen4".to_owned()][..], &["trace.bin".to_owned()][..])
    );
    let names: Vec<&str> = diary.entrants.iter().map(|entrant| entrant.name.as_str()).collect();
    assert_eq!(names, ["debug", "release", "side", "glibc", "copy"]);
    assert_eq!(diary.roles.iter().map(|role| role.name.as_str()).collect::<Vec<_>>(), ["alloc", "free"]);
    let [debug, release, side, glibc, copy] = diary.entrants.as_slice() else { panic!("five") };
    assert_eq!((debug.after, release.after, side.after, glibc.after), (None, Some(0), Some(0), None));
    let recipe = debug.recipe.as_ref().unwrap();
    // The command has no {defines} of its own.
    assert_eq!((recipe.flags.as_str(), recipe.defines.as_str()), ("-O0 -DGUARDS -DLEVEL=2", ""));
    assert_eq!(debug.note.as_deref(), Some("as found"));
    let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let recipe = release.recipe.as_ref().unwrap();
    assert_eq!(recipe.environment, [of("CC", "gcc"), of("MODE", "b")]);
    assert_eq!(recipe.flags, "-O2 -g");
    assert_eq!(release.task(1).unwrap().command, "{program} --free");
    assert_eq!(release.task(0).unwrap().command, "{program} alloc 1000");
    let recipe = side.recipe.as_ref().unwrap();
    assert_eq!(
        (recipe.revision.as_deref(), recipe.command.as_str()),
        (Some("v1"), "cargo build --target-dir {out}")
    );
    assert_eq!(recipe.program, "{out}/bench");
    assert_eq!(glibc.recipe, None, "its command is run as it is");
    assert_eq!(glibc.components[0].functions, ["malloc"]);
    assert_eq!(copy.recipe.as_ref().unwrap().flags, "-DCOPY");
}

#[test]
fn tasks_come_from_the_role_unless_said_otherwise() {
    let diary = read(WHOLE);
    let task = |entrant: usize, role: usize| diary.entrants[entrant].task(role).unwrap().clone();
    assert_eq!(task(0, 0).units, Units::Fixed(1000));
    assert_eq!(task(0, 0).time, TimeReading::Wall);
    assert_eq!(task(0, 0).empty_command.as_deref(), Some("{program} alloc 0"));
    assert!(task(0, 0).count && !task(0, 1).count);
    assert_eq!(task(0, 1).units, Units::Pattern("did (?<value>[0-9]+)".into()));
    assert!(matches!(task(0, 1).time, TimeReading::Pattern { per_unit: false, .. }));
    // Another command has another start.
    assert_eq!((task(3, 0).empty_command, task(3, 0).units), (None, Units::Fixed(1000)));
    assert_eq!((task(4, 1).time, task(4, 1).command.as_str()), (TimeReading::Cpu, "{program} free 1000"));
    assert_eq!(diary.entrants[3].task(1), None);
}

#[test]
fn the_only_group_of_a_pattern_is_its_value() {
    for (given, meant) in [
        ("cpu_ns ([0-9.]+)", "cpu_ns (?<value>[0-9.]+)"),
        // Neither the one in brackets nor the escaped one opens a group.
        (r"[(]x (?:a|b) \\(([0-9]+)", r"[(]x (?:a|b) \((?<value>[0-9]+)"),
    ] {
        let text = WHOLE.replace("did (?<value>[0-9]+)", given);
        let Units::Pattern(found) = read(&text).entrants[0].task(1).unwrap().units.clone() else {
            panic!("a pattern")
        };
        assert_eq!(found, meant);
    }
}

#[test]
fn claims_know_what_they_speak_of() {
    let diary = read(WHOLE);
    let claim = &diary.claims[0];
    assert_eq!((claim.stage, claim.role, claim.against), (Some(1), Some(0), ComparedWith::Entrant(3)));
    assert_eq!(
        (claim.of, claim.says, claim.change),
        (Some(Quantity::Branches), Some(Direction::Less), Some(-0.47))
    );
}

#[test]
fn every_mistake_is_told_at_its_place_with_what_would_be_right() {
    for (wrong, right, expected) in [
        (
            "unit = \"operation\"",
            "unitt = \"operation\"",
            &["STAGES.toml:5:1", "unknown key `diary.unitt`", "`unit`"][..],
        ),
        ("flags = \"-O0\"", "flag = \"-O0\"", &["unknown key `stages[0].flag`", "`flags`"]),
        ("units = 1000\n", "units = 0\n", &["`roles[0].units` is out of range"]),
        (
            "{program} alloc 1000\"\nunits",
            "{progam} alloc 1000\"\nunits",
            &["unknown placeholder {progam}", "{program}"],
        ),
        ("after = \"debug\"", "after = \"debgu\"", &["is not the name of an earlier stage", "`debug`"]),
        ("role = \"free\"\nflags", "role = \"fre\"\nflags", &["names an unknown role", "`free`"]),
        ("(?<value>[0-9]+)\"", "[0-9]+\"", &["has no group named `value`"]),
        ("(?<value>[0-9]+)\"", "([0-9]+) ([0-9]+)\"", &["has no group named `value`"]),
        ("name = \"copy\"", "name = \"debug\"", &["`debug` is already the name of a stage"]),
        ("name = \"release\"\nflags", "name = \"debug\"\nflags", &["`debug` appears twice, first on line"]),
        ("says = \"fewer\"\nchange = \"-47 %\"\n", "", &["states nothing that can be checked"]),
        ("of = \"branches\"\n", "", &["`claims[0].of` is missing"]),
        (
            "stage = \"release\"",
            "stage = \"releese\"",
            &["is not a stage or reference of this diary", "`release`"],
        ),
        ("program = \"{out}/bench\"\n", "", &["`stages[0]` has no build command"]),
        ("budget = \"2 min\"", "command = \"x\"", &["`command` belongs in [build]"]),
        (
            "[\"tiny_alloc*\", \"malloc\"]",
            "\"malloc\"",
            &["`components.allocation` has the wrong type", "a list of function globs"],
        ),
        ("MODE = \"b\"", "MODE = 3", &["`stages[1].env.MODE` has the wrong type: an integer"]),
        ("commands = { free", "commands = { fre", &["names an unknown role"]),
        ("[diary]\nname = \"allocator\"", "[diary]", &["`diary.name` is missing"]),
    ] {
        assert!(WHOLE.contains(wrong), "{wrong}");
        let found = problems(&WHOLE.replacen(wrong, right, 1)).join("\n\n");
        for part in expected {
            assert!(found.contains(part), "{right}: {part} is not in\n{found}");
        }
    }
}

#[test]
fn a_file_of_something_else_is_told_what_it_lacks() {
    let found = problems("question = \"?\"\n").join("\n");
    for part in
        ["`question` belongs in [diary]", "`roles` is missing", "`stages` is missing", "`diary` is missing"]
    {
        assert!(found.contains(part), "{found}");
    }
    assert!(problems("[diary\n")[0].contains("invalid TOML"));
}

#[test]
fn every_key_of_the_schema_has_an_example_that_is_toml() {
    for keys in [
        schema::TOP,
        schema::DIARY,
        schema::BUILD,
        schema::RECIPE,
        schema::ENTRANT,
        schema::STAGE,
        schema::TASK,
        schema::ROLE,
        schema::REFERENCE,
        schema::FIGURE,
        schema::CLAIM,
    ] {
        for key in keys {
            let parsed = toml_edit::Document::parse(key.example);
            assert!(parsed.is_ok_and(|document| document.contains_key(key.name)), "{}", key.name);
        }
    }
}

#[test]
fn a_hundred_problems_are_told_and_the_others_counted() {
    let stage = |number: usize| format!("[[stages]]\nname = \"s{number}\"\nafter = \"x\"\nflag = 1\n");
    let text: String = std::iter::once(WHOLE.to_owned()).chain((0..300).map(stage)).collect();
    let found = problems(&text);
    assert_eq!(found.len(), 101);
    assert!(found[..100].iter().all(|problem| problem.contains("STAGES.toml:")), "{found:#?}");
    assert_eq!(found[100], "STAGES.toml:1:1: 500 more problems");
}
