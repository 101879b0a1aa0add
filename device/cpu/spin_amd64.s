#include "textflag.h"

// func spinWhile(p *uint32, v uint32, turns int) bool
// Spins with PAUSE while *p == v, at most turns turns; reports *p != v.
TEXT ·spinWhile(SB), NOSPLIT, $0-25
	MOVQ p+0(FP), DI
	MOVL v+8(FP), SI
	MOVQ turns+16(FP), CX

loop:
	MOVL (DI), AX
	CMPL AX, SI
	JNE  changed
	PAUSE
	DECQ CX
	JNZ  loop
	MOVB $0, ret+24(FP)
	RET

changed:
	MOVB $1, ret+24(FP)
	RET
