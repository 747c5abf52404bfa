package pebble

import (
	"testing"

	"mayfly/service/storetest"
)

// MAYFLY_LONG=1 makes the suite longer.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, dir string) storetest.Store {
		s, err := Open(dir, Options{Log: testLog(t)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
