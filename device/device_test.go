package device_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// The list of reasons is closed: every constant is in it once, with a meaning,
// and nothing else is.
func TestEveryReasonHasAMeaning(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[device.Reason]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(s.Names[0].Name, "Reason") {
			text, err := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			declared[device.Reason(text)] = true
		}
		return true
	})
	if len(declared) == 0 {
		t.Fatal("no reason was found")
	}
	for _, r := range device.Reasons() {
		if !declared[r.Reason] || r.Meaning == "" {
			t.Errorf("%q, meaning %q, is declared: %v", r.Reason, r.Meaning, declared[r.Reason])
		}
		delete(declared, r.Reason)
	}
	if len(declared) > 0 {
		t.Errorf("without a meaning: %v", declared)
	}
}

func rows(name string, cols int) *op.Value {
	return &op.Value{Name: name, Role: op.Transient, Type: quant.F32, Cols: cols}
}

func TestWhatIsDerivedIsFreshOnceUntilItsSourceIsWritten(t *testing.T) {
	c := device.NewCompile(device.Limits{Tokens: 3, Outputs: 1})
	x := rows("x", 32)
	p, fresh := c.DerivedRows(x, "packed", 40)
	if !fresh || c.Bytes(p) != 120 || c.RowBytes(p) != 40 || p.Name != "x.packed" || !c.Made(p) || c.Made(x) {
		t.Errorf("%s: fresh %v, %d bytes in rows of %d, made %v", p.Name, fresh, c.Bytes(p), c.RowBytes(p), c.Made(p))
	}
	if q, fresh := c.DerivedRows(x, "packed", 40); fresh || q != p {
		t.Error("derived twice")
	}
	if q, fresh := c.Derived(x, "other", 7); !fresh || c.Bytes(q) != 7 || c.RowBytes(q) != 0 {
		t.Errorf("another form: fresh %v, %d bytes in rows of %d", fresh, c.Bytes(q), c.RowBytes(q))
	}
	c.Written(x)
	if q, fresh := c.DerivedRows(x, "packed", 40); !fresh || q == p {
		t.Error("the pack of what x was is still there")
	}
}

func TestADeclinedMatchLeavesNothingDerived(t *testing.T) {
	c := device.NewCompile(device.Limits{Tokens: 1, Outputs: 1})
	x, y := rows("x", 32), rows("y", 32)
	c.Begin()
	before, _ := c.DerivedRows(x, "packed", 40)
	c.Begin()
	c.DerivedRows(y, "packed", 40)
	c.Undo()
	if _, fresh := c.DerivedRows(y, "packed", 40); !fresh {
		t.Error("the pack of a declined match is still there")
	}
	if q, fresh := c.DerivedRows(x, "packed", 40); fresh || q != before {
		t.Error("the pack of the match before is gone")
	}
	// A match that writes x keeps of x only what it derived itself.
	c.Begin()
	c.DerivedRows(x, "other", 8)
	c.Rewritten([]*op.Value{x})
	if _, fresh := c.DerivedRows(x, "other", 8); fresh {
		t.Error("what the match derived is gone")
	}
	if _, fresh := c.DerivedRows(x, "packed", 40); !fresh {
		t.Error("the pack of what x was is still there")
	}
}

func TestUsersEndWhereTheValueIsWrittenAgain(t *testing.T) {
	x, y := rows("x", 8), rows("y", 8)
	ops := []*op.Op{
		{Name: "make", Out: []*op.Value{x}},
		{Name: "first", In: []*op.Value{x, x}, Out: []*op.Value{y}},
		{Name: "other", In: []*op.Value{y}, Out: []*op.Value{y}},
		{Name: "last", In: []*op.Value{x}, Out: []*op.Value{x}},
		{Name: "after", In: []*op.Value{x}, Out: []*op.Value{y}},
	}
	s := &device.Site{Ops: ops}
	var got []string
	for _, u := range s.Users(x, 1) {
		got = append(got, u.Name)
	}
	if strings.Join(got, " ") != "first last" {
		t.Errorf("users %v", got)
	}
	if n := len(s.Users(x, 4)); n != 1 {
		t.Errorf("%d users behind the last", n)
	}
}
