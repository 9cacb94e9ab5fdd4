//! Claims of the file, compared with what a campaign found.

use crate::campaign::counted::CampaignCounts;
use crate::campaign::judge::CampaignVerdicts;
use crate::campaign::known_input::KnownInput;
use assay_pure::experiment::Experiment;
use assay_pure::experiment::spec::InputSource;
use assay_pure::verdict;
use assay_pure::verdict::claims::{self, CellFigure, ClaimContext, InputFacts};
use assay_report::page;

pub(super) fn claims_of(
    experiment: &Experiment,
    judged: &CampaignVerdicts,
    counted: &CampaignCounts,
    inputs: &[KnownInput],
) -> Vec<page::Claim> {
    let facts: Vec<InputFacts> = inputs
        .iter()
        .map(|KnownInput { spec, shown, description }| {
            let independent = matches!(
                &spec.source,
                InputSource::Generated { generator, .. } if generator.independent()
            );
            let known = description.as_ref().filter(|_| independent);
            InputFacts {
                name: shown.name.clone(),
                bytes_per_unit: (shown.bytes > 0 && shown.units > 0)
                    .then(|| shown.bytes as f64 / shown.units as f64),
                floor_misses_per_unit: known.and_then(|description| description.floor_misses_per_unit),
                branches_per_unit: known.and_then(|description| description.branches_per_unit),
                learnable: description
                    .as_ref()
                    .is_some_and(|known| known.length_warning().or_else(|| known.period_warning()).is_some()),
            }
        })
        .collect();
    let figures: Vec<CellFigure> = verdict::placement_table(&judged.contrasts)
        .into_iter()
        .map(|row| CellFigure {
            cell: row.cell,
            ns_per_unit: row.ns_per_unit.median,
            lower: row.ns_per_unit.lower,
            upper: row.ns_per_unit.upper,
        })
        .collect();
    let context = ClaimContext {
        judgement: &judged.judgement,
        cells: &figures,
        inputs: &facts,
        counts: &counted.cells,
        allocated: &counted.allocated,
        baseline: &experiment.baseline,
        margin: experiment.minimum_effect,
    };
    let check = |claim| {
        let result = claims::check(claim, &context);
        page::Claim {
            text: result.text,
            status: result.status,
            found: result.found,
            source: claim.source.clone(),
        }
    };
    experiment.claims.iter().map(check).collect()
}
