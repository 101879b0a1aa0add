package isa

func decodeSMEM(d *decoder) { d.unknown("SMEM: not decoded yet") }
