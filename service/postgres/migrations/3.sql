-- An address names its key alone: the inbox that has it is the newest one of that key. Processes that do not
-- know this need the inbox here, which the next step keeps up to date.
ALTER TABLE addresses ALTER COLUMN created_at SET DEFAULT 'epoch', ALTER COLUMN expires_at SET DEFAULT 'epoch';

-- The requests of a key in the last minute: when they were made, in seconds since 1970, and how many had been made by then.
CREATE TABLE requests (
    key_id  text PRIMARY KEY,
    made    double precision[] NOT NULL DEFAULT '{0}', -- ascending; before the last
    totals  bigint[] NOT NULL DEFAULT '{0}',
    at      double precision NOT NULL DEFAULT date_part('epoch', statement_timestamp()), -- of the last
    taken   integer NOT NULL,                          -- how many the last were
    allowed integer NOT NULL                           -- in a minute, then
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
