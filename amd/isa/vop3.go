package isa

func decodeVOP3(d *decoder) { d.unknown("VOP3: not decoded yet") }
