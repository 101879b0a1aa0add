package main

import (
	"debug/elf"
	"io"
	"os"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
	hsacoinspect "github.com/holdfast-llm/holdfast/amd/hsaco/inspect"
)

// isELF reports whether the regular file at path starts as an ELF file does.
func isELF(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false // whoever opens it says what is wrong
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var magic [len(elf.ELFMAG)]byte
	_, err = io.ReadFull(f, magic[:])
	return err == nil && string(magic[:]) == elf.ELFMAG
}

// inspectCodeObject prints an AMDGPU code object.
func inspectCodeObject(w io.Writer, path string, asJSON, disasm, all bool) error {
	o, err := hsaco.Open(path)
	switch {
	case err != nil:
		return err
	case asJSON:
		return hsacoinspect.JSON(w, o)
	}
	if err := hsacoinspect.Text(w, o, hsacoinspect.Options{All: all}); err != nil {
		return err
	}
	if disasm {
		return hsacoinspect.Disasm(w, o)
	}
	return nil
}
