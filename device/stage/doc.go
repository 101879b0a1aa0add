// Package stage is what a device does between the stages of a program, the
// launches between two waits, whatever it runs them on: it poisons fresh
// transients, checks the canaries around them, shows what was written and
// plants faults.
package stage
