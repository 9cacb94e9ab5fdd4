//! `--gate`: one for all, or a file that has one for each pattern of names.

use assay_linux::given;
use assay_pure::compare::{GateLimits, Gates};
use std::path::{Path, PathBuf};

/// What was given to `--gate`.
#[derive(Clone, Debug)]
pub struct GivenGates {
    /// What it says.
    pub gates: Gates,
    /// The file that it was read from.
    pub file: Option<PathBuf>,
}

/// Reads what was given to `--gate`: `slower:2%`, or the name of a `.toml` file.
pub fn gates(given: &str) -> Result<GivenGates, String> {
    if !given.ends_with(".toml") {
        let limits =
            given.parse::<GateLimits>().map_err(|error| format!("{error}; or name a .toml file of gates"))?;
        // One gate of time is shown with the fewest digits that mean the same.
        let gates = match limits {
            GateLimits { slower: Some(gate), peak: None, allocations: None } => gate.into(),
            limits => Gates::for_all(given, limits),
        };
        return Ok(GivenGates { gates, file: None });
    }
    let file = Path::new(given);
    let text = given::read_text(file).map_err(|error| format!("cannot read it: {error}"))?;
    let gates = Gates::read(given, &text).map_err(|error| error.to_string())?;
    Ok(GivenGates { gates, file: Some(file.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::compare::Gate;

    #[test]
    fn a_gate_is_a_rule_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gates.toml");
        let given = file.to_str().unwrap();
        assert_eq!(gates("slower:2%").unwrap().gates.to_string(), "slower:2%");
        assert_eq!(gates("slower:2%,peak:5%").unwrap().gates.to_string(), "slower:2%,peak:5%");
        assert!(gates(given).unwrap_err().starts_with("cannot read it: "));
        std::fs::write(&file, "'*' = 'slower:5%'\n'crc/*' = 'slower:1'\n").unwrap();
        assert_eq!(gates(given).unwrap().gates.of("crc/64"), Some(Gate { slower: 0.01 }));
        std::fs::write(&file, "'*' = 'slower:5%'\n'crc/*' = 'faster:1'\n").unwrap();
        assert!(gates(given).unwrap_err().starts_with("line 2: `faster` is not a gate"));
        assert!(gates("faster").unwrap_err().contains("or name a .toml file of gates"));
    }
}
