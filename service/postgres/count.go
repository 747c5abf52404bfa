package postgres

// While somebody keeps a snapshot, such as pg_dump for an hour, no version of a row that changes goes away, and who
// looks for the row by its key comes past all of them. So a row that deliveries change gets another key now and
// then: the next generation. Its versions of older ones are never looked at.

// generationOf is how many messages a row counts until it gets the next generation.
const generationOf = 128

const (
	// newestOwner finds the row of a key, $1. A transaction that has waited for another one's finds what that made of it.
	newestOwner = "key_id = $1 AND generation >= (SELECT max(generation) FROM owners WHERE key_id = $1)"

	// newestCount finds the counts of an inbox, $2, of a key.
	newestCount = "key_id = $1 AND inbox_id = $2 AND generation >= (SELECT max(generation) FROM counts WHERE key_id = $1 AND inbox_id = $2)"

	// lockOwner begins a change for a key, see the package.
	lockOwner = "UPDATE owners SET day = day WHERE " + newestOwner

	inboxColumns = "i.id, i.key_id, i.address, i.created_at, i.expires_at, i.slot, c.messages, c.last, c.version, c.received_at"
)

// selectInboxes reads rows i of inboxes of a key, $1, with their counts c.
const selectInboxes = "SELECT " + inboxColumns + " FROM inboxes i CROSS JOIN LATERAL (SELECT messages, last, version, received_at FROM counts" +
	" WHERE key_id = $1 AND inbox_id = i.id ORDER BY generation DESC LIMIT 1) c"

const (
	// addEmails counts $3 more messages of a key on a day, as service.Emails.Add.
	addEmails = `UPDATE owners SET day = greatest($2, least(day, $2 + 1)),
		emails = CASE WHEN day > $2 THEN emails WHEN day = $2 THEN emails + $3::integer ELSE $3 END,
		day_before = CASE WHEN day > $2 THEN $2 WHEN day = $2 THEN day_before ELSE day END,
		emails_before = CASE WHEN day > $2 THEN CASE WHEN day_before >= $2 THEN emails_before ELSE 0 END + $3
			WHEN day = $2 THEN emails_before ELSE emails END,
		generation = generation + (emails % $4::integer + $3 >= $4)::integer
		WHERE ` + newestOwner + " RETURNING " + ownerColumns

	// addMessages counts as many more messages of inboxes of a key, $5, as the ID of each is in $3.
	addMessages = `UPDATE counts c SET version = $2, messages = c.messages + cardinality(array_positions($3::text[], c.inbox_id)),
		last = c.last + cardinality(array_positions($3::text[], c.inbox_id)), received_at = greatest(c.received_at, $4),
		generation = c.generation + (c.last % $6::integer + cardinality(array_positions($3::text[], c.inbox_id)) >= $6)::integer
		FROM (SELECT u.id, (SELECT max(generation) FROM counts WHERE key_id = $1 AND inbox_id = u.id) AS newest FROM unnest($5::text[]) u (id) OFFSET 0) n, inboxes i
		WHERE c.key_id = $1 AND c.inbox_id = n.id AND c.generation >= n.newest AND i.key_id = $1 AND i.id = n.id RETURNING ` + inboxColumns
)
