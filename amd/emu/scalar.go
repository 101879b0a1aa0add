package emu

import "github.com/holdfast-llm/holdfast/amd/isa"

func addScalar(t *[isa.NumIDs]handler) {}
