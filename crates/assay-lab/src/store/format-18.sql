-- From format 17 to format 18: what of a round was only waited.

ALTER TABLE round ADD COLUMN waited_ns INTEGER;
