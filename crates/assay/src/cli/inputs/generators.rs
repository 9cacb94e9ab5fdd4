//! `assay inputs generators`: what inputs can be generated, with every parameter, from the table that the reader has.

use crate::cli::help::OUTPUT;
use crate::cli::screen;
use anyhow::Result;
use assay_lab::lead::Misuse;
use assay_pure::experiment::diagnostic::nearest;
use assay_pure::inputs::kinds::{FAMILIES, Kind, Parameter, kind_named, kinds};
use serde_json::json;

/// Columns of the longest name.
const NAME_COLUMNS: usize = 16;

/// The generators of varints, which `assay new` explains.
const VARINTS: [(&str, &str); 7] = [
    ("lengths", "lengths of 1 to 10 bytes by weight, independent"),
    ("log_uniform", "all bit lengths alike"),
    ("uniform_value", "each value equally likely"),
    ("uniform_length", "each length equally likely"),
    ("constant", "one length"),
    ("bursts", "as lengths, but each is kept for a while"),
    ("markov", "lengths by the lengths before, as `assay inputs fit` writes it"),
];

/// The generators that are no kinds of the table.
const OTHERS: [(&str, &str); 2] = [
    ("keys", "keys to be looked up in another input, with a hit rate (docs/inputs.md)"),
    ("settings", "names and numbers, one per line, for a program that makes its own work"),
];

/// List the generators of inputs, or explain one
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("../help/generators.txt"))]
pub struct GeneratorsArguments {
    /// Generator to explain; default: a list of all
    name: Option<String>,
    /// Print JSON instead
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// Runs the verb.
///
/// # Errors
/// There is no such generator.
pub(super) fn run(arguments: &GeneratorsArguments) -> Result<()> {
    let chosen = match &arguments.name {
        None => None,
        Some(name) if arguments.json && VARINTS.iter().chain(&OTHERS).any(|(known, _)| known == name) => {
            let message = format!(
                "the keys of `{name}` are not in the table that --json prints; without --json it says where they are explained"
            );
            return Err(Misuse(message).into());
        }
        Some(name) if VARINTS.iter().chain(&OTHERS).any(|(known, _)| known == name) => {
            screen::print(&format!("`assay new FOLDER` writes a file that explains the keys of {name}.\n"));
            return Ok(());
        }
        Some(name) => Some(kind_named(name).ok_or_else(|| {
            let near = nearest(name, kinds().map(|kind| kind.name));
            let near = near.map_or(String::new(), |near| format!("; the nearest is `{near}`"));
            Misuse(format!("there is no generator `{name}`{near}. `assay inputs generators` lists all"))
        })?),
    };
    let text = match (arguments.json, chosen) {
        (true, chosen) => {
            let kinds = FAMILIES.iter().flat_map(|(_, kinds)| *kinds);
            let list: Vec<_> =
                kinds.filter(|kind| chosen.is_none_or(|c| c.name == kind.name)).map(as_json).collect();
            format!("{}\n", serde_json::to_string_pretty(&list)?)
        }
        (false, Some(kind)) => explained(kind),
        (false, None) => list(),
    };
    screen::print(&text);
    Ok(())
}

fn as_json(kind: &Kind) -> serde_json::Value {
    let parameter = |parameter: &Parameter| {
        json!({
            "name": parameter.name,
            "says": parameter.says,
            "domain": parameter.domain.words(),
            "default": parameter.preset.words(),
            "example": parameter.example,
        })
    };
    let formats: Vec<String> = kind.formats.iter().map(|format| format.word()).collect();
    json!({
        "name": kind.name,
        "says": kind.says,
        "formats": formats,
        "units": kind.units,
        "parameters": kind.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}

fn list() -> String {
    let mut text = String::from(
        "An input of an experiment has generator = \"NAME\". To explain one:\nassay inputs generators NAME\n",
    );
    for (family, kinds) in FAMILIES {
        text.push_str(&format!("\n{family}\n"));
        for kind in kinds {
            text.push_str(&row(kind.name, kind.says));
        }
    }
    text.push_str("\nvarints\n");
    VARINTS.iter().for_each(|(name, says)| text.push_str(&row(name, says)));
    text.push_str("\nothers\n");
    OTHERS.iter().for_each(|(name, says)| text.push_str(&row(name, says)));
    text
}

/// A name with its explanation, in 80 columns.
fn row(name: &str, says: &str) -> String {
    let indent = NAME_COLUMNS + 4;
    let mut lines = vec![String::new()];
    for word in says.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && indent + line.len() + 1 + word.len() > 80 {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    let gap = format!("\n{:indent$}", "");
    format!("  {name:<NAME_COLUMNS$}  {}\n", lines.join(&gap))
}

fn explained(kind: &Kind) -> String {
    let formats: Vec<String> = kind.formats.iter().map(|format| format.word()).collect();
    let mut text = format!("{}\n[inputs.NAME]\ngenerator = \"{}\"\n", row(kind.name, kind.says), kind.name);
    for parameter in kind.parameters {
        text.push_str(&format!("{}\n", parameter.example));
    }
    text.push_str("\nkeys\n");
    for parameter in kind.parameters {
        let default =
            parameter.preset.words().map_or("required".to_owned(), |words| format!("default: {words}"));
        text.push_str(&row(
            parameter.name,
            &format!("{} ({}; {default})", parameter.says, parameter.domain.words()),
        ));
    }
    text.push_str(&row("format", &format!("{} (default: {})", formats.join(", "), formats[0])));
    text.push_str(&row("units", &format!("how many are made (default: {})", kind.units)));
    text.push_str(&row("seed", "another seed makes other bytes of the same kind (default: 1)"));
    text.push_str("\nEach number can be swept: [sweeps.NAME] with key = \"inputs.NAME.KEY\".\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generator_is_listed_and_explained_in_eighty_columns() {
        let listed = list();
        for kind in FAMILIES.iter().flat_map(|(_, kinds)| *kinds) {
            assert!(listed.contains(&format!("  {} ", kind.name)), "{}", kind.name);
            let text = explained(kind);
            assert!(
                kind.parameters
                    .iter()
                    .all(|parameter| text.contains(parameter.says.split(' ').next().unwrap()))
            );
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        }
        assert!(listed.lines().skip(1).all(|line| line.len() <= 80), "{listed}");
    }
}
