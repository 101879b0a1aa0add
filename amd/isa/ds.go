package isa

func decodeDS(d *decoder) { d.unknown("DS: not decoded yet") }
