//! Google Benchmark's JSON, schema version 1: each placement is a repetition, then the aggregates that its tools show.
//!
//! Source: json_reporter.cc of version 1.9. Checked by: compare.py reads it (fixtures/history/README.md).

use super::{Export, Summary};
use serde_json::{Value, json};

/// The report.
pub fn json(export: &Export) -> String {
    let mut benchmarks = Vec::new();
    for (family, cell) in export.cells.iter().enumerate() {
        let name = format!("{}/{}", export.experiment, cell.name());
        let entry = |more: Value| {
            let mut entry = json!({
                "family_index": family, "per_family_instance_index": 0, "run_name": name, "threads": 1,
                "repetitions": cell.wall.len(), "iterations": 1, "time_unit": "ns"
            });
            let (all, more) =
                (entry.as_object_mut().expect("an object"), more.as_object().expect("an object"));
            all.extend(more.clone());
            entry
        };
        for (index, (wall, cpu)) in cell.wall.iter().zip(&cell.cpu).enumerate() {
            benchmarks.push(entry(json!({
                "name": name, "run_type": "iteration", "repetition_index": index, "real_time": wall, "cpu_time": cpu
            })));
        }
        if cell.wall.len() < 2 {
            continue;
        }
        let (wall, cpu) = (Summary::of(&cell.wall), Summary::of(&cell.cpu));
        for (aggregate, real, cpu) in [
            ("mean", wall.mean, cpu.mean),
            ("median", wall.median, cpu.median),
            ("stddev", wall.deviation, cpu.deviation),
        ] {
            benchmarks.push(entry(json!({
                "name": format!("{name}_{aggregate}"), "run_type": "aggregate", "aggregate_name": aggregate,
                "aggregate_unit": "time", "iterations": cell.wall.len(), "real_time": real, "cpu_time": cpu
            })));
        }
    }
    crate::json::written(&json!({
        "context": {
            "date": export.started, "host_name": export.host, "executable": format!("assay {}", export.experiment),
            "num_cpus": export.cpus, "mhz_per_cpu": 0, "cpu_scaling_enabled": false, "caches": [], "load_avg": [],
            "library_version": format!("assay {}", export.version), "library_build_type": "release",
            "json_schema_version": 1, "cpu": export.cpu, "unit": export.unit
        },
        "benchmarks": benchmarks
    }))
}
