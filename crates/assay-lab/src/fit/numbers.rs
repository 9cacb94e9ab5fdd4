//! From recorded numbers to a page: the generator that makes them, compared with the recording, and the reasons not to use it.

use super::compose::FitRequest;
use super::table::recipe_table;
use crate::lead::Misuse;
use assay_pure::inputs::fit::numbers::{FittedNumbers, RecordedNumbers, fit};
use assay_pure::inputs::{Format, Generator, NumberType};
use assay_pure::words;
use assay_report::fit::page::{FIT_SCHEMA, FitPage, NumbersPage, Reason, Variants};

/// What was found for recorded numbers.
#[derive(Clone, Debug)]
pub struct ExaminedNumbers {
    number: NumberType,
    from: Option<String>,
    bytes: u64,
    units: u64,
    looked_at: u64,
    found: FittedNumbers,
}

impl ExaminedNumbers {
    /// The generator, and the units it was compared at; none where it was refused.
    pub fn to_measure(&self) -> Option<(Generator, u64)> {
        let recipe = self.found.recipe.clone().filter(|_| self.found.refusals.is_empty())?;
        Some((Generator::Of(recipe), self.looked_at))
    }
}

/// Finds a generator for numbers of a type; `from` says what the type was guessed from.
///
/// # Errors
/// The file ends within a number, or a predictor is unknown.
pub fn examine_numbers(
    asked: &FitRequest,
    bytes: &[u8],
    number: NumberType,
    from: Option<String>,
) -> Result<ExaminedNumbers, Misuse> {
    let recorded = RecordedNumbers::read(bytes, number)
        .map_err(|error| Misuse(format!("{} is not of the format {}: {error}", asked.file, number.word())))?;
    let found = fit(&recorded, &asked.predictors, asked.margin, asked.anyway)
        .map_err(|error| Misuse(format!("--predictor: {error}")))?;
    Ok(ExaminedNumbers {
        number,
        from,
        bytes: bytes.len() as u64,
        units: recorded.units,
        looked_at: recorded.keys.len() as u64,
        found,
    })
}

/// The page of what was found, and of the variants where they were measured.
pub fn conclude_numbers(
    asked: &FitRequest,
    examined: ExaminedNumbers,
    variants: Option<Variants>,
) -> FitPage {
    let found = examined.found;
    let mut refusals: Vec<Reason> = found
        .refusals
        .iter()
        .map(|refusal| Reason { what: refusal.to_string(), remedy: refusal.remedy().to_owned() })
        .collect();
    if let Some(variants) = &variants {
        refusals.extend(super::variants::refusals(variants, asked.margin));
    }
    let close = refusals.is_empty() && found.recipe.is_some();
    let mut notes = Vec::new();
    let shown = found.recipe.as_ref().filter(|_| close || asked.anyway);
    let table = shown.and_then(|recipe| {
        let units = asked.units.unwrap_or(examined.looked_at);
        let scaled = recipe.scaled(examined.looked_at, units);
        if let Err(error) = scaled.check(units) {
            notes.push(format!("No table: {} does not make {units} units: {error}.", recipe.kind().name));
            return None;
        }
        notes.push(
            "What the table reveals of the data: the number of units, the least and the greatest value, and the figures \
             that it shows. It holds no other value and no position."
                .to_owned(),
        );
        if examined.looked_at < examined.units && asked.units.is_none() {
            notes.push(format!(
                "Only the first {} units were examined, and the table makes as many.",
                words::count(examined.looked_at)
            ));
        }
        Some(recipe_table(&asked.name, &scaled, units, asked.seed))
    });
    let generator = found.recipe.as_ref().map(|recipe| recipe.kind().name.to_owned());
    FitPage {
        schema: FIT_SCHEMA.to_owned(),
        answer: answer(asked, &refusals, generator.as_deref()),
        file: asked.file.clone(),
        bytes: examined.bytes,
        units: examined.units,
        looked_at: examined.looked_at,
        margin: asked.margin,
        close,
        refusals,
        model: None,
        closeness: None,
        numbers: Some(NumbersPage {
            format: Format::Numbers(examined.number).word(),
            from: examined.from,
            generator,
            statistics: found.statistics,
            branches: found.branches,
        }),
        variants,
        notes,
        table,
        written: None,
    }
}

fn answer(asked: &FitRequest, refusals: &[Reason], generator: Option<&str>) -> String {
    match (refusals, generator) {
        ([first, rest @ ..], _) => {
            let more = match rest.len() {
                0 => String::new(),
                more => format!(" {} below.", words::plural(more as u64, "more reason")),
            };
            format!("Refused: {}.{more}", first.what)
        }
        ([], Some(generator)) => format!(
            "The fit is close: the generator {generator} makes the statistics and the branches of {}. Its table can replace the \
             data.",
            asked.file
        ),
        ([], None) => format!("{} is empty: nothing to fit.", asked.file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_pure::inputs::kinds::{Argument, InputRecipe, kind_named};

    fn asked() -> FitRequest {
        FitRequest {
            file: "x.u32".into(),
            name: "x".into(),
            margin: 0.05,
            predictors: vec!["bimodal".into()],
            units: None,
            seed: 3,
            anyway: false,
            changing: false,
        }
    }

    fn page(asked: &FitRequest, numbers: impl Iterator<Item = u32>) -> FitPage {
        let bytes: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
        let examined = examine_numbers(asked, &bytes, NumberType::U32, None).expect("numbers");
        assert_eq!(examined.to_measure().is_some(), examined.found.refusals.is_empty());
        conclude_numbers(asked, examined, None)
    }

    #[test]
    fn a_generator_that_is_found_has_a_table_to_paste() {
        let found = page(&asked(), 7..20_007);
        assert!(found.close && found.answer.contains("the generator ascending"), "{found:?}");
        let table = "[inputs.x]\ngenerator = \"ascending\"\nformat = \"u32\"\nunits = 20000\nseed = 3\nmin = 7\nmax = 20006\n";
        assert_eq!(found.table.as_deref(), Some(table));
    }

    #[test]
    fn other_units_scale_what_counts_and_what_cannot_be_made_is_told() {
        let kind = kind_named("nearly_sorted").expect("a generator");
        let recipe =
            InputRecipe::new(kind, Format::Numbers(NumberType::U32), |parameter| match parameter.name {
                "inversions" => Some(Argument::Whole(15_000)),
                "max" => Some(Argument::Whole(89_999)),
                _ => None,
            });
        let bytes = recipe.expect("it goes together").generate(60_000, 1);
        let numbers =
            bytes.chunks_exact(4).map(|number| u32::from_le_bytes(number.try_into().expect("four bytes")));
        let found = page(&FitRequest { units: Some(30_000), ..asked() }, numbers.clone());
        assert!(found.table.as_deref().is_some_and(|table| table.contains("inversions = 7500")), "{found:?}");
        let found = page(&FitRequest { units: Some(150_000), ..asked() }, numbers);
        assert!(found.table.is_none(), "{found:?}");
        assert!(
            found.notes[0].starts_with("No table: nearly_sorted does not make 150000 units"),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_refused_has_no_table() {
        let found = page(&asked(), (0..20_000).map(|at| at * at));
        assert!(!found.close && found.table.is_none(), "{found:?}");
        assert!(found.answer.starts_with("Refused: no generator is near"), "{}", found.answer);
        let found = page(&FitRequest { anyway: true, ..asked() }, (0..20_000).map(|at| at * at));
        assert!(!found.close && found.table.is_some(), "{found:?}");
    }
}
