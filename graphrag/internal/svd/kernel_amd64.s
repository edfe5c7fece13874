// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// The kernel keeps the sums of a tile in registers, three vectors a row. In each step it
// loads part of a row of the panel, whose rows are 192 bytes, and broadcasts an entry of each
// row of a. Rows are R8 bytes apart, steps R9; R11 is three rows.

#define ARGUMENTS \
	MOVQ sums+0(FP), DI; \
	MOVQ a+8(FP), R10; \
	MOVQ panel+16(FP), SI; \
	MOVQ inner+24(FP), CX; \
	MOVQ row+32(FP), R8; \
	MOVQ step+40(FP), R9; \
	SHLQ $3, R8; \
	SHLQ $3, R9; \
	LEAQ (R8)(R8*2), R11

#define ROW4(AT, S0, S1, S2) \
	VBROADCASTSD AT, Y15; \
	VFMADD231PD  Y12, Y15, S0; \
	VFMADD231PD  Y13, Y15, S1; \
	VFMADD231PD  Y14, Y15, S2

#define STORE4(AT, S0, S1, S2) \
	VMOVUPD S0, AT(DI); \
	VMOVUPD S1, AT+32(DI); \
	VMOVUPD S2, AT+64(DI)

// func sum4x12AVX2(sums, a, panel *float64, inner, row, step int)
// Row r is in Y(3r) to Y(3r+2).
TEXT ·sum4x12AVX2(SB), NOSPLIT, $0-48
	ARGUMENTS

	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7
	VXORPD Y8, Y8, Y8
	VXORPD Y9, Y9, Y9
	VXORPD Y10, Y10, Y10
	VXORPD Y11, Y11, Y11

step4:
	VMOVUPD (SI), Y12
	VMOVUPD 32(SI), Y13
	VMOVUPD 64(SI), Y14
	ROW4((R10), Y0, Y1, Y2)
	ROW4((R10)(R8*1), Y3, Y4, Y5)
	ROW4((R10)(R8*2), Y6, Y7, Y8)
	ROW4((R10)(R11*1), Y9, Y10, Y11)
	ADDQ $192, SI
	ADDQ R9, R10
	DECQ CX
	JNZ  step4

	STORE4(0, Y0, Y1, Y2)
	STORE4(192, Y3, Y4, Y5)
	STORE4(384, Y6, Y7, Y8)
	STORE4(576, Y9, Y10, Y11)
	VZEROUPPER
	RET
