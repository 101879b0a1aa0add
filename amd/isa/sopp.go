package isa

func decodeSOPP(d *decoder) { d.unknown("SOPP: not decoded yet") }
