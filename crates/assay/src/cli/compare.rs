//! `assay compare`: is this regression mine, or where the linker put it?

use super::gates::{GivenGates, gates};
use super::help::{OUTPUT, STORAGE};
use super::on::{OnArguments, SharedQuestion};
use super::picture::PictureArguments;
use super::run::{StoragePaths, positive};
use super::{DONE, FAILED, UNABLE, reads, screen};
use anyhow::{Context, Result};
use assay_lab::compare::held::DEFAULT_LIMIT;
use assay_lab::compare::preview::{PreviewRequest, preview};
use assay_lab::compare::sides::What;
use assay_lab::compare::spec::AskedEffort;
use assay_lab::compare::{self, CompareRequest, compose, discover};
use assay_lab::lead::Misuse;
use assay_lab::store::{Kept, KeptRow, Ledger};
use assay_lab::view::{self, AnyPage, named};
use assay_link::adopt::bench::Adapter;
use assay_pure::discover::{self as discovered, Candidate};
use assay_pure::stats::margin::Margin;
use assay_report::compare::{ComparePage, markdown, render_compare_plan};
use assay_report::page::Stopped;
use assay_report::{Detail, Progress, Show, picture, render_compare};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Compare two revisions or two commands: is a regression real?
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/compare.txt"))]
pub struct CompareArguments {
    /// Build command, run by `sh -c` in each revision; without it and --bench, those of this folder's one benchmark
    #[arg(long, value_name = "CMD")]
    pub build: Option<String>,
    /// Benchmark command, run by `sh -c` in the same directory of each revision
    #[arg(long, value_name = "CMD")]
    pub bench: Option<String>,
    /// Baseline and candidate; one alone is compared with the working tree
    #[arg(value_name = "REVISION", num_args = 0..=2)]
    pub revisions: Vec<String>,
    /// Two commands to compare, instead of revisions
    #[arg(last = true, value_name = "CMD")]
    pub commands: Vec<String>,
    /// How to read figures from the benchmark command's output
    #[arg(long, value_name = "ADAPTER")]
    pub adapter: Option<String>,
    /// Only benchmarks whose name matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub filter: Option<String>,
    /// Time of each benchmark in each run, if its library has such an option; default: 0.002 for Google Benchmark, 0.004 for criterion, 0.01 for others
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub seconds_per_benchmark: Option<f64>,
    /// Repetitions of each benchmark in each run, if its library has such an option
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..1000))]
    pub repetitions: u32,
    /// Shuffled function orders, each at four offsets; default: as many as the budget allows, up to 8
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..1000))]
    pub rotations: Option<u32>,
    /// Most passes over all placements; default: as many as the budget allows, up to 12
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..1000))]
    pub rounds: Option<u32>,
    /// Time to measure
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0, value_parser = positive)]
    pub budget: f64,
    /// Effects below this count as equivalent
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = percent)]
    pub minimum_effect: f64,
    /// Confidence that all verdicts hold together
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = percent)]
    pub confidence: f64,
    /// Exit with 1 if the code of a benchmark is slower: `slower`, `slower:2%`, or a .toml file with one for each pattern
    #[arg(long, value_name = "GATE|FILE", value_parser = gates)]
    pub gate: Option<GivenGates>,
    /// Write a summary for a pull request as Markdown; - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write the report as JSON (schema/comparison-1.schema.json; of --plan, comparison-plan-1); - is standard output
    #[arg(long, help_heading = OUTPUT, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub pictures: PictureArguments,
    /// Show what causes the spread: side, placement, process, round
    #[arg(long, help_heading = OUTPUT)]
    pub factors: bool,
    /// Show every benchmark, with all reasons
    #[arg(long, help_heading = OUTPUT)]
    pub all: bool,
    /// Show no progress
    #[arg(long, short, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Show what would be built and run, and the budget it needs
    #[arg(long, conflicts_with = "show")]
    pub plan: bool,
    /// Continue the newest unfinished comparison with the same commits, commands and options
    #[arg(long)]
    pub resume: bool,
    /// Do not compare the machine code that each benchmark executes
    #[arg(long)]
    pub no_code: bool,
    /// Seed of orders, placements and environments
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// CPU to measure on; default: the last one allowed
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Let the command use every CPU, for programs with threads
    #[arg(long)]
    pub no_pin: bool,
    /// Time that one run of the command may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600.0, value_parser = positive)]
    pub timeout: f64,
    /// Show a comparison of the ledger by its number or name, default: the newest, without measuring
    #[arg(long, help_heading = OUTPUT, value_name = "COMPARISON", num_args = 0..=1, default_missing_value = "last", conflicts_with_all = ["build", "bench", "commands"])]
    pub show: Option<String>,
    #[command(flatten)]
    pub on: OnArguments,
    #[command(flatten)]
    pub places: StoragePaths,
    /// Builds that are kept for later comparisons, such as 2G; default: 4G, or what ASSAY_STORE_LIMIT says
    #[arg(long, help_heading = STORAGE, value_name = "SIZE", value_parser = bytes)]
    pub store_limit: Option<u64>,
}

/// "4G", "500 MB", "1048576"; a kilobyte has 1024 bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let refused = || format!("`{text}` is not a size: write it as 500M or 4G");
    let plain = text.trim().to_ascii_lowercase();
    let letters = plain.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number: f64 = plain[..plain.len() - letters.len()].parse().map_err(|_| refused())?;
    let power = match letters.trim().trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(refused()),
    };
    Ok((number * 1024_f64.powi(power)) as u64)
}

/// The limit that is asked for, by the option or by the environment.
fn store_limit(option: Option<u64>) -> Result<u64, Misuse> {
    match (option, std::env::var("ASSAY_STORE_LIMIT")) {
        (Some(limit), _) => Ok(limit),
        (None, Ok(text)) if !text.trim().is_empty() => {
            bytes(&text).map_err(|why| Misuse(format!("ASSAY_STORE_LIMIT: {why}")))
        }
        _ => Ok(DEFAULT_LIMIT),
    }
}

/// "2%" or "0.02".
fn percent(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number.trim(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 && number / scale < 1.0 => Ok(number / scale),
        _ => Err(format!("`{text}` is not between 0 and 100 %: write it as 2% or 0.02")),
    }
}

impl CompareArguments {
    /// Whether the commands are to be found in the folder.
    fn is_bare(&self) -> bool {
        self.build.is_none() && self.bench.is_none() && self.commands.is_empty()
    }

    /// What is compared, by the commands that were found where none were given.
    fn what(&self, found: Option<&Candidate>) -> Result<What, Misuse> {
        let wrong = |text: &str| Err(Misuse(format!("{text}; see `assay compare --help` for examples")));
        let build = self.build.as_ref().or(found.map(|found| &found.build));
        let bench = self.bench.as_ref().or(found.map(|found| &found.bench));
        match (build, bench, self.commands.as_slice(), self.revisions.as_slice()) {
            (None, None, [one, other], []) => Ok(What::Commands([one.clone(), other.clone()])),
            (None, None, [], []) => wrong("give --build and --bench, or two commands after --"),
            (_, _, [_, ..], [_, ..]) => wrong("give revisions or commands, not both"),
            (_, _, commands @ [_, ..], []) if commands.len() != 2 => {
                wrong("give two commands after --, each quoted as one word: -- './old -q' './new -q'")
            }
            (_, _, [_, ..], []) => wrong("--build and --bench go with revisions, not with commands after --"),
            (None, Some(_), [], _) => wrong("--bench needs --build: only a build made here can be relinked"),
            (_, None, [], _) => {
                wrong("--bench is missing: give the command that runs what --build has built")
            }
            (Some(build), Some(bench), [], revisions) => {
                let (build, bench) = (build.clone(), bench.clone());
                Ok(match revisions {
                    [] => What::Tree { build, bench },
                    [baseline, rest @ ..] => What::Revisions {
                        build,
                        bench,
                        baseline: baseline.clone(),
                        candidate: rest.first().cloned(),
                    },
                })
            }
        }
    }

    /// Measures on other machines, in this folder.
    fn shared(&self, folder: &Path) -> Result<u8> {
        let name = folder.file_name().map_or("compare".into(), |name| name.to_string_lossy().into_owned());
        SharedQuestion {
            verb: "compare",
            name,
            budget: Some(self.budget),
            parts: Vec::new(),
            on: &self.on,
            places: &self.places,
            resume: self.resume,
            quiet: self.quiet,
            all: self.all,
            of_one: &[
                ("--gate", self.gate.is_some()),
                ("--markdown", self.markdown.is_some()),
                ("--json", self.json.is_some()),
                ("--picture", !self.pictures.pictures.is_empty()),
            ],
        }
        .run()
    }

    /// The commands of this folder's one benchmark, where none were given.
    fn found(&self, folder: &Path) -> Result<Option<Candidate>, Misuse> {
        if !self.is_bare() {
            return Ok(None);
        }
        discover::commands(folder, &self.places.store(), &self.revisions).map(Some)
    }

    fn asked(&self, folder: PathBuf, what: What) -> Result<CompareRequest> {
        if let (Some(GivenGates { gates: gate, .. }), What::Tree { .. }) = (&self.gate, &what) {
            let message =
                format!("--gate {gate} needs a baseline: give a revision, for example --gate {gate} main");
            return Err(Misuse(message).into());
        }
        if let Some(GivenGates { gates, .. }) =
            self.gate.as_ref().filter(|given| given.gates.limits_allocations())
        {
            let message =
                format!("--gate {gates}: only `assay run` counts allocations; here memory has `peak:5%`");
            return Err(Misuse(message).into());
        }
        let adapter = self.adapter.as_deref().map(str::parse::<Adapter>).transpose();
        let adapter = adapter.map_err(|error| Misuse(format!("--adapter: {error}")))?;
        Ok(CompareRequest {
            what,
            folder,
            adapter,
            filter: self.filter.clone(),
            seconds_per_benchmark: self.seconds_per_benchmark,
            repetitions: self.repetitions,
            ledger: self.places.ledger.clone(),
            store: self.places.store(),
            store_limit: store_limit(self.store_limit)?,
            rotations: self.rotations,
            rounds: self.rounds,
            budget: self.budget,
            minimum_effect: Margin::of(self.minimum_effect),
            confidence: self.confidence,
            seed: self.seed,
            cpu: self.cpu,
            pin: !self.no_pin,
            gate: self.gate.as_ref().map(|given| given.gates.clone()),
            code: !self.no_code,
            resume: self.resume,
            patience: Duration::from_secs_f64(self.timeout),
        })
    }
}

/// Runs the verb.
///
/// # Errors
/// See [`compare::run`].
pub fn run(arguments: &CompareArguments) -> Result<u8> {
    let lines = arguments.build.iter().chain(&arguments.bench).chain(&arguments.commands);
    let gates = arguments.gate.as_ref().and_then(|given| given.file.clone());
    let reads: Vec<PathBuf> = lines.flat_map(|line| reads::of_line(line)).chain(gates).collect();
    for path in arguments.json.iter().chain(&arguments.markdown) {
        // Said before minutes of measuring, not after them.
        screen::find_place(path, &reads)?;
    }
    let files =
        arguments.json.iter().chain(&arguments.markdown).chain([&arguments.places.ledger]).chain(&reads);
    arguments.pictures.check(files.map(PathBuf::as_path))?;
    if let Some(wanted) = &arguments.show {
        let ledger = Ledger::open(arguments.places.find_ledger("assay compare --build CMD --bench CMD")?)?;
        let page = compose::page(
            &ledger,
            Some(named(&ledger, Some(wanted), &[Kept::Comparison])?.id),
            arguments.factors,
        )?;
        return show(arguments, &page);
    }
    let folder = std::env::current_dir().context("cannot find the current directory")?;
    let found = arguments.found(&folder)?;
    let what = arguments.what(found.as_ref())?;
    // A plan refuses what measuring would refuse.
    let asked = arguments.asked(folder, what)?;
    if arguments.plan {
        return plan(arguments, &asked, found);
    }
    if let Some(found) = &found {
        tell(found);
    }
    if arguments.on.on.is_some() {
        return arguments.shared(&asked.folder);
    }
    assay_linux::interrupt::catch();
    let mut progress = Progress::new(Show::choose(arguments.quiet, std::io::stderr().is_terminal()));
    let ended = compare::run(&asked, &mut |event| progress.event(&event))?;
    drop(progress);
    let ledger = Ledger::open(&asked.ledger)?;
    let mut page = compose::page(&ledger, Some(ended.comparison), true)?;
    let is_it = |row: &KeptRow| row.id == ended.comparison;
    view::keep(&ledger, Kept::Comparison, is_it, &AnyPage::Comparison(Box::new(page.clone())))?;
    page.factors = page.factors.filter(|_| arguments.factors);
    let code = show(arguments, &page)?;
    if ended.interrupted {
        screen::tell("assay: interrupted. Every finished run is kept; `--resume` continues from there.");
    }
    Ok(code)
}

/// The commands that were found, in two lines, to be typed next time.
fn tell(found: &Candidate) {
    let (build, bench) = (discovered::quoted(&found.build), discovered::quoted(&found.bench));
    screen::tell(&format!("assay: {} is the only benchmark found in this folder; using", found.what));
    screen::tell(&format!("  --build {build} --bench {bench}"));
}

fn plan(arguments: &CompareArguments, asked: &CompareRequest, found: Option<Candidate>) -> Result<u8> {
    let ledger = &asked.ledger;
    // A plan makes no ledger where there is none.
    let ledger = ledger.is_file().then(|| Ledger::open(ledger)).transpose()?;
    let plan = preview(&PreviewRequest {
        what: &asked.what,
        found: found.map(|found| found.what),
        folder: &asked.folder,
        asked: AskedEffort { rotations: asked.rotations, rounds: asked.rounds },
        budget: asked.budget,
        ledger: ledger.as_ref(),
    })?;
    match &arguments.json {
        Some(path) => screen::write(path, &format!("{}\n", serde_json::to_string_pretty(&plan)?))?,
        None => screen::show(&render_compare_plan(&plan, screen::width(), screen::colour())),
    }
    Ok(DONE)
}

fn show(arguments: &CompareArguments, page: &ComparePage) -> Result<u8> {
    if !arguments.json.iter().chain(&arguments.markdown).any(|file| screen::is_stdout(file)) {
        let detail = if arguments.all { Detail::Full } else { Detail::Brief };
        screen::show(&render_compare(page, screen::width(), screen::look(), detail));
    }
    if let Some(path) = &arguments.json {
        screen::write(path, &page.to_json())?;
    }
    if let Some(path) = &arguments.markdown {
        screen::write(path, &markdown(page, &arguments.pictures.beside(path)))?;
    }
    arguments.pictures.write(|| picture::of_comparison(page))?;
    Ok(exit_code(page))
}

/// 0 done, 1 the gate failed, something was not measured or it was interrupted, 3 nothing was measured or the gate is undecided.
pub fn exit_code(page: &ComparePage) -> u8 {
    match (page.measured.stopped_because, &page.gate) {
        (Stopped::Nothing, _) => UNABLE,
        _ if page.benchmarks.is_empty() => UNABLE,
        (_, Some(gate)) if !gate.failed.is_empty() => FAILED,
        (Stopped::Interrupted, None) => FAILED,
        _ if !page.spoilt.is_empty() => FAILED,
        (_, Some(gate)) if !gate.passed => UNABLE,
        _ => DONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: CompareArguments,
    }

    fn what(words: &[&str]) -> Result<What, String> {
        let line = Line::try_parse_from([&["compare"], words].concat()).map_err(|error| error.to_string())?;
        line.arguments.what(None).map_err(|misuse| misuse.0)
    }

    #[test]
    fn revisions_and_commands_are_told_apart() {
        let built = ["--build", "make", "--bench", "./b"];
        let tree = What::Tree { build: "make".into(), bench: "./b".into() };
        assert_eq!(what(&built), Ok(tree));
        let revisions = |candidate: Option<&str>| What::Revisions {
            build: "make".into(),
            bench: "./b".into(),
            baseline: "main".into(),
            candidate: candidate.map(Into::into),
        };
        assert_eq!(what(&[&built[..], &["main"]].concat()), Ok(revisions(None)));
        assert_eq!(what(&[&built[..], &["main", "HEAD"]].concat()), Ok(revisions(Some("HEAD"))));
        assert_eq!(what(&["--", "./a -x", "./b"]), Ok(What::Commands(["./a -x".into(), "./b".into()])));
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let read = [
            ("4G", 4 << 30),
            ("500 MB", 500 << 20),
            ("1.5gib", 3 << 29),
            ("10k", 10 << 10),
            ("0", 0),
            ("7", 7),
        ];
        for (text, expected) in read {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "G", "-1G", "4 parsecs", "4GG"] {
            assert!(bytes(text).unwrap_err().contains("500M or 4G"), "{text}");
        }
    }

    #[test]
    fn what_was_found_stands_in_for_commands_alone() {
        let found = Candidate { what: "x".into(), build: "make".into(), bench: "./b".into() };
        let line = Line::try_parse_from(["compare", "main"]).unwrap().arguments;
        assert!(line.is_bare());
        let expected = What::Revisions {
            build: "make".into(),
            bench: "./b".into(),
            baseline: "main".into(),
            candidate: None,
        };
        assert_eq!(line.what(Some(&found)).map_err(|misuse| misuse.0), Ok(expected));
        for words in [&["compare", "--bench", "./b"][..], &["compare", "--", "./a", "./b"]] {
            assert!(!Line::try_parse_from(words).unwrap().arguments.is_bare());
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_would() {
        for (words, expected) in [
            (&[][..], "give --build and --bench"),
            (&["--bench", "./b", "main"], "--bench needs --build"),
            (&["--build", "make", "main"], "--bench is missing"),
            (&["--", "./a"], "two commands"),
            (&["main", "--", "./a", "./b"], "not both"),
            (&["--build", "make", "--", "./a", "./b"], "go with revisions"),
        ] {
            let said = what(words).unwrap_err();
            assert!(said.contains(expected), "{words:?}: {said}");
        }
        assert!(what(&["--minimum-effect", "200%"]).unwrap_err().contains("write it as 2%"));
        assert!(what(&["--gate", "faster"]).unwrap_err().contains("`faster` is not a gate"));
    }
}
