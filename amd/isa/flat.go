package isa

func decodeFLAT(d *decoder) { d.unknown("FLAT: not decoded yet") }
