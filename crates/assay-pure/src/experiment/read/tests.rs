//! What is read from good files. What is said of bad ones is held by `tests/experiment_files`.

use super::program::WAYS;
use super::*;
use crate::experiment::spec::{CargoTarget, FlagSet, InputSource, OwnBuild, PlacementSpec};
use crate::experiment::{Axis, CacheState, ClaimSpec, ContrastSpec, Measure, Says, Usage};
use crate::inputs::{Format, Generator};

const MINIMAL: &str = r#"
question = "Is the table decoder faster?"
baseline = "branch"
variants = ["branch", "table"]

[program]
sources = ["decode.c"]
"#;

fn read(text: &str) -> ParsedExperiment {
    Experiment::from_toml(text, "casebook/varint/experiment.toml").unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(|problem| format!("{problem}\n")).collect::<String>())
    })
}

/// The minimal file with lines at its top and at its end.
fn with(top: &str, end: &str) -> Experiment {
    read(&format!("{top}\n{MINIMAL}\n{end}")).experiment
}

fn problems(text: &str) -> Vec<Diagnostic> {
    Experiment::from_toml(text, "x.toml").expect_err("a file with problems")
}

#[test]
fn fills_in_every_default() {
    let experiment = read(MINIMAL).experiment;
    assert_eq!(experiment.name, "varint");
    assert_eq!(experiment.unit, "call");
    assert_eq!(experiment.prediction, None);
    assert_eq!(experiment.minimum_effect, Margin::of(0.01));
    assert_eq!(experiment.confidence, 0.95);
    assert_eq!(experiment.budget_seconds, 60.0);
    assert_eq!(experiment.clock, Clock::Wall);
    assert_eq!(experiment.events, []);
    assert_eq!(experiment.seed, 1);
    assert_eq!(experiment.compilers, ["all"]);
    let o2 = FlagSet { name: "O2".into(), flags: vec!["-O2".into()], allow_unoptimised: false };
    assert_eq!(experiment.flags, [o2]);
    let placement = PlacementSpec { rotations: 8, max_rotations: 32, phases: vec![0, 16, 32, 48] };
    assert_eq!(experiment.placement, placement);
    assert!(experiment.claims.is_empty());
}

#[test]
fn figures_are_divided_by_what_the_inputs_consist_of_unless_the_file_says_otherwise() {
    let unit = |inputs: &str| with("", inputs).unit;
    for (input, word) in [
        ("path = \"a.bin\"", "byte"),
        ("path = \"a.txt\"\nformat = \"lines\"", "line"),
        ("path = \"a.bin\"\nformat = \"records:16\"", "record"),
        ("path = \"a.bin\"\nformat = \"messages:u16\"", "message"),
        ("path = \"a.bin\"\nformat = \"whole\"", "call"),
        ("generator = \"log_uniform\"", "varint"),
        ("generator = \"uniform\"", "u32"),
        ("generator = \"text\"", "line"),
        ("generator = \"settings\"\nsettings = { size = 5 }", "call"),
        ("generator = \"settings\"\nsettings = { size = 5 }\nunits = 5", "unit"),
    ] {
        assert_eq!(unit(&format!("[inputs.x]\n{input}\n")), word, "{input}");
    }
    // Two formats of one word, and of two.
    let two =
        |second: &str| unit(&format!("[inputs.a]\npath = \"a\"\nformat = \"lines\"\n[inputs.b]\n{second}\n"));
    assert_eq!(two("path = \"b\"\nformat = \"json-lines\""), "line");
    assert_eq!(two("path = \"b\""), "unit");
    assert_eq!(with("unit = \"word\"", "[inputs.x]\npath = \"a.bin\"").unit, "word");
    // What only stands beside another has no say.
    let keys =
        "[inputs.table]\ngenerator = \"uniform\"\n[inputs.x]\npath = \"a\"\nwith = { t = \"table\" }\n";
    assert_eq!(unit(keys), "byte");
}

#[test]
fn measures_a_call_without_input_where_the_file_has_none() {
    let experiment = read(MINIMAL).experiment;
    let [input] = &experiment.inputs[..] else { panic!("{:?}", experiment.inputs) };
    assert_eq!((input.name.as_str(), &input.source), ("none", &InputSource::Empty));
    assert_eq!((input.format, input.window_units), (Format::Whole, 0));
}

#[test]
fn reads_the_events_that_are_counted_and_names_the_nearest_of_an_unknown_one() {
    let experiment = with("events = [\"branch-misses\", \"instructions\"]", "");
    assert_eq!(experiment.events, [CountedEvent::BranchMisses, CountedEvent::Instructions]);
    let found = problems(&format!("events = [\"branch-mises\"]\n{MINIMAL}"));
    assert_eq!((found.len(), found[0].nearest.as_deref()), (1, Some("branch-misses")), "{found:?}");
    let twice = problems(&format!("events = [\"branches\", \"branches\"]\n{MINIMAL}"));
    assert!(twice[0].message.contains("`branches` appears twice"), "{twice:?}");
}

#[test]
fn names_an_experiment_after_its_folder_or_else_its_file() {
    let name = |file| Experiment::from_toml(MINIMAL, file).expect("a good file").experiment.name;
    assert_eq!(name("casebook/varint/experiment.toml"), "varint");
    assert_eq!(name("varint.toml"), "varint");
    assert_eq!(name("./varint.toml"), "varint");
    assert_eq!(name("../varint.toml"), "varint");
    assert_eq!(name("my files/experiment.toml"), "my-files");
    assert_eq!(name(""), "experiment");
}

#[test]
fn reads_numbers_as_people_write_them() {
    let experiment = with("minimum_effect = \"2 %\"\nbudget = \"2 min\"\nconfidence = \"99 %\"", "");
    assert_eq!(experiment.minimum_effect, Margin::of(0.02));
    assert_eq!(experiment.budget_seconds, 120.0);
    assert_eq!(experiment.confidence, 0.99);
    assert_eq!(with("budget = 90", "").budget_seconds, 90.0);
    assert_eq!(with("budget = 0.5", "").budget_seconds, 0.5);
    assert_eq!(with("minimum_effect = 0", "").minimum_effect, Margin::of(0.0));
    assert_eq!(with("seed = \"0xffff_ffff_ffff_ffff\"", "").seed, u64::MAX);
}

#[test]
fn reads_each_generator_with_its_defaults() {
    let generator = |text: &str| {
        let experiment = with("", &format!("[inputs.x]\n{text}"));
        let [input] = &experiment.inputs[..] else { panic!("one input") };
        assert_eq!((input.format, input.window_units), (Format::Varint, 4096));
        match &input.source {
            InputSource::Generated { generator, units: 1_000_000, seed: 1, distinct_units: None } => {
                generator.clone()
            }
            other => panic!("{other:?}"),
        }
    };
    let weights = vec![80.0, 18.0, 2.0];
    for (text, expected) in [
        ("generator = \"lengths\"\nweights = [80, 18, 2]", Generator::Lengths { weights: weights.clone() }),
        ("generator = \"log_uniform\"", Generator::LogUniform { min_bits: 0, max_bits: 32 }),
        ("generator = \"uniform_value\"", Generator::UniformValue { min: 0, max: u64::from(u32::MAX) }),
        (
            "generator = \"uniform_value\"\nmin = 7\nmax = \"18446744073709551615\"",
            Generator::UniformValue { min: 7, max: u64::MAX },
        ),
        ("generator = \"uniform_length\"", Generator::UniformLength { min: 1, max: 5 }),
        ("generator = \"uniform_length\"\nmin = 3\nmax = 3", Generator::UniformLength { min: 3, max: 3 }),
        ("generator = \"constant\"\nlength = 10", Generator::Constant { length: 10 }),
        (
            "generator = \"bursts\"\nweights = [80, 18, 2]\nmean_length = 1",
            Generator::Bursts { weights, mean_length: 1.0 },
        ),
    ] {
        assert_eq!(generator(text), expected);
    }
}

/// The size and SHA-256 of the bytes that an input of these lines determines.
fn made(lines: &str) -> (usize, String) {
    let bytes = with("", &format!("[inputs.x]\n{lines}")).inputs[0].source.bytes().expect("not recorded");
    (bytes.len(), crate::inputs::digest(&bytes))
}

/// Source of the digests: the separate implementation in Python that made those of the generators.
#[test]
fn rescales_repeats_and_settles_to_the_same_bytes_for_ever() {
    let lengths = "generator = \"lengths\"\nweights = [80, 18, 2]\nseed = 42\nunits = 1000\n";
    let bursts = "generator = \"bursts\"\nweights = [80, 18, 2]\nmean_length = 32\nseed = 42\nunits = 1000\n";
    let log_uniform = "generator = \"log_uniform\"\nseed = 42\nunits = 1000\n";
    for (lines, size, sha256) in [
        (
            format!("{lengths}multi_byte = \"31 %\""),
            1364,
            "ef9cf011a9635c7b95c6865ea942c39a3502b9adbf79e3a81b03bf825dbab24e",
        ),
        (
            format!("{lengths}multi_byte = 0"),
            1000,
            "4990c8ca1f8f1cf464ba25bd1dc548e771f8abd7ac7efd3dab7a69142cdd9b36",
        ),
        (
            format!("{lengths}multi_byte = 1"),
            2110,
            "f2ab8a14b6f1d6ee176815f11155a729af719cd1c510134ee9820eaa6e238ae7",
        ),
        (
            format!("{bursts}multi_byte = 0.31"),
            1241,
            "12a69d84225078178f263fa04cd3934107810523e10a68755872fdf03f441edc",
        ),
        (
            format!("{log_uniform}distinct_units = 300"),
            2759,
            "d9903cf57727f122711e137bc65c0471dc9e46397e4b02dacdb8d5bdc639fa23",
        ),
        (
            format!("{lengths}multi_byte = 0.31\ndistinct_units = 1"),
            2000,
            "71d9a8e2d7341bd5c6dcb74a686b58c78434e446fe82e34dd2f7e15e3b2d4331",
        ),
        (
            "generator = \"settings\"\nsettings = { window = 64, loss = 0.05 }\nunits = 1000".into(),
            31,
            "2da29d42a2f65bb4936f5c00146926a7903aa4356d1fc5987a63741a225048e5",
        ),
    ] {
        assert_eq!(made(&lines), (size, sha256.to_owned()), "{lines}");
    }
}

#[test]
fn as_many_distinct_units_as_units_are_no_repetition() {
    let lines = "generator = \"log_uniform\"\nunits = 500\n";
    assert_eq!(made(&format!("{lines}distinct_units = 500")), made(lines));
}

#[test]
fn hands_settings_over_whole_as_the_units_that_one_call_does() {
    let text = "[inputs.link]\ngenerator = \"settings\"\nunits = 1000\n[inputs.link.settings]\nloss = 0.05";
    let input = with("", text).inputs.remove(0);
    assert_eq!(
        (input.format, input.source.bytes()),
        (Format::Whole, Some(b"loss=0.05\nunits=1000\n".to_vec()))
    );
    let bytes = input.source.bytes().expect("made");
    let window = crate::inputs::Window { offset: 0, size: 21, units: 1000 };
    assert_eq!(input.windows(&bytes), Ok(vec![window]));
    assert_eq!(input.units(&bytes), Ok(1000));
    let found = input.describe(&bytes).expect("a whole");
    assert_eq!((found.units, found.bytes, found.bytes_per_unit), (1000, 21, 0.021));
    let bare = with("", "[inputs.x]\ngenerator = \"settings\"\nsettings = {}").inputs.remove(0);
    assert_eq!(bare.source.bytes(), Some(b"units=1\n".to_vec()));
}

#[test]
fn keeps_the_recipes_of_ledgers_written_before() {
    // What a ledger has of an input without the new keys must still be found by it.
    let source = with("", "[inputs.x]\ngenerator = \"log_uniform\"").inputs.remove(0).source;
    let recipe = serde_json::to_value(&source).expect("plain data");
    let before = serde_json::json!({
        "kind": "generated",
        "generator": {"generator": "log_uniform", "min_bits": 0, "max_bits": 32},
        "units": 1_000_000,
        "seed": 1,
    });
    assert_eq!(recipe, before);
    assert_eq!(serde_json::from_value::<InputSource>(before).expect("readable"), source);
}

#[test]
fn takes_a_recorded_input_for_bytes_unless_it_says_otherwise() {
    let experiment =
        with("", "[inputs.a]\npath = \"a.bin\"\n[inputs.b]\npath = \"b.txt\"\nformat = \"lines\"");
    assert_eq!(experiment.inputs[0].source, InputSource::Recorded { path: "a.bin".into() });
    assert_eq!(experiment.inputs[0].format, Format::Bytes);
    assert_eq!(experiment.inputs[1].format, Format::Lines);
}

#[test]
fn reads_inputs_in_file_order_in_either_form() {
    let names = |text: &str| with("", text).inputs.into_iter().map(|input| input.name).collect::<Vec<_>>();
    assert_eq!(names("[inputs.z]\npath = \"z\"\n[inputs.a]\npath = \"a\""), ["z", "a"]);
    assert_eq!(
        names("[[inputs]]\nname = \"z\"\npath = \"z\"\n[[inputs]]\nname = \"a\"\npath = \"a\""),
        ["z", "a"]
    );
}

#[test]
fn names_a_single_flag_set_after_its_flags() {
    let names = |text| with(text, "").flags.into_iter().map(|set| set.name).collect::<Vec<_>>();
    assert_eq!(names("flags = [\"-O2\"]"), ["O2"]);
    assert_eq!(names("flags = [\"-O3\", \"-march=native\", \"-DX=a b\"]"), ["O3+march:native+DX:a-b"]);
}

#[test]
fn reads_flag_sets_in_each_form() {
    let short = with("", "[flags]\nO2 = [\"-O2\"]\nO3 = { flags = [\"-O3\"] }").flags;
    let long =
        with("", "[[flags]]\nname = \"O2\"\nflags = [\"-O2\"]\n[[flags]]\nname = \"O3\"\nflags = [\"-O3\"]")
            .flags;
    assert_eq!(short, long);
    assert_eq!(short[1].flags, ["-O3"]);
}

#[test]
fn takes_unoptimised_code_only_where_it_is_asked_for() {
    let refused = |top: &str, end: &str| problems(&format!("{top}\n{MINIMAL}\n{end}")).len();
    assert_eq!(refused("flags = [\"-O0\"]", ""), 1);
    assert_eq!(refused("flags = []", ""), 1);
    assert_eq!(refused("", "[flags]\na = [\"-g\"]\nb = [\"-O0\"]"), 2);
    assert!(with("flags = [\"-O0\"]\nallow_unoptimised = true", "").flags[0].allow_unoptimised);
    assert!(with("", "[flags]\nallow_unoptimised = true\nO0 = [\"-O0\"]").flags[0].allow_unoptimised);
    // The level may come from the program's own flags, and the last one counts.
    assert_eq!(with("flags = [\"-g\"]", "flags = [\"-O2\"]").flags[0].flags, ["-g"]);
    assert_eq!(refused("flags = [\"-O0\"]", "flags = [\"-O2\"]"), 1);
    for level in ["-O", "-O1", "-Os", "-Og", "-Ofast", "-Oz"] {
        assert_eq!(with(&format!("flags = [\"{level}\"]"), "").flags[0].flags, [level]);
    }
}

#[test]
fn takes_the_ends_of_each_range() {
    let placement = with("", "[placement]\nrotations = 9\nmax_rotations = 9\nphases = [0, 63]").placement;
    assert_eq!((placement.rotations, placement.max_rotations, placement.phases), (9, 9, vec![0, 63]));
    let text = "[inputs.x]\ngenerator = \"lengths\"\nweights = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]\nunits = 1_000_000_000";
    let source = with("", text).inputs.remove(0).source;
    let InputSource::Generated { generator: Generator::Lengths { weights }, units, .. } = source else {
        panic!("{source:?}")
    };
    assert_eq!((weights.len(), units), (10, 1_000_000_000));
}

#[test]
fn refuses_paths_and_flags_that_no_command_line_can_carry() {
    let text = MINIMAL.replace("decode.c", "decode\\u0007.c");
    assert_eq!(problems(&text)[0].message, "`program.sources[0]` contains a control character");
}

#[test]
fn raises_the_largest_number_of_rotations_with_the_first() {
    let placement = with("", "[placement]\nrotations = 40").placement;
    assert_eq!((placement.rotations, placement.max_rotations), (40, 40));
}

#[test]
fn reads_every_statement_of_a_claim() {
    let text = r#"
        [[claims]]
        text = "it is"
        source = "a blog"
        candidate = "table"
        baseline = "branch"
        compilers = ["gcc*"]
        flags = ["O2", "a*"]
        baseline_compiler = "gcc-11"
        baseline_flags = "O3"
        says = "slower"
        ratio = 1.2
        ratio_tolerance = "10 %"
        ns_per_unit = 2
        miss_rate = "150 %"
        misses_per_unit = 0.5
        instructions_per_unit = 8
        branches_per_unit = 0
        cycles_per_unit = 3.5
        allocations_per_unit = 0
        allocated_bytes_per_unit = 24
        peak_bytes_per_unit = 8.5
        gigabytes_per_second = 0.5
        million_units_per_second = 500
        share = 1.5
        before = 4
        after = 0
        change = -1
    "#;
    let expected = ClaimSpec {
        text: "it is".into(),
        source: Some("a blog".into()),
        candidate: Some("table".into()),
        baseline: Some("branch".into()),
        inputs: vec![],
        compilers: vec!["gcc*".into()],
        flags: vec!["O2".into(), "a*".into()],
        baseline_compiler: Some("gcc-11".into()),
        baseline_flags: Some("O3".into()),
        says: Some(Says::Slower),
        ratio: Some(1.2),
        ratio_tolerance: Some(0.1),
        ns_per_unit: Some(2.0),
        gigabytes_per_second: Some(0.5),
        million_units_per_second: Some(500.0),
        // Impossible numbers are claims to refute, not mistakes in the file.
        miss_rate: Some(1.5),
        misses_per_unit: Some(0.5),
        instructions_per_unit: Some(8.0),
        branches_per_unit: Some(0.0),
        cycles_per_unit: Some(3.5),
        allocations_per_unit: Some(0.0),
        allocated_bytes_per_unit: Some(24.0),
        peak_bytes_per_unit: Some(8.5),
        share: Some(1.5),
        before: Some(4.0),
        after: Some(0.0),
        change: Some(-1.0),
    };
    assert_eq!(with("", text).claims, [expected]);
}

#[test]
fn compares_variants_unless_the_file_asks_for_other_axes() {
    let contrasts = |end: &str| with("", end).contrasts;
    assert_eq!(contrasts(""), ContrastSpec::default());
    assert_eq!(contrasts("").along, [Axis::Variant]);
    let all = contrasts(
        "[flags]\nO2 = [\"-O2\"]\nO3 = [\"-O3\"]\n[contrasts]\nalong = [\"compiler\", \"flags\"]\ncompiler = \"each\"\nflags = \"O3\"",
    );
    assert_eq!(all.along, [Axis::Compiler, Axis::Flags]);
    assert_eq!((all.compiler.as_deref(), all.flags.as_deref()), (Some("each"), Some("O3")));
    // A baseline on another axis is there to be compared with.
    assert_eq!(contrasts("[contrasts]\ncompiler = \"gcc-12\"").along, [Axis::Variant, Axis::Compiler]);
}

#[test]
fn refuses_contrasts_that_say_nothing_or_name_nothing() {
    let found = |end: &str| -> Vec<String> {
        problems(&format!("{MINIMAL}\n{end}")).into_iter().map(|problem| problem.message).collect()
    };
    assert_eq!(found("[contrasts]\nalong = []"), ["`contrasts.along` is empty"]);
    assert_eq!(
        found("[contrasts]\nalong = [\"flags\", \"flags\"]"),
        ["`flags` appears twice, first on line 10"]
    );
    assert_eq!(found("[contrasts]\nflags = \"O4\""), ["`contrasts.flags` names an unknown flag set: \"O4\""]);
    assert_eq!(
        found("[contrasts]\nalong = [\"variant\"]\ncompiler = \"gcc-12\""),
        ["`contrasts.compiler` sets a baseline, but nothing is compared along that axis"]
    );
    assert_eq!(
        found("[contrasts]\nalong = [\"input\"]"),
        ["`contrasts.along[0]` has an unknown value: \"input\""]
    );
    assert_eq!(found("contrasts = 1").len(), 1);
}

#[test]
fn lets_a_claim_compare_a_variant_with_itself_in_another_build() {
    let claim = "[[claims]]\ntext = \"t\"\ncandidate = \"branch\"\nsays = \"faster\"";
    assert_eq!(problems(&format!("{MINIMAL}\n{claim}")).len(), 1);
    let across = with("", &format!("{claim}\nbaseline_compiler = \"gcc-11\""));
    assert_eq!(across.claims[0].baseline_variant("branch"), Some("branch"));
    assert_eq!(across.claims[0].baseline_variant("table"), Some("branch"));
}

#[test]
fn takes_a_claim_for_one_about_the_only_candidate() {
    let claims = with("", "[[claims]]\ntext = \"faster\"\nsays = \"faster\"").claims;
    assert_eq!(claims[0].candidate.as_deref(), Some("table"));
    let text = "[[claims]]\ntext = \"faster\"\nsays = \"faster\"\nbaseline = \"table\"";
    assert_eq!(with("", text).claims[0].candidate.as_deref(), Some("branch"));
}

#[test]
fn leaves_plain_arithmetic_without_a_candidate() {
    let text = "[[claims]]\ntext = \"half\"\nbefore = 2\nafter = 1\nratio = 0.5\n[[claims]]\ntext = \"s\"\nshare = 2";
    assert!(with("", text).claims.iter().all(|claim| claim.candidate.is_none()));
}

#[test]
fn reports_problems_in_the_order_of_the_file() {
    let found = problems("clock = 1\nseed = -1\n[placement]\nrotations = 0\n[program]\nsources = 1\n");
    let lines: Vec<usize> = found.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [1, 1, 1, 1, 2, 4, 6]);
}

#[test]
fn lets_the_lab_complain_at_the_right_place() {
    let parsed = read(MINIMAL);
    let problem =
        parsed.diagnostic("program.sources[0]", "there is no file decode.c", Some("decoder.c"), None);
    let expected = "\
casebook/varint/experiment.toml:7:12: there is no file decode.c
  |
7 | sources = [\"decode.c\"]
  |            ^^^^^^^^^^
  nearest:  `decoder.c`";
    assert_eq!(problem.to_string(), expected);
}

#[test]
fn lets_the_lab_complain_of_a_default_without_showing_a_line() {
    let example = Some("compilers = [\"gcc\"]");
    let problem = read(MINIMAL).diagnostic("compilers[0]", "no compiler was found", None, example);
    let expected = "\
casebook/varint/experiment.toml:1:1: no compiler was found
  example:  compilers = [\"gcc\"]";
    assert_eq!(problem.to_string(), expected);
}

/// The minimal file in which a line stands for the key that it sets.
fn with_example(name: &str, example: &str) -> String {
    let dotted = MINIMAL.replace("[program]\nsources", "program.sources");
    let others: Vec<&str> = dotted.lines().filter(|line| !line.starts_with(name)).collect();
    format!("{}\n{example}", others.join("\n"))
}

#[test]
fn shows_examples_that_are_read() {
    for key in schema::TOP {
        // Claims and sweeps refer to inputs, and inputs are held below.
        if key.name == "copies" {
            read(&with_example(key.name, &format!("states = [\"rotating\"]\n{}", key.example)));
        } else if !["claims", "inputs", "sweeps"].contains(&key.name) {
            read(&with_example(key.name, key.example));
        }
    }
    for (way, keys) in WAYS {
        // A package has one target, and a list of files in Zig none.
        let others: &[&str] = if way == "zig" { &["bin"] } else { &["bench", "example"] };
        let own =
            |name: &str| name == way || name == "flags" || keys.contains(&name) && !others.contains(&name);
        let program: Vec<&str> =
            schema::PROGRAM.iter().filter(|key| own(key.name)).map(|key| key.example).collect();
        read(&with_example("program", &format!("[program]\n{}", program.join("\n"))));
    }
    let placement: Vec<&str> = schema::PLACEMENT.iter().map(|key| key.example).collect();
    with("", &format!("[placement]\n{}", placement.join("\n")));
    for (generator, keys) in schema::GENERATORS {
        let drawn = if *generator == schema::SETTINGS { &[] } else { schema::DRAWN };
        // A format is the generator's own affair where it has only one.
        let input = if drawn.is_empty() { &schema::INPUT[..2] } else { schema::INPUT };
        let keys = keys.iter().chain(&schema::GENERATED[1..]).chain(drawn).chain(&input[1..]);
        let lines: Vec<&str> = keys.map(|key| key.example).collect();
        with("", &format!("[inputs.x]\ngenerator = \"{generator}\"\n{}", lines.join("\n")));
    }
    let contrasts: Vec<&str> = schema::CONTRASTS[1..].iter().map(|key| key.example).collect();
    with("", &format!("[contrasts]\n{}", contrasts.join("\n")));
    let accept: Vec<&str> = schema::ACCEPT.iter().map(|key| key.example).collect();
    with("", &format!("[[accept]]\n{}", accept.join("\n")));
    let claim: Vec<&str> = schema::CLAIM.iter().map(|key| key.example).collect();
    with("", &format!("[inputs.mixed]\npath = \"x\"\n[[claims]]\n{}", claim.join("\n")));
}

#[test]
fn a_program_is_built_in_one_way() {
    let said = |program: &str| {
        let text =
            format!("question = \"q\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\n[program]\n{program}\n");
        problems(&text).iter().map(|problem| problem.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        said("sources = [\"x.c\"]\ncargo = \"Cargo.toml\""),
        ["`program.cargo` stands beside `program.sources`: a program is built in one way"]
    );
    assert_eq!(said("cmake = \".\""), ["`program.target` is missing"]);
    assert_eq!(said("build = \"make\"\ntarget = \"x\"").len(), 2, "no binary, and a key of another way");
    assert_eq!(
        said("cargo = \".\"\nbin = \"a\"\nbench = \"b\""),
        ["`program` names more than one of `bin`, `bench` and `example`"]
    );
    assert_eq!(said("cargo = \".\"\nprofile = \"dev\""), ["cargo's profile `dev` does not optimise"]);
    assert_eq!(
        said("sources = [\"x.c\"]\nbin = \"x\""),
        ["`program.bin` goes with `program.zig` or `program.cargo` only"]
    );
    let kept = |program: &str| read(&with_example("program", &format!("[program]\n{program}"))).experiment;
    let bench = kept("cargo = \".\"\nbench = \"sums\"");
    let Some(OwnBuild::Cargo { target, profile, .. }) = bench.program.build else { panic!("a package") };
    assert_eq!((target, profile.as_str()), (CargoTarget::Bench("sums".into()), "bench"));
    assert_eq!((bench.compilers.len(), bench.flags[0].name.as_str()), (0, "bench"));
    assert_eq!(kept("cargo = \".\"\nprofile = \"dev\"\nflags = [\"-Copt-level=2\"]").flags[0].name, "dev");
}

#[test]
fn reads_what_is_accepted_and_wants_a_known_check_and_a_reason() {
    let accepted =
        with("", "[[accept]]\ncheck = \"all-in-l1\"\ninputs = [\"s*\"]\nbecause = \"it is the question\"");
    let [one] = &accepted.accept[..] else { panic!("{:?}", accepted.accept) };
    assert_eq!((one.check.as_str(), one.because.as_str()), ("all-in-l1", "it is the question"));
    assert_eq!((one.inputs.as_slice(), one.variants.len()), (["s*".to_owned()].as_slice(), 0));
    let found = problems(&format!("{MINIMAL}[[accept]]\ncheck = \"memorized\"\n"));
    let [missing, unknown] = &found[..] else { panic!("{found:?}") };
    assert!(missing.to_string().contains("because"), "{missing}");
    assert_eq!(unknown.nearest.as_deref(), Some("memorised"));
}

#[test]
fn reads_how_much_production_goes_through() {
    let input = "[inputs.x]\ngenerator = \"log_uniform\"\n";
    let production = |line: &str| with("", &format!("{input}{line}")).inputs[0].production_units;
    assert_eq!(production(""), None);
    assert_eq!(production("production_units = 5_000_000"), Some(5_000_000));
    let text = format!("{MINIMAL}{input}production_units = 0");
    assert_eq!(problems(&text)[0].key, "inputs.x.production_units");
}

#[test]
fn an_input_in_several_uses_is_several_inputs_of_the_same_bytes() {
    let two = "[inputs.a]\ngenerator = \"constant\"\nlength = 1\n[inputs.b]\npath = \"b\"\nstates = [\"rotating\", \"cold_code\"]\ncopies = 9";
    let top = "states = [\"hot\", \"cold_data\"]\nmeasure = [\"throughput\", \"latency\"]";
    let experiment = with(top, two);
    let names: Vec<&str> = experiment.inputs.iter().map(|input| input.name.as_str()).collect();
    let of_a = ["a", "a@latency", "a@cold-data", "a@cold-data,latency"];
    assert_eq!(names[..4], of_a);
    assert_eq!(names[4..], ["b@rotating-9", "b@rotating-9,latency", "b@cold-code"]);
    let of: Vec<Option<&str>> = experiment.inputs.iter().map(|input| input.of.as_deref()).collect();
    assert_eq!(of, [None, Some("a"), Some("a"), Some("a"), Some("b"), Some("b"), Some("b")]);
    assert!(experiment.inputs[..4].iter().all(|input| input.source == experiment.inputs[0].source));
    assert_eq!(experiment.inputs[3].file_name(), "a");
    let files = experiment.file_inputs();
    assert_eq!(files.iter().map(|input| input.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(files.iter().all(|input| input.usage.is_plain() && input.of.is_none()));
    let uses: Vec<Usage> = experiment.inputs.iter().map(|input| input.usage).collect();
    assert!(uses[0].is_plain());
    assert_eq!(
        (uses[3].state, uses[3].measure, uses[3].copies),
        (CacheState::ColdData, Measure::Latency, None)
    );
    assert_eq!((uses[4].state, uses[4].copies), (CacheState::Rotating, Some(9)));
}

#[test]
fn a_call_without_input_has_states_too() {
    let experiment = with("states = [\"hot\", \"cold_code\"]", "");
    let names: Vec<&str> = experiment.inputs.iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["none", "none@cold-code"]);
}

#[test]
fn claims_name_uses_of_inputs() {
    let input = "[inputs.a]\ngenerator = \"constant\"\nlength = 1\nstates = [\"cold_data\"]";
    let claim = "[[claims]]\ntext = \"t\"\nsays = \"faster\"\ninputs = [\"a@cold-data\"]";
    assert_eq!(with("", &format!("{input}\n{claim}")).claims[0].inputs, ["a@cold-data"]);
    let hot = claim.replace("a@cold-data", "a");
    let found = problems(&format!("{MINIMAL}\n{input}\n{hot}"));
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("names an unknown input: \"a\""), "{}", found[0].message);
}

#[test]
fn a_sweep_of_what_is_no_number_of_an_input_names_the_nearest_that_is_one() {
    let advice = |key: &str| {
        let sweep = format!("[sweeps.a]\nkey = \"{key}\"\nfrom = 1\nto = 2\n");
        let inputs = "[inputs.mixed]\ngenerator = \"lengths\"\nweights = [80, 18, 2]\n[inputs.link]\n\
                      generator = \"settings\"\nsettings = { loss = 0.05, mode = \"fast\" }\n";
        let found = problems(&format!("{MINIMAL}{inputs}{sweep}"));
        let of_key = found.iter().find(|problem| problem.key.ends_with("key")).expect(key);
        (of_key.nearest.clone().unwrap_or_default(), of_key.expected.clone().unwrap_or_default())
    };
    let near = |key: &str| advice(key).0;
    assert_eq!(near("inputs.mixed.unitz"), "inputs.mixed.units");
    assert_eq!(near("inputs.mixde.units"), "inputs.mixed.units");
    assert_eq!(near("input.mixed.units"), "inputs.mixed.units");
    assert_eq!(near("multi_byte"), "inputs.mixed.multi_byte");
    assert_eq!(near("inputs.mixed.weights"), "inputs.mixed.weights.0");
    assert_eq!(near("inputs.mixed.weights.7"), "inputs.mixed.weights.0");
    assert_eq!(near("inputs.link.setting.loss"), "inputs.link.settings.loss");
    assert_eq!(near("inputs.link.settings.los"), "inputs.link.settings.loss");
    assert_eq!(near("budget"), "");
    let known = "a number of `mixed`: weights.0, weights.1, weights.2, multi_byte, units, distinct_units, \
                 window_units, production_units, copies";
    assert_eq!(advice("inputs.mixed.mean_length").1, known);
    assert!(!advice("inputs.link.mode").1.contains("mode"), "a text is no number");
}
