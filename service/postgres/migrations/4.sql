SET LOCAL citus.enable_ddl_propagation = off; -- a database of a cluster needs this on its coordinator only
CREATE FUNCTION keep_address() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE addresses SET inbox_id = NEW.id, created_at = NEW.created_at, expires_at = NEW.expires_at
        WHERE address = NEW.address AND inbox_id IS DISTINCT FROM NEW.id AND (inbox_id IS NULL OR expires_at <= NEW.expires_at);
    ELSE
        UPDATE addresses SET inbox_id = NULL WHERE address = OLD.address AND inbox_id = OLD.id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER keep_address AFTER INSERT OR DELETE ON inboxes FOR EACH ROW EXECUTE FUNCTION keep_address();
