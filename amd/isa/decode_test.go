package isa

import (
	"errors"
	"testing"
)

func TestShortCodeIsTruncated(t *testing.T) {
	for n := range 4 {
		_, err := Decode(8, make([]byte, n), Wave32)
		var e *Truncated
		if !errors.As(err, &e) || e.Have != n || e.Need != 4 || e.PC != 8 {
			t.Errorf("%d bytes: got %v", n, err)
		}
	}
}
