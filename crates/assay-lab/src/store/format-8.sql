-- From format 7 to format 8: what was asked is the `question` of all that is led.

ALTER TABLE campaign RENAME COLUMN experiment_digest TO question;
