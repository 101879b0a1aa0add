package isa

func decodeVOP3P(d *decoder) { d.unknown("VOP3P: not decoded yet") }
