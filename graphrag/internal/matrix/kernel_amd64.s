// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// Registers of the tiles: DI c, SI a, DX b, BX rows left, CX depth, R8 and R9 bytes
// from row to row of c and of a.

// ROW512 adds a number of a, from the address A, times a row of b to a row of the tile.
#define ROW512(A, L, H, X) \
	VBROADCASTSS A, X; \
	VFMADD231PS  Z24, X, L; \
	VFMADD231PS  Z25, X, H

// STEP512 does so for the twelve rows, I bytes into a and J into b.
#define STEP512(I, J) \
	VMOVUPS J(DX)(R11*1), Z24; \
	VMOVUPS J(R10)(R11*1), Z25; \
	ROW512(I(SI), Z0, Z1, Z26); \
	ROW512(I(SI)(R9*1), Z2, Z3, Z27); \
	ROW512(I(SI)(R9*2), Z4, Z5, Z28); \
	ROW512(I(AX), Z6, Z7, Z29); \
	ROW512(I(AX)(R9*1), Z8, Z9, Z26); \
	ROW512(I(AX)(R9*2), Z10, Z11, Z27); \
	ROW512(I(R12), Z12, Z13, Z28); \
	ROW512(I(R12)(R9*1), Z14, Z15, Z29); \
	ROW512(I(R12)(R9*2), Z16, Z17, Z26); \
	ROW512(I(R13), Z18, Z19, Z27); \
	ROW512(I(R13)(R9*1), Z20, Z21, Z28); \
	ROW512(I(R13)(R9*2), Z22, Z23, Z29)

// STORE512 writes two rows of c, from R11 on.
#define STORE512(A, B, C, D) \
	VMOVUPS A, (R11); \
	VMOVUPS B, 64(R11); \
	VMOVUPS C, (R11)(R8*1); \
	VMOVUPS D, 64(R11)(R8*1); \
	LEAQ    (R11)(R8*2), R11

// func tiles12x32(c, a, b, bias *float32, rows, depth, ldc, lda int)
// The tile stays in 24 registers. SI, AX, R12 and R13 are every third row of a, R10
// is the second half of the panel, R11 the byte offset into both.
TEXT ·tiles12x32(SB), NOSPLIT, $0-64
	MOVQ c+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ rows+32(FP), BX
	MOVQ depth+40(FP), CX
	MOVQ ldc+48(FP), R8
	MOVQ lda+56(FP), R9
	SHLQ $2, R8
	SHLQ $2, R9
	MOVQ CX, R10
	SHLQ $6, R10
	ADDQ DX, R10

tile512:
	MOVQ    bias+24(FP), R11
	VMOVUPS (R11), Z0
	VMOVUPS 64(R11), Z1
	VMOVAPS Z0, Z2
	VMOVAPS Z1, Z3
	VMOVAPS Z0, Z4
	VMOVAPS Z1, Z5
	VMOVAPS Z0, Z6
	VMOVAPS Z1, Z7
	VMOVAPS Z0, Z8
	VMOVAPS Z1, Z9
	VMOVAPS Z0, Z10
	VMOVAPS Z1, Z11
	VMOVAPS Z0, Z12
	VMOVAPS Z1, Z13
	VMOVAPS Z0, Z14
	VMOVAPS Z1, Z15
	VMOVAPS Z0, Z16
	VMOVAPS Z1, Z17
	VMOVAPS Z0, Z18
	VMOVAPS Z1, Z19
	VMOVAPS Z0, Z20
	VMOVAPS Z1, Z21
	VMOVAPS Z0, Z22
	VMOVAPS Z1, Z23
	LEAQ (SI)(R9*2), AX
	ADDQ R9, AX
	LEAQ (AX)(R9*2), R12
	ADDQ R9, R12
	LEAQ (R12)(R9*2), R13
	ADDQ R9, R13
	XORQ R11, R11
	MOVQ CX, R15
	SHRQ $1, R15
	JZ   odd512

pair512:
	STEP512(0, 0)
	STEP512(4, 64)
	ADDQ $8, SI
	ADDQ $8, AX
	ADDQ $8, R12
	ADDQ $8, R13
	ADDQ $128, R11
	DECQ R15
	JNZ  pair512

odd512:
	TESTQ $1, CX
	JZ    done512
	STEP512(0, 0)
	ADDQ  $4, R13

done512:
	MOVQ DI, R11
	STORE512(Z0, Z1, Z2, Z3)
	STORE512(Z4, Z5, Z6, Z7)
	STORE512(Z8, Z9, Z10, Z11)
	STORE512(Z12, Z13, Z14, Z15)
	STORE512(Z16, Z17, Z18, Z19)
	STORE512(Z20, Z21, Z22, Z23)
	MOVQ R11, DI
	LEAQ (CX*4), AX
	SUBQ AX, R13
	LEAQ (R13)(R9*2), SI
	ADDQ R9, SI
	SUBQ $12, BX
	JG   tile512
	VZEROUPPER
	RET

// ROW256 is ROW512 for a tile of sixteen columns.
#define ROW256(A, L, H, X) \
	VBROADCASTSS A, X; \
	VFMADD231PS  Y12, X, L; \
	VFMADD231PS  Y13, X, H

#define STORE256(A, B) \
	VMOVUPS A, (R11); \
	VMOVUPS B, 32(R11); \
	ADDQ    R8, R11

// func tiles6x16(c, a, b, bias *float32, rows, depth, ldc, lda int)
// One half of the panel after the other, for six rows; R13 counts the halves. R10
// is the place in b, SI and AX every third row of a.
TEXT ·tiles6x16(SB), NOSPLIT, $0-64
	MOVQ c+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ rows+32(FP), BX
	MOVQ depth+40(FP), CX
	MOVQ ldc+48(FP), R8
	MOVQ lda+56(FP), R9
	SHLQ $2, R8
	SHLQ $2, R9

rows256:
	MOVQ DX, R10
	MOVQ bias+24(FP), R11
	MOVQ $2, R13

tile256:
	VMOVUPS (R11), Y0
	VMOVUPS 32(R11), Y1
	VMOVAPS Y0, Y2
	VMOVAPS Y1, Y3
	VMOVAPS Y0, Y4
	VMOVAPS Y1, Y5
	VMOVAPS Y0, Y6
	VMOVAPS Y1, Y7
	VMOVAPS Y0, Y8
	VMOVAPS Y1, Y9
	VMOVAPS Y0, Y10
	VMOVAPS Y1, Y11
	LEAQ (SI)(R9*2), AX
	ADDQ R9, AX
	MOVQ CX, R15

depth256:
	VMOVUPS (R10), Y12
	VMOVUPS 32(R10), Y13
	ROW256((SI), Y0, Y1, Y14)
	ROW256((SI)(R9*1), Y2, Y3, Y15)
	ROW256((SI)(R9*2), Y4, Y5, Y14)
	ROW256((AX), Y6, Y7, Y15)
	ROW256((AX)(R9*1), Y8, Y9, Y14)
	ROW256((AX)(R9*2), Y10, Y11, Y15)
	ADDQ $64, R10
	ADDQ $4, SI
	ADDQ $4, AX
	DECQ R15
	JNZ  depth256

	MOVQ DI, R11
	STORE256(Y0, Y1)
	STORE256(Y2, Y3)
	STORE256(Y4, Y5)
	STORE256(Y6, Y7)
	STORE256(Y8, Y9)
	STORE256(Y10, Y11)
	LEAQ (CX*4), R12
	SUBQ R12, SI
	ADDQ $64, DI
	MOVQ R11, R15
	MOVQ bias+24(FP), R11
	ADDQ $64, R11
	DECQ R13
	JNZ  tile256

	LEAQ -64(R15), DI
	SUBQ R12, AX
	LEAQ (AX)(R9*2), SI
	ADDQ R9, SI
	SUBQ $6, BX
	JG   rows256
	VZEROUPPER
	RET

// The kernel for float64 keeps the sums of a tile in registers, three vectors a row. In each step it
// loads part of a row of the panel, whose rows are 192 bytes, and broadcasts an entry of each
// row of a. Rows are R8 bytes apart, steps R9; R11 is three rows.

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
	MOVQ sums+0(FP), DI
	MOVQ a+8(FP), R10
	MOVQ panel+16(FP), SI
	MOVQ inner+24(FP), CX
	MOVQ row+32(FP), R8
	MOVQ step+40(FP), R9
	SHLQ $3, R8
	SHLQ $3, R9
	LEAQ (R8)(R8*2), R11

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
