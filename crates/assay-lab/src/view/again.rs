//! The command that measures a thing again, from what the ledger keeps of how it was asked.
//!
//! A campaign keeps its experiment with the command line's wishes applied, the file as it was, and the processor: what differs
//! from the file was asked for. A comparison does not keep how its figures were read, so its command says what to add.

use crate::store::{CampaignRow, SweepRow};
use assay_pure::experiment::Experiment;
use assay_pure::sweep::spec::SweepSpec;
use assay_report::compare::ComparePage;

/// The command of a campaign.
pub fn of_campaign(row: &CampaignRow, file: &str) -> String {
    let mut words = vec!["assay run".to_owned(), quoted(file)];
    let asked = serde_json::from_value::<Experiment>(row.spec.clone()).ok();
    let written = written(row);
    if let (Some(asked), Some(written)) = (&asked, &written) {
        let ends_early =
            |experiment: &Experiment| experiment.placement.max_rotations <= experiment.placement.rotations;
        if ends_early(asked) && !ends_early(written) {
            words.push("--quick".into());
        }
        let names = |experiment: &Experiment| -> Vec<String> {
            experiment.inputs.iter().map(|input| input.name.clone()).collect()
        };
        if names(asked) != names(written) {
            words.extend(names(asked).iter().map(|name| format!("--input {}", quoted(name))));
        }
    }
    if let Some(asked) = &asked {
        words.push(format!("--seed {} --budget {}", asked.seed, asked.budget_seconds));
    }
    words.extend(of_both(row, asked.as_ref(), written.as_ref()));
    words.join(" ")
}

/// The command of a sweep; `row` is of its first campaign.
pub fn of_sweep(sweep: &SweepRow, row: Option<&CampaignRow>, file: &str) -> String {
    let mut words = vec!["assay sweep".to_owned(), quoted(file)];
    let asked = row.and_then(|row| serde_json::from_value::<Experiment>(row.spec.clone()).ok());
    let written = row.and_then(written);
    let spec = serde_json::from_value::<SweepSpec>(sweep.spec.clone()).ok();
    let in_file =
        written.as_ref().and_then(|written| written.sweeps.iter().find(|known| known.name == sweep.name));
    match (spec, in_file) {
        (Some(spec), None) if written.is_some() && spec.values.is_empty() => words.push(by_range(&spec)),
        _ => words.push(quoted(&sweep.name)),
    }
    if let Some(budget) = sweep.asked["budget_seconds"].as_f64() {
        words.push(format!("--budget {budget}"));
    }
    if sweep.asked["every_pair"].as_bool() == Some(true) {
        words.push("--all".into());
    }
    words.extend(asked.as_ref().map(|asked| format!("--seed {}", asked.seed)));
    words.extend(row.iter().flat_map(|row| of_both(row, asked.as_ref(), written.as_ref())));
    words.join(" ")
}

/// A sweep that the command line described.
fn by_range(spec: &SweepSpec) -> String {
    let value = |value: f64| if spec.percent { format!("'{} %'", value * 100.0) } else { value.to_string() };
    let (key, from, to) = (quoted(&spec.key), value(spec.from), value(spec.to));
    let scale = serde_json::to_value(spec.scale).ok();
    let scale = scale.and_then(|scale| Some(format!(" --scale {}", scale.as_str()?))).unwrap_or_default();
    format!("--key {key} --from {from} --to {to} --points {}{scale} --refine {}", spec.points, spec.refine)
}

/// What runs and sweeps are asked alike: compilers, where they are not the file's, and the processor.
fn of_both(row: &CampaignRow, asked: Option<&Experiment>, written: Option<&Experiment>) -> Vec<String> {
    let mut words = Vec::new();
    if let (Some(asked), Some(written)) = (asked, written)
        && asked.compilers != written.compilers
    {
        words.extend(asked.compilers.iter().map(|name| format!("--compiler {}", quoted(name))));
    }
    words.extend(row.pinned_cpu.map(|cpu| format!("--cpu {cpu}")));
    words
}

/// What the file says by itself; none where today's version does not read it.
fn written(row: &CampaignRow) -> Option<Experiment> {
    Experiment::from_toml(&row.experiment_text, "").ok().map(|read| read.experiment)
}

/// The command of a comparison.
pub fn of_comparison(page: &ComparePage, budget: Option<f64>) -> String {
    let mut words = vec!["assay compare".to_owned()];
    let bench: Vec<String> = page.bench.iter().map(|command| quoted(command)).collect();
    if let Some(build) = &page.build {
        words.push(format!(
            "--build {} --bench {}",
            quoted(build),
            bench.first().map_or("''", String::as_str)
        ));
    }
    words.push(format!("--seed {}", page.measured.seed));
    words.extend(budget.map(|budget| format!("--budget {budget}")));
    words.extend(page.measured.pinned_cpu.map(|cpu| format!("--cpu {cpu}")));
    if page.build.is_some() {
        words.extend(page.sides.iter().filter_map(|side| side.revision.clone()));
    } else {
        words.push(format!("-- {}", bench.join(" ")));
    }
    // A shell takes no notice of it, wherever it is pasted.
    words.push("# with --adapter, --filter and --time as they were given, which are not kept".into());
    words.join(" ")
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/=+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FILE: &str = "question = \"q\"\nbaseline = \"a\"\nvariants = [\"a\", \"b\"]\nprogram.sources = [\"x.c\"]\n\
        [inputs.mixed]\ngenerator = \"constant\"\nformat = \"bytes\"\nlength = 1\nunits = 64\n\
        [inputs.other]\ngenerator = \"constant\"\nformat = \"bytes\"\nlength = 1\nunits = 64\n";

    fn row(wishes: impl Fn(&mut Experiment)) -> CampaignRow {
        let mut experiment = Experiment::from_toml(FILE, "").expect("a valid file").experiment;
        (experiment.seed, experiment.budget_seconds) = (7, 0.3);
        wishes(&mut experiment);
        CampaignRow {
            id: 1,
            experiment: "skip".into(),
            question: String::new(),
            experiment_text: FILE.into(),
            spec: serde_json::to_value(&experiment).unwrap(),
            machine: json!({}),
            pinned_cpu: Some(0),
            started_at: 0.0,
            finished_at: None,
            stopped: None,
            assay_version: String::new(),
            sources: None,
        }
    }

    #[test]
    fn a_campaign_is_repeated_with_all_that_was_asked() {
        let plain = of_campaign(&row(|_| ()), "skip.toml");
        assert_eq!(plain, "assay run skip.toml --seed 7 --budget 0.3 --cpu 0");
        let asked = row(|experiment| {
            experiment.placement.max_rotations = experiment.placement.rotations;
            experiment.compilers = vec!["gcc*".into()];
            experiment.inputs.remove(1);
        });
        assert_eq!(
            of_campaign(&asked, "skip.toml"),
            "assay run skip.toml --quick --input mixed --seed 7 --budget 0.3 --compiler 'gcc*' --cpu 0"
        );
    }

    #[test]
    fn a_sweep_of_the_command_line_is_repeated_by_its_range() {
        let sweep = |spec| SweepRow {
            id: 1,
            name: "units".into(),
            spec,
            asked: json!({"budget_seconds": 9.0, "every_pair": false}),
            started_at: 0.0,
            finished_at: None,
            stopped: None,
        };
        let spec = SweepSpec {
            name: "units".into(),
            description: None,
            key: "inputs.mixed.units".into(),
            from: 64.0,
            to: 4096.0,
            points: 9,
            values: Vec::new(),
            scale: assay_pure::sweep::scale::Scale::Geometric,
            refine: 4,
            tolerance: None,
            percent: false,
            whole: true,
            variants: Vec::new(),
        };
        let found = of_sweep(&sweep(serde_json::to_value(&spec).unwrap()), Some(&row(|_| ())), "x.toml");
        assert_eq!(
            found,
            "assay sweep x.toml --key inputs.mixed.units --from 64 --to 4096 --points 9 --scale geometric --refine 4 --budget 9 \
             --seed 7 --cpu 0"
        );
        let named = of_sweep(&sweep(json!({})), None, "FILE");
        assert_eq!(named, "assay sweep FILE units --budget 9");
    }

    #[test]
    fn a_shell_reads_back_what_is_quoted() {
        assert_eq!(quoted("a-b.toml"), "a-b.toml");
        assert_eq!(quoted("make -j2"), "'make -j2'");
        assert_eq!(quoted("it's; rm"), "'it'\\''s; rm'");
        assert_eq!(quoted(""), "''");
    }
}
