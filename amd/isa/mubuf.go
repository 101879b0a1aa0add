package isa

func decodeMUBUF(d *decoder) { d.unknown("MUBUF: not decoded yet") }
