package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/holdfast-llm/holdfast/internal/cli"
	"github.com/holdfast-llm/holdfast/lab/addr"
	"github.com/holdfast-llm/holdfast/lab/trace"
)

// labExplain is the command line of lab explain.
type labExplain struct {
	maps, strides, indices, bases []string
	row                           uint64
	exact                         bool
}

func labExplainMain(_ context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o := labExplain{}
	f := &cli.FlagSet{
		Synopsis: "holdfast lab explain ADDRESS|FILE|- --map FILE [flags]",
		About: "Say what is at the address of a memory fault: inside which buffer, how far past or before\n" +
			"one, freed when, in which gap; and whether an index times a stride, cut to 32 bits, leads\n" +
			"there from a buffer's start. Instead of an address, a file with the fault's text (the\n" +
			"kernel's log, ROCr's or HRX's message) explains each address in it; - is standard input.\n" +
			"A map is a program of holdfast run --dump, /proc/PID/maps, a trace of allocations and\n" +
			"frees, or CSV with name,address,bytes and, if there is a header, stride and freed.\n" +
			"The status is 1 if no map has the address.",
		Examples: []string{
			"holdfast lab explain 0x7fba10820000 --map buffers.csv",
			"dmesg | holdfast lab explain - --map maps.txt --map allocations.log",
			"holdfast lab explain 0x100000ff00 --map dump/program-000-tokens-1-keys-256.json",
		},
	}
	f.Strings(&o.maps, "--map FILE[,FILE...]", "allocations; several files are put together")
	f.Bool(&o.exact, "--exact", "the address is the byte's, even if it could be its page's")
	f.Group("an index out of range")
	f.Strings(&o.strides, "--stride N[,N...]", "bytes of an element (default: the map's, or a buffer's bytes over usual numbers of experts)")
	f.Strings(&o.indices, "--index N[,N...]", "indices to try (default: 0x7fffffff and others that mean none)")
	f.Strings(&o.bases, "--base ADDR[,ADDR...]", "more addresses that indices may count from")
	f.Uint64(&o.row, "--row N", "bytes of a row: the access starts one")
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil && len(rest) != 1 {
		err = cli.Usagef("want one address or file, got %d", len(rest))
	}
	if err == nil && len(o.maps) == 0 {
		err = cli.Usagef("give --map FILE")
	}
	found := true
	if err == nil {
		found, err = o.run(rest[0], stdin, stdout, stderr)
	}
	if err != nil || found {
		return finish(f, "lab explain", err, stdout, stderr)
	}
	return 1
}

// run explains each address; found is false if one is in no allocation.
func (o *labExplain) run(what string, stdin io.Reader, stdout, stderr io.Writer) (found bool, err error) {
	wraps := addr.WrapOptions{Row: o.row}
	if wraps.Strides, err = addresses("--stride", o.strides); err != nil {
		return false, err
	}
	if wraps.Indices, err = addresses("--index", o.indices); err != nil {
		return false, err
	}
	bases, err := addresses("--base", o.bases)
	if err != nil {
		return false, err
	}
	for _, b := range bases {
		wraps.Bases = append(wraps.Bases, addr.Range{Name: fmt.Sprintf("%#x", b), Start: b})
	}
	faults, err := o.faults(what, stdin, stdout)
	if err != nil {
		return false, err
	}
	var m addr.Map
	for _, path := range o.maps {
		one, err := readFile(path, addr.Read)
		if err != nil {
			return false, err
		}
		if one.Unmatched > 0 {
			fmt.Fprintf(stderr, "%s: %d frees of what it does not allocate\n", path, one.Unmatched)
		}
		m.Join(one)
	}
	found = true
	for _, x := range faults {
		e := m.Explain(x, wraps)
		if err := e.Write(stdout); err != nil {
			return false, err
		}
		found = found && (e.Class == addr.Inside || e.Class == addr.Freed || len(e.Wraps) > 0)
	}
	return found, nil
}

// faults are the address that what is, or those in the texts of the file that it is.
func (o *labExplain) faults(what string, stdin io.Reader, stdout io.Writer) ([]addr.Fault, error) {
	n, err := strconv.ParseUint(what, 0, 64)
	if err != nil {
		n, err = strconv.ParseUint(strings.TrimPrefix(what, "@"), 16, 64)
		if _, missing := os.Stat(what); missing == nil {
			err = fmt.Errorf("a file")
		}
	}
	if err == nil {
		return []addr.Fault{{Addr: n, PageOnly: n%addr.Page == 0 && !o.exact}}, nil
	}
	var t *trace.Trace
	if what == "-" {
		t, err = trace.Read("standard input", stdin)
	} else {
		t, err = readFile(what, trace.Read)
	}
	if err != nil {
		return nil, err
	}
	texts := t.Faults()
	if len(texts) == 0 {
		return nil, fmt.Errorf("%s: no text about a fault at an address", what)
	}
	var list []addr.Fault
	seen := map[addr.Fault]bool{}
	for _, f := range texts {
		x := addr.Fault{Addr: uint64(f.Addr), PageOnly: f.PageOnly() && !o.exact}
		if seen[x] {
			continue
		}
		seen[x] = true
		list = append(list, x)
		fmt.Fprintf(stdout, "%s: %s at %s%s\n", f.Source, f.Reason, f.Addr, f.Details())
	}
	return list, nil
}

// addresses are numbers in decimal or, with 0x, hexadecimal; nil if there are none.
func addresses(flag string, list []string) ([]uint64, error) {
	var ns []uint64
	for _, s := range list {
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			return nil, cli.Usagef("%s %q is no number", flag, s)
		}
		ns = append(ns, n)
	}
	return ns, nil
}

// readFile reads a file by a function that wants its name for errors.
func readFile[T any](path string, read func(string, io.Reader) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return read(path, f)
}
