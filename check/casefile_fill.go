package check

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/holdfast-llm/holdfast/internal/tomlfile"
)

// fill is what a buffer holds: "zero" (also the empty string), "byte 0x7f",
// "poison" (NaNs of every width, which initcheck takes for bytes that nobody has
// written), "random SEED" (normal deviates, integers of random bits), "iota" (0,
// 1, 2, ...), "file PATH" (its bytes, as many as the buffer has) or "expr E" (see
// parseExpr). A colon does for the space.
type fill struct {
	kind, text string
	number     uint64
	expr       node
}

func parseFill(s string) (f fill, err error) {
	f.kind = s
	if i := strings.IndexAny(s, " :"); i >= 0 {
		f.kind, f.text = s[:i], strings.TrimSpace(s[i+1:])
	}
	want := ""
	switch f.kind {
	case "", "zero", "poison", "iota":
		if f.text != "" {
			want = "nothing more"
		}
	case "byte":
		if f.number, err = strconv.ParseUint(f.text, 0, 8); err != nil {
			want = "a byte, such as 0x7f"
		}
	case "random":
		if f.text == "" {
			break
		}
		if f.number, err = strconv.ParseUint(f.text, 0, 64); err != nil {
			want = "a seed"
		}
	case "file":
		if f.text == "" {
			want = "a path"
		}
	case "expr":
		if f.expr, err = parseExpr(f.text); err != nil {
			return f, fmt.Errorf("fill %q: %w", s, err)
		}
	default:
		return f, fmt.Errorf("fill %q%s", s, tomlfile.Meant(f.kind, []string{"zero", "byte", "poison", "random", "iota", "file", "expr"}))
	}
	if want != "" {
		return f, fmt.Errorf("fill %q: %q, want %s", s, f.text, want)
	}
	return f, nil
}

// bytes makes the content of a buffer of count elements. env knows the other
// arguments, dir is where relative paths start.
func (f fill) bytes(e elem, count int, env *environment, dir string) ([]byte, error) {
	b := make([]byte, count*e.bytes)
	each := func(x func(i int) (float64, error)) ([]byte, error) {
		for i := range count {
			v, err := x(i)
			if err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
			e.put(b[i*e.bytes:], v)
		}
		return b, nil
	}
	switch f.kind {
	case "byte":
		for i := range b {
			b[i] = byte(f.number)
		}
	case "poison":
		for i := range b {
			b[i] = [2]byte{0xfe, 0xff}[i&1] // as a half, a float or a double a NaN
		}
	case "random":
		rng := rand.New(rand.NewPCG(f.number, 0))
		if e.float {
			return each(func(int) (float64, error) { return rng.NormFloat64(), nil })
		}
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
	case "iota":
		return each(func(i int) (float64, error) { return float64(i), nil })
	case "expr":
		return each(func(i int) (float64, error) { return f.expr(env, float64(i)) })
	case "file":
		path := f.text
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		info, err := file.Stat()
		if err == nil && info.Size() != int64(len(b)) {
			err = fmt.Errorf("%s has %d bytes, the buffer %d", path, info.Size(), len(b))
		}
		if err == nil {
			err = binary.Read(file, binary.LittleEndian, b)
		}
		return b, err
	}
	return b, nil
}
