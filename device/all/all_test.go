package all_test

import (
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/device/all"
	"github.com/holdfast-llm/holdfast/device/gfx11"
)

func TestEveryNameMakesTheDeviceOfThatName(t *testing.T) {
	for _, name := range all.Names() {
		d, err := all.New(name, all.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if d.Name() != name {
			t.Errorf("%s makes %s", name, d.Name())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	d, err := all.New("", all.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Name() != "cpu" {
		t.Errorf("no name makes %s", d.Name())
	}
}

func TestThreadsAreTheWorkersOfADeviceThatSaysNone(t *testing.T) {
	for want, o := range map[string]all.Options{
		"1 workers": {},
		"2 workers": {Threads: 2},
		"3 workers": {Threads: 2, GFX11: gfx11.Config{Emulator: emu.Config{Workers: 3}}},
	} {
		d, err := all.New("gfx11", o)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(d.Describe(), want) {
			t.Errorf("%s, want %s", d.Describe(), want)
		}
		d.Close()
	}
}

func TestWhatCannotBeMadeIsAnErrorAndNoDevice(t *testing.T) {
	for want, x := range map[string]struct {
		name string
		o    all.Options
	}{
		`device: no device "cuda", there are cpu and gfx11`: {"cuda", all.Options{}},
		"cpu: -1 threads":                  {"cpu", all.Options{Threads: -1}},
		"gfx11: waves of 7, want 32 or 64": {"gfx11", all.Options{GFX11: gfx11.Config{Wave: 7}}},
	} {
		d, err := all.New(x.name, x.o)
		if d != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("device %v, error %v, want %s", d, err, want)
		}
	}
}
