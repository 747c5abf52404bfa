-- Distributes the tables over a Citus cluster: every server has the keys and the slots, and all else of a key is on one.
SELECT create_reference_table('keys'), create_reference_table('slots');
SELECT create_distributed_table('inboxes', 'key_id', colocate_with => 'none');
SELECT create_distributed_table('addresses', 'address', colocate_with => 'inboxes');
SELECT create_distributed_table(name, 'key_id', colocate_with => 'inboxes')
FROM unnest(ARRAY['owners', 'messages', 'bodies', 'deleted', 'requests']) name;
