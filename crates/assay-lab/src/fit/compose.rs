//! From a recorded file to a page: fitted, compared with the recording in simulation, and the reasons not to use it.

use super::table::table;
use crate::lead::Misuse;
use assay_pure::inputs::Generator;
use assay_pure::inputs::fit::closeness::{BLOCKS, Closeness, FLOOR, FitFigure};
use assay_pure::inputs::fit::{self, FitRefusal, MOST_CONTEXTS, Recorded};
use assay_pure::words;
use assay_pure::words::plural;
use assay_report::fit::page::{FIT_SCHEMA, FitPage, FittedTable, Reason, Variants};

/// What is asked of a fit.
#[derive(Clone, Debug)]
pub struct FitRequest {
    /// The recorded file, as the user named it.
    pub file: String,
    /// The input's name in the table.
    pub name: String,
    /// The share of a recorded figure by which the fitted one may differ.
    pub margin: f64,
    /// Predictors that decode both streams, at least one.
    pub predictors: Vec<String>,
    /// Units of the input in the table; as many as recorded if not given.
    pub units: Option<u64>,
    /// Seed of the input in the table.
    pub seed: u64,
    /// Give the table even where the fit is refused.
    pub anyway: bool,
    /// Take a fit of the means, though parts of the recording differ and the fit's do not.
    pub changing: bool,
}

/// What the simulation found.
#[derive(Clone, Debug)]
pub struct ExaminedFit {
    recorded: Recorded,
    bytes: u64,
    fitted: Option<fit::Fitted>,
    closeness: Option<Closeness>,
    reasons: Vec<Reason>,
}

impl ExaminedFit {
    /// The fitted generator, and the units of the recording; none where nothing was fitted or it was refused already.
    pub fn to_measure(&self) -> Option<(Generator, u64)> {
        let fitted = self.fitted.as_ref().filter(|_| self.reasons.is_empty())?;
        Some((Generator::Markov(fitted.markov.clone()), self.recorded.units))
    }
}

/// Fits a stream of varints and compares both in simulation.
///
/// # Errors
/// The file is no stream of varints, or a predictor is unknown.
pub fn examine(asked: &FitRequest, bytes: &[u8]) -> Result<ExaminedFit, Misuse> {
    let recorded = Recorded::read(bytes).map_err(|error| {
        Misuse(format!(
            "{} is not a stream of varints: {error}. Numbers of a fixed size are fitted with --format u8 to f64. Of all else, write \
             the numbers that the branches depend on one per line, encode them with `assay inputs encode`, and fit the result",
            asked.file
        ))
    })?;
    let mut reasons: Vec<Reason> = fit::structure(&recorded).iter().map(reason).collect();
    let mut examined = ExaminedFit {
        recorded,
        bytes: bytes.len() as u64,
        fitted: None,
        closeness: None,
        reasons: Vec::new(),
    };
    let lengths = &examined.recorded.lengths;
    if !lengths.is_empty() && (reasons.is_empty() || asked.anyway) {
        let fitted = fit::fit(&examined.recorded, MOST_CONTEXTS);
        if lengths.len() >= BLOCKS {
            let stream = |seed| fit::stream(&fitted.markov, lengths.len() as u64, seed);
            let found =
                fit::compare(fit::BranchCondition::Length, lengths, stream, &asked.predictors, asked.margin)
                    .map_err(|error| Misuse(format!("--predictor: {error}")))?;
            let lifted =
                |refusal: &&FitRefusal| asked.changing && matches!(refusal, FitRefusal::Changes { .. });
            let refusals = found.refusals();
            reasons.extend(refusals.iter().filter(|refusal| !lifted(refusal)).map(reason));
            examined.closeness = Some(found);
        }
        examined.fitted = Some(fitted);
    }
    examined.reasons = reasons;
    Ok(examined)
}

fn reason(refusal: &FitRefusal) -> Reason {
    Reason { what: refusal.to_string(), remedy: refusal.remedy().to_owned() }
}

/// The page of what was examined, and of the variants where they were measured.
pub fn conclude(asked: &FitRequest, examined: ExaminedFit, variants: Option<Variants>) -> FitPage {
    let mut refusals = examined.reasons;
    if let Some(variants) = &variants {
        refusals.extend(super::variants::refusals(variants, asked.margin));
    }
    let close = refusals.is_empty() && examined.fitted.is_some();
    let units = asked.units.unwrap_or(examined.recorded.units);
    let shown = examined.fitted.as_ref().filter(|_| close || asked.anyway);
    FitPage {
        schema: FIT_SCHEMA.to_owned(),
        answer: answer(asked, &refusals, examined.closeness.as_ref(), variants.as_ref()),
        file: asked.file.clone(),
        bytes: examined.bytes,
        units: examined.recorded.units,
        looked_at: examined.recorded.lengths.len() as u64,
        margin: asked.margin,
        close,
        refusals,
        notes: notes(&examined.closeness, &examined.recorded.lengths, shown.is_some()),
        table: shown.map(|fitted| table(&asked.name, &fitted.markov, units, asked.seed)),
        model: examined.fitted.as_ref().map(|fitted| FittedTable {
            order: fitted.markov.order() as u64,
            contexts: fitted.markov.contexts.len() as u64,
            bits_per_unit: fitted.bits_per_unit,
            strictness: fitted.strictness,
        }),
        closeness: examined.closeness,
        numbers: None,
        variants,
        written: None,
    }
}

fn answer(
    asked: &FitRequest,
    refusals: &[Reason],
    closeness: Option<&Closeness>,
    variants: Option<&Variants>,
) -> String {
    if let [first, rest @ ..] = refusals {
        let more = match rest.len() {
            0 => String::new(),
            1 => " 1 more reason below.".to_owned(),
            more => format!(" {more} more reasons below."),
        };
        return format!("Refused: {}.{more}", first.what);
    }
    let Some(closeness) = closeness else { return format!("{} is empty: nothing to fit.", asked.file) };
    // Where there are so few that a share of them says nothing, no share is said.
    let off = |figure: &FitFigure| {
        let told = figure.real * asked.margin >= FLOOR;
        told.then(|| (figure.fitted - figure.real).abs() / figure.real)
    };
    let told = match closeness.misses.iter().filter_map(off).reduce(f64::max) {
        Some(worst) => format!("within {} of those on", words::fraction(worst)),
        None => "as few as on".to_owned(),
    };
    let timed = match variants {
        Some(variants) if !variants.times.is_empty() => {
            let far = |time: &assay_report::fit::page::TimeRatio| {
                let ends = [time.lower, time.upper].map(|end| end.map_or(0.0, |end| (end - 1.0).abs()));
                ends[0].max(ends[1])
            };
            let worst = variants.times.iter().map(far).fold(0.0, f64::max);
            let variants = plural(variants.times.len() as u64, "variant");
            format!(", and the time of {variants} within {}", words::fraction(worst))
        }
        _ => String::new(),
    };
    format!(
        "The fit is close: simulated mispredictions are {told} {}{timed}. Its table can replace the data.",
        asked.file
    )
}

/// What the reader must know of a fit.
fn notes(closeness: &Option<Closeness>, lengths: &[u8], given: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(length) =
        lengths.first().filter(|first| given && lengths.iter().all(|length| length == *first))
    {
        notes.push(format!(
            "All values take {}, so the fit says nothing of their order. Only the order of encoded lengths is fitted (1 byte \
             below 128, 2 below 16,384, ...); code that branches on the values themselves was not compared.",
            plural(u64::from(*length), "byte")
        ));
    }
    let mut figures = closeness.iter().flat_map(|found| found.misses.iter().chain([&found.branches]));
    let changing = figures.find(|figure| figure.changes).filter(|_| given);
    if let Some(figure) = changing {
        let ((low, high), (least, most)) = (figure.real_parts, figure.fitted_parts);
        let what = if figure.name == "branches" { "branches" } else { "mispredictions" };
        notes.push(format!(
            "The recorded stream changes over time, the fitted one does not: parts of it have {low:.3} to {high:.3} {what} \
             per unit ({}), parts of the fitted one {least:.3} to {most:.3}. The fit stands for the whole, not for a window.",
            figure.name
        ));
    }
    if given {
        notes.push(
            "What the table reveals of the data: the number of units, the shares of encoded lengths and of bit lengths, and \
             which lengths follow which, each seen at least 32 times. It holds no value and no position."
                .to_owned(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(anyway: bool) -> FitRequest {
        FitRequest {
            file: "x.bin".into(),
            name: "x".into(),
            margin: 0.05,
            predictors: vec!["zen4".into()],
            units: None,
            seed: 1,
            anyway,
            changing: false,
        }
    }

    fn page(asked: &FitRequest, bytes: &[u8]) -> FitPage {
        conclude(asked, examine(asked, bytes).expect("varints"), None)
    }

    #[test]
    fn a_random_stream_is_close_and_its_table_is_given() {
        let bytes = Generator::Lengths { weights: vec![80.0, 18.0, 2.0] }.generate(30_000, 1);
        let found = page(&asked(false), &bytes);
        assert!(found.close && found.refusals.is_empty(), "{found:?}");
        assert!(
            found.answer.starts_with("The fit is close: simulated mispredictions are within"),
            "{}",
            found.answer
        );
        let table = found.table.expect("a table");
        assert!(
            table.starts_with("[inputs.x]\ngenerator = \"markov\"\nunits = 30000\nseed = 1\n"),
            "{table}"
        );
        assert!(found.notes.iter().any(|note| note.contains("It holds no value")));
    }

    #[test]
    fn what_is_refused_has_no_table_unless_it_is_asked_for_all_the_same() {
        let bytes = Generator::Lengths { weights: vec![80.0, 18.0, 2.0] }.generate(500, 1).repeat(40);
        let found = page(&asked(false), &bytes);
        assert!(!found.close && found.table.is_none() && found.model.is_none(), "{found:?}");
        assert!(found.answer.starts_with("Refused: the lengths repeat every 500 units"), "{}", found.answer);
        let found = page(&asked(true), &bytes);
        assert!(!found.close && found.table.is_some() && found.closeness.is_some());
        // Memorised, it is mispredicted far less than anything that is drawn.
        assert!(found.refusals.len() > 1, "{:?}", found.refusals);
    }

    #[test]
    fn a_recording_that_changes_is_taken_for_its_means_if_that_is_asked() {
        // 10,000 of one kind, 10,000 of another, and so on; drawn with one seed each, so that no stretch comes twice.
        let kind = |at: u64| {
            let weights = if at.is_multiple_of(2) { vec![70.0, 30.0] } else { vec![50.0, 50.0] };
            Generator::Lengths { weights }.generate(10_000, at)
        };
        let bytes: Vec<u8> = (0..20).flat_map(kind).collect();
        // A margin so wide that means agree.
        let asked = FitRequest { margin: 0.07, ..asked(false) };
        let found = page(&asked, &bytes);
        assert!(!found.close && found.refusals.len() == 1, "{found:?}");
        assert!(found.refusals[0].what.contains("drifts"), "{found:?}");
        assert!(found.refusals[0].remedy.contains("--changing"));
        let found = page(&FitRequest { changing: true, ..asked }, &bytes);
        assert!(found.close && found.table.is_some(), "{found:?}");
        assert!(found.notes.iter().any(|note| note.contains("not for a window")), "{found:?}");
    }

    #[test]
    fn other_streams_and_unknown_predictors_are_misuse() {
        let text = examine(&asked(false), &[0x80]).expect_err("truncated").0;
        assert!(text.contains("x.bin is not a stream of varints") && text.contains("byte 0"), "{text}");
        let bytes = Generator::Constant { length: 1 }.generate(20_000, 1);
        let wrong = FitRequest { predictors: vec!["zen44".into()], ..asked(false) };
        assert!(examine(&wrong, &bytes).expect_err("unknown").0.contains("zen4"));
        assert!(!page(&asked(true), &[]).close);
        assert!(page(&asked(true), &[1, 2, 3]).closeness.is_none());
    }

    #[test]
    fn values_of_one_encoded_length_are_said_to_have_no_order() {
        let noted = |generator: Generator| {
            let found = page(&asked(false), &generator.generate(30_000, 1));
            assert!(found.close, "{found:?}");
            found.notes.iter().any(|note| {
                note.starts_with("All values take 1 byte, so the fit says nothing of their order")
            })
        };
        assert!(noted(Generator::Constant { length: 1 }));
        assert!(!noted(Generator::Lengths { weights: vec![80.0, 18.0, 2.0] }));
    }

    #[test]
    fn more_units_may_be_made_than_were_recorded() {
        let bytes = Generator::Constant { length: 2 }.generate(20_000, 1);
        let found = page(&FitRequest { units: Some(5), seed: 9, ..asked(false) }, &bytes);
        assert!(found.table.expect("a table").contains("units = 5\nseed = 9\n"));
        assert!(found.answer.contains("as few") || found.answer.contains("within 0 %"), "{}", found.answer);
    }
}
