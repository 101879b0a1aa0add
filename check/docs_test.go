package check

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTheTutorialExplainsEveryKind holds docs/check.md to Kinds.
func TestTheTutorialExplainsEveryKind(t *testing.T) {
	b, err := os.ReadFile("../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	for k, info := range Kinds() {
		row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", k, info.Tool, info.Meaning, info.Fix)
		if !strings.Contains(string(b), row) {
			t.Errorf("docs/check.md lacks\n%s", row)
		}
	}
	if rows := strings.Count(string(b), "\n| `"); rows != len(Kinds()) {
		t.Errorf("docs/check.md has %d kinds, there are %d", rows, len(Kinds()))
	}
}
