-- From format 15 to format 16: events of the front end, where the machine counts them.

ALTER TABLE count ADD COLUMN front_end TEXT;
