package isa

func decodeSOP2(d *decoder) { d.unknown("SOP2: not decoded yet") }
