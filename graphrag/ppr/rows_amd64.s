// SPDX-License-Identifier: Apache-2.0

#include "go_asm.h"
#include "textflag.h"

// Sweeps of one query, eight arcs of a row at a time, in the eight sums of gather: a row of up
// to eight arcs has no branch to mispredict, so the processor reads ahead for the next rows.
// Products are rounded before they are added, as in Go.
//
// AX: row. R12: rows left. R8: arc. CX: arcs left in the row.

#define BEGIN \
	MOVQ   s+0(FP), BX;            \
	MOVQ   from+8(FP), AX;         \
	MOVQ   n+16(FP), R12;          \
	MOVQ   sweep_offsets(BX), R13; \
	MOVQ   sweep_middle(BX), R14;  \
	MOVQ   sweep_targets(BX), R11; \
	MOVQ   sweep_weights(BX), R9;  \
	MOVQ   sweep_pivot(BX), R15;   \
	MOVQ   sweep_t(BX), DI;        \
	MOVQ   sweep_w(BX), SI;        \
	VMOVSD sweep_by(BX), X10;      \
	VMOVSD sweep_beta(BX), X11;    \
	VMOVSD sweep_dot(BX), X12

// The arcs to earlier classes, and to later ones.
#define BEFORE \
	MOVQ (R13)(AX*8), R8; \
	MOVQ (R14)(AX*8), CX; \
	SUBQ R8, CX

#define LATER \
	MOVQ (R14)(AX*8), R8;  \
	MOVQ 8(R13)(AX*8), CX; \
	SUBQ R8, CX

// Y1: the next targets, at most eight. K1, K2: a bit for each.
#define TARGETS \
	MOVL    $8, DX;       \
	CMPQ    CX, DX;       \
	CMOVQLT CX, DX;       \
	MOVL    $255, R10;    \
	BZHIL   DX, R10, R10; \
	KMOVW   R10, K1;      \
	KMOVW   R10, K2;      \
	VMOVDQU32.Z (R11)(R8*4), K1, Y1

// Z2: their t or w.
#define T \
	VPXOR Y2, Y2, Y2;              \
	VGATHERDPS (DI)(Y1*4), K2, Y2; \
	VCVTPS2PD Y2, Z2

#define W \
	VPXORQ Z2, Z2, Z2; \
	VGATHERDPD (SI)(Y1*8), K2, Z2

#define ONES VADDPD Z2, Z0, Z0

#define FLOATS \
	VMOVUPS.Z (R9)(R8*4), K1, Y3; \
	VCVTPS2PD Y3, Z3;             \
	VMULPD Z3, Z2, Z2;            \
	VADDPD Z2, Z0, Z0

// X0: the sum over the arcs.
#define SUM \
	VEXTRACTF64X4 $1, Z0, Y1; \
	VADDPD Y1, Y0, Y0;        \
	VEXTRACTF128 $1, Y0, X1;  \
	VADDPD X1, X0, X0;        \
	VPERMILPD $1, X0, X1;     \
	VADDSD X1, X0, X0;        \
	VMULSD X10, X0, X0

// The rest of a row of backwardRows and of forwardRows.
#define BACKWARD \
	VMOVSD    X0, (SI)(AX*8);     \
	VDIVSD    (R15)(AX*8), X0, X1; \
	MOVQ      sweep_z(BX), R10;   \
	VMOVSS    (R10)(AX*4), X2;    \
	VCVTSS2SD X2, X2, X2;         \
	VMULSD    X11, X2, X2;        \
	MOVQ      sweep_r(BX), DX;    \
	VADDSD    (DX)(AX*8), X2, X2; \
	VADDSD    X1, X2, X2;         \
	VCVTSD2SS X2, X2, X2;         \
	VMOVSS    X2, (DI)(AX*4);     \
	VCVTSS2SD X2, X2, X2;         \
	VSUBSD    X1, X2, X2;         \
	VCVTSD2SS X2, X2, X2;         \
	VMOVSS    X2, (R10)(AX*4);    \
	DECQ      AX

#define FORWARD \
	VMOVSD    (SI)(AX*8), X1;  \
	VMOVSD    (R15)(AX*8), X2; \
	VSUBSD    X1, X0, X0;      \
	VDIVSD    X2, X0, X0;      \
	VMOVSD    X0, (SI)(AX*8);  \
	VMOVSS    (DI)(AX*4), X3;  \
	VCVTSS2SD X3, X3, X3;      \
	VMULSD    X2, X3, X4;      \
	VSUBSD    X1, X4, X4;      \
	VADDSD    X0, X3, X3;      \
	VMULSD    X3, X4, X4;      \
	VADDSD    X4, X12, X12;    \
	INCQ      AX

#define SWEEP(PART, VALUES, WEIGHTS, SOLVE) \
	BEGIN;                      \
row:                            \
	PART;                       \
	VPXORQ Z0, Z0, Z0;          \
arcs:                           \
	TARGETS;                    \
	VALUES;                     \
	WEIGHTS;                    \
	ADDQ $8, R8;                \
	SUBQ $8, CX;                \
	JGT  arcs;                  \
	SUM;                        \
	SOLVE;                      \
	DECQ R12;                   \
	JNZ  row;                   \
	VMOVSD X12, sweep_dot(BX);  \
	VZEROUPPER;                 \
	RET

// func backwardAVX512(s *sweep, from, n int)
TEXT ·backwardAVX512(SB), NOSPLIT, $0-24
	SWEEP(LATER, T, ONES, BACKWARD)

// func backward32AVX512(s *sweep, from, n int)
TEXT ·backward32AVX512(SB), NOSPLIT, $0-24
	SWEEP(LATER, T, FLOATS, BACKWARD)

// func forwardAVX512(s *sweep, from, n int)
TEXT ·forwardAVX512(SB), NOSPLIT, $0-24
	SWEEP(BEFORE, W, ONES, FORWARD)

// func forward32AVX512(s *sweep, from, n int)
TEXT ·forward32AVX512(SB), NOSPLIT, $0-24
	SWEEP(BEFORE, W, FLOATS, FORWARD)
