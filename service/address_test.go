package service

import "testing"

func TestReservedIsSorted(t *testing.T) {
	t.Parallel()
	for i := 1; i < len(reserved); i++ {
		if reserved[i-1] >= reserved[i] {
			t.Errorf("%s stands before %s", reserved[i-1], reserved[i])
		}
	}
}
