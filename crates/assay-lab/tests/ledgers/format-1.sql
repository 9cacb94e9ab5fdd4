-- The ledger, format 1 (LEDGER.md tells of every column): append-only facts. Nothing here is derived from samples; verdicts are recomputed.
-- All times of day are Unix seconds; all durations nanoseconds unless named otherwise.

-- One stretch of measuring on one machine in one state.
CREATE TABLE campaign (
    id               INTEGER PRIMARY KEY,
    experiment       TEXT NOT NULL,     -- its name
    experiment_digest TEXT NOT NULL,    -- SHA-256 of what was asked: file, overrides and seed
    experiment_text  TEXT NOT NULL,     -- the TOML file as it was
    spec             TEXT NOT NULL,     -- JSON: the experiment with every default filled in
    machine          TEXT NOT NULL,     -- JSON: facts of the machine
    pinned_cpu       INTEGER,           -- the processor that measured
    assay_version    TEXT NOT NULL,
    started_at       REAL NOT NULL,
    finished_at      REAL,              -- NULL while it runs or after it was killed: it can be resumed
    stopped_because  TEXT               -- decided | budget | rotations | nothing | interrupted
);

-- An input by content, with the recipe that made it.
CREATE TABLE input (
    digest       TEXT PRIMARY KEY,      -- SHA-256 of the bytes
    bytes        INTEGER NOT NULL,
    recipe       TEXT NOT NULL,         -- JSON: generator and seed, or the recorded file's name
    format       TEXT NOT NULL,         -- varint | lines | bytes | whole: how units are found
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
    flagged      TEXT,                  -- no-time | preempted | interrupted | failed-cell; NULL: used
    at           REAL NOT NULL          -- Unix seconds
);
CREATE INDEX sample_by_campaign ON sample (campaign, round);

-- Whether two variants of an artifact are the same machine code after relocation.
CREATE TABLE identity (
    artifact     TEXT NOT NULL REFERENCES artifact(hash),
    first        TEXT NOT NULL,
    second       TEXT NOT NULL,
    verdict      TEXT NOT NULL,         -- identical | different | unknown
    evidence     TEXT NOT NULL,
    PRIMARY KEY (artifact, first, second)
);

-- A cell that could not be measured, and why.
CREATE TABLE failure (
    id           INTEGER PRIMARY KEY,
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    stage        TEXT NOT NULL,         -- compile | link | start | load | answer | measure | skipped
    variant      TEXT,                  -- NULL: all of them
    input        TEXT,
    compiler     TEXT,
    flags        TEXT,
    reason       TEXT NOT NULL,
    at           REAL NOT NULL
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
