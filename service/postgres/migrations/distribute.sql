-- What has to be changed before the tables can be distributed. Processes that do not know step 6 cannot use them then.
UPDATE schema_steps SET breaks = 6 WHERE step = 6;
DROP TRIGGER keep_address ON inboxes;
DROP TRIGGER name_key ON deleted;
DROP TRIGGER name_key ON messages;
DROP TRIGGER name_key ON bodies;
DROP FUNCTION keep_address, name_key;
ALTER TABLE addresses DROP COLUMN inbox_id, DROP COLUMN created_at, DROP COLUMN expires_at;
-- A primary key has to contain the column by which its table is distributed.
ALTER TABLE inboxes DROP CONSTRAINT inboxes_pkey, ADD PRIMARY KEY (key_id, id);
ALTER TABLE deleted DROP CONSTRAINT deleted_pkey, ADD PRIMARY KEY (key_id, inbox_id);
ALTER TABLE messages DROP CONSTRAINT messages_pkey, ADD PRIMARY KEY (inbox_id, place, slot, key_id);
ALTER TABLE bodies DROP CONSTRAINT bodies_pkey, ADD PRIMARY KEY (inbox_id, place, slot, key_id);
DROP TABLE lots;
