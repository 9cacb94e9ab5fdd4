-- From format 14 to format 15: pulses of jumps, where the program takes them.

ALTER TABLE sample ADD COLUMN jumps_before_ns INTEGER;
ALTER TABLE sample ADD COLUMN jumps_after_ns INTEGER;
