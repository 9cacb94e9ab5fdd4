-- From format 12 to format 13: the command line by which each was measured, what builds were warned of.

ALTER TABLE campaign ADD COLUMN command TEXT;
ALTER TABLE comparison ADD COLUMN command TEXT;
ALTER TABLE sweep ADD COLUMN command TEXT;

CREATE TABLE build_warning (
    campaign     INTEGER NOT NULL REFERENCES campaign(id),
    warning      TEXT NOT NULL,         -- a sentence
    PRIMARY KEY (campaign, warning)
);
