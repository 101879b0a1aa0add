package isa

func decodeVOPC(d *decoder) { d.unknown("VOPC: not decoded yet") }
