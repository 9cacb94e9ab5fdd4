//! `assay completions`: what a shell completes.

use super::{Command, DONE, screen};
use anyhow::Result;
use clap::CommandFactory as _;
use clap_complete::Shell;

/// Print completions of assay's options for a shell
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("help/completions.txt"))]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Runs the verb.
///
/// # Errors
/// None; the result is that of every verb.
pub fn run(arguments: &CompletionsArguments) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Command::command(), "assay", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if arguments.shell == Shell::Fish {
        script += &values_for_fish(&Command::command());
    }
    screen::print(&script);
    Ok(DONE)
}

/// What fish completes for arguments that are one of a few words: clap_complete writes that of options only, and fish then offers
/// the folder's files.
fn values_for_fish(command: &clap::Command) -> String {
    let mut text = String::new();
    for verb in command.get_subcommands() {
        for argument in verb.get_positionals() {
            let values = argument.get_possible_values();
            let names: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
            if names.is_empty() {
                continue;
            }
            let (verb, names) = (verb.get_name(), names.join(" "));
            text += &format!(
                "complete -c assay -n \"__fish_assay_using_subcommand {verb}; and not __fish_seen_subcommand_from {names}\" -f -a \
                 \"{names}\"\n"
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fish_completes_arguments_that_are_one_of_a_few_words() {
        let text = values_for_fish(&Command::command());
        let of = |verb: &str| text.lines().find(|line| line.contains(&format!("using_subcommand {verb};")));
        assert!(
            of("completions").is_some_and(|line| line.ends_with("-f -a \"bash elvish fish powershell zsh\""))
        );
        assert!(of("export").is_some_and(|line| line.contains("-a \"google-benchmark criterion")));
        assert!(of("harness").is_some() && of("import").is_some() && of("run").is_none(), "{text}");
    }
}
