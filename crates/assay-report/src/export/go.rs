//! Go's benchmark format: one line per placement, axes as `/key=value`, so that `benchstat -col /variant` compares variants.
//!
//! Source: golang.org/design/14313-benchmark-format. Checked by: benchstat reads it (fixtures/history/README.md).

use super::Export;

/// The lines.
pub fn text(export: &Export) -> String {
    let mut text = format!(
        "pkg: {}\ncpu: {}\nassay: {}\n",
        word(&export.experiment),
        line(&export.cpu),
        line(&export.version)
    );
    let mut name: String = word(&export.experiment);
    // `go test` names benchmarks after functions: what follows "Benchmark" begins with a capital.
    if let Some(first) = name.get(..1) {
        name = first.to_uppercase() + &name[1..];
    }
    for cell in &export.cells {
        let axes: String = cell.axes.iter().map(|(axis, value)| format!("/{axis}={}", word(value))).collect();
        for (wall, cpu) in cell.wall.iter().zip(&cell.cpu) {
            text += &format!("Benchmark{name}{axes} 1 {wall} ns/op {cpu} cpu-ns/op\n");
        }
    }
    text
}

/// A name without what ends it; a number at its end would be taken for processors.
fn word(name: &str) -> String {
    let safe = |c: char| if c.is_whitespace() || c.is_control() || "/=".contains(c) { '_' } else { c };
    let word: String = name.chars().map(safe).collect();
    match word.rsplit_once('-') {
        Some((front, end)) if !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{front}_{end}")
        }
        _ => word,
    }
}

fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
