-- Distributes the tables over a Citus cluster: every server has the keys, the slots and the version, and all else of a key is on one.

-- A primary key has to contain the column by which its table is distributed. Elsewhere this one is smaller without.
ALTER TABLE messages DROP CONSTRAINT messages_pkey, ADD PRIMARY KEY (inbox_id, seq, key_id);

SELECT create_reference_table('schema_version'), create_reference_table('keys'), create_reference_table('ssh_keys'), create_reference_table('secrets'), create_reference_table('slots');
SELECT create_distributed_table('inboxes', 'key_id', colocate_with => 'none');
SELECT create_distributed_table('addresses', 'address', colocate_with => 'inboxes');
SELECT create_distributed_table(name, 'key_id', colocate_with => 'inboxes')
FROM unnest(ARRAY['owners', 'counts', 'deleted', 'requests']) name;
