package isa

func decodeVOPD(d *decoder) { d.unknown("VOPD: not decoded yet") }

func appendVOPD(b []byte, in *Inst) []byte { return b }
