package emu

// SOPP: the flow of control, waits and messages.

func soppOperations() map[string]scalarOp {
	branch := func(taken func(w *wave) bool) scalarOp { return scalarOp{prepare: prepareBranch(taken)} }
	return map[string]scalarOp{
		// What does not change the result.
		"s_nop":                        {run: nothing},
		"s_setkill":                    {run: nothing},
		"s_set_inst_prefetch_distance": {run: nothing},
		"s_clause":                     {run: nothing},
		"s_delay_alu":                  {run: nothing},
		"s_waitcnt_depctr":             {run: nothing},
		"s_wait_event":                 {run: nothing},
		"s_setprio":                    {run: nothing},
		"s_incperflevel":               {run: nothing},
		"s_decperflevel":               {run: nothing},
		"s_ttracedata":                 {run: nothing},
		"s_ttracedata_imm":             {run: nothing},
		"s_wakeup":                     {run: nothing},

		"s_sleep": {run: func(w *wave, _ *inst) { w.suspend() }},
		"s_sethalt": {run: func(w *wave, in *inst) {
			if in.Operands[0].Imm&1 != 0 {
				w.stop(halted)
			}
		}},
		"s_round_mode":  {run: func(w *wave, in *inst) { w.mode = w.mode&^0xf | in.Operands[0].Imm&0xf }},
		"s_denorm_mode": {run: func(w *wave, in *inst) { w.mode = w.mode&^0xf0 | in.Operands[0].Imm&0xf<<4 }},

		"s_waitcnt": {prepare: prepareWait},
		"s_wait_idle": {run: func(w *wave, _ *inst) {
			w.waitFor(Counters{})
		}},
		"s_barrier": {run: barrier},
		"s_icache_inv": {run: func(w *wave, _ *inst) {
			if w.obs != nil {
				w.obs.Cache(Wave{w}, InvalidateCode)
			}
		}},

		"s_branch":                  branch(nil),
		"s_cbranch_scc0":            {prepare: prepareBranchSCC(false)},
		"s_cbranch_scc1":            {prepare: prepareBranchSCC(true)},
		"s_cbranch_vccz":            branch(func(w *wave) bool { return w.vcc()&w.all() == 0 }),
		"s_cbranch_vccnz":           branch(func(w *wave) bool { return w.vcc()&w.all() != 0 }),
		"s_cbranch_execz":           branch(func(w *wave) bool { return w.active() == 0 }),
		"s_cbranch_execnz":          branch(func(w *wave) bool { return w.active() != 0 }),
		"s_cbranch_cdbgsys":         {run: nothing}, // there is no debugger
		"s_cbranch_cdbguser":        {run: nothing},
		"s_cbranch_cdbgsys_or_user": {run: nothing}, "s_cbranch_cdbgsys_and_user": {run: nothing},

		"s_endpgm":                 {run: end},
		"s_endpgm_saved":           {run: end},
		"s_endpgm_ordered_ps_done": {run: end},
		"s_code_end":               {run: func(*wave, *inst) { raise(CodeFault, "execution ran past the end of the code") }},
		"s_trap":                   {run: trap},
		"s_sendmsg":                {run: sendMessage},
		"s_sendmsghalt": {run: func(w *wave, in *inst) {
			sendMessage(w, in)
			w.stop(halted)
		}},
	}
}

// prepareBranch is for branches; taken is nil for one that always is.
func prepareBranch(taken func(w *wave) bool) func(in *inst) error {
	return func(in *inst) error {
		target, _ := in.Branch()
		if taken == nil {
			in.run = func(w *wave, _ *inst) { w.pc = target }
			return nil
		}
		in.run = func(w *wave, _ *inst) {
			if taken(w) {
				w.pc = target
			}
		}
		return nil
	}
}

// prepareBranchSCC is for the branches that loops end with.
func prepareBranchSCC(want bool) func(in *inst) error {
	return func(in *inst) error {
		target, _ := in.Branch()
		in.run = func(w *wave, _ *inst) {
			if w.scc == want {
				w.pc = target
			}
		}
		return nil
	}
}

func prepareWait(in *inst) error {
	c := waitCounters(in.Operands[0].Imm)
	in.run = func(w *wave, _ *inst) { w.waitFor(c) }
	return nil
}

func barrier(w *wave, _ *inst) {
	if w.obs != nil {
		w.obs.Barrier(Wave{w})
	}
	w.stop(atBarrier)
}

func end(w *wave, _ *inst) {
	w.finish()
	if w.obs != nil {
		w.obs.WaveEnd(Wave{w})
	}
	w.stop(ended)
}

// debugTrap is the trap that a program continues after if nobody debugs it.
const debugTrap = 3

func trap(_ *wave, in *inst) {
	switch n := in.Operands[0].Imm & 0xff; n {
	case debugTrap:
	case 2:
		raise(TrapFault, "trap 2: the program aborted")
	default:
		raise(TrapFault, "trap %d", n)
	}
}

// sendMessage sends what nobody answers: an interrupt, or that the wave's
// registers are free, after which it only ends.
func sendMessage(_ *wave, in *inst) {
	switch n := in.Operands[0].Imm & 0xff; n {
	case messageInterrupt, messageDealloc:
	default:
		raise(TrapFault, "message %d means nothing to a compute queue", n)
	}
}
