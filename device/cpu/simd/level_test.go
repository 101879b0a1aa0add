package simd

import (
	"slices"
	"testing"
)

func TestCapped(t *testing.T) {
	for _, tt := range []struct {
		name, env string
		want      Level
		wantErr   bool
	}{
		{name: "empty does not cap", env: "", want: detected},
		{name: "portable is always there", env: "portable", want: Portable},
		{name: "a level beyond the machine's gives the machine's", env: "avx512", want: min(AVX512, detected)},
		{name: "avx2", env: "avx2", want: min(AVX2, detected)},
		{name: "upper case is unknown", env: "AVX2", wantErr: true},
		{name: "unknown", env: "sse9", wantErr: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Capped(tt.env)
			if (err != nil) != tt.wantErr {
				t.Fatalf("Capped(%q): error %v, want error: %t", tt.env, err, tt.wantErr)
			}
			if err == nil && got != tt.want {
				t.Errorf("Capped(%q) = %v, want %v", tt.env, got, tt.want)
			}
			t.Setenv(EnvLevel, tt.env)
			want := tt.want
			if tt.wantErr {
				want = detected
			}
			if got := Best(); got != want {
				t.Errorf("%s=%s: Best() = %v, want %v", EnvLevel, tt.env, got, want)
			}
		})
	}
}

func TestLevelsAscend(t *testing.T) {
	ls := Levels()
	if len(ls) == 0 || ls[0] != Portable || !slices.IsSorted(ls) || ls[len(ls)-1] != detected {
		t.Errorf("Levels() = %v, want Portable up to %v", ls, detected)
	}
}

func TestLevelNamesRoundTrip(t *testing.T) {
	for _, l := range []Level{Portable, AVX2, AVX512} {
		if got, err := ParseLevel(l.String()); err != nil || got != l {
			t.Errorf("ParseLevel(%q) = %v, %v, want %v", l.String(), got, err, l)
		}
	}
}
