package trace

import (
	"strings"
	"testing"
)

func TestSMILinesOfEachKind(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want Event
	}{
		"vm fault":                        {"1 1a2b:llama-server", Event{Kind: VMFault, PID: 0x1a2b, Note: "llama-server"}},
		"vm fault of a task with a colon": {"1 5:a:b", Event{Kind: VMFault, PID: 5, Note: "a:b"}},
		"throttle":                        {"2 40:1f", Event{Kind: Throttle, Note: "mask 40:1f"}},
		"reset":                           {"3 7", Event{Kind: PreReset, Note: "7"}},
		"reset with a cause":              {"4 7 hang", Event{Kind: PostReset, Note: "7 hang"}},
		"migration begins":                {"5 100 -7 @7f001(2) 1->0 ffff:0 1", Event{Kind: MigrateStart, At: 100, PID: 7, Addr: 0x7f001000, Bytes: 8192, From: 1, Trigger: "gpu-fault", Note: "prefetch:preferred ffff:0"}},
		"migration ends":                  {"6 100 -7 @7f001(2) 0->1 3 0", Event{Kind: MigrateEnd, At: 100, PID: 7, Addr: 0x7f001000, Bytes: 8192, To: 1, Trigger: "ttm"}},
		"migration ends, older":           {"6 100 -7 @7f001(2) 0->1 2", Event{Kind: MigrateEnd, At: 100, PID: 7, Addr: 0x7f001000, Bytes: 8192, To: 1, Trigger: "cpu-fault"}},
		"migration failed":                {"6 100 -7 @7f001(2) 0->1 0 -12", Event{Kind: MigrateEnd, At: 100, PID: 7, Addr: 0x7f001000, Bytes: 8192, To: 1, Trigger: "prefetch", Note: "error -12"}},
		"page fault, write":               {"7 100 -7 @7f001(1) W", Event{Kind: PageFaultStart, At: 100, PID: 7, Addr: 0x7f001000, Node: 1, Note: "write"}},
		"page fault, read":                {"7 100 -7 @7f001(1) R", Event{Kind: PageFaultStart, At: 100, PID: 7, Addr: 0x7f001000, Node: 1, Note: "read"}},
		"page fault ends":                 {"8 100 -7 @7f001(1) M", Event{Kind: PageFaultEnd, At: 100, PID: 7, Addr: 0x7f001000, Node: 1, Note: "migrated"}},
		"page fault ends, mapped":         {"8 100 -7 @7f001(1) U", Event{Kind: PageFaultEnd, At: 100, PID: 7, Addr: 0x7f001000, Node: 1, Note: "updated"}},
		"eviction":                        {"9 100 -7 a 1", Event{Kind: QueueEviction, At: 100, PID: 7, Node: 10, Trigger: "userptr"}},
		"eviction by a newer trigger":     {"9 100 -7 a 9", Event{Kind: QueueEviction, At: 100, PID: 7, Node: 10, Trigger: "trigger-9"}},
		"eviction, and fields to come":    {"9 100 -7 a 1 5 6", Event{Kind: QueueEviction, At: 100, PID: 7, Node: 10, Trigger: "userptr"}},
		"restore":                         {"a 100 -7 1 0", Event{Kind: QueueRestore, At: 100, PID: 7, Node: 1}},
		"restore, rescheduled":            {"a 100 -7 1 R", Event{Kind: QueueRestore, At: 100, PID: 7, Node: 1, Note: "rescheduled"}},
		"restore, older":                  {"a 100 -7 1", Event{Kind: QueueRestore, At: 100, PID: 7, Node: 1}},
		"restore with a NUL":              {"a 100 -7 1 \x00", Event{Kind: QueueRestore, At: 100, PID: 7, Node: 1}},
		"unmap":                           {"b 100 -7 @7f001(10) 1 2", Event{Kind: Unmap, At: 100, PID: 7, Addr: 0x7f001000, Bytes: 65536, Node: 1, Trigger: "unmap-from-cpu"}},
		"a process begins":                {"c 7:holdfast", Event{Kind: ProcessStart, Note: "7:holdfast"}},
		"the number with 0x":              {"0xb 100 -7 @7f001(10) 1 0", Event{Kind: Unmap, At: 100, PID: 7, Addr: 0x7f001000, Bytes: 65536, Node: 1, Trigger: "mmu-notify"}},
		"an end of Windows":               {"9 100 -7 a 1\r", Event{Kind: QueueEviction, At: 100, PID: 7, Node: 10, Trigger: "userptr"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok, err := ParseSMI(c.line)
			if c.want.At > 0 {
				c.want.Until, c.want.Timed = c.want.At, true
			}
			if !ok || err != nil || got != c.want {
				t.Errorf("%+v, %v, %v; want %+v", got, ok, err, c.want)
			}
		})
	}
}

func TestWhatIsNoSMILine(t *testing.T) {
	for name, c := range map[string]struct{ line, err string }{
		"prose":                       {"add the numbers", ""},
		"a word in hexadecimal":       {"bad luck", ""},
		"a number alone":              {"9", "eviction: want a time"},
		"a kind that is unknown":      {"ff 100 -7 1", ""},
		"zero":                        {"0 100 -7", ""},
		"a torn eviction":             {"9 100 -7", "eviction: want the node"},
		"a torn process":              {"9 100 -", `eviction: want a process, got "-"`},
		"a span that is none":         {"b 100 -7 7f001 1 2", `want @PAGE(NUMBER), got "7f001"`},
		"a page past the last":        {"7 100 -7 @ffffffffffffffff(1) W", "want @PAGE(NUMBER)"},
		"too many pages":              {"b 100 -7 @1(ffffffffffffffff) 1 2", "fewer than 2^52 pages"},
		"a time past the last":        {"9 99999999999999999999 -7 1 1", "want a time"},
		"two lines that ran together": {"9 100 -7 1 1x", `want the trigger, got "1x"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, ok, err := ParseSMI(c.line)
			if c.err == "" && (ok || err != nil && ok) {
				t.Errorf("taken for one: %v", err)
			}
			if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%v, want %q", err, c.err)
			}
		})
	}
}
