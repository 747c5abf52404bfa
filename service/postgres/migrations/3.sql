-- An address names its key alone: the inbox that has it is the newest one of that key. Processes that do not
-- know this need the inbox here, which the next step keeps up to date.
ALTER TABLE addresses ALTER COLUMN created_at SET DEFAULT 'epoch', ALTER COLUMN expires_at SET DEFAULT 'epoch';

-- The requests of a key in the last minute: when they were made, in seconds since 1970, and how many had been made by then.
CREATE TABLE requests (
    key_id text PRIMARY KEY,
    made   double precision[] NOT NULL,    -- ascending
    totals bigint[] NOT NULL,
    taken  integer NOT NULL,               -- of those counted last
    at     double precision NOT NULL       -- when that was
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
