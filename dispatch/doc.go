// Package dispatch turns the operations of a step into a program for a
// device: it tries the device's registrations by priority, records what
// declined and why, orders the launches and places the transients in an arena
// by lifetime. It runs nothing.
package dispatch
