-- From format 4 to format 5: cycles, where the machine counts them.

ALTER TABLE count ADD COLUMN cycles INTEGER;
