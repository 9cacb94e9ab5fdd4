//! Every key that a STAGES.toml may have.

use crate::experiment::read::schema::{SchemaKey, key};

const NAME: &str = "a name made of A-Z a-z 0-9 _ . : / + -";
const COMMAND: &str = "a command for `sh -c`; {program}, {out}, {stage}, {folder} are replaced";
const BUILD_COMMAND: &str =
    "a command for `sh -c`; {flags}, {defines}, {out}, {stage}, {folder} are replaced";
const TOLERANCE: &str = "a fraction, or a string such as \"5 %\"";
const NUMBER: &str = "a number";

/// The tables.
pub(super) const TOP: &[SchemaKey] = &[
    key("diary", "a table", "[diary]\nname = \"allocator\""),
    key(
        "build",
        "a table",
        "[build]\ncommand = \"make FLAGS='{flags}' OUT={out}\"\nprogram = \"{out}/bench\"",
    ),
    key(
        "roles",
        "a table for each",
        "[[roles]]\nname = \"alloc\"\ncommand = \"{program} alloc\"\nunits = 100000",
    ),
    key(
        "components",
        "a list of function globs for each",
        "[components]\nallocation = [\"tiny_alloc*\", \"malloc\"]",
    ),
    key("stages", "a table for each, in order", "[[stages]]\nname = \"release\"\nflags = \"-O2\""),
    key(
        "references",
        "a table for each",
        "[[references]]\nname = \"glibc\"\ncommand = \"./bench-glibc alloc\"",
    ),
    key(
        "claims",
        "a table for each",
        "[[claims]]\ntext = \"47 % fewer branches\"\nstage = \"release\"\nof = \"branches\"\nchange = \"-47 %\"",
    ),
];

/// `[diary]`
pub(super) const DIARY: &[SchemaKey] = &[
    key("name", NAME, "name = \"allocator\""),
    key("question", "a string", "question = \"What did each step bring?\""),
    key("unit", "a string: the unit that figures are divided by, in the singular", "unit = \"operation\""),
    key(
        "minimum_effect",
        "a fraction from 0 to below 1, or a string such as \"2 %\"",
        "minimum_effect = \"2 %\"",
    ),
    key("confidence", "a fraction above 0 and below 1, or a string such as \"95 %\"", "confidence = 0.95"),
    key("budget", "seconds above 0, or a string with one of the units ms, s, min, h", "budget = \"5 min\""),
    key("rotations", "an integer from 3 to 1000", "rotations = 8"),
    key("rounds", "an integer from 1 to 1000", "rounds = 4"),
    key("seed", "an integer from 0 to 18446744073709551615", "seed = 1"),
    key(
        "predictors",
        "a list of predictors; `assay stat --predictor help` names them",
        "predictors = [\"zen4\", \"skylake\"]",
    ),
    key("inputs", "a list of files that the roles read, from the diary's folder", "inputs = [\"trace.bin\"]"),
];

/// How something is built: `[build]`, a stage, a reference.
pub(super) const RECIPE: &[SchemaKey] = &[
    key("source", "a folder, from the diary's", "source = \"before\""),
    key("env", "a table of variables", "env = { CC = \"gcc\" }"),
    key("program", "the program that the build produces; {out} is replaced", "program = \"{out}/bench\""),
    key("size", "the file whose code size is reported, if not the program", "size = \"{out}/liballoc.so\""),
];

/// `[build]` alone.
pub(super) const BUILD: &[SchemaKey] =
    &[key("command", BUILD_COMMAND, "command = \"make FLAGS='{flags}' OUT={out}\"")];

/// What a stage and a reference have beside those of a recipe.
pub(super) const ENTRANT: &[SchemaKey] = &[
    key("name", NAME, "name = \"release\""),
    key("note", "a string", "note = \"as the document describes it\""),
    key("flags", "a string, or a list of flags", "flags = \"-O2\""),
    key("defines", "a list of strings: NAME or NAME=VALUE", "defines = [\"NDEBUG\", \"LEVEL=2\"]"),
    key("revision", "a git revision: a hash, a tag, a branch", "revision = \"v1.2\""),
];

/// A stage alone.
pub(super) const STAGE: &[SchemaKey] = &[
    key("command", BUILD_COMMAND, "command = \"cargo build --release --target-dir {out}\""),
    key("after", "the name of an earlier stage; default: the one above", "after = \"debug\""),
    key(
        "commands",
        "a table: a command for each role whose command differs here",
        "commands = { alloc = \"{program} --alloc\" }",
    ),
];

/// What is run, of a role and of a reference.
pub(super) const TASK: &[SchemaKey] = &[
    key("command", COMMAND, "command = \"{program} alloc 100000\""),
    key("units", "an integer from 1 to 1000000000000", "units = 100000"),
    key(
        "units_pattern",
        "a regular expression with a group `value`",
        "units_pattern = \"did (?<value>[0-9]+) operations\"",
    ),
    key(
        "figure",
        "\"wall\", \"cpu\", or a table with `pattern`",
        "figure = { pattern = \"took (?<value>[0-9.]+) (?<unit>ms)\" }",
    ),
    key("count", "true or false", "count = false"),
    key("empty_command", COMMAND, "empty_command = \"{program} alloc 0\""),
];

/// A role alone.
pub(super) const ROLE: &[SchemaKey] =
    &[key("name", NAME, "name = \"alloc\""), key("note", "a string", "note = \"sizes of 1 to 256 bytes\"")];

/// A reference alone.
pub(super) const REFERENCE: &[SchemaKey] = &[
    key("build", BUILD_COMMAND, "build = \"make reference OUT={out}\""),
    key("role", "the name of a role", "role = \"alloc\""),
    key(
        "components",
        "a list of function globs for each",
        "components = { allocation = [\"malloc\", \"_int_malloc\"] }",
    ),
];

/// `figure = { ... }`
pub(super) const FIGURE: &[SchemaKey] = &[
    key(
        "pattern",
        "a regular expression with a group `value`, and perhaps `unit`",
        "pattern = \"took (?<value>[0-9.]+) (?<unit>ms)\"",
    ),
    key("per", "\"command\" or \"unit\"", "per = \"unit\""),
];

/// A claim.
pub(super) const CLAIM: &[SchemaKey] = &[
    key("text", "a string: the claim in its own words", "text = \"47 % fewer branches\""),
    key("source", "a string", "source = \"the allocator's document\""),
    key("stage", "the name of a stage", "stage = \"release\""),
    key("role", "the name of a role", "role = \"alloc\""),
    key("against", "\"before\", \"first\", or the name of a stage or reference", "against = \"first\""),
    key(
        "of",
        "\"branches\", \"misses\", \"miss_rate\", \"instructions\", \"time\" or \"size\"",
        "of = \"branches\"",
    ),
    key(
        "says",
        "\"fewer\", \"more\", \"same\", \"faster\", \"slower\" or \"equivalent\"",
        "says = \"fewer\"",
    ),
    key("ratio", "a number above 0: this stage / the other", "ratio = 0.53"),
    key("change", "a fraction, or a string such as \"-47 %\"", "change = \"-47 %\""),
    key("value", "a number from 0; times in nanoseconds", "value = 17098340"),
    key("per", "\"total\" or \"unit\"", "per = \"unit\""),
    key("tolerance", TOLERANCE, "tolerance = \"10 %\""),
    key("before", NUMBER, "before = 17098340"),
    key("after", NUMBER, "after = 9000000"),
    key("part", NUMBER, "part = 1854018"),
    key("whole", NUMBER, "whole = 17098340"),
    key("share", "a fraction, or a string such as \"10.84 %\"", "share = \"10.84 %\""),
];
