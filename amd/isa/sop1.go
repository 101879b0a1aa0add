package isa

func decodeSOP1(d *decoder) { d.unknown("SOP1: not decoded yet") }
