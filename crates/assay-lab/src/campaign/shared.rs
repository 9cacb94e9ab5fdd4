//! Was the core shared while a sample was taken? Decided when samples are read, from the pulses beside them and from what all pulses
//! on that core tell of it: those of the campaign, or of all steps of the sweep that it belongs to. So what a later round
//! teaches holds for those before it, and a better rule for old campaigns.

use crate::store::{Ledger, SampleRow};
use anyhow::Result;
use assay_pure::ledger::Flag;
use assay_pure::pulse::OwnCore;

/// What a campaign's pulses so far tell of an unshared core.
///
/// # Errors
/// The ledger cannot be read.
pub fn learned(ledger: &Ledger, campaign: i64) -> Result<OwnCore> {
    let mut own_core = OwnCore::default();
    // Round by round, as it was learned when they were measured: in one of them the core may have been alone.
    for round in ledger.pulses(campaign)?.chunk_by(|a, b| a.0 == b.0) {
        own_core.learn(round.iter().map(|(_, pulses)| *pulses));
    }
    Ok(own_core)
}

/// The same of samples that were read.
pub fn learned_of(samples: &[SampleRow]) -> OwnCore {
    let mut own_core = OwnCore::default();
    for round in samples.chunk_by(|a, b| a.round == b.round) {
        own_core.learn(round.iter().filter_map(|sample| sample.pulses));
    }
    own_core
}

/// What several campaigns on one core tell of it.
///
/// # Errors
/// The ledger cannot be read.
pub fn learned_by(ledger: &Ledger, campaigns: impl IntoIterator<Item = i64>) -> Result<OwnCore> {
    let mut own_core = OwnCore::default();
    for campaign in campaigns {
        own_core.join(learned(ledger, campaign)?);
    }
    Ok(own_core)
}

/// Flags the samples that would otherwise be used and were taken on a shared core.
pub fn flag(samples: &mut [SampleRow], own_core: &OwnCore) {
    for sample in samples.iter_mut().filter(|sample| sample.flagged.is_none()) {
        sample.flagged = own_core.is_shared(sample.pulses).then_some(Flag::Shared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{NewSample, Round, sample};
    use assay_pure::pulse::Pulse;

    #[test]
    fn what_a_later_round_teaches_holds_for_the_samples_before_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = Ledger::open(&folder.path().join("ledger.db")).expect("a new ledger");
        let campaign = sample::begin(&ledger);
        ledger.put_artifacts(&[sample::artifact()]).expect("an artifact");
        let mut process = sample::process("v", Some((0, 0)));
        ledger.put_processes(campaign, &mut [&mut process]).expect("a process");
        let put = |round: u32, pulses: &[(Option<[Pulse; 2]>, Option<Flag>)]| {
            let row = |&(pulses, flagged)| {
                sample::new(SampleRow { round, pulses, ..sample::of(process.id, flagged) })
            };
            let samples: Vec<NewSample> = pulses.iter().map(row).collect();
            let round = Round { round, rotations: vec![0], started_at: 0.0, elapsed_ns: 1, waited_ns: 0 };
            ledger.put_round(campaign, &round, &samples).expect("a round");
        };
        let (own, wide) = (Pulse::of_additions(1000, 1600), Pulse::of_additions(1000, 2400));
        let busy = Some([own, wide]);
        put(0, &[(busy, None), (busy, Some(Flag::Preempted)), (None, None), (None, Some(Flag::Shared))]);
        let flags = || {
            let mut samples = ledger.samples(campaign).expect("samples");
            let known = learned(&ledger, campaign).expect("learned");
            assert_eq!(known, learned_of(&samples));
            flag(&mut samples, &known);
            samples.iter().take(4).map(|sample| sample.flagged).collect::<Vec<_>>()
        };
        let old = Some(Flag::Shared);
        assert_eq!(flags(), [None, Some(Flag::Preempted), None, old], "nothing is known of the core yet");
        put(1, &[(Some([own; 2]), None); 40]);
        assert_eq!(flags(), [Some(Flag::Shared), Some(Flag::Preempted), None, old]);
        assert_eq!(ledger.samples(campaign).expect("samples")[0].flagged, None, "nothing of it is stored");
    }
}
