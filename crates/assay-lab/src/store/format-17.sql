-- From format 16 to format 17: what two functions with the same loops execute on an input.

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
