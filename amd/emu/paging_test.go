package emu_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strconv"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// smiLines are the lines of each event as the kernel prints them.
var smiLines = map[string]*regexp.Regexp{
	"5": regexp.MustCompile(`^5 (\d+) -4711 @([0-9a-f]+)\(1\) ([0-9a-f]+)->([0-9a-f]+) 0:0 ([0-3])$`),
	"6": regexp.MustCompile(`^6 (\d+) -4711 @([0-9a-f]+)\(1\) ([0-9a-f]+)->([0-9a-f]+) ([0-3]) 0$`),
	"7": regexp.MustCompile(`^7 (\d+) -4711 @([0-9a-f]+)\(1\) ([WR])$`),
	"8": regexp.MustCompile(`^8 (\d+) -4711 @([0-9a-f]+)\(1\) ([MU])$`),
	"9": regexp.MustCompile(`^9 (\d+) -4711 1 ([0-5])$`),
	"a": regexp.MustCompile(`^a (\d+) -4711 1 R$`),
	"b": regexp.MustCompile(`^b (\d+) -4711 @([0-9a-f]+)\(1\) 1 1$`),
}

// smiLog checks the events of a dispatch.
type smiLog struct {
	t     *testing.T
	last  uint64
	open  map[string][]string // what has begun of each kind and page
	count map[string]int
	pages map[uint64]bool // that an event names
}

func newSMILog(t *testing.T) *smiLog {
	return &smiLog{t: t, open: map[string][]string{}, count: map[string]int{}, pages: map[uint64]bool{}}
}

func (l *smiLog) line(s string) {
	id := s[:1]
	m := smiLines[id]
	if m == nil || !m.MatchString(s) {
		l.t.Errorf("line %q", s)
		return
	}
	f := m.FindStringSubmatch(s)
	at, err := strconv.ParseUint(f[1], 10, 64)
	if err != nil || at < l.last {
		l.t.Errorf("line %q after %d", s, l.last)
	}
	l.last = at
	l.count[id]++
	if len(f) > 2 && id != "9" {
		page, err := strconv.ParseUint(f[2], 16, 64)
		if err != nil {
			l.t.Error(err)
		}
		l.pages[page] = true
	}
	begin := func(key string, v string) {
		if len(l.open[key]) > 0 {
			l.t.Errorf("line %q, but %s has begun", s, key)
		}
		l.open[key] = append(l.open[key], v)
	}
	end := func(key string, v string) {
		if o := l.open[key]; len(o) != 1 || o[0] != v {
			l.t.Errorf("line %q, but %s has begun %q", s, key, o)
		}
		delete(l.open, key)
	}
	switch id {
	case "5":
		begin("a migration of page "+f[2], f[3]+f[4]+f[5])
	case "6":
		end("a migration of page "+f[2], f[3]+f[4]+f[5])
	case "7":
		begin("a fault on page "+f[2], "")
	case "8":
		end("a fault on page "+f[2], "")
	case "9":
		begin("an eviction", "")
	case "a":
		end("an eviction", "")
	case "b":
		if len(l.open["a migration of page "+f[2]]) == 0 {
			l.t.Errorf("line %q, but no migration of the page", s)
		}
	}
}

// closed checks that all has ended, and gives the numbers of events.
func (l *smiLog) closed() map[string]int {
	for key := range l.open {
		l.t.Errorf("%s has not ended", key)
	}
	return l.count
}

func (l *smiLog) pressure(evict, migrate float64) *emu.Pressure {
	return &emu.Pressure{Evict: evict, Migrate: migrate, PID: 4711, Node: 1, Events: l.line}
}

// attentions run the attention kernels of testdata.
func attentions(t *testing.T) map[string]func(c emu.Config) (any, *emu.Report, error) {
	const heads, blocks, dims, tokens = 4, 6, 64, 300
	rng := rand.New(rand.NewPCG(2, 1))
	q, k, v := floats(rng, heads*dims), halves(rng, heads*dims*blocks*64), halves(rng, heads*dims*blocks*64)
	split := compile(t, "attention.cpp", "-O2 -DBLOCK_COUNT=6")
	pack := compile(t, "attention_q8.cpp", "-O2")
	q8, k8, v8 := floats(rng, 2*128), floats(rng, 2*64*128), floats(rng, 2*64*128)
	return map[string]func(c emu.Config) (any, *emu.Report, error){
		"attention": func(c emu.Config) (any, *emu.Report, error) {
			part, most, sums := make([]float32, heads*blocks*dims), make([]float32, heads*blocks), make([]float32, heads*blocks)
			count, out := make([]uint32, heads), make([]float32, heads*dims)
			r, err := launch(split, "attention", c, [3]uint32{blocks * 128, heads}, [3]uint32{128}, q, k, v, part, most, sums, count, out, uint32(tokens))
			return out, r, err
		},
		"attention_q8": func(c emu.Config) (any, *emu.Report, error) {
			out, scales, packed := make([]float32, 2*128), make([]float32, 2*128/32), make([]int8, 2*128)
			r, err := launch(pack, "attention_q8", c, [3]uint32{2 * 128}, [3]uint32{128}, q8, k8, v8, out, scales, packed)
			return []any{out, scales, packed}, r, err
		},
	}
}

func TestMigrationChangesNoResult(t *testing.T) {
	t.Parallel()
	late := emu.Timing{LateLoads: true, EarlyLoads: 0.1, EarlyStores: 0.1}
	total := map[string]int{}
	for name, run := range attentions(t) {
		want, still, err := run(emu.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for fact, c := range map[string]emu.Config{
			"coherent":           {Schedule: emu.Schedule{Waves: emu.RoundRobin, Quantum: 32}},
			"coherent, random":   {Schedule: emu.Schedule{Waves: emu.Random, Quantum: 64, Resident: 8}, Seed: 1},
			"coherent, observed": {Schedule: emu.Schedule{Waves: emu.Random, Quantum: 64}, Observer: emu.NopObserver{}, Seed: 2},
			"relaxed":            {Mode: emu.Relaxed, Schedule: emu.Schedule{Waves: emu.RoundRobin, Quantum: 32}, Seed: 3},
			"relaxed, late":      {Mode: emu.Relaxed, Schedule: emu.Schedule{Waves: emu.Random, Quantum: 64}, Timing: late, Seed: 4},
		} {
			log := newSMILog(t)
			c.Pressure = log.pressure(0.02, 0.5)
			c.Poison = true
			got, r, err := run(c)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, fact, err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: the result is another with migration", name, fact)
			}
			if r.Instructions != still.Instructions || r.LaneInstructions != still.LaneInstructions || !reflect.DeepEqual(r.Ops, still.Ops) {
				t.Errorf("%s, %s: %d instructions ran, without migration %d", name, fact, r.Instructions, still.Instructions)
			}
			n := log.closed()
			for id, k := range n {
				total[id] += k
			}
			if r.Retries < uint64(n["7"]) || n["7"] == 0 || r.Evictions != uint64(n["9"]) || int(r.Migrations) != n["b"] || n["8"] != n["7"] || n["5"] != n["6"] {
				t.Errorf("%s, %s: %d migrations, %d retries, %d evictions, events %v", name, fact, r.Migrations, r.Retries, r.Evictions, n)
			}
		}
	}
	t.Logf("events %v", total)
	for id := range smiLines {
		if total[id] == 0 {
			t.Errorf("no event %s in %v", id, total)
		}
	}
}

func TestPressureIsReplayedFromItsSeed(t *testing.T) {
	t.Parallel()
	run := attentions(t)["attention_q8"]
	events := func(seed uint64) (lines []string) {
		c := emu.Config{Seed: seed, Schedule: emu.Schedule{Waves: emu.RoundRobin, Quantum: 32}}
		c.Pressure = &emu.Pressure{Evict: 0.02, Migrate: 0.5, Events: func(l string) { lines = append(lines, l) }}
		if _, _, err := run(c); err != nil {
			t.Fatal(err)
		}
		return lines
	}
	first := events(1)
	if !reflect.DeepEqual(first, events(1)) {
		t.Error("two runs of a seed have different events")
	}
	if reflect.DeepEqual(first, events(2)) {
		t.Error("two seeds have the same events")
	}
}

// copyDevice is a device with a kernel that copies 32 pages, a wave each, and
// the buffers it copies between.
func copyDevice(t *testing.T, c emu.Config, in, out emu.Placement) (d *emu.Device, l emu.Dispatch, buffers [2]*emu.Buffer) {
	t.Helper()
	const source = `#include "sample.h"
KERNEL(32) copy(const GLOBAL u32 *in, GLOBAL u32 *out) {
	for (u32 i = 0; i < 32; i++) out[(group_x() * 32 + i) * 32 + local_id()] = in[(group_x() * 32 + i) * 32 + local_id()];
}`
	o := parse(t, buildText(t, source, "-O1"))
	d, err := emu.New(c)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("copy")
	if err != nil {
		t.Fatal(err)
	}
	const pages = 32
	data := make([]byte, pages*4096)
	for i := 0; i < len(data); i += 4 {
		binary.LittleEndian.PutUint32(data[i:], uint32(i)*2654435761)
	}
	for i, p := range []emu.Placement{in, out} {
		if buffers[i], err = d.Alloc([]string{"in", "out"}[i], len(data), p); err != nil {
			t.Fatal(err)
		}
	}
	copy(buffers[0].Data, data)
	p, err := k.Pack([3]uint32{pages * 32}, [3]uint32{32}, buffers[0], buffers[1])
	if err != nil {
		t.Fatal(err)
	}
	return d, emu.Dispatch{Kernel: k, Grid: [3]uint32{pages * 32}, Workgroup: [3]uint32{32}, Kernarg: p.Kernarg}, buffers
}

func TestPinnedAndNonMigratableBuffersAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, out emu.Residency }{
		{emu.Pinned, emu.NonMigratable},
		{emu.Pageable, emu.Pinned},
		{emu.NonMigratable, emu.Pageable},
	} {
		log := newSMILog(t)
		cfg := emu.Config{Pressure: log.pressure(0, 1), Schedule: emu.Schedule{Waves: emu.Random, Quantum: 16}}
		// The buffers share a page, which is not the pageable one's alone.
		const base = 0x20_0000_0000
		d, l, b := copyDevice(t, cfg, emu.Placement{Addr: base + 2048, Residency: c.in}, emu.Placement{Addr: base + 2048 + 32*4096, Residency: c.out})
		if _, err := d.Run(context.Background(), l); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(b[0].Data, b[1].Data) {
			t.Errorf("%v to %v: the copy differs", c.in, c.out)
		}
		log.closed()
		if (len(log.pages) > 0) != (c.in == emu.Pageable || c.out == emu.Pageable) {
			t.Errorf("%v to %v: events of %d pages", c.in, c.out, len(log.pages))
		}
		for _, buf := range b {
			first, last := buf.Addr>>12, (buf.Addr+uint64(len(buf.Data))-1)>>12
			for page := range log.pages {
				if page >= first && page <= last && buf.Residency != emu.Pageable {
					t.Errorf("%v to %v: an event of page %x of a %v buffer", c.in, c.out, page, buf.Residency)
				}
			}
		}
	}
}

// bystander counts the instructions that waves run while another waits for a
// page, and the accesses.
type bystander struct {
	emu.NopObserver
	waiting                map[string]bool
	meanwhile, touched     int
	instructions, accesses int
}

func (o *bystander) Instruction(emu.Wave, *isa.Inst) {
	o.instructions++
	if len(o.waiting) > 0 {
		o.meanwhile++
	}
}

func (o *bystander) Access(a *emu.Access) {
	o.accesses++
	if a.Space == emu.Global && o.waiting[fmt.Sprintf("%x", a.Addr[0]>>12)] {
		o.touched++
	}
}

func TestOtherWavesGoOnWhileAPageIsAway(t *testing.T) {
	t.Parallel()
	count := func(migrate float64) (o *bystander, r *emu.Report) {
		o = &bystander{waiting: map[string]bool{}}
		fault := regexp.MustCompile(`^([78]) \d+ -0 @([0-9a-f]+)`)
		cfg := emu.Config{Observer: o, Schedule: emu.Schedule{Waves: emu.RoundRobin, Quantum: 8, Resident: 8}}
		cfg.Pressure = &emu.Pressure{Migrate: migrate, Events: func(l string) {
			if m := fault.FindStringSubmatch(l); m != nil && m[1] == "7" {
				o.waiting[m[2]] = true
			} else if m != nil {
				delete(o.waiting, m[2])
			}
		}}
		d, l, b := copyDevice(t, cfg, emu.Placement{Align: 4096}, emu.Placement{Align: 4096})
		r, err := d.Run(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(b[0].Data, b[1].Data) {
			t.Error("the copy differs")
		}
		return o, r
	}
	still, _ := count(0)
	o, r := count(1)
	if r.Retries == 0 || o.meanwhile == 0 {
		t.Errorf("%d retries, %d instructions ran while a wave waited", r.Retries, o.meanwhile)
	}
	if o.touched > 0 {
		t.Errorf("%d accesses to pages that were away", o.touched)
	}
	// Nobody sees an instruction twice because it was tried again.
	if o.instructions != still.instructions || o.accesses != still.accesses {
		t.Errorf("%d instructions and %d accesses, without migration %d and %d", o.instructions, o.accesses, still.instructions, still.accesses)
	}
	t.Logf("%d migrations, %d retries, %d instructions meanwhile", r.Migrations, r.Retries, o.meanwhile)
}

func TestRatesOfPressureThatAreNoneAreRefused(t *testing.T) {
	for _, p := range []emu.Pressure{{Evict: -0.1}, {Migrate: 1.5}} {
		if _, err := emu.New(emu.Config{Pressure: &p}); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
}
