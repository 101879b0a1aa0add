// Package device says what a device is: it offers registrations for
// operations, loads programs and runs them on batches. The devices themselves
// are in the packages below it; package dispatch chooses among registrations
// and builds programs.
package device
