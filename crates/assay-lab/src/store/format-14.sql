CREATE TABLE comparison_memory (
    visit        INTEGER NOT NULL REFERENCES comparison_visit(id),
    role         TEXT NOT NULL,         -- of a diary; empty: the command of a comparison
    peak_bytes   INTEGER NOT NULL,      -- the most that one of its processes had at once
    PRIMARY KEY (visit, role)
);
