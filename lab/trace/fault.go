package trace

import (
	"regexp"
	"strconv"
	"strings"
)

// FaultText is what a runtime or the kernel's log says of a fault.
type FaultText struct {
	Source string `json:"source"` // "kernel", "rocr" or "hrx"
	// Addr is where, if HasAddr. The kernel and, where Inexact, the runtime name the
	// page; else it may be either.
	Addr    Address `json:"address,omitempty"`
	HasAddr bool    `json:"has_address"`
	Inexact bool    `json:"page,omitempty"`
	Reason  string  `json:"reason,omitempty"`
	Client  string  `json:"client,omitempty"` // the unit that faulted: "TCP (0x8)"
	Status  string  `json:"status,omitempty"` // the register, in hexadecimal
	Process string  `json:"process,omitempty"`
	Node    string  `json:"node,omitempty"`
	Write   *bool   `json:"write,omitempty"`
	// Bits are the parts of the status that the log spells out: "MORE_FAULTS: 0x1".
	Bits []string `json:"bits,omitempty"`
}

// PageOnly says whether the address is only known to its page.
func (f *FaultText) PageOnly() bool { return f.Inexact || f.Addr%4096 == 0 }

var (
	rocrFault   = regexp.MustCompile(`Memory access fault by GPU node-?(\d+)(?: \(Agent handle: [^)]*\))? on address (0x[0-9a-fA-F]{1,16})\.?( \(may not be exact address\))?\.?(?: Reason: ([^.\n]*)\.?)?`)
	rocrStatus  = regexp.MustCompile(`HSA_STATUS_ERROR_(?:MEMORY_FAULT|MEMORY_APERTURE_VIOLATION|EXCEPTION)[^\n]*`)
	rocrHang    = regexp.MustCompile(`HW Exception by GPU node-?(\d+)(?: \(Agent handle: [^)]*\))? reason ?:\s*([^\n]*)`)
	hrxFault    = regexp.MustCompile(`AMDGPU memory access fault at device address (0x[0-9a-fA-F]{1,16})(?: \(reason mask (0x[0-9a-fA-F]+)\))?`)
	kernelFault = regexp.MustCompile(`\[(gfxhub\d*|mmhub\d*)\] (?:no-?retry |retry )?page fault(?: \(([^)]*)\))?`)
	kernelPage  = regexp.MustCompile(`in page starting at address (0x[0-9a-fA-F]{1,16})(?: from (?:client|IH client) (\S+(?: \([^)]*\))?))?`)
	kernelState = regexp.MustCompile(`(?:GC|MM)?VM_L2_PROTECTION_FAULT_STATUS\S*?:\s*(0x[0-9a-fA-F]+)`)
	kernelUnit  = regexp.MustCompile(`Faulty UTCL2 client ID: ([^\n]*)`)
	kernelBit   = regexp.MustCompile(`\b(MORE_FAULTS|WALKER_ERROR|PERMISSION_FAULTS|MAPPING_ERROR|RW): (0x[0-9a-fA-F]+)`)
	kernelTask  = regexp.MustCompile(`(?i)(?:in|for)?\s*process\s+(.*?)\s+pid\s+(\d+)`)
	kernelTime  = regexp.MustCompile(`^(?:<\d+>)?\[\s*(\d{1,9})\.(\d{6})\]`)
)

// parseRuntime reads a line of a runtime about a fault.
func parseRuntime(line string) *FaultText {
	if x := rocrFault.FindStringSubmatch(line); x != nil {
		f := &FaultText{Source: "rocr", Node: x[1], Inexact: x[3] != "", Reason: strings.TrimSpace(x[4])}
		f.address(x[2])
		return f
	}
	if x := hrxFault.FindStringSubmatch(line); x != nil {
		f := &FaultText{Source: "hrx"}
		f.address(x[1])
		if x[2] != "" {
			f.Reason = "reason mask " + x[2]
		}
		return f
	}
	if x := rocrHang.FindStringSubmatch(line); x != nil {
		return &FaultText{Source: "rocr", Node: x[1], Reason: strings.TrimSpace(x[2])}
	}
	if x := rocrStatus.FindString(line); x != "" {
		return &FaultText{Source: "rocr", Reason: strings.TrimSpace(x)}
	}
	return nil
}

func (f *FaultText) address(s string) {
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		f.Addr, f.HasAddr = Address(n), true
	}
}

// kernelLog puts the lines of a fault in the kernel's log together. They come one
// after the other, with lines of others in between.
type kernelLog struct {
	open *FaultText // that lines may still be of
	line int        // of its first
}

// kernelLines bounds how many lines may be of one fault.
const kernelLines = 24

// read returns a fault that a line begins, and whether the line was of a fault at
// all.
func (k *kernelLog) read(line string, n int) (begun *FaultText, ok bool) {
	if k.open != nil && n-k.line > kernelLines {
		k.open = nil
	}
	if x := kernelFault.FindStringSubmatch(line); x != nil {
		k.open, k.line = &FaultText{Source: "kernel", Reason: "page fault in the " + x[1], Inexact: true}, n
		k.open.task(line)
		k.page(line)
		return k.open, true
	}
	if k.open == nil {
		// Logs are cut: the address alone is worth having.
		if !kernelPage.MatchString(line) {
			return nil, false
		}
		k.open, k.line = &FaultText{Source: "kernel", Reason: "page fault", Inexact: true}, n
		k.page(line)
		return k.open, true
	}
	ok = k.page(line)
	if x := kernelState.FindStringSubmatch(line); x != nil {
		k.open.Status, ok = x[1], true
	}
	if x := kernelUnit.FindStringSubmatch(line); x != nil {
		k.open.Client, ok = strings.TrimSpace(x[1]), true
	}
	if x := kernelBit.FindStringSubmatch(line); x != nil {
		k.open.Bits, ok = append(k.open.Bits, x[1]+": "+x[2]), true
		if x[1] == "RW" {
			write := x[2] != "0x0"
			k.open.Write = &write
		}
	}
	if strings.Contains(line, "amdgpu") && k.open.Process == "" && k.open.task(line) {
		ok = true
	}
	return nil, ok
}

func (k *kernelLog) page(line string) bool {
	x := kernelPage.FindStringSubmatch(line)
	if x == nil {
		return false
	}
	if k.open.HasAddr {
		return true
	}
	k.open.address(x[1])
	if k.open.Client == "" {
		k.open.Client = x[2]
	}
	return true
}

func (f *FaultText) task(line string) bool {
	x := kernelTask.FindStringSubmatch(line)
	if x == nil || x[2] == "0" {
		return false
	}
	f.Process = strings.TrimSpace(x[1]) + " (" + x[2] + ")"
	return true
}

// logTime is the time of a line of the kernel's log, in nanoseconds since it
// started.
func logTime(line string) (int64, bool) {
	x := kernelTime.FindStringSubmatch(line)
	if x == nil {
		return 0, false
	}
	s, _ := strconv.ParseInt(x[1], 10, 64)
	us, _ := strconv.ParseInt(x[2], 10, 64)
	return s*1e9 + us*1e3, true
}

// Details are what else is known of a fault, for a line of text: " (write, TCP (0x8),
// llama-bench (4711))".
func (f *FaultText) Details() string {
	var parts []string
	if f.Write != nil {
		parts = append(parts, map[bool]string{false: "read", true: "write"}[*f.Write])
	}
	for _, s := range []string{f.Client, f.Process} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if f.Node != "" {
		parts = append(parts, "node "+f.Node)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
