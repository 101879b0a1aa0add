package isa

// SOPP: program control, with an immediate of 16 bits.
//
//	31:23 101111111 | 22:16 opcode | 15:0 simm16

func decodeSOPP(d *decoder) {
	d.scalar(sopp, d.w0>>16&0x7f)
	if d.in.Op == nil {
		return
	}
	if imm := d.w0 & 0xffff; len(d.in.Op.Args) == 0 && imm != 0 {
		d.unknown("an immediate, which the operation does not have")
	} else if d.in.Op.Flags&opSilent0 != 0 && imm == 0 {
		d.in.N = 0
	}
}

// opSilent0 marks operations whose immediate is not in the text if it is 0.
const opSilent0 OpFlags = 1 << 7

var (
	hex16  = []Arg{immHex}
	num16  = []Arg{immNum}
	branch = []Arg{immDec} // signed words from the next instruction
	sndmsg = []Arg{{fMsg, NoType, Read}}
)

var sopp = table(SOPP, "", []row{
	{0, "s_nop", num16, 0},
	{1, "s_setkill", num16, 0},
	{2, "s_sethalt", num16, 0},
	{3, "s_sleep", num16, 0},
	{4, "s_set_inst_prefetch_distance", hex16, 0},
	{5, "s_clause", hex16, 0},
	{7, "s_delay_alu", []Arg{{fDelay, NoType, Read}}, 0},
	{8, "s_waitcnt_depctr", []Arg{{fDepctr, NoType, Read}}, 0},
	{9, "s_waitcnt", []Arg{{fWait, NoType, Read}}, 0},
	{10, "s_wait_idle", nil, 0},
	{11, "s_wait_event", hex16, 0},
	{16, "s_trap", num16, 0},
	{17, "s_round_mode", hex16, 0},
	{18, "s_denorm_mode", num16, 0},
	{31, "s_code_end", nil, 0},
	{32, "s_branch", branch, 0},
	{33, "s_cbranch_scc0", branch, 0},
	{34, "s_cbranch_scc1", branch, 0},
	{35, "s_cbranch_vccz", branch, 0},
	{36, "s_cbranch_vccnz", branch, 0},
	{37, "s_cbranch_execz", branch, 0},
	{38, "s_cbranch_execnz", branch, 0},
	{39, "s_cbranch_cdbgsys", branch, 0},
	{40, "s_cbranch_cdbguser", branch, 0},
	{41, "s_cbranch_cdbgsys_or_user", branch, 0},
	{42, "s_cbranch_cdbgsys_and_user", branch, 0},
	{48, "s_endpgm", []Arg{immDec}, opSilent0},
	{49, "s_endpgm_saved", nil, 0},
	{50, "s_endpgm_ordered_ps_done", nil, 0},
	{52, "s_wakeup", nil, 0},
	{53, "s_setprio", num16, 0},
	{54, "s_sendmsg", sndmsg, 0},
	{55, "s_sendmsghalt", sndmsg, 0},
	{56, "s_incperflevel", num16, 0},
	{57, "s_decperflevel", num16, 0},
	{58, "s_ttracedata", nil, 0},
	{59, "s_ttracedata_imm", hex16, 0},
	{60, "s_icache_inv", nil, 0},
	{61, "s_barrier", nil, 0},
})

// Branch returns the byte address that a branch or s_call_b64 goes to, and
// whether the instruction has one.
func (in *Inst) Branch() (target uint64, ok bool) {
	op := in.Op
	if op == nil || !(op.Format == SOPP && op.Code >= 32 && op.Code <= 42 || op.Format == SOPK && op.Code == 20) {
		return 0, false
	}
	return in.PC + 4 + uint64(4*int64(int16(in.Words[0]))), true
}
