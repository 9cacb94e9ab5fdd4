-- From format 1 to format 2: counts per unit, and what a misprediction costs.

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
    source       TEXT NOT NULL,         -- counted | traced
    walk         TEXT NOT NULL,         -- first | repeated
    units        INTEGER NOT NULL,      -- that the counts are of
    instructions INTEGER NOT NULL,
    branches     INTEGER NOT NULL,      -- of all classes
    conditional  INTEGER,               -- NULL: the source does not tell them apart
    misses       TEXT NOT NULL,         -- JSON: mispredictions by predictor, in order
    note         TEXT,                  -- what the reader must know: another binary was executed
    at           REAL NOT NULL
);
CREATE INDEX count_by_artifact ON count (artifact, input);

-- What a misprediction costs on a machine, and how many outcomes its predictor remembers; from timing alone.
CREATE TABLE branch_timing (
    id           INTEGER PRIMARY KEY,
    campaign     INTEGER NOT NULL REFERENCES campaign(id), -- that measured it
    machine      TEXT NOT NULL,         -- JSON: the facts of the machine that it depends on
    penalty_ns   REAL NOT NULL,         -- of one misprediction
    lower_ns     REAL NOT NULL,         -- its interval at 95 %
    upper_ns     REAL NOT NULL,
    fresh_ns     REAL NOT NULL,         -- one outcome never seen
    learned_ns   REAL NOT NULL,         -- one known by heart
    series       INTEGER NOT NULL,      -- that the interval rests on
    learned_outcomes   INTEGER,         -- the longest repeated sequence known by heart; NULL: none was
    unlearned_outcomes INTEGER,         -- the shortest of which nothing is known; NULL: the longest tried is known in part
    sweep        TEXT NOT NULL,         -- JSON: per period its outcomes and the nanoseconds per outcome of each window
    windows      INTEGER NOT NULL,      -- timed in all
    interrupted  INTEGER NOT NULL,      -- of them left out
    at           REAL NOT NULL
);
