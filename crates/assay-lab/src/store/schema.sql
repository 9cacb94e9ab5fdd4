-- The ledger (LEDGER.md describes every column; the format is the code's FORMAT). Append-only facts, nothing derived: verdicts are recomputed.
-- All times of day are Unix seconds; all durations nanoseconds unless named otherwise.

-- One stretch of measuring on one machine in one state.
CREATE TABLE campaign (
    id               INTEGER PRIMARY KEY,
    experiment       TEXT NOT NULL,     -- its name
    question         TEXT NOT NULL,     -- SHA-256 of what was asked: file, overrides and seed
    experiment_text  TEXT NOT NULL,     -- the TOML file as it was
    spec             TEXT NOT NULL,     -- JSON: the experiment with every default filled in
    machine          TEXT NOT NULL,     -- JSON: facts of the machine
    pinned_cpu       INTEGER,           -- the processor that measured
    assay_version    TEXT NOT NULL,
    started_at       REAL NOT NULL,
    finished_at      REAL,              -- NULL while it runs or after it was killed: it can be resumed
    stopped_because  TEXT,              -- decided | budget | rotations | nothing | interrupted
    sources          TEXT,              -- JSON: digests of the program's sources, the commit they lie in; NULL: not kept
    command          TEXT               -- the command line; NULL: not kept
);

-- An input by content, with the recipe that made it.
CREATE TABLE input (
    digest       TEXT PRIMARY KEY,      -- SHA-256 of the bytes
    bytes        INTEGER NOT NULL,
    recipe       TEXT NOT NULL,         -- JSON: generator and seed, or the recorded file's name
    format       TEXT NOT NULL,         -- varint, lines, u32, records:24, ...: how units are found
    description  TEXT NOT NULL          -- JSON: histogram, entropies, period
);

-- How one campaign uses an input; the same for all its cells.
CREATE TABLE campaign_input (
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    name         TEXT NOT NULL,
    digest       TEXT NOT NULL REFERENCES input(digest),
    windows      INTEGER NOT NULL,      -- stretches one call gets
    iterations   INTEGER NOT NULL,      -- calls per sample
    warmup       INTEGER NOT NULL,      -- samples ahead of each visit that do not count
    samples      INTEGER NOT NULL,      -- samples per visit that do
    PRIMARY KEY (campaign, name)
);

-- One linked binary, by content.
CREATE TABLE artifact (
    hash            TEXT PRIMARY KEY,
    compiler        TEXT NOT NULL,      -- JSON: name, version, target, hash
    flags           TEXT NOT NULL,      -- JSON: all flags as given to the compiler
    link            TEXT NOT NULL,      -- JSON: as built, or shuffle and padding
    command         TEXT NOT NULL,      -- JSON: the link command
    functions       TEXT NOT NULL,      -- JSON: name, address, size, offset of every function
    text_bytes      INTEGER NOT NULL
);

-- What an artifact's variant answers on an input; proven once, valid as long as both contents are the same.
CREATE TABLE answer (
    artifact     TEXT NOT NULL REFERENCES artifact(hash),
    variant      TEXT NOT NULL,
    input        TEXT NOT NULL REFERENCES input(digest),
    windows      INTEGER NOT NULL,      -- into how many windows the input was cut
    whole        TEXT NOT NULL,         -- one call over the whole input, hexadecimal
    by_window    TEXT NOT NULL,         -- all windows' answers combined, hexadecimal
    PRIMARY KEY (artifact, variant, input, windows)
);

-- One launch of an artifact for one variant.
CREATE TABLE process (
    id                INTEGER PRIMARY KEY,
    campaign          INTEGER NOT NULL REFERENCES campaign(id),
    artifact          TEXT NOT NULL REFERENCES artifact(hash),
    compiler          TEXT NOT NULL,    -- name on the compiler axis
    flags             TEXT NOT NULL,    -- name on the flags axis
    variant           TEXT NOT NULL,
    rotation          INTEGER,          -- NULL: as built
    phase_bytes       INTEGER,          -- NULL: as built
    entry_address     INTEGER NOT NULL, -- link-time address of the variant's function
    environment_bytes INTEGER NOT NULL, -- size of the environment it was given, drawn at random
    region_wall_ns    REAL NOT NULL,    -- its own cost of an empty region, to be subtracted
    region_cpu_ns     REAL NOT NULL,
    wall_read_ns      REAL NOT NULL,
    cpu_read_ns       REAL NOT NULL,
    started_at        REAL NOT NULL
);

-- One interleaved pass over the cells; its samples are written in the same transaction.
CREATE TABLE round (
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    round        INTEGER NOT NULL,
    rotations    TEXT NOT NULL,         -- JSON: the rotations it visited
    started_at   REAL NOT NULL,
    elapsed_ns   INTEGER NOT NULL,      -- of measuring, as the budget counts it
    waited_ns    INTEGER,               -- of that, what was only waited for an unshared core
    PRIMARY KEY (campaign, round)
);

-- One timed region. Never deleted; what is wrong with it is flagged.
CREATE TABLE sample (
    id           INTEGER PRIMARY KEY,   -- order of execution
    campaign     INTEGER NOT NULL,
    round        INTEGER NOT NULL,
    process      INTEGER NOT NULL REFERENCES process(id),
    input        TEXT NOT NULL,         -- its name in the campaign
    start_window INTEGER NOT NULL,      -- window of the visit's first sample
    position     INTEGER NOT NULL,      -- number within the visit, warm-up ones first
    warmup       INTEGER NOT NULL,      -- 1: ahead of the visit, not used
    wall_ns      INTEGER NOT NULL,      -- raw: the region's own cost is not subtracted
    cpu_ns       INTEGER NOT NULL,
    units        INTEGER NOT NULL,
    switches     INTEGER NOT NULL,      -- involuntary context switches during it
    flagged      TEXT,                  -- no-time | preempted | interrupted | shared | retaken | failed-cell; NULL: used
    at           REAL NOT NULL,         -- Unix seconds
    chain_before_ns INTEGER,            -- the pulse before it: additions that wait for each other
    wide_before_ns INTEGER,             -- and additions that need not; NULL: the program takes none
    chain_after_ns INTEGER,             -- the pulse after it
    wide_after_ns INTEGER,
    jumps_before_ns INTEGER,            -- taken jumps, of the same pulses; NULL: the program takes none
    jumps_after_ns INTEGER
);
CREATE INDEX sample_by_campaign ON sample (campaign, round);

-- Whether two variants of an artifact are the same machine code after relocation.
CREATE TABLE identity (
    artifact     TEXT NOT NULL REFERENCES artifact(hash),
    first        TEXT NOT NULL,
    second       TEXT NOT NULL,
    verdict      TEXT NOT NULL,         -- proven | identical | same-loops | different | unknown
    evidence     TEXT NOT NULL,
    PRIMARY KEY (artifact, first, second)
);

-- What two variants with the same loops execute on an input.
CREATE TABLE execution (
    artifact     TEXT NOT NULL REFERENCES artifact(hash),
    first        TEXT NOT NULL,
    second       TEXT NOT NULL,
    input        TEXT NOT NULL,
    windows      INTEGER NOT NULL,
    window_units INTEGER NOT NULL,
    rules        INTEGER NOT NULL,      -- version of what was compared: rows of others prove nothing
    same         INTEGER NOT NULL,      -- 1: the same instructions on the same addresses in the same order
    looped       INTEGER NOT NULL,      -- instructions executed in loops and in what they call, by the first
    around       INTEGER NOT NULL,      -- instructions executed around them, by the one that executes more
    PRIMARY KEY (artifact, first, second, input, windows, window_units, rules)
);

-- A cell that could not be measured, and why.
CREATE TABLE failure (
    id           INTEGER PRIMARY KEY,
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    stage        TEXT NOT NULL,         -- compile | link | start | load | answer | measure | count | skipped
    variant      TEXT,                  -- NULL: all of them
    input        TEXT,
    compiler     TEXT,
    flags        TEXT,
    reason       TEXT NOT NULL,
    at           REAL NOT NULL
);

-- What a reader should know of how the programs were built.
CREATE TABLE build_warning (
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    warning      TEXT NOT NULL,         -- a sentence
    PRIMARY KEY (campaign, warning)
);

-- One look at the verdicts: looks are counted, because each spends some of the error allowed.
CREATE TABLE look (
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    look         INTEGER NOT NULL,
    rotations    INTEGER NOT NULL,
    decided      INTEGER NOT NULL,
    contrasts    INTEGER NOT NULL,
    at           REAL NOT NULL,
    PRIMARY KEY (campaign, look)
);

-- What was seen of a campaign's variants before they were measured, on pieces of the inputs.
CREATE TABLE examination (
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    facts        TEXT NOT NULL,         -- JSON: the inputs, and per build, variant and input what was seen
    at           REAL NOT NULL,
    PRIMARY KEY (campaign)
);

-- What a variant of an artifact executes on an input: a fact of both contents and of the way of counting, whatever the campaign.
CREATE TABLE count (
    id           INTEGER PRIMARY KEY,
    campaign     INTEGER NOT NULL REFERENCES campaign(id), -- that found it out
    artifact     TEXT NOT NULL REFERENCES artifact(hash),  -- the binary as built that it is told of
    executed     TEXT NOT NULL,         -- hash of the binary that was run for it: the same, or one built for the emulator
    variant      TEXT NOT NULL,
    input        TEXT NOT NULL REFERENCES input(digest),
    windows      INTEGER NOT NULL,      -- into how many windows the input was cut
    method       TEXT NOT NULL,         -- how: what must be the same for the row to be used again
    source       TEXT NOT NULL,         -- counted | traced | instrumented
    walk         TEXT NOT NULL,         -- first | repeated
    units        INTEGER NOT NULL,      -- that the counts are of
    instructions INTEGER NOT NULL,
    branches     INTEGER NOT NULL,      -- of all classes
    conditional  INTEGER,               -- NULL: the source does not distinguish them
    misses       TEXT NOT NULL,         -- JSON: mispredictions by predictor, in order
    note         TEXT,                  -- what the reader must know: another binary was executed
    at           REAL NOT NULL,
    cycles       INTEGER,               -- of the core's clock; NULL: no counter told them
    front_end    TEXT                   -- JSON: pairs of event and count; NULL: none was asked for, or no counter told them
);
CREATE INDEX count_by_artifact ON count (artifact, input);

-- What a variant of an artifact allocates on an input.
CREATE TABLE allocation (
    id           INTEGER PRIMARY KEY,
    campaign     INTEGER NOT NULL REFERENCES campaign(id), -- that counted it
    artifact     TEXT NOT NULL REFERENCES artifact(hash),  -- the binary as built
    variant      TEXT NOT NULL,
    input        TEXT NOT NULL REFERENCES input(digest),
    windows      INTEGER NOT NULL,      -- into how many windows the input was cut
    calls        INTEGER NOT NULL,      -- that were counted
    units        INTEGER NOT NULL,      -- in all of them
    allocations  INTEGER NOT NULL,      -- blocks; one that is resized counts again
    bytes        INTEGER NOT NULL,      -- that were asked for
    peak_bytes   INTEGER NOT NULL,      -- the sum over calls of the most at once, beyond what was there before
    at           REAL NOT NULL,
    method       TEXT NOT NULL DEFAULT 'the first windows' -- how the calls were chosen
);
CREATE INDEX allocation_by_artifact ON allocation (artifact, input);

-- What a misprediction costs on a machine, and how many outcomes its predictor remembers; from timing alone.
CREATE TABLE branch_timing (
    id           INTEGER PRIMARY KEY,
    campaign     INTEGER NOT NULL REFERENCES campaign(id), -- that measured it
    machine      TEXT NOT NULL,         -- JSON: the facts of the machine that it depends on
    penalty_ns   REAL NOT NULL,         -- of one misprediction
    lower_ns     REAL NOT NULL,         -- its interval at 95 %
    upper_ns     REAL NOT NULL,
    fresh_ns     REAL NOT NULL,         -- one outcome never seen
    learned_ns   REAL NOT NULL,         -- one memorised
    series       INTEGER NOT NULL,      -- that the interval rests on
    learned_outcomes   INTEGER,         -- the length of a repeated sequence that is memorised; NULL: none was
    unlearned_outcomes INTEGER,         -- the shortest of which nothing is known; NULL: the longest tried is known in part
    sweep        TEXT NOT NULL,         -- JSON: of each sweep, per period its outcomes and the nanoseconds per outcome of each window
    windows      INTEGER NOT NULL,      -- timed in all
    interrupted  INTEGER NOT NULL,      -- of them left out
    at           REAL NOT NULL
);

-- One comparison of two builds by a benchmark command of the user's, or of one build by where it was linked.
CREATE TABLE comparison (
    id           INTEGER PRIMARY KEY,
    question     TEXT NOT NULL,         -- SHA-256 of what was asked
    asked        TEXT NOT NULL,         -- JSON: commands, revisions, adapter, options
    machine      TEXT NOT NULL,         -- JSON: facts of the machine
    pinned_cpu   INTEGER,               -- the processor that measured
    assay_version TEXT NOT NULL,
    started_at   REAL NOT NULL,
    finished_at  REAL,                  -- NULL while it runs or after it was killed
    stopped_because TEXT,               -- decided | budget | rounds | nothing | interrupted
    command      TEXT                   -- the command line; NULL: not kept
);

-- One side of a comparison.
CREATE TABLE comparison_side (
    comparison   INTEGER NOT NULL REFERENCES comparison(id),
    side         INTEGER NOT NULL,      -- 0: the baseline, 1: the candidate
    name         TEXT NOT NULL,         -- as the user called it
    revision     TEXT,                  -- full hash of the commit; NULL: the working tree, or a command
    links        TEXT NOT NULL,         -- JSON: the captured links that the benchmark uses: output, bytes of code, warnings
    PRIMARY KEY (comparison, side)
);

-- One launch of the benchmark command.
CREATE TABLE comparison_visit (
    id           INTEGER PRIMARY KEY,   -- order of execution
    comparison   INTEGER NOT NULL REFERENCES comparison(id),
    round        INTEGER NOT NULL,
    side         INTEGER NOT NULL,
    rotation     INTEGER,               -- NULL: as built
    phase_bytes  INTEGER,               -- NULL: as built
    environment_bytes INTEGER NOT NULL, -- padding of its environment, drawn at random
    stack_bytes  INTEGER NOT NULL,      -- how far its stack was moved, drawn at random
    aslr         INTEGER NOT NULL,      -- 1: the kernel drew its addresses
    elapsed_ns   INTEGER NOT NULL,
    failed       TEXT,                  -- why it gave no figures; NULL: it did
    started_at   REAL NOT NULL
);
CREATE INDEX comparison_visit_by_comparison ON comparison_visit (comparison, round);

-- One figure that a visit's output gave.
CREATE TABLE comparison_figure (
    visit        INTEGER NOT NULL REFERENCES comparison_visit(id),
    benchmark    TEXT NOT NULL,         -- its name in the output
    repetition   INTEGER NOT NULL,      -- from 0
    value        REAL NOT NULL,
    unit         TEXT NOT NULL,         -- of the value, as the adapter says
    PRIMARY KEY (visit, benchmark, repetition)
);

-- The memory of one command of a visit, where it is known.
CREATE TABLE comparison_memory (
    visit        INTEGER NOT NULL REFERENCES comparison_visit(id),
    role         TEXT NOT NULL,         -- of a diary; empty: the command of a comparison
    peak_bytes   INTEGER NOT NULL,      -- the most that one of its processes had at once
    PRIMARY KEY (visit, role)
);

-- What the code that a benchmark runs says: fact of the two builds, found by executing it under the tracer.
CREATE TABLE comparison_code (
    comparison   INTEGER NOT NULL REFERENCES comparison(id),
    benchmark    TEXT NOT NULL,
    found        TEXT NOT NULL,         -- JSON: functions executed on both sides, which changed, instructions per call
    PRIMARY KEY (comparison, benchmark)
);

-- An optimisation diary: stages of somebody's work, measured one after the other, perhaps over months.
CREATE TABLE diary (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,  -- as its file calls it
    started_at   REAL NOT NULL
);

-- One stretch of measuring of a diary: a comparison of as many sides as it has stages and references.
CREATE TABLE diary_session (
    comparison   INTEGER PRIMARY KEY REFERENCES comparison(id),
    diary        INTEGER NOT NULL REFERENCES diary(id),
    spec         TEXT NOT NULL,         -- JSON: the diary as read, every default filled in
    inputs       TEXT NOT NULL          -- JSON: the digest of each declared file, what each role does
);
CREATE INDEX diary_session_by_diary ON diary_session (diary);

-- A stage or reference as it was built for a session.
CREATE TABLE diary_entrant (
    comparison   INTEGER NOT NULL REFERENCES diary_session(comparison),
    name         TEXT NOT NULL,
    kind         TEXT NOT NULL,         -- stage | reference
    side         INTEGER,               -- as in comparison_side; NULL: it was not measured
    built        TEXT NOT NULL,         -- JSON: command, flags, environment, revision, whether its links are placed
    artifact     TEXT,                  -- hash of the program as built; NULL: it was not built
    text_bytes   INTEGER,               -- bytes of code; NULL: not known
    failed       TEXT,                  -- why it was not measured; NULL: it was
    PRIMARY KEY (comparison, name)
);

-- What a command of a role did when it was run for the first time in a session.
CREATE TABLE diary_task (
    comparison   INTEGER NOT NULL REFERENCES diary_session(comparison),
    entrant      TEXT NOT NULL,
    role         TEXT NOT NULL,
    command      TEXT NOT NULL,         -- as it was run
    units        REAL,                  -- that it does; NULL: not known
    failed       TEXT,                  -- why it was not measured; NULL: it was
    PRIMARY KEY (comparison, entrant, role)
);

-- What a command of a role executes, in all.
CREATE TABLE diary_count (
    id           INTEGER PRIMARY KEY,
    comparison   INTEGER NOT NULL REFERENCES diary_session(comparison), -- that found it out
    entrant      TEXT NOT NULL,
    role         TEXT NOT NULL,
    artifact     TEXT,                  -- hash of the program that was run; NULL: it was not built here
    method       TEXT NOT NULL,         -- what must be equal for the row to be used again
    source       TEXT NOT NULL,         -- counted | traced
    instructions INTEGER,
    branches     INTEGER,
    conditional  INTEGER,               -- NULL: the source does not distinguish them
    misses       TEXT NOT NULL,         -- JSON: [[predictor or "counted", mispredictions]], the table's one first
    start        TEXT,                  -- JSON: what start-up alone executes, as far as it was subtracted; NULL: nothing was
    again        INTEGER,               -- branches of a second execution; NULL: there was none
    components   TEXT NOT NULL,         -- JSON: per component calls, instructions, branches, misses
    notes        TEXT NOT NULL,         -- JSON: sentences
    failed       TEXT,                  -- why nothing was counted; NULL: it was
    at           REAL NOT NULL
);
CREATE INDEX diary_count_by_entrant ON diary_count (entrant, role);

-- One key of an input varied over a range: the campaigns that belong together.
CREATE TABLE sweep (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,
    question     TEXT NOT NULL,         -- SHA-256 of what was asked: file, sweep, options
    spec         TEXT NOT NULL,         -- JSON: the sweep with every default filled in
    asked        TEXT NOT NULL,         -- JSON: budget_seconds, events, every_pair
    started_at   REAL NOT NULL,
    finished_at  REAL,                  -- NULL while it runs or after it was killed
    stopped_because TEXT,               -- refined | points | interrupted | nothing
    command      TEXT                   -- the command line; NULL: not kept
);

-- One campaign of a sweep: the points that were chosen from what was known.
CREATE TABLE sweep_step (
    sweep        INTEGER NOT NULL REFERENCES sweep(id),
    step         INTEGER NOT NULL,      -- from 0
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    points       TEXT NOT NULL,         -- JSON: per input its name, the input it is a point of, the key's value, why
    PRIMARY KEY (sweep, step)
);

-- A file of another benchmark tool, read into the history of a name. Its figures are told beside our own, never mixed with them.
CREATE TABLE imported (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,         -- of the history it belongs to
    tool         TEXT NOT NULL,         -- google-benchmark | criterion | hyperfine | go | bmf
    file         TEXT NOT NULL,         -- its name, as it was given
    digest       TEXT NOT NULL,         -- SHA-256 of what is in it
    machine      TEXT NOT NULL,         -- as the file or the user calls it; empty: unknown
    revision     TEXT,                  -- of what was measured, as the user says; NULL: unknown
    notes        TEXT NOT NULL,         -- JSON: sentences of the reader: benchmarks that failed, values left out
    measured_at  REAL NOT NULL,         -- Unix seconds: as the user says, else the file, else when it was changed last
    imported_at  REAL NOT NULL
);

-- One number of an imported file.
CREATE TABLE imported_figure (
    imported     INTEGER NOT NULL REFERENCES imported(id),
    benchmark    TEXT NOT NULL,         -- its name in the file
    repetition   INTEGER NOT NULL,      -- from 0
    value        REAL NOT NULL,
    unit         TEXT NOT NULL,         -- of the value, as the reader says
    lower        REAL,                  -- ends of the file's own interval; NULL: it has none
    upper        REAL,
    PRIMARY KEY (imported, benchmark, repetition)
);
