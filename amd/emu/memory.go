package emu

import "github.com/holdfast-llm/holdfast/amd/isa"

func addMemory(t *[isa.NumIDs]handler) {}
