//! What other tools say of the same pairs, as their script reports it.

use super::pair::KnownPair;
use super::tally::{Trial, said_by};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the script builds with.
const COMPILER: &str = "gcc";

#[derive(Deserialize)]
struct PeerLine {
    pair: String,
    input: Option<String>,
    tool: String,
    verdict: Option<String>,
    difference: Option<f64>,
    skipped: Option<String>,
}

/// Runs `peers/peers.py` of a folder of pairs. Returns the trials and, for what was skipped, the reasons.
///
/// # Errors
/// The script is missing or fails, or writes something else than its lines.
pub fn ask(folder: &Path, pairs: &[KnownPair], repeat: u32) -> Result<(Vec<Trial>, Vec<String>)> {
    let script = folder.join("peers/peers.py");
    if !script.is_file() {
        bail!("there is no script {} to run the other tools", script.display());
    }
    let output = Command::new("python3")
        .arg(&script)
        .args(["--repeat", &repeat.to_string()])
        .args(pairs.iter().map(|pair| &pair.folder))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start python3, which runs the other tools")?;
    if !output.status.success() {
        bail!("{} ended with {}", script.display(), output.status);
    }
    read(&String::from_utf8_lossy(&output.stdout), pairs)
}

fn read(text: &str, pairs: &[KnownPair]) -> Result<(Vec<Trial>, Vec<String>)> {
    let mut trials = Vec::new();
    let mut skipped = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let line: PeerLine = serde_json::from_str(line)
            .with_context(|| format!("unreadable verdict of another tool: {line}"))?;
        if let Some(reason) = line.skipped {
            let text = format!("{}: {reason}", line.tool);
            if !skipped.contains(&text) {
                skipped.push(text);
            }
            continue;
        }
        let name = Path::new(&line.pair).file_name().map(|name| name.to_string_lossy().into_owned());
        let pair = pairs.iter().find(|pair| Some(&pair.name) == name.as_ref());
        let (Some(pair), Some(input)) = (pair, line.input) else { continue };
        let truth = pair.inputs.get(&input).with_context(|| format!("{} has no input {input}", pair.name))?;
        let said = line.verdict.as_deref().and_then(said_by).context("another tool gave no verdict")?;
        trials.push(Trial {
            tool: line.tool,
            compiler: COMPILER.into(),
            proven: false,
            what: format!("{} {input}", pair.name),
            kind: pair.kind,
            change: pair.change.clone(),
            truth: truth.clone(),
            said,
            difference: line.difference,
            twin: None,
        });
    }
    Ok((trials, skipped))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::pair::{PairKind, PairSource, Truth};
    use std::collections::BTreeMap;

    #[test]
    fn reads_verdicts_and_reasons_for_silence() {
        let truth = Truth { verdict: assay_pure::verdict::Verdict::Equivalent, nominal_effect: 0.0 };
        let pair = KnownPair {
            name: "null_01".into(),
            folder: "x/null_01".into(),
            kind: PairKind::Null,
            inputs: BTreeMap::from([("bytes".to_owned(), truth)]),
            change: None,
            source: PairSource::File("x/null_01/experiment.toml".into()),
        };
        let text = "{\"pair\": \"null_01\", \"input\": \"bytes\", \"tool\": \"hyperfine\", \"repeat\": 0, \
                    \"verdict\": \"slower\", \"p\": 0.01, \"difference\": 0.2}\n\
                    {\"pair\": \"null_01\", \"input\": \"bytes\", \"tool\": \"gb\", \"skipped\": \"not installed\"}\n";
        let (trials, skipped) = read(text, &[pair]).unwrap();
        assert_eq!((trials.len(), trials[0].said), (1, assay_pure::verdict::Verdict::Slower));
        assert_eq!(skipped, ["gb: not installed"]);
    }
}
