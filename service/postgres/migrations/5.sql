-- Every row that belongs to a key names it, so that the tables can be distributed over several servers by key.
-- What was there before gets its key in the next step, and what processes insert that do not know of it, from here.
SET LOCAL citus.enable_ddl_propagation = off; -- a database of a cluster needs this on its coordinator only
CREATE FUNCTION name_key() RETURNS trigger LANGUAGE plpgsql STABLE AS $$
BEGIN
    -- A function that is STABLE sees the inbox even in the statement that deletes it.
    NEW.key_id := (SELECT key_id FROM inboxes WHERE id = NEW.inbox_id);
    RETURN NEW;
END $$;

-- All locks at once, in the order in which other transactions take them, or none.
SET LOCAL statement_timeout = '1500ms';
LOCK TABLE deleted, messages, bodies;
SET LOCAL statement_timeout = 0;

ALTER TABLE deleted ADD COLUMN key_id text, ADD CONSTRAINT deleted_has_key CHECK (key_id IS NOT NULL) NOT VALID;
ALTER TABLE messages ADD COLUMN key_id text, ADD CONSTRAINT messages_have_key CHECK (key_id IS NOT NULL) NOT VALID;
ALTER TABLE bodies ADD COLUMN key_id text, ADD CONSTRAINT bodies_have_key CHECK (key_id IS NOT NULL) NOT VALID;
CREATE TRIGGER name_key BEFORE INSERT ON deleted FOR EACH ROW WHEN (NEW.key_id IS NULL) EXECUTE FUNCTION name_key();
CREATE TRIGGER name_key BEFORE INSERT ON messages FOR EACH ROW WHEN (NEW.key_id IS NULL) EXECUTE FUNCTION name_key();
CREATE TRIGGER name_key BEFORE INSERT ON bodies FOR EACH ROW WHEN (NEW.key_id IS NULL) EXECUTE FUNCTION name_key();
