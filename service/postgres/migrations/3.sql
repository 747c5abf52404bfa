-- Every row that belongs to a key names it, so that the tables can be distributed over several servers by key.
ALTER TABLE inboxes DROP CONSTRAINT inboxes_pkey, ADD PRIMARY KEY (key_id, id);
DROP INDEX inboxes_of_key;
CREATE INDEX inboxes_by_address ON inboxes (key_id, address);
ALTER TABLE addresses DROP COLUMN inbox_id, DROP COLUMN created_at, DROP COLUMN expires_at;
ALTER TABLE messages DROP CONSTRAINT messages_pkey, ADD COLUMN key_id text, ADD PRIMARY KEY (inbox_id, place, slot, key_id);
ALTER TABLE bodies DROP CONSTRAINT bodies_pkey, ADD COLUMN key_id text, ADD PRIMARY KEY (inbox_id, place, slot, key_id);
ALTER TABLE deleted DROP CONSTRAINT deleted_pkey, ADD COLUMN key_id text, ADD PRIMARY KEY (key_id, inbox_id);
