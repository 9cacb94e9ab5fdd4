-- From format 6 to format 7: pulses, where the program takes them.

ALTER TABLE sample ADD COLUMN chain_before_ns INTEGER;
ALTER TABLE sample ADD COLUMN wide_before_ns INTEGER;
ALTER TABLE sample ADD COLUMN chain_after_ns INTEGER;
ALTER TABLE sample ADD COLUMN wide_after_ns INTEGER;
