-- From format 11 to format 12: how the calls were chosen whose allocations are counted.

ALTER TABLE allocation ADD COLUMN method TEXT NOT NULL DEFAULT 'the first windows';
