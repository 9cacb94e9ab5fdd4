//! Predictors whose parameters the user chooses: `gshare:bits=15,history=12`, and `gshare:bits=12..20` for one of each size.
//!
//! A configuration is a name like any other: [`super::Zoo`] makes it, reports show it, and read again it is the same. What has no
//! parameters in its code has none here.

use super::{Member, PredictionKind, PredictorEntry, UnknownPredictor};
use assay_numbers::words;

/// One parameter: a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, in lower case.
    pub name: &'static str,
    /// What it is, in a few words.
    pub what: &'static str,
    /// The least and the largest that it can be.
    pub domain: (u32, u32),
    /// What it is where nothing is said.
    pub usual: &'static str,
}

/// Predictors that differ in their parameters alone.
pub struct PredictorFamily {
    /// What stands before the colon.
    pub name: &'static str,
    /// Who described it, where.
    pub source: &'static str,
    /// Which branches it judges.
    pub judges: &'static [PredictionKind],
    /// What can be chosen.
    pub parameters: &'static [Parameter],
    /// A fresh one of these values, each within its domain, in the order of `parameters`; or why they do not fit together.
    pub make: fn(&[Option<u32>]) -> Result<Configured, String>,
}

/// One of a family.
pub struct Configured {
    /// What it is, in one line.
    pub what: String,
    /// It, fresh.
    pub member: Box<dyn Member>,
}

/// More configurations than this in one list are a mistake.
const MOST: usize = 10_000;

/// What a name stands for: an entry of the list, or one of a family.
pub(super) enum Named {
    /// An entry.
    Entry(&'static PredictorEntry),
    /// A family with the values of its parameters.
    Family(&'static PredictorFamily, Vec<Option<u32>>),
}

impl PredictorFamily {
    /// Reads the parameters behind the colon, each `name=NUMBER`.
    pub(super) fn read(&self, name: &str, parameters: &str) -> Result<Vec<Option<u32>>, UnknownPredictor> {
        let wrong = |why: String| UnknownPredictor::misconfigured(name, why);
        let mut values = vec![None; self.parameters.len()];
        for (at, text) in self.assigned(name, parameters)? {
            let parameter = &self.parameters[at];
            let (least, most) = parameter.domain;
            let number = text.parse::<u32>().ok().filter(|number| (least..=most).contains(number));
            let Some(number) = number else {
                return Err(wrong(format!(
                    "{} is a whole number from {least} to {most}, not `{text}`",
                    parameter.name
                )));
            };
            values[at] = Some(number);
        }
        (self.make)(&values).map_err(wrong)?;
        Ok(values)
    }

    /// Which parameters are given, each with its text; each once.
    fn assigned<'a>(
        &self,
        name: &str,
        parameters: &'a str,
    ) -> Result<Vec<(usize, &'a str)>, UnknownPredictor> {
        let wrong = |why: String| Err(UnknownPredictor::misconfigured(name, why));
        let mut found: Vec<(usize, &str)> = Vec::new();
        for assignment in parameters.split(',') {
            let Some((parameter, text)) = assignment.split_once('=') else {
                return wrong(format!(
                    "`{assignment}` gives no parameter a value; {}=NUMBER does",
                    self.parameters[0].name
                ));
            };
            let Some(at) = self.parameters.iter().position(|known| known.name == parameter.trim()) else {
                let known: Vec<&str> = self.parameters.iter().map(|known| known.name).collect();
                return wrong(format!(
                    "{} has no parameter `{parameter}`; it has {}",
                    self.name,
                    words::list(&known)
                ));
            };
            if found.iter().any(|(other, _)| *other == at) {
                return wrong(format!("{} is given twice", self.parameters[at].name));
            }
            found.push((at, text.trim()));
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The name of one with these values: those that were given, in the family's order.
    fn named(&self, values: &[Option<u32>]) -> String {
        let given = self.parameters.iter().zip(values);
        let given = given.filter_map(|(parameter, value)| Some(format!("{}={}", parameter.name, (*value)?)));
        format!("{}:{}", self.name, given.collect::<Vec<String>>().join(","))
    }
}

/// The names in lists of predictors, each once: `gshare:bits=12..14` is three, `a..b..step` leaves some out; both ends of a range
/// are in it. Several ranges of one predictor are all combinations.
///
/// A part with `=` and no `:` before it belongs to the predictor ahead of it.
///
/// # Errors
/// A name or a parameter that there is not, a value outside its domain; in words.
pub fn expand<S: AsRef<str>>(lists: &[S]) -> Result<Vec<String>, UnknownPredictor> {
    let mut asked: Vec<String> = Vec::new();
    for part in lists.iter().flat_map(|list| list.as_ref().split(',')).map(str::trim) {
        let goes_on = part.split_once('=').is_some_and(|(parameter, _)| !parameter.contains(':'));
        match asked.last_mut().filter(|last| goes_on && last.contains(':')) {
            Some(last) => *last += &format!(",{part}"),
            None if part.is_empty() => {}
            None => asked.push(part.to_owned()),
        }
    }
    let mut names: Vec<String> = Vec::new();
    for name in asked {
        for one in one_each(&name)? {
            if !names.contains(&one) {
                names.push(one);
            }
        }
        if names.len() > MOST {
            return Err(UnknownPredictor::misconfigured(&name, format!("more than {MOST} configurations")));
        }
    }
    Ok(names)
}

/// The names that one with ranges stands for.
fn one_each(name: &str) -> Result<Vec<String>, UnknownPredictor> {
    let Some((family, parameters)) = super::zoo::family(name)? else {
        return super::zoo::find(name).map(|_| vec![name.to_owned()]);
    };
    let mut all = vec![vec![None; family.parameters.len()]];
    for (at, text) in family.assigned(name, parameters)? {
        let numbers = numbers(text).map_err(|why| UnknownPredictor::misconfigured(name, why))?;
        if all.len() * numbers.len() > MOST {
            return Err(UnknownPredictor::misconfigured(name, format!("more than {MOST} configurations")));
        }
        let with = |values: &Vec<Option<u32>>| {
            let values = values.clone();
            numbers.clone().into_iter().map(move |number| {
                let mut values = values.clone();
                values[at] = Some(number);
                values
            })
        };
        all = all.iter().flat_map(with).collect();
    }
    // Each is looked up, so that the first that cannot be is told.
    all.iter().map(|values| family.named(values)).map(|name| super::zoo::find(&name).map(|_| name)).collect()
}

/// `12`, `12..20`, `64..1024..64`.
fn numbers(text: &str) -> Result<Vec<u32>, String> {
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let parts: Vec<&str> = text.split("..").collect();
    let (from, to, step) = match parts[..] {
        [one] => (number(one), number(one), Some(1)),
        [from, to] => (number(from), number(to), Some(1)),
        [from, to, step] => (number(from), number(to), number(step)),
        _ => (None, None, None),
    };
    let (Some(from), Some(to), Some(step)) = (from, to, step) else {
        return Err(format!("`{text}` is neither a number nor a range, such as 12..20 or 64..1024..64"));
    };
    if step == 0 || to < from {
        return Err(format!("the range `{text}` has no number in it"));
    }
    if (to - from) / step >= MOST as u32 {
        return Err(format!("more than {MOST} configurations"));
    }
    Ok((from..=to).step_by(step as usize).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::zoo;

    fn refused(list: &str) -> String {
        expand(&[list]).expect_err(list).to_string()
    }

    #[test]
    fn a_list_is_read_into_names_that_read_again_are_the_same() {
        let lists =
            ["bimodal,gshare:bits=12..13,history=4", "tage:longest=100..300..100, gshare:history=4,bits=12"];
        let names = expand(&lists).unwrap();
        let expected = [
            "bimodal",
            "gshare:bits=12,history=4",
            "gshare:bits=13,history=4",
            "tage:longest=100",
            "tage:longest=200",
            "tage:longest=300",
        ];
        assert_eq!(names, expected, "the last one was there already");
        assert_eq!(expand(&[names.join(",")]).unwrap(), expected);
        assert_eq!(expand(&["gshare:bits=4..6,history=1..2"]).unwrap().len(), 6);
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_reason() {
        for (list, why) in [
            ("gshare:bits=40", "`gshare:bits=40`: bits is a whole number from 4 to 20, not `40`"),
            ("gshare:bits=12..21", "`gshare:bits=21`: bits is a whole number from 4 to 20"),
            ("gshare:bits=12,history=13", "history=13 is more than the 12 bits of an index"),
            ("gshare:size=12", "gshare has no parameter `size`; it has bits and history"),
            ("gshare:bits=12,bits=13", "bits is given twice"),
            ("gshare:", "`` gives no parameter a value; bits=NUMBER does"),
            ("gshare:bits=x", "neither a number nor a range"),
            ("gshare:bits=14..12", "has no number in it"),
            ("gshare:bits=4..8..0", "has no number in it"),
            ("gshare:bits=0..4294967295", "more than 10000 configurations"),
            ("tage:tables=16,longest=10", "at least 19"),
            ("perceptron:rows=9", "perceptron has no parameters"),
            ("gshar:bits=9", "did you mean `gshare:...`?"),
            ("bits=9", "no predictor is named `bits=9`"),
        ] {
            let said = refused(list);
            assert!(said.contains(why), "{list}: {said}");
        }
    }

    #[test]
    fn every_corner_of_every_domain_makes_a_predictor_or_says_why_not() {
        for family in zoo::families() {
            let corners = family.parameters.iter().fold(vec![String::new()], |all, parameter| {
                let (least, most) = parameter.domain;
                let with =
                    |text: &String| [least, most].map(|value| format!("{text},{}={value}", parameter.name));
                all.iter().flat_map(with).collect()
            });
            let mut made = 0;
            for corner in corners {
                let name = format!("{}:{}", family.name, corner.trim_start_matches(','));
                match zoo::describe(&name) {
                    Ok(found) => {
                        assert!(found.name == name && found.storage_bits > 0 && !found.what.is_empty());
                        made += 1;
                    }
                    Err(refused) => {
                        assert!(refused.to_string().starts_with(&format!("`{name}`: ")), "{refused}")
                    }
                }
            }
            assert!(made > 1, "{}", family.name);
        }
    }
}
