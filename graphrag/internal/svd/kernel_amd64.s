// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// Both kernels hold the sums of a tile in registers, three vectors a row. In each step they
// load a row of the panel, of 192 bytes, and broadcast an entry of each row of a. Rows lie
// R8 bytes apart, steps R9; R11 is three rows. Steps far apart, those of a transposed
// matrix, no prefetcher foresees but the one we call.

#define ROW8(AT, A, S0, S1, S2) \
	VBROADCASTSD AT, A; \
	VFMADD231PD  Z24, A, S0; \
	VFMADD231PD  Z25, A, S1; \
	VFMADD231PD  Z26, A, S2

#define STORE8(AT, S0, S1, S2) \
	VMOVUPD S0, AT(DI); \
	VMOVUPD S1, AT+64(DI); \
	VMOVUPD S2, AT+128(DI)

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

// func sum8x24AVX512(sums, a, panel *float64, inner, row, step int)
// Row r is in Z(3r) to Z(3r+2); R12 leads to the second four rows.
TEXT ·sum8x24AVX512(SB), NOSPLIT, $0-48
	ARGUMENTS
	LEAQ (R10)(R8*4), R12

	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9
	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	VPXORQ Z12, Z12, Z12
	VPXORQ Z13, Z13, Z13
	VPXORQ Z14, Z14, Z14
	VPXORQ Z15, Z15, Z15
	VPXORQ Z16, Z16, Z16
	VPXORQ Z17, Z17, Z17
	VPXORQ Z18, Z18, Z18
	VPXORQ Z19, Z19, Z19
	VPXORQ Z20, Z20, Z20
	VPXORQ Z21, Z21, Z21
	VPXORQ Z22, Z22, Z22
	VPXORQ Z23, Z23, Z23

step8:
	PREFETCHT0 (R10)(R9*8)
	VMOVUPD (SI), Z24
	VMOVUPD 64(SI), Z25
	VMOVUPD 128(SI), Z26
	ROW8((R10), Z27, Z0, Z1, Z2)
	ROW8((R10)(R8*1), Z28, Z3, Z4, Z5)
	ROW8((R10)(R8*2), Z29, Z6, Z7, Z8)
	ROW8((R10)(R11*1), Z30, Z9, Z10, Z11)
	ROW8((R12), Z27, Z12, Z13, Z14)
	ROW8((R12)(R8*1), Z28, Z15, Z16, Z17)
	ROW8((R12)(R8*2), Z29, Z18, Z19, Z20)
	ROW8((R12)(R11*1), Z30, Z21, Z22, Z23)
	ADDQ $192, SI
	ADDQ R9, R10
	ADDQ R9, R12
	DECQ CX
	JNZ  step8

	STORE8(0, Z0, Z1, Z2)
	STORE8(192, Z3, Z4, Z5)
	STORE8(384, Z6, Z7, Z8)
	STORE8(576, Z9, Z10, Z11)
	STORE8(768, Z12, Z13, Z14)
	STORE8(960, Z15, Z16, Z17)
	STORE8(1152, Z18, Z19, Z20)
	STORE8(1344, Z21, Z22, Z23)
	VZEROUPPER
	RET

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
