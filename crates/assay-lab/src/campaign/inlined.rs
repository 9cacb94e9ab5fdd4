//! Patterns of `functions` that no function of a build matches: what they name was inlined there, and moves with its caller.

use super::placements::PlacedLink;
use super::prepare::PreparedExperiment;
use super::scene::Scene;
use anyhow::Result;
use assay_pure::experiment::pattern;
use assay_pure::placement::layout::FunctionPlace;
use assay_trace::sites::names::demangle;
use std::collections::BTreeSet;

/// Tells of them, by build.
///
/// # Errors
/// The ledger cannot be written.
pub fn tell(prepared: &PreparedExperiment, placed: &[PlacedLink], scene: &mut Scene<'_>) -> Result<()> {
    let variants = &prepared.experiment.variants;
    let patterns: BTreeSet<&str> =
        variants.iter().flat_map(|variant| &variant.functions).map(String::as_str).collect();
    for place in placed.iter().filter(|place| place.placement.is_as_built()) {
        let (compiler, flags) = (place.group.compiler, place.group.flags);
        for pattern in absent(&place.artifact.functions, &patterns) {
            let warning = format!(
                "{} with flags {}: no function of this build is called `{pattern}`: it was inlined, so it moves with its caller, or it \
                 lies in a library. `__attribute__((noinline))`, in Rust `#[inline(never)]`, gives it a place of its own",
                prepared.compilers[compiler].name, prepared.experiment.flags[flags].name
            );
            scene.ledger.put_build_warning(scene.campaign.id, &warning)?;
            scene.warn(warning);
        }
    }
    Ok(())
}

/// The patterns that match none of these; none of a build without symbols, which is told of by itself.
fn absent<'a>(functions: &[FunctionPlace], patterns: &BTreeSet<&'a str>) -> Vec<&'a str> {
    if functions.is_empty() || patterns.is_empty() {
        return Vec::new();
    }
    let names: Vec<(String, &str)> =
        functions.iter().map(|function| (demangle(&function.name), function.name.as_str())).collect();
    let is_there = |glob: &str| {
        names.iter().any(|(readable, name)| pattern::matches(glob, readable) || pattern::matches(glob, name))
    };
    patterns.iter().copied().filter(|pattern| !is_there(pattern)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_functions_that_were_inlined_are_found_by_readable_names() {
        let function = |name: &str| FunctionPlace {
            name: name.into(),
            address: 0x1000,
            size: 16,
            offset: 0,
            alignment: None,
        };
        let functions = [function("_ZN2G15storeEPii"), function("outer")];
        let patterns = BTreeSet::from(["G1::store*", "inner*", "out*"]);
        assert_eq!(absent(&functions, &patterns), ["inner*"]);
        assert_eq!(absent(&[], &patterns), [""; 0], "without symbols nothing is known");
    }
}
