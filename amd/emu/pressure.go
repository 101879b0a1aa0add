package emu

// Pressure is what a driver does to a queue while it runs.
type Pressure struct{}

// boundary is called by the scheduler between two slices of waves, if
// Config.Pressure is set. Every wave is at an instruction boundary.
func (d *dispatch) boundary() {}
