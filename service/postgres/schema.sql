-- A database is made with this schema as a whole. On a Citus cluster its tables are distributed at once, see distribute.sql.
-- The primary key of each table has all that its rows are found by. There are no foreign keys.

CREATE TABLE schema_version (
    version     integer PRIMARY KEY, -- Citus moves no reference table without one
    distributed boolean NOT NULL
);

CREATE TABLE keys (
    id         text COLLATE "C" PRIMARY KEY,
    hash       bytea NOT NULL UNIQUE, -- SHA-256 of the secret
    name       text NOT NULL,
    plan       text NOT NULL,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    old_hash   bytea UNIQUE, -- that of the secret before, which works
    old_until  timestamptz   -- until then
);

CREATE TABLE ssh_keys (
    fingerprint text COLLATE "C" PRIMARY KEY,
    key_id      text COLLATE "C" NOT NULL,
    comment     text NOT NULL,
    created_at  timestamptz NOT NULL
);

-- Secrets of the service, which all processes share.
CREATE TABLE secrets (
    name   text COLLATE "C" PRIMARY KEY,
    secret bytea NOT NULL
);

-- What is counted of a key. A transaction that changes anything of a key locks its newest row first. See count.go for generations.
CREATE TABLE owners (
    key_id        text COLLATE "C" NOT NULL,
    generation    integer NOT NULL DEFAULT 0,
    inboxes       integer NOT NULL,        -- how many it has
    day           integer NOT NULL,        -- the last day with messages: days since 1970-01-01
    emails        integer NOT NULL,        -- on that day
    day_before    integer NOT NULL DEFAULT 0, -- the last one before it with messages
    emails_before integer NOT NULL,        -- on that
    PRIMARY KEY (key_id, generation)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

CREATE TABLE inboxes (
    key_id     text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    address    text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    slot       integer NOT NULL,           -- the table of its messages
    state      bytea,                      -- what clients keep of it
    PRIMARY KEY (key_id, id)
);
CREATE INDEX inboxes_by_address ON inboxes (key_id, address);
CREATE INDEX inboxes_by_age ON inboxes (key_id, created_at DESC, id);
CREATE INDEX inboxes_by_expiry ON inboxes (expires_at);
-- The few that end after their slot.
CREATE INDEX inboxes_extended ON inboxes (slot)
    WHERE expires_at > to_timestamp(CASE WHEN slot >= 0 THEN (slot + 1) * 3600.0 ELSE (1 - slot) * 86400.0 END);

-- What a delivery changes of an inbox, in its newest row.
CREATE TABLE counts (
    key_id      text COLLATE "C" NOT NULL,
    inbox_id    text COLLATE "C" NOT NULL,
    generation  integer NOT NULL DEFAULT 0,
    messages    bigint NOT NULL,           -- in it
    last        bigint NOT NULL,           -- the sequence number of the newest it ever had
    version     bigint NOT NULL,           -- differs after each change of it or its messages
    received_at timestamptz NOT NULL,      -- of the newest message it ever had; at first created_at
    PRIMARY KEY (key_id, inbox_id, generation)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);

-- An address belongs for ever to the key that had it first. The inbox that has it is the newest one of that key.
CREATE TABLE addresses (
    address text COLLATE "C" PRIMARY KEY,
    key_id  text COLLATE "C" NOT NULL
);

-- The messages are in tables like this one, which itself has none.
CREATE TABLE messages (
    key_id      text COLLATE "C" NOT NULL,
    inbox_id    text COLLATE "C" NOT NULL,
    seq         bigint NOT NULL,           -- the sequence number; 1 is the first that arrived
    id          text NOT NULL,
    sender      text NOT NULL,
    sender_name text NOT NULL,
    subject     text NOT NULL,
    received_at timestamptz NOT NULL,
    size        bigint NOT NULL,           -- of the raw message
    recipient   text NOT NULL,
    raw         bytea,                     -- already compressed; NULL: shared with other messages
    delivery    bytea,                     -- how it came: the API's object in JSON
    body_id     text COLLATE "C",          -- what has it then: the row of which this is the inbox_id, whose seq is 0
    body_slot   integer,                   -- its slot
    shared      bigint,                    -- of such a row: how many messages share it
    PRIMARY KEY (inbox_id, seq)
);
ALTER TABLE messages ALTER COLUMN raw SET STORAGE EXTERNAL;

-- The tables of messages, and when the last inbox in each has expired.
CREATE TABLE slots (
    slot    integer PRIMARY KEY,
    ends_at timestamptz NOT NULL
);

-- Deleted inboxes whose messages are still to be removed, and the sequence number of the last one.
CREATE TABLE deleted (
    key_id   text COLLATE "C" NOT NULL,
    inbox_id text COLLATE "C" NOT NULL,
    slot     integer NOT NULL,
    last     bigint NOT NULL,
    PRIMARY KEY (key_id, inbox_id)
);

-- How many requests a key has made. There is one row for each key that ever made one.
CREATE TABLE requests (
    key_id  text COLLATE "C" PRIMARY KEY,
    second  integer NOT NULL DEFAULT floor(date_part('epoch', statement_timestamp())), -- of the last change, since 1970
    before  bigint NOT NULL DEFAULT 0,     -- the total before it
    total   bigint NOT NULL,               -- and after it
    totals  bigint[] NOT NULL DEFAULT array_fill(0::bigint, ARRAY[61]), -- at the end of each of the 61 seconds before
    allowed integer NOT NULL               -- in a minute, then
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
