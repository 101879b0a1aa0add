package isa

func decodeVOP1(d *decoder) { d.unknown("VOP1: not decoded yet") }

// appendVector prints VOP1, VOP2, VOPC, VOP3 and VOP3P, with their DPP forms.
func appendVector(b []byte, in *Inst) []byte { return b }
