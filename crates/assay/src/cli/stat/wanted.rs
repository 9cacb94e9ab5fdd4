//! What was asked for with `-e`: events of the kernel, of the tracer, or of both.

use assay_lab::lead::Misuse;
use assay_linux::perf::CounterEvent;
use assay_pure::command::Scope;
use assay_trace::ClassCounts;

/// A count that the tracer keeps: its name and where it is found.
pub struct TracedCount {
    /// perf's name where perf has one.
    pub name: &'static str,
    /// From what a thread executed; None where that was not looked at.
    pub of: fn(&ClassCounts) -> Option<u64>,
}

/// What the tracer counts, in the order in which it is shown.
pub const TRACED: &[TracedCount] = &[
    TracedCount { name: "branches", of: |counts| Some(counts.branches()) },
    TracedCount { name: "instructions", of: |counts| Some(counts.instructions) },
    TracedCount { name: "conditional-branches", of: |counts| Some(counts.conditional) },
    TracedCount { name: "taken-branches", of: |counts| counts.taken },
    TracedCount { name: "direct-jumps", of: |counts| Some(counts.jumps) },
    TracedCount { name: "direct-calls", of: |counts| Some(counts.calls) },
    TracedCount { name: "indirect-jumps", of: |counts| Some(counts.indirect_jumps) },
    TracedCount { name: "indirect-calls", of: |counts| Some(counts.indirect_calls) },
    TracedCount { name: "returns", of: |counts| Some(counts.returns) },
    TracedCount { name: "system-calls", of: |counts| Some(counts.system_calls) },
];

/// The name under which simulated mispredictions are asked for; `branch-misses` is the other.
const MISPREDICTIONS: &str = "mispredictions";

/// What is counted by default: perf's own choice, branches first, the two of a group on counters together.
const USUAL: &str =
    "{branches,branch-misses},{cycles,instructions},task-clock,context-switches,cpu-migrations,page-faults";

/// What to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatRequest {
    /// Events for the kernel; those of one group are to be on counters together.
    pub groups: Vec<Vec<CounterEvent>>,
    /// Names of [`TRACED`], in their order.
    pub traced: Vec<&'static str>,
    /// Mispredictions, if there is no counter for them.
    pub mispredictions: bool,
    /// Only what was named; else the usual.
    pub named: bool,
}

impl StatRequest {
    /// From the arguments of `-e`, each a list by commas; braces hold a group. Nothing at all is the usual.
    ///
    /// # Errors
    /// A name that neither the kernel nor the tracer has, an unpaired brace.
    pub fn read(lists: &[String]) -> Result<StatRequest, Misuse> {
        if lists.is_empty() {
            let mut usual = StatRequest::read(&[USUAL.to_owned()])?;
            usual.traced = TRACED.iter().map(|traced| traced.name).collect();
            usual.named = false;
            return Ok(usual);
        }
        let mut wanted =
            StatRequest { groups: Vec::new(), traced: Vec::new(), mispredictions: false, named: true };
        for list in lists {
            for group in groups_of(list)? {
                wanted.add(&group)?;
            }
        }
        wanted.pair();
        if wanted.groups.is_empty() && wanted.traced.is_empty() && !wanted.mispredictions {
            return Err(Misuse("-e is empty: name an event".to_owned()));
        }
        Ok(wanted)
    }

    fn add(&mut self, names: &[&str]) -> Result<(), Misuse> {
        let mut group = Vec::new();
        for name in names {
            if *name == MISPREDICTIONS {
                self.mispredictions = true;
                continue;
            }
            let bare = name.strip_suffix(":u").unwrap_or(name);
            let traced = TRACED.iter().find(|traced| traced.name == bare);
            let event: Result<CounterEvent, _> = name.parse();
            match (event, traced) {
                (Ok(event), _) => {
                    if let Some(traced) = traced_twin(&event) {
                        self.traced.push(traced);
                    }
                    self.mispredictions |= is_misses(&event);
                    group.push(event);
                }
                (Err(_), Some(traced)) => self.traced.push(traced.name),
                (Err(error), None) => {
                    let traced: Vec<&str> = TRACED[2..].iter().map(|traced| traced.name).collect();
                    return Err(Misuse(format!(
                        "{error}; tracing also has {} and mispredictions",
                        traced.join(", ")
                    )));
                }
            }
        }
        self.groups.extend((!group.is_empty()).then_some(group));
        Ok(())
    }

    /// Puts the halves of a ratio into one group, so that both are counted over the same time.
    fn pair(&mut self) {
        for (first, second) in
            [("branches", "branch-misses"), ("cycles", "instructions"), ("cache-references", "cache-misses")]
        {
            let alone = |groups: &[Vec<CounterEvent>], name: &str| {
                groups.iter().position(|group| group.len() == 1 && group[0].name == name)
            };
            let places = (alone(&self.groups, first), alone(&self.groups, second));
            if let (Some(first), Some(second)) = places {
                let other = self.groups[second][0].clone();
                if other.scope == self.groups[first][0].scope {
                    self.groups[first].push(other);
                    self.groups.remove(second);
                }
            }
        }
    }

    /// All events for the kernel.
    pub fn events(&self) -> impl Iterator<Item = &CounterEvent> {
        self.groups.iter().flatten()
    }

    /// The events without which a count says nothing: all that were named, else branches and their misses.
    pub fn essential(&self, event: &CounterEvent) -> bool {
        self.named || matches!(event.name.as_str(), "branches" | "branch-misses")
    }
}

/// Whether tracing can stand in for this event, with an exact count or a simulated one.
pub fn is_traceable(event: &CounterEvent) -> bool {
    traced_twin(event).is_some() || is_misses(event)
}

/// The traced count of the same thing.
fn traced_twin(event: &CounterEvent) -> Option<&'static str> {
    let found = TRACED.iter().find(|traced| traced.name == event.name)?;
    (event.scope == Scope::User && !event.is_software()).then_some(found.name)
}

fn is_misses(event: &CounterEvent) -> bool {
    event.name == "branch-misses" && event.scope == Scope::User
}

/// "a,{b,c},d" as [[a], [b, c], [d]].
fn groups_of(list: &str) -> Result<Vec<Vec<&str>>, Misuse> {
    let unpaired = || Misuse(format!("-e {list}: a brace is not closed or not opened"));
    let mut groups = Vec::new();
    let mut left = list;
    while !left.is_empty() {
        if let Some(rest) = left.strip_prefix('{') {
            let (group, rest) = rest.split_once('}').ok_or_else(unpaired)?;
            if group.contains('{') {
                return Err(unpaired());
            }
            groups.push(group.split(',').map(str::trim).filter(|name| !name.is_empty()).collect());
            left = rest.trim_start_matches([',', ' ']);
        } else {
            let end = left.find(',').unwrap_or(left.len());
            let name = left[..end].trim();
            if name.contains(['{', '}']) {
                return Err(unpaired());
            }
            groups.extend((!name.is_empty()).then(|| vec![name]));
            left = left[end..].trim_start_matches([',', ' ']);
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(list: &str) -> StatRequest {
        StatRequest::read(&[list.to_owned()]).unwrap()
    }

    fn names(wanted: &StatRequest) -> Vec<Vec<String>> {
        wanted.groups.iter().map(|group| group.iter().map(|event| event.to_string()).collect()).collect()
    }

    #[test]
    fn the_usual_events_are_perfs_with_ratios_counted_together() {
        let usual = StatRequest::read(&[]).unwrap();
        assert_eq!(names(&usual)[..2], [["branches:u", "branch-misses:u"], ["cycles:u", "instructions:u"]]);
        assert_eq!(usual.events().count(), 8);
        assert_eq!(usual.traced.len(), TRACED.len());
        assert!(usual.mispredictions && !usual.named);
        let essential: Vec<&str> =
            usual.events().filter(|event| usual.essential(event)).map(|event| event.name.as_str()).collect();
        assert_eq!(essential, ["branches", "branch-misses"]);
    }

    #[test]
    fn named_events_stand_alone_and_all_count() {
        let wanted = wanted("cycles,task-clock");
        assert_eq!(names(&wanted), [["cycles:u"], ["task-clock"]]);
        assert!(wanted.traced.is_empty() && !wanted.mispredictions && wanted.named);
        assert!(wanted.events().all(|event| wanted.essential(event)));
    }

    #[test]
    fn the_halves_of_a_ratio_are_counted_together_unless_their_modes_differ() {
        assert_eq!(
            names(&wanted("branches,cs,branch-misses")),
            [vec!["branches:u", "branch-misses:u"], vec!["context-switches"]]
        );
        assert_eq!(names(&wanted("branches:k,branch-misses")), [["branches:k"], ["branch-misses:u"]]);
        assert_eq!(
            names(&wanted("{cycles,branches},instructions")),
            [vec!["cycles:u", "branches:u"], vec!["instructions:u"]]
        );
    }

    #[test]
    fn an_event_of_user_mode_is_traced_where_the_tracer_sees_it() {
        let found = wanted("branches,instructions:u,branch-misses,conditional-branches,returns");
        assert_eq!(found.traced, ["branches", "instructions", "conditional-branches", "returns"]);
        assert!(found.mispredictions);
        let kernel = wanted("branches:k,branch-misses:uk,page-faults");
        assert!(kernel.traced.is_empty() && !kernel.mispredictions);
        let only = wanted("mispredictions");
        assert!(only.mispredictions && only.groups.is_empty());
        let traceable = |name: &str| is_traceable(&name.parse().unwrap());
        assert!(traceable("branches") && traceable("branch-misses") && traceable("instructions"));
        assert!(
            !traceable("cycles")
                && !traceable("branches:k")
                && !traceable("branch-misses:uk")
                && !traceable("cs")
        );
    }

    #[test]
    fn groups_and_lists_are_read_as_perf_writes_them() {
        assert_eq!(groups_of("a,{b,c},d").unwrap(), [vec!["a"], vec!["b", "c"], vec!["d"]]);
        assert_eq!(groups_of("{a, b}, c").unwrap(), [vec!["a", "b"], vec!["c"]]);
        assert_eq!(groups_of(",a,,b,").unwrap(), [["a"], ["b"]]);
        for list in ["{a", "a}", "a,{b,{c}", "{{a}}"] {
            assert!(groups_of(list).is_err(), "{list}");
        }
        let both = StatRequest::read(&["branches".to_owned(), "cs".to_owned()]).unwrap();
        assert_eq!(names(&both), [["branches:u"], ["context-switches"]]);
    }

    #[test]
    fn unknown_names_are_refused_with_what_there_is() {
        let message = StatRequest::read(&["brnches".to_owned()]).unwrap_err().0;
        assert!(
            message.contains("`brnches`") && message.contains("branch-misses") && message.contains("returns")
        );
        assert!(StatRequest::read(&[String::new()]).is_err());
    }
}
