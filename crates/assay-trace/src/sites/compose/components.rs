//! The budget as the page shows it: per unit and per call, beside a reference.

use super::super::components::{BudgetRow, BudgetSums, ComponentBudget, ComponentSpecs, of_gathered};
use super::super::gather::GatheredSites;
use super::{SiteSelection, share};
use assay_pure::words;
use assay_report::sites::components::{
    ComponentBreakdown, ComponentRow, Figures, FunctionShare, ReferenceProgram, RowKind,
};
use assay_report::sites::page::SiteMisses;

/// Functions of a row that the page holds.
const FUNCTIONS: usize = 8;

/// What is wanted of the budget.
#[derive(Clone, Debug, Default)]
pub struct BudgetRequest {
    /// The components.
    pub spec: ComponentSpecs,
    /// Units of work that the command does.
    pub units: Option<u64>,
    /// What stands beside it.
    pub reference: Option<OtherBudget>,
}

/// The budget of another command, to stand beside.
#[derive(Clone, Debug)]
pub struct OtherBudget {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// What it executed; by the same predictors.
    pub budget: ComponentBudget,
    /// Units of work that it does.
    pub units: Option<u64>,
}

/// The budget of what was gathered.
pub fn compose(gathered: &GatheredSites, wanted: &BudgetRequest, wish: &SiteSelection) -> ComponentBreakdown {
    let own = of_gathered(gathered, &wanted.spec);
    let beside = wanted.reference.as_ref();
    let show = |row: &BudgetRow, budget: &ComponentBudget, units: Option<u64>| {
        figures(row, &budget.total, units, wish)
    };
    let mut rows: Vec<ComponentRow> = own
        .rows
        .iter()
        .map(|row| {
            let other = beside.and_then(|beside| {
                let other = beside.budget.rows.iter().find(|other| other.name == row.name)?;
                Some(show(other, &beside.budget, beside.units))
            });
            pair(&row.name, row.kind, Some(show(row, &own, wanted.units)), other)
        })
        .collect();
    let named = rows.iter().filter(|row| row.kind == RowKind::Component).count();
    if let Some(beside) = beside {
        let only_there =
            beside.budget.rows.iter().filter(|row| own.rows.iter().all(|own| own.name != row.name));
        for (nth, row) in only_there.enumerate() {
            let other = show(row, &beside.budget, beside.units);
            rows.insert(named + nth, pair(&row.name, row.kind, None, Some(other)));
        }
    }
    let all = |budget: &ComponentBudget, units| {
        let row = BudgetRow {
            name: "total".to_owned(),
            kind: RowKind::Total,
            sums: budget.total.clone(),
            called: 0,
            parts: Vec::new(),
        };
        figures(&row, &budget.total, units, wish)
    };
    let mut idle = own.idle.clone();
    idle.extend(
        beside
            .iter()
            .flat_map(|beside| beside.budget.idle.iter().map(|glob| format!("{glob} (of the reference)"))),
    );
    ComponentBreakdown {
        units: wanted.units,
        reference: beside
            .map(|beside| ReferenceProgram { command: beside.command.clone(), units: beside.units }),
        rows,
        total: pair(
            "total",
            RowKind::Total,
            Some(all(&own, wanted.units)),
            beside.map(|beside| all(&beside.budget, beside.units)),
        ),
        idle,
    }
}

fn pair(name: &str, kind: RowKind, own: Option<Figures>, reference: Option<Figures>) -> ComponentRow {
    let ratio = own.as_ref().zip(reference.as_ref()).and_then(|(own, reference)| {
        match (own.branches_per_unit, reference.branches_per_unit) {
            (Some(own), Some(reference)) => share(own, reference),
            (None, None) => share(own.branches as f64, reference.branches as f64),
            _ => None,
        }
    });
    ComponentRow { name: name.to_owned(), kind, own, reference, ratio }
}

fn figures(row: &BudgetRow, total: &BudgetSums, units: Option<u64>, wish: &SiteSelection) -> Figures {
    let sums = &row.sums;
    let per_unit = |count: u64| units.and_then(|units| share(count as f64, units as f64));
    let called = Some(row.called).filter(|called| *called > 0);
    let missed = |(model, count): (&super::SimulatedPredictor, &u64)| SiteMisses {
        predictor: model.name.clone(),
        count: *count,
    };
    Figures {
        branches: sums.branches,
        conditional: sums.conditional,
        jumps: sums.jumps,
        calls: sums.calls,
        indirect_jumps: sums.indirect_jumps,
        indirect_calls: sums.indirect_calls,
        returns: sums.returns,
        instructions: sums.instructions,
        mispredictions: wish.models.iter().zip(&sums.missed).map(missed).collect(),
        share: share(sums.branches as f64, total.branches as f64).unwrap_or(0.0),
        called,
        branches_per_unit: per_unit(sums.branches),
        branches_per_call: called.map(|called| sums.branches as f64 / called as f64),
        instructions_per_unit: per_unit(sums.instructions),
        functions: row
            .parts
            .iter()
            .take(FUNCTIONS)
            .map(|part| FunctionShare {
                name: part.name.clone(),
                branches: part.branches,
                instructions: part.instructions,
            })
            .collect(),
    }
}

/// What the components say in a sentence.
pub fn answer(components: &ComponentBreakdown) -> Option<String> {
    let named = components.rows.iter().filter(|row| row.kind == RowKind::Component);
    let said: Vec<String> = named
        .filter_map(|row| {
            let own = row.own.as_ref()?;
            let mut text = match (own.branches_per_unit, own.branches_per_call) {
                (Some(rate), _) => format!("{} {rate:.2} branches per unit", row.name),
                (None, Some(rate)) => format!("{} {rate:.2} branches per call", row.name),
                (None, None) => {
                    format!("{} {} of all branches", row.name, words::fraction(own.share))
                }
            };
            let beside = row.reference.as_ref().and_then(|reference| match own.branches_per_unit {
                Some(_) => reference.branches_per_unit,
                None => reference.branches_per_call.filter(|_| own.branches_per_call.is_some()),
            });
            if let Some(beside) = beside {
                text += &format!(" against {beside:.2}");
            }
            Some(text)
        })
        .collect();
    (!said.is_empty()).then(|| format!("By component: {}.", words::list(&said)))
}
