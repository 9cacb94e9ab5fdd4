//! perf's own forms: fields with a separator (`-x`), one JSON object per line (`-j`).
//!
//! Source: the output of perf 6.1 itself; `tools/perf/Documentation/perf-stat.txt`, "CSV FORMAT". Order: value, unit,
//! event, variance after several executions, run-time in nanoseconds, percentage of it on a counter, metric value, metric
//! unit. What was traced or simulated says so in the event's name, has no run-time and was seen all of the time.

use super::page::{EventRow, FigureSource, PredictorRow, StatPage};
use super::spread::Spread;

/// One line of perf's forms.
struct FormLine<'a> {
    /// The value, or None with perf's word for why not.
    value: Result<&'a Spread, &'static str>,
    /// perf prints times in milliseconds with two decimals.
    is_time: bool,
    event: &'a str,
    run_ns: f64,
    running: f64,
    metric: Option<(f64, &'static str)>,
}

fn lines(page: &StatPage) -> Vec<FormLine<'_>> {
    let events = page.events.iter().map(|row| event_line(page, row));
    let predictors = page.predictors.iter().map(predictor_line);
    events.chain(predictors).collect()
}

fn event_line<'a>(page: &StatPage, row: &'a EventRow) -> FormLine<'a> {
    // perf's two words: refused, and opened but never on a counter.
    let missing = if row.counted_ns.is_some() { "<not counted>" } else { "<not supported>" };
    FormLine {
        value: row.value.as_ref().ok_or(missing),
        is_time: row.unit == "ns",
        event: &row.label,
        run_ns: row.counted_ns.unwrap_or(0.0),
        running: 100.0 * row.counted_share.unwrap_or(1.0),
        metric: row.value.as_ref().and_then(|value| metric(page, row, value.mean.value())),
    }
}

/// The metrics that perf itself puts behind these events.
fn metric(page: &StatPage, row: &EventRow, value: f64) -> Option<(f64, &'static str)> {
    let other = |event: &str| {
        let mean = page.row(event, row.source)?.value.as_ref()?.mean.value();
        (mean > 0.0).then_some(mean)
    };
    match row.event.as_str() {
        "branch-misses" => Some((100.0 * value / other("branches")?, "of all branches")),
        "instructions" => Some((value / other("cycles")?, "insn per cycle")),
        "task-clock" => {
            let elapsed: f64 = page
                .executions
                .iter()
                .filter(|execution| execution.source == row.source)
                .map(|execution| execution.elapsed_seconds)
                .sum();
            let count = page.executions.iter().filter(|execution| execution.source == row.source).count();
            (elapsed > 0.0).then(|| (value * 1e-9 * count as f64 / elapsed, "CPUs utilized"))
        }
        _ => None,
    }
}

fn predictor_line(row: &PredictorRow) -> FormLine<'_> {
    FormLine {
        value: Ok(&row.mispredictions),
        is_time: false,
        event: &row.label,
        run_ns: 0.0,
        running: 100.0,
        metric: Some((100.0 * row.of_branches, "of all branches")),
    }
}

/// Fields with a separator, a line per event.
pub fn separated(page: &StatPage, separator: &str) -> String {
    let mut text = String::new();
    for line in lines(page) {
        let value = match line.value {
            Ok(spread) if line.is_time => format!("{:.2}", spread.mean.value() / 1e6),
            Ok(spread) => format!("{:.0}", spread.mean.value()),
            Err(word) => word.to_owned(),
        };
        let mut fields = vec![value, unit(&line).to_owned(), line.event.to_owned()];
        if let Some(error) = line.value.ok().and_then(Spread::relative_error) {
            fields.push(format!("{error:.2}%"));
        }
        fields.push(format!("{:.0}", line.run_ns));
        fields.push(format!("{:.2}", line.running));
        match line.metric {
            Some((value, unit)) => fields.extend([format!("{value:.3}"), unit.to_owned()]),
            None => fields.extend([String::new(), String::new()]),
        }
        text.push_str(&fields.join(separator));
        text.push('\n');
    }
    text
}

/// One JSON object per line, with perf's keys, spacing and strings for values.
pub fn lines_of_json(page: &StatPage) -> String {
    let mut text = String::new();
    for line in lines(page) {
        let value = match line.value {
            Ok(spread) if line.is_time => format!("{:.6}", spread.mean.value() / 1e6),
            Ok(spread) => format!("{:.6}", spread.mean.value()),
            Err(word) => word.to_owned(),
        };
        let (metric, metric_unit) = line.metric.unwrap_or((0.0, ""));
        let variance = match line.value.ok().and_then(Spread::relative_error) {
            Some(error) => format!("\"variance\" : {error:.2}, "),
            None => String::new(),
        };
        text.push_str(&format!(
            "{{\"counter-value\" : {}, \"unit\" : {}, \"event\" : {}, {variance}\"event-runtime\" : {:.0}, \
             \"pcnt-running\" : {:.2}, \"metric-value\" : {metric:.6}, \"metric-unit\" : {}}}\n",
            quoted(&value),
            quoted(unit(&line)),
            quoted(line.event),
            line.run_ns,
            line.running,
            quoted(metric_unit),
        ));
    }
    text
}

fn unit(line: &FormLine<'_>) -> &'static str {
    if line.is_time { "msec" } else { "" }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

/// What a traced or simulated figure is called in these forms: the manner of perf's own `unit/event/`.
pub fn label(event: &str, source: FigureSource) -> String {
    format!("{}/{event}/", source.word())
}
