-- From format 9 to format 10: the sources of a campaign, and figures of other tools.

ALTER TABLE campaign ADD COLUMN sources TEXT;

-- A file of another benchmark tool, read into the history of a name. Its figures are told beside our own, never mixed with them.
CREATE TABLE imported (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,         -- of the history it belongs to
    tool         TEXT NOT NULL,         -- google-benchmark | criterion | hyperfine | go | bmf
    file         TEXT NOT NULL,         -- its name, as it was given
    digest       TEXT NOT NULL,         -- SHA-256 of what is in it
    machine      TEXT NOT NULL,         -- as the file or the user calls it; empty: not told
    revision     TEXT,                  -- of what was measured, as the user says; NULL: not told
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
