package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// postgresEpoch is what PostgreSQL counts the microseconds of a time from.
var postgresEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// copyInto inserts rows into columns of a table with COPY, in its binary format. Their values are of
// the types string, []byte, int32, int64 and time.Time.
func copyInto(ctx context.Context, conn *pgx.Conn, table string, rows [][]any) error {
	b := []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	for _, row := range rows {
		b = binary.BigEndian.AppendUint16(b, uint16(len(row)))
		for _, v := range row {
			size := len(b)
			b = appendValue(append(b, 0, 0, 0, 0), v)
			binary.BigEndian.PutUint32(b[size:], uint32(len(b)-size-4))
		}
	}
	_, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(append(b, 0xff, 0xff)), "COPY "+table+" FROM STDIN (FORMAT binary)")
	return err
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(b, v...)
	case []byte:
		return append(b, v...)
	case int32:
		return binary.BigEndian.AppendUint32(b, uint32(v))
	case int64:
		return binary.BigEndian.AppendUint64(b, uint64(v))
	case time.Time:
		return binary.BigEndian.AppendUint64(b, uint64(v.Sub(postgresEpoch).Microseconds()))
	}
	panic(fmt.Sprintf("a value of type %T", v))
}
