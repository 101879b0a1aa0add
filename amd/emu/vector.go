package emu

import "github.com/holdfast-llm/holdfast/amd/isa"

func addVector(t *[isa.NumIDs]handler) {}
