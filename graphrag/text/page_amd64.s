// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// EACH leaves a byte in all lanes of Y; X is its lower half.
#define EACH(VALUE, X, Y) \
	MOVQ         VALUE, AX; \
	VMOVQ        AX, X; \
	VPBROADCASTB X, Y

// IN leaves in Y1 which bytes of Y are at most as far behind FIRST as REACH says.
#define IN(Y, FIRST, REACH, Y1) \
	VPSUBB   FIRST, Y, Y5; \
	VPMINUB  REACH, Y5, Y1; \
	VPCMPEQB Y5, Y1, Y1

// HALF brings 32 bytes to lower case; RUNS and WIDE are those in runs and above ASCII.
#define HALF(AT, RUNS, WIDE) \
	VMOVDQU   AT(SI), Y0; \
	IN(Y0, Y15, Y14, Y1); \
	VPAND     Y13, Y1, Y1; \
	VPOR      Y0, Y1, Y1; \
	VMOVDQU   Y1, AT(DI); \
	IN(Y1, Y12, Y14, Y2); \
	IN(Y0, Y11, Y10, Y3); \
	VPOR      Y2, Y3, Y3; \
	VPOR      Y0, Y3, Y3; \
	VPMOVMSKB Y3, RUNS; \
	VPMOVMSKB Y0, WIDE

// func lower32(lower, s *byte, runs, wide *uint64, blocks int)
TEXT ·lower32(SB), NOSPLIT, $0-40
	MOVQ lower+0(FP), DI
	MOVQ s+8(FP), SI
	MOVQ runs+16(FP), R8
	MOVQ wide+24(FP), R9
	MOVQ blocks+32(FP), CX
	EACH($0x41, X15, Y15) // A
	EACH($25, X14, Y14)   // to Z
	EACH($0x20, X13, Y13) // between the cases
	EACH($0x61, X12, Y12) // a
	EACH($0x30, X11, Y11) // 0
	EACH($9, X10, Y10)    // to 9

block:
	HALF(0, AX, DX)
	HALF(32, BX, R10)
	SHLQ  $32, BX
	ORQ   BX, AX
	MOVQ  AX, (R8)
	SHLQ  $32, R10
	ORQ   R10, DX
	MOVQ  DX, (R9)
	ADDQ  $64, SI
	ADDQ  $64, DI
	ADDQ  $8, R8
	ADDQ  $8, R9
	DECQ  CX
	JNZ   block
	VZEROUPPER
	RET
