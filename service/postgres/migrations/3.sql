-- An address names its key alone: the inbox that has it is the newest one of that key. Processes that do not
-- know this need the inbox here, which the next step keeps up to date.
ALTER TABLE addresses ALTER COLUMN created_at SET DEFAULT 'epoch', ALTER COLUMN expires_at SET DEFAULT 'epoch';
