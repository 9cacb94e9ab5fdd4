//! `assay inputs encode`: numbers as text become varints, which can be fitted.

use super::read;
use crate::cli::screen;
use anyhow::{Context as _, Result};
use assay_lab::lead::Misuse;
use assay_pure::inputs::digest;
use assay_pure::inputs::varint::push_varint;
use std::path::{Path, PathBuf};

/// Encode numbers, one per line, as varints for `assay inputs fit`
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = include_str!("../help/encode.txt"))]
pub struct EncodeArguments {
    /// Whole numbers from 0, one per line; - is standard input
    numbers: PathBuf,
    /// File to write
    output: PathBuf,
}

/// Runs the verb.
///
/// # Errors
/// The numbers cannot be read or are none, or the file cannot be written.
pub(super) fn run(arguments: &EncodeArguments) -> Result<()> {
    screen::find_place(&arguments.output, std::slice::from_ref(&arguments.numbers))?;
    let (name, text) = match arguments.numbers.to_str() {
        Some("-") => {
            let text = std::io::read_to_string(std::io::stdin());
            (
                "standard input".to_owned(),
                text.map_err(|error| Misuse(format!("cannot read standard input: {error}")))?,
            )
        }
        _ => {
            let name = arguments.numbers.display().to_string();
            let text = String::from_utf8(read(&arguments.numbers)?)
                .map_err(|_| Misuse(format!("{name} is not a text file: write one number per line")))?;
            (name, text)
        }
    };
    let bytes = encoded(&name, &text)?;
    write(&arguments.output, &bytes)?;
    screen::print(&format!(
        "wrote {} ({} values, {} bytes, sha256 {})\n",
        arguments.output.display(),
        text.lines().count(),
        bytes.len(),
        digest::short_digest(&digest::digest(&bytes))
    ));
    Ok(())
}

fn write(output: &Path, bytes: &[u8]) -> Result<()> {
    assay_linux::output::write(output, bytes).with_context(|| format!("cannot write {}", output.display()))
}

/// The varints of a text with a number per line; the name is for what is wrong.
fn encoded(name: &str, text: &str) -> Result<Vec<u8>, Misuse> {
    if text.is_empty() {
        return Err(Misuse(format!("{name} is empty: write one number per line")));
    }
    let mut bytes = Vec::new();
    for (line, number) in text.lines().map(str::trim).enumerate() {
        let value = number.parse().map_err(|_| {
            let shown: String = number.chars().take(40).collect();
            Misuse(format!(
                "{name}, line {}: `{shown}` is not a whole number from 0 to {}; write one number per line, without a header",
                line + 1,
                u64::MAX
            ))
        })?;
        push_varint(&mut bytes, value);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_varints_in_their_order() {
        // Source: 300 is ac 02, as in the documentation of Protocol Buffers; 2^64 - 1 has ten bytes.
        let bytes = encoded("x", "1\n300\r\n 0 \n18446744073709551615").expect("numbers");
        assert_eq!(bytes[..4], [1, 0xac, 2, 0]);
        assert_eq!(bytes[4..], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    }

    #[test]
    fn what_is_no_number_is_named_with_its_line() {
        for (text, line) in [("bytes\n1\n", 1), ("1\n-2\n", 2), ("1\n\n2\n", 2), ("1,2\n", 1), ("1.5", 1)] {
            let error = encoded("x.csv", text).expect_err(text).0;
            assert!(error.contains(&format!("x.csv, line {line}: `")), "{error}");
        }
        assert!(encoded("x", "18446744073709551616").is_err() && encoded("x", "").is_err());
    }
}
