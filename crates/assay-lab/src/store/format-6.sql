-- From format 5 to format 6: sweeps.

-- One key of an input varied over a range: the campaigns that belong together.
CREATE TABLE sweep (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,
    question     TEXT NOT NULL,         -- SHA-256 of what was asked: file, sweep, options
    spec         TEXT NOT NULL,         -- JSON: the sweep with every default filled in
    asked        TEXT NOT NULL,         -- JSON: budget_seconds, events, every_pair
    started_at   REAL NOT NULL,
    finished_at  REAL,                  -- NULL while it runs or after it was killed
    stopped_because TEXT                -- refined | points | interrupted | nothing
);

-- One campaign of a sweep: the points that were chosen from what was known.
CREATE TABLE sweep_step (
    sweep        INTEGER NOT NULL REFERENCES sweep(id),
    step         INTEGER NOT NULL,      -- from 0
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    points       TEXT NOT NULL,         -- JSON: per input its name, the input it is a point of, the key's value, why
    PRIMARY KEY (sweep, step)
);
