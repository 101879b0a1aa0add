package isa

func decodeSOPC(d *decoder) { d.unknown("SOPC: not decoded yet") }
