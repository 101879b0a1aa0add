// Package check names what is wrong with a GPU kernel, from its binary, with no
// GPU: detectors look on while the software gfx11 device (package amd/emu) runs
// a code object, and report findings: which instruction, which wave and lane,
// which byte of which buffer, and what is missing where.
//
//	c := check.New(check.Options{})
//	dev, _ := emu.New(emu.Config{Observer: c, Mode: emu.Relaxed})
//	... load, run ...
//	report := c.Report()
//
// A detector judges what it sees in the order in which it is shown, but by rules
// that do not depend on that order: a race is one whether or not this schedule
// lost it.
//
// # Detectors
//
//   - memcheck: accesses outside of what is allocated, misaligned, or of the
//     wrong kind (memcheck.go)
//   - initcheck: memory and registers that are used before anything is written
//     to them (initcheck.go)
//   - racecheck: conflicting accesses that nothing orders (racecheck.go)
//   - waitcheck: registers used while a load or store that names them is in
//     flight (waitcheck.go)
//   - synccheck: barriers that not all waves reach (synccheck.go)
//   - hostcheck: the host touching memory that the device still owns, or reading
//     what it has not made visible (hostcheck.go)
package check
