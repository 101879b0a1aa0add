package isa

func decodeSOPK(d *decoder) { d.unknown("SOPK: not decoded yet") }
