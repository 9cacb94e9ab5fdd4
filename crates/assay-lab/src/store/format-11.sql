-- From format 10 to format 11: what variants allocate.

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
    at           REAL NOT NULL
);
CREATE INDEX allocation_by_artifact ON allocation (artifact, input);
