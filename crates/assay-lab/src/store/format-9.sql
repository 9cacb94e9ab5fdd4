-- From format 8 to format 9: what was seen of the variants before they were measured.

CREATE TABLE examination (
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    facts        TEXT NOT NULL,         -- JSON: the inputs, and per build, variant and input what was seen
    at           REAL NOT NULL,
    PRIMARY KEY (campaign)
);
