-- From format 12 to format 13: the command line by which each was measured.

ALTER TABLE campaign ADD COLUMN command TEXT;
ALTER TABLE comparison ADD COLUMN command TEXT;
ALTER TABLE sweep ADD COLUMN command TEXT;
