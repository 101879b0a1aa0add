// Package op describes one step of a model as data: values with shapes and
// types, and operations on them. It runs nothing and allocates nothing on a
// device: package model builds a Graph once, package dispatch turns it into a
// program for a device, and the device runs the program for every batch.
//
// The number of rows is symbolic. A step handles a batch of n tokens and
// produces logits for m of them; every transient is [n][Cols] or [m][Cols],
// and a program is compiled for a largest n and m.
package op
