package check

import (
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// memCase is a kernel (u32 *x of 256 bytes, u8 *y of 100 bytes, const u32 *r,
// u32 n = 64) of 64 work-items, and what memcheck says of it.
type memCase struct {
	name   string
	source string
	want   []Kind
	says   string // in the first finding's message
}

var memCases = []memCase{
	{
		name: "a load one element past the end", source: `if (item() == 0) x[0] = x[n];`,
		want: []Kind{OutOfBounds}, says: `load of 4 bytes 0 bytes past the end of "x" (256 bytes)`,
	},
	{
		name: "a load far past the end", source: `if (item() == 0) x[0] = x[n + 10];`,
		want: []Kind{OutOfBounds}, says: `load of 4 bytes 40 bytes past the end of "x" (256 bytes)`,
	},
	{
		name: "a load before the start", source: `if (item() == 0) x[0] = x[(i32)n - 67];`,
		want: []Kind{OutOfBounds}, says: `load of 4 bytes 12 bytes before the start of "x" (256 bytes)`,
	},
	{
		name: "a store past the end", source: `x[item() + 1] = 7;`,
		want: []Kind{OutOfBounds}, says: `store of 4 bytes 0 bytes past the end of "x" (256 bytes)`,
	},
	{
		name: "a load that reaches past the end", source: `x[item()] = *(GLOBAL u32 *)(y + 34 + item());`,
		want: []Kind{OutOfBounds}, says: `load of 4 bytes at byte 97 reaches past the end of "y" (100 bytes)`,
	},
	{
		name: "a byte past the end", source: `if (item() == 0) x[0] = y[n + 36];`,
		want: []Kind{OutOfBounds}, says: `load of 1 bytes 0 bytes past the end of "y" (100 bytes)`,
	},
	{
		name: "an atomic past the end", source: `__atomic_fetch_add(x + n, 1u, 0);`,
		want: []Kind{OutOfBounds}, says: `atomic of 4 bytes 0 bytes past the end of "x" (256 bytes)`,
	},
	{
		name: "a scalar load past the end", source: `x[item()] = r[n];`,
		want: []Kind{OutOfBounds}, says: `load of 4 bytes 0 bytes past the end of "r" (256 bytes)`,
	},
	{
		name: "a store to what is read-only", source: `((GLOBAL u32 *)r)[item()] = 1;`,
		want: []Kind{ReadOnlyWrite}, says: `store of 4 bytes to byte 0 of "r" (256 bytes), which is read-only`,
	},
	{
		name: "a store to kernel arguments", source: `if (item() == 0) *(GLOBAL u32 *)(u64)__builtin_amdgcn_kernarg_segment_ptr() = 1;`,
		want: []Kind{ReadOnlyWrite}, says: `store of 4 bytes to byte 0 of "kernel arguments"`,
	},
	{
		name: "a store to code", source: `static int hide; u64 pc; asm volatile("s_getpc_b64 %0" : "=s"(pc)); if (item() == 0) *(GLOBAL u32 *)pc = 1;`,
		want: []Kind{ReadOnlyWrite}, says: `store of 4 bytes to byte`,
	},
	{
		name: "a load at null", source: `GLOBAL u32 *p = (GLOBAL u32 *)(u64)(n - 64); x[item()] = p[item()];`,
		want: []Kind{NullPage}, says: "load of 4 bytes at address 0x0",
	},
	{
		name: "an atomic that is not aligned", source: `__atomic_fetch_add((GLOBAL u32 *)(y + 2 + (n - 64)), 1u, 0);`,
		want: []Kind{Misaligned}, says: `atomic of 4 bytes at byte 2 of "y" (100 bytes), address`,
	},
	{
		name: "LDS beyond its end", source: `SHARED u32 s[16]; s[item() % 16] = 1; barrier(); x[item()] = s[item()];`,
		want: []Kind{LDSOutOfBounds}, says: `past the end of LDS (64 bytes)`,
	},
	{
		name: "two places at fault", source: `if (item() == 0) { x[0] = x[n]; x[n + 1] = 3; }`,
		want: []Kind{OutOfBounds},
	},
	{
		name: "what is written there is read again", source: `x[n + item()] = 5; FENCE_; if (x[n + item()] == 0) y[item()] = 1;`,
		want: []Kind{OutOfBounds},
	},
	// What is no fault.
	{name: "all of a buffer", source: `x[item()] = r[item()] + y[item()];`},
	{name: "the last byte", source: `if (item() == 0) y[99] = 1;`},
	{name: "a misaligned load inside", source: `x[item()] = *(GLOBAL u32 __attribute__((aligned(1))) *)(y + item() % 4 * 8 + 1);`},
	{name: "masked lanes beyond the end", source: `u32 i = item() * 2; if (i < n) x[i] = r[i];`},
	{name: "a branch around a load beyond the end", source: `if (n > 64) x[0] = x[n];`},
	{name: "an address beyond the end that is not used", source: `GLOBAL u32 *p = x + n + item(); x[item()] = (u32)(u64)p;`},
	{name: "a pointer to the end that goes back", source: `GLOBAL u32 *p = x + n; x[item()] = p[-1 - (i32)item()];`},
	{name: "LDS up to its end", source: `SHARED u32 s[64]; s[item()] = 1; barrier(); x[item()] = s[63 - item()];`},
	{name: "LDS beyond the variable and inside the allocation", source: `SHARED u32 s[64]; SHARED u32 t[64]; t[item()] = 1; s[item()] = 1; barrier(); x[item()] = s[63 - item()] + t[item()];`},
	{name: "scratch", source: `u32 a[16]; for (u32 i = 0; i < 16; i++) a[i] = r[i]; x[item()] = a[r[item()] % 16];`},
	{name: "an aligned atomic", source: `__atomic_fetch_add(x + item() % 64, 1u, 0);`},
	{name: "a null pointer that is not followed", source: `GLOBAL u32 *p = (GLOBAL u32 *)(u64)(n - 64); if (p) x[item()] = *p;`},
	{name: "kernel arguments that are read", source: `x[item()] = *(const u32 *)__builtin_amdgcn_kernarg_segment_ptr();`},
	{name: "equal values stored to what is writable", source: `x[item() % 64] = 1;`},
	{name: "a loop to the last element", source: `u32 s = 0; for (u32 i = 0; i < n; i++) s += r[i]; x[item()] = s;`},
	{name: "64 bits at the end", source: `if (item() == 0) ((GLOBAL u64 *)x)[31] = 1;`},
	{name: "dot products of whole vectors", source: `u64 s = 0; for (u32 i = item() % 2; i < 16; i += 2) s += ((GLOBAL u64 *)r)[i * 2]; x[item()] = s;`},
}

func TestMemcheckIsExactToTheByte(t *testing.T) {
	// All kernels are one object: compilers take long to start.
	var source strings.Builder
	for i, c := range memCases {
		source.WriteString("KERNEL(64) k" + string(rune('a'+i/26)) + string(rune('a'+i%26)) +
			"(GLOBAL u32 *x, GLOBAL u8 *y, const GLOBAL u32 *__restrict r, u32 n) {" + c.source + "}\n")
	}
	o := compiled(t, "#define FENCE_ __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, \"workgroup\")\n"+source.String(), "-Wno-unused-variable")
	for i, c := range memCases {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			for _, config := range []emu.Config{{}, {Mode: emu.Relaxed, Schedule: emu.Schedule{Waves: emu.ReverseAfterBarriers}}, {Mode: emu.Relaxed, Timing: emu.Timing{LateLoads: true}}} {
				ck, err := New(Options{Tools: []Tool{Memcheck}})
				if err != nil {
					t.Fatal(err)
				}
				config.Observer = ck
				d := newRig(t, o, "k"+string(rune('a'+i/26))+string(rune('a'+i%26)), config)
				x, y, r := d.buffer("x", 256), d.buffer("y", 100), d.buffer("r", 256)
				r.ReadOnly = true
				if err := d.launch(1, 64, x, y, r, uint32(64)); err != nil {
					t.Fatal(err)
				}
				report := ck.Report()
				if err := kindsAre(report, c.want); err != nil {
					t.Error(err)
				}
				if len(report.Findings) > 0 && !strings.Contains(report.Findings[0].Message, c.says) {
					t.Errorf("%q\nwant %q", report.Findings[0].Message, c.says)
				}
			}
		})
	}
}

func TestABufferThatWasFreedIsNamed(t *testing.T) {
	o := compiled(t, `KERNEL(64) k(GLOBAL u32 *x, GLOBAL u32 *gone) { x[item()] = gone[item() + 2]; }`)
	c, err := New(Options{Tools: []Tool{Memcheck}})
	if err != nil {
		t.Fatal(err)
	}
	d := newRig(t, o, "k", emu.Config{Observer: c})
	x, gone := d.buffer("x", 256), d.buffer("gone", 512)
	if err := d.dev.Free(gone); err != nil {
		t.Fatal(err)
	}
	if err := d.launch(1, 64, x, gone.Addr); err != nil {
		t.Fatal(err)
	}
	f := c.Report().Findings
	if len(f) != 1 || f[0].Kind != UseAfterFree || f[0].Message != `load of 4 bytes at byte 8 of "gone" (512 bytes), which was freed` {
		t.Errorf("%v", f)
	}
}

func TestAWriteOnlyBufferIsNotRead(t *testing.T) {
	o := compiled(t, `KERNEL(64) k(GLOBAL u32 *x, GLOBAL u32 *out) { out[item()] = x[item()]; x[item()] = out[item() ^ 1]; }`)
	c, err := New(Options{Tools: []Tool{Memcheck}})
	if err != nil {
		t.Fatal(err)
	}
	d := newRig(t, o, "k", emu.Config{Observer: c})
	x, out := d.buffer("x", 256), d.buffer("out", 256)
	out.WriteOnly = true
	if err := d.launch(1, 64, x, out); err != nil {
		t.Fatal(err)
	}
	if err := kindsAre(c.Report(), []Kind{WriteOnlyRead}); err != nil {
		t.Error(err)
	}
}
