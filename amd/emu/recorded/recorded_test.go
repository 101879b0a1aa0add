package recorded

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

const objectFile = "../../hsaco/testdata/args.hsaco"

// record is a dispatch of a kernel that stores to out, which lies in the middle
// of a larger buffer.
func record(t *testing.T) *Dispatch {
	t.Helper()
	object, err := os.ReadFile(objectFile)
	if err != nil {
		t.Fatal(err)
	}
	o, err := hsaco.Parse(objectFile, object)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := emu.New(emu.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("scratch")
	if err != nil {
		t.Fatal(err)
	}
	arena, err := dev.Alloc("arena", 4096, emu.Placement{Residency: emu.Pinned})
	if err != nil {
		t.Fatal(err)
	}
	for i := range arena.Data {
		arena.Data[i] = 0xee
	}
	grid := [3]uint32{64, 1, 1}
	args, err := k.Pack(grid, grid, arena.Addr+256, int32(3))
	if err != nil {
		t.Fatal(err)
	}
	d, report, err := Record(context.Background(), dev,
		emu.Dispatch{Kernel: k, Grid: grid, Workgroup: grid, Kernarg: args.Kernarg}, object,
		[]Region{{Name: "out", Addr: arena.Addr + 256, Bytes: 256}, {Name: "other", Addr: arena.Addr + 512, Bytes: 16, ReadOnly: true}})
	if err != nil || report.Waves != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	return d
}

func TestARecordedDispatchRunsAgainAloneAndGivesTheSame(t *testing.T) {
	d := record(t)
	if a := d.Allocations[0]; bytes.Equal(a.Before, a.After) || len(a.Before) != 256 || a.Residency != emu.Pinned {
		t.Fatalf("%+v", a)
	}
	dir := filepath.Join(t.TempDir(), "7")
	if err := d.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	back, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := emu.New(emu.Config{Mode: emu.Relaxed, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	l, err := back.Load(dev)
	if err != nil {
		t.Fatal(err)
	}
	if l.Buffers[0].Addr != d.Allocations[0].Addr {
		t.Errorf("out at %#x, recorded at %#x", l.Buffers[0].Addr, d.Allocations[0].Addr)
	}
	if diffs, _ := back.Differences(l); len(diffs) != 1 {
		t.Errorf("before it runs: %v", diffs)
	}
	if _, err := dev.Run(context.Background(), l.Dispatch); err != nil {
		t.Fatal(err)
	}
	if diffs, known := back.Differences(l); len(diffs) != 0 || known != 1 {
		t.Errorf("%v of %d known", diffs, known)
	}
	if err := l.Unload(); err != nil {
		t.Error(err)
	}
}

func TestADifferenceSaysWhereAndHowMuch(t *testing.T) {
	d := record(t)
	binary.LittleEndian.PutUint32(d.Allocations[0].After[8:], 0xffffffff)
	dev, _ := emu.New(emu.Config{})
	l, err := d.Load(dev)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dev.Run(context.Background(), l.Dispatch); err != nil {
		t.Fatal(err)
	}
	diffs, _ := d.Differences(l)
	if len(diffs) != 1 || diffs[0].Offset != 8 || diffs[0].Bytes != 4 || !strings.HasPrefix(diffs[0].String(), "out: 4 bytes differ, the first at offset 8:") {
		t.Errorf("%v", diffs)
	}
}

func TestAnAllocationIsAllThatTheKernelMayTouch(t *testing.T) {
	d := record(t)
	d.Allocations[0].Before = d.Allocations[0].Before[:252]
	dev, _ := emu.New(emu.Config{})
	l, err := d.Load(dev)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dev.Run(context.Background(), l.Dispatch); err == nil || !strings.Contains(err.Error(), "out") {
		t.Errorf("a store 4 bytes past the end: %v", err)
	}
}

func TestDispatchesShareContent(t *testing.T) {
	d, dir := record(t), t.TempDir()
	for _, name := range []string{"1", "2"} {
		if err := d.Write(filepath.Join(dir, name), true); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	// The object, out before and after, the other buffer.
	if files, _ := os.ReadDir(filepath.Join(dir, "data")); len(files) != 4 {
		t.Errorf("%d files of content", len(files))
	}
	if err := d.Write(filepath.Join(dir, "1"), true); err == nil {
		t.Error("a folder was written over")
	}
}

func TestFoldersThatLieAreRefused(t *testing.T) {
	d := record(t)
	change := func(f func(f map[string]any)) func(dir string) error {
		return func(dir string) error {
			path := filepath.Join(dir, "dispatch.json")
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var m map[string]any
			if err := json.Unmarshal(b, &m); err != nil {
				return err
			}
			f(m)
			if b, err = json.Marshal(m); err != nil {
				return err
			}
			return os.WriteFile(path, b, 0o666)
		}
	}
	first := func(m map[string]any) map[string]any { return m["allocations"].([]any)[0].(map[string]any) }
	second := func(m map[string]any) map[string]any { return m["allocations"].([]any)[1].(map[string]any) }
	for _, c := range []struct {
		fact, want string
		spoil      func(dir string) error
	}{
		{"no file", "no such file", func(dir string) error { return os.Remove(filepath.Join(dir, "dispatch.json")) }},
		{"not JSON", "invalid character", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "dispatch.json"), []byte("kernel"), 0o666)
		}},
		{"another format", "format 2, want 1", change(func(m map[string]any) { m["format"] = 2 })},
		{"a key that is not known", `unknown field "grids"`, change(func(m map[string]any) { m["grids"] = 1 })},
		{"content elsewhere", `data folder "/etc"`, change(func(m map[string]any) { m["data"] = "/etc" })},
		{"content by path", "is no SHA-256", change(func(m map[string]any) { m["object"] = "../../passwd" })},
		{"content that is missing", "no such file", change(func(m map[string]any) { m["object"] = strings.Repeat("00", 32) })},
		{"content of another size", "content of 256 bytes, want 255", change(func(m map[string]any) { first(m)["bytes"] = 255 })},
		{"content that was changed", "is not what its name", func(dir string) error {
			files, err := filepath.Glob(filepath.Join(dir, "data", "*"))
			for _, f := range files {
				b, _ := os.ReadFile(f)
				b[0]++
				err = os.WriteFile(f, b, 0o666)
			}
			return err
		}},
		{"arguments that are not hex", "kernarg", change(func(m map[string]any) { m["kernarg"] = "0g" })},
		{"an address that is none", `address "here"`, change(func(m map[string]any) { first(m)["address"] = "here" })},
		{"a residency that is none", `residency "gone"`, change(func(m map[string]any) { first(m)["residency"] = "gone" })},
		{"allocations that overlap", "overlaps", change(func(m map[string]any) { second(m)["address"] = first(m)["address"] })},
		{"no address", "has no address", change(func(m map[string]any) { first(m)["address"] = "0" })},
	} {
		t.Run(c.fact, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			if err := d.Write(dir, false); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestWhatCannotBeLoadedLeavesTheDeviceAsItWas(t *testing.T) {
	dev, _ := emu.New(emu.Config{})
	for fact, spoil := range map[string]func(d *Dispatch){
		"an object that is none": func(d *Dispatch) { d.Object = []byte("x") },
		"a kernel that is none":  func(d *Dispatch) { d.Kernel = "none" },
		"memory that is taken":   func(d *Dispatch) { d.Allocations = append(d.Allocations, d.Allocations[0]) },
	} {
		d := record(t)
		spoil(d)
		if _, err := d.Load(dev); err == nil {
			t.Errorf("%s was loaded", fact)
		}
		if b := dev.Space().Find(d.Allocations[0].Addr, 1); b != nil {
			t.Errorf("%s: %q is still there", fact, b.Name)
		}
	}
}

// Whatever dispatch.json says, it is read or refused. All content is empty.
func FuzzParse(f *testing.F) {
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	f.Add([]byte(`{"format":1,"data":"data","object":"` + empty + `","kernel":"k","kernarg":"00",
		"allocations":[{"name":"a","address":"0x10","residency":"pageable","before":"` + empty + `","after":"` + empty + `"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := parse(b, func(_, _ string) ([]byte, error) { return []byte{}, nil })
		if err == nil && d == nil {
			t.Error("neither a dispatch nor an error")
		}
	})
}
