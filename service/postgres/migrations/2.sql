-- The embedded store that this database was copied from, identified by its oldest key. Once the database is served,
-- nothing more is copied into it.
CREATE TABLE imports (
    source text PRIMARY KEY,
    served boolean NOT NULL DEFAULT false
);
