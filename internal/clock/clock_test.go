package clock

import (
	"runtime"
	"testing"
	"time"
)

func TestBothClocksGoOn(t *testing.T) {
	w0, b0 := Both()
	if runtime.GOOS != "linux" {
		if b0 != 0 {
			t.Errorf("%d on %s", b0, runtime.GOOS)
		}
		return
	}
	time.Sleep(2 * time.Millisecond)
	w1, b1 := Both()
	if b0 <= 0 || b1-b0 < 2e6 || !w1.After(w0) {
		t.Errorf("from %v, %d to %v, %d", w0, b0, w1, b1)
	}
}
