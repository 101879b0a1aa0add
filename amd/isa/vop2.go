package isa

func decodeVOP2(d *decoder) { d.unknown("VOP2: not decoded yet") }
