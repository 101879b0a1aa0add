package emu

// SOPK: an immediate of 16 bits.

func sopkOperations() map[string]scalarOp {
	all := map[string]scalarOp{
		"s_movk_i32": plain32(func(a, _ uint32) uint32 { return uint32(int16(a)) }),
		"s_version":  {run: nothing},
		"s_cmovk_i32": {run32: func(w *wave, a, old, _ uint32) uint32 {
			if w.scc {
				return uint32(int16(a))
			}
			return old
		}},
		"s_addk_i32": {run32: func(w *wave, a, old, _ uint32) uint32 { return addOverflow(w, old, uint32(int16(a)), 0) }},
		"s_mulk_i32": plain32(func(a, old uint32) uint32 { return old * uint32(int16(a)) }),

		"s_getreg_b32":       {run32: getReg, approximate: "where the wave is, and what it was allocated, are the model's"},
		"s_setreg_b32":       {run32: setReg},
		"s_setreg_imm32_b32": {run32: setReg},
		"s_call_b64":         {prepare: prepareCall},

		"s_waitcnt_vscnt":   {prepare: prepareWaitK(func(w *wave, n int) { w.waitFor(Counters{Loads: -1, Stores: n, Scalar: -1, Exports: -1}) })},
		"s_waitcnt_vmcnt":   {prepare: prepareWaitK(func(w *wave, n int) { w.waitFor(Counters{Loads: n, Stores: -1, Scalar: -1, Exports: -1}) })},
		"s_waitcnt_expcnt":  {prepare: prepareWaitK(func(w *wave, n int) { w.waitFor(Counters{Loads: -1, Stores: -1, Scalar: -1, Exports: n}) })},
		"s_waitcnt_lgkmcnt": {prepare: prepareWaitK(func(w *wave, n int) { w.waitFor(Counters{Loads: -1, Stores: -1, Scalar: n, Exports: -1}) })},
	}
	for name, f := range scalarCompares {
		signed := name[len(name)-3] == 'i'
		all["s_cmpk_"+name] = scalarOp{test32: func(_ *wave, a, b uint32) bool {
			if signed {
				b = uint32(int16(b))
			}
			return f(a, b)
		}}
	}
	return all
}

func nothing(*wave, *inst) {}

// prepareCall is for s_call_b64.
func prepareCall(in *inst) error {
	p, err := newScalarPlan(in)
	if err != nil {
		return err
	}
	target, _ := in.Branch()
	dst := p.dst
	in.run = func(w *wave, _ *inst) {
		w.set64(dst, w.pc)
		w.pc = target
	}
	return nil
}

// prepareWaitK is for the waits whose count is the sum of a register and an
// immediate.
func prepareWaitK(wait func(w *wave, n int)) func(in *inst) error {
	return func(in *inst) error {
		p, err := newScalarPlan(in)
		if err != nil {
			return err
		}
		in.aux = p
		in.run = func(w *wave, in *inst) {
			p := in.aux.(*scalarPlan)
			wait(w, int(min(uint64(p.src[0].get32(w))+p.src[1].value, noWait)))
		}
		return nil
	}
}

// waitFor waits for the counters that are not -1.
func (w *wave) waitFor(c Counters) {
	or := func(n int) int {
		if n < 0 {
			return noWait
		}
		return n
	}
	if c.Loads >= 0 || c.Exports >= 0 || c.Scalar >= 0 {
		w.waitcnt(or(c.Loads), or(c.Exports), or(c.Scalar))
	}
	if c.Stores >= 0 {
		w.waitVscnt(c.Stores)
	}
	if w.obs != nil {
		w.obs.Wait(Wave{w}, c)
	}
}

// waitCounters takes the immediate of s_waitcnt apart; all ones in a field is no
// wait.
func waitCounters(imm uint32) Counters {
	field := func(shift, bits uint) int {
		if n := imm >> shift & (1<<bits - 1); n != 1<<bits-1 {
			return int(n)
		}
		return -1
	}
	return Counters{Loads: field(10, 6), Stores: -1, Scalar: field(4, 6), Exports: field(0, 3)}
}
