-- From format 2 to format 3: comparisons of other people's builds.

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
    stopped_because TEXT                -- decided | budget | rounds | nothing | interrupted
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

-- What the code that a benchmark runs says: fact of the two builds, found by executing it under the tracer.
CREATE TABLE comparison_code (
    comparison   INTEGER NOT NULL REFERENCES comparison(id),
    benchmark    TEXT NOT NULL,
    found        TEXT NOT NULL,         -- JSON: functions executed on both sides, which changed, instructions per call
    PRIMARY KEY (comparison, benchmark)
);
