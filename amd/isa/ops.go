package isa

// Ops returns every operation, in the order of IDs. Operations of VOP3P that
// multiply matrices have other operands in wave64, but the same IDs.
func Ops() []*Op {
	var all []*Op
	for _, t := range tables() {
		for _, op := range t {
			if op != nil {
				all = append(all, op)
			}
		}
	}
	return all
}

func tables() [numFormats][]*Op {
	return [numFormats][]*Op{
		SOP1: sop1, SOP2: sop2, SOPC: sopc, SOPK: sopk, SOPP: sopp, SMEM: smem, DS: ds,
		FLAT: flat, GLOBAL: global, SCRATCH: scratch, MUBUF: mubuf, MTBUF: mtbuf, MIMG: mimg, LDSDIR: ldsdir, EXP: export, VINTERP: vinterp,
		VOP1: vop1Ops, VOP2: vop2Ops, VOPC: vopcOps, VOP3: vop3Ops, VOP3P: vop3pOps32, VOPD: vopdOps,
	}
}
