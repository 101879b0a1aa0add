package isa

func decodeMTBUF(d *decoder) { d.unknown("MTBUF: not decoded yet") }
