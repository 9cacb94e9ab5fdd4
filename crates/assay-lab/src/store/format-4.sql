-- From format 3 to format 4: optimisation diaries.

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
    conditional  INTEGER,               -- NULL: the source does not tell them apart
    misses       TEXT NOT NULL,         -- JSON: [[predictor or "counted", mispredictions]], the table's one first
    start        TEXT,                  -- JSON: what start-up alone executes, as far as it was subtracted; NULL: nothing was
    again        INTEGER,               -- branches of a second execution; NULL: there was none
    components   TEXT NOT NULL,         -- JSON: per component calls, instructions, branches, misses
    notes        TEXT NOT NULL,         -- JSON: sentences
    failed       TEXT,                  -- why nothing was counted; NULL: it was
    at           REAL NOT NULL
);
CREATE INDEX diary_count_by_entrant ON diary_count (entrant, role);
