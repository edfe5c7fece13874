// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// Registers of the tiles: DI c, SI a, DX b, BX rows left, CX depth, R8 and R9 bytes
// from row to row of c and of a. Tiles of bytes have four bytes where those of floats have a
// number, so both are read alike.

// ROW512 adds a number of a, from the address A, times a row of b to a row of the tile: FMA
// is the instruction for numbers, or for four bytes each.
#define ROW512(FMA, A, L, H, X) \
	VBROADCASTSS A, X; \
	FMA          Z24, X, L; \
	FMA          Z25, X, H

// STEP512 does so for the twelve rows, I bytes into a and J into b.
#define STEP512(FMA, I, J) \
	VMOVUPS J(DX)(R11*1), Z24; \
	VMOVUPS J(R10)(R11*1), Z25; \
	ROW512(FMA, I(SI), Z0, Z1, Z26); \
	ROW512(FMA, I(SI)(R9*1), Z2, Z3, Z27); \
	ROW512(FMA, I(SI)(R9*2), Z4, Z5, Z28); \
	ROW512(FMA, I(AX), Z6, Z7, Z29); \
	ROW512(FMA, I(AX)(R9*1), Z8, Z9, Z26); \
	ROW512(FMA, I(AX)(R9*2), Z10, Z11, Z27); \
	ROW512(FMA, I(R12), Z12, Z13, Z28); \
	ROW512(FMA, I(R12)(R9*1), Z14, Z15, Z29); \
	ROW512(FMA, I(R12)(R9*2), Z16, Z17, Z26); \
	ROW512(FMA, I(R13), Z18, Z19, Z27); \
	ROW512(FMA, I(R13)(R9*1), Z20, Z21, Z28); \
	ROW512(FMA, I(R13)(R9*2), Z22, Z23, Z29)

// STORE512 writes two rows of c, from R11 on.
#define STORE512(A, B, C, D) \
	VMOVUPS A, (R11); \
	VMOVUPS B, 64(R11); \
	VMOVUPS C, (R11)(R8*1); \
	VMOVUPS D, 64(R11)(R8*1); \
	LEAQ    (R11)(R8*2), R11

// COPY512 begins a row like the first one.
#define COPY512(L, H) \
	VMOVAPS Z0, L; \
	VMOVAPS Z1, H

// BIAS512 begins the twelve rows of a tile.
#define BIAS512(AT) \
	MOVQ    AT, R11; \
	VMOVUPS (R11), Z0; \
	VMOVUPS 64(R11), Z1; \
	COPY512(Z2, Z3); \
	COPY512(Z4, Z5); \
	COPY512(Z6, Z7); \
	COPY512(Z8, Z9); \
	COPY512(Z10, Z11); \
	COPY512(Z12, Z13); \
	COPY512(Z14, Z15); \
	COPY512(Z16, Z17); \
	COPY512(Z18, Z19); \
	COPY512(Z20, Z21); \
	COPY512(Z22, Z23)

// SUM512 sums up a tile of twelve rows, and leaves AX and R11 free.
#define SUM512(FMA) \
	LEAQ (SI)(R9*2), AX; \
	ADDQ R9, AX; \
	LEAQ (AX)(R9*2), R12; \
	ADDQ R9, R12; \
	LEAQ (R12)(R9*2), R13; \
	ADDQ R9, R13; \
	XORQ R11, R11; \
	MOVQ CX, R15; \
	SHRQ $1, R15; \
	JZ   odd512; \
pair512: \
	STEP512(FMA, 0, 0); \
	STEP512(FMA, 4, 64); \
	ADDQ $8, SI; \
	ADDQ $8, AX; \
	ADDQ $8, R12; \
	ADDQ $8, R13; \
	ADDQ $128, R11; \
	DECQ R15; \
	JNZ  pair512; \
odd512: \
	TESTQ $1, CX; \
	JZ    done512; \
	STEP512(FMA, 0, 0); \
	ADDQ  $4, R13

// END512 writes the tile and goes on to the next.
#define END512 \
	MOVQ DI, R11; \
	STORE512(Z0, Z1, Z2, Z3); \
	STORE512(Z4, Z5, Z6, Z7); \
	STORE512(Z8, Z9, Z10, Z11); \
	STORE512(Z12, Z13, Z14, Z15); \
	STORE512(Z16, Z17, Z18, Z19); \
	STORE512(Z20, Z21, Z22, Z23); \
	MOVQ R11, DI; \
	LEAQ (CX*4), AX; \
	SUBQ AX, R13; \
	LEAQ (R13)(R9*2), SI; \
	ADDQ R9, SI; \
	SUBQ $12, BX; \
	JG   tile512; \
	VZEROUPPER; \
	RET

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
	BIAS512(bias+24(FP))
	SUM512(VFMADD231PS)

done512:
	END512

// SCALE512 makes sums of bytes numbers: times the scale of the row, from the address A, and of
// the column, plus the bias.
#define SCALE512(A, L, H) \
	VBROADCASTSS A, Z28; \
	VMULPS       Z28, Z24, Z29; \
	VMULPS       Z28, Z25, Z30; \
	VCVTDQ2PS    L, L; \
	VCVTDQ2PS    H, H; \
	VFMADD213PS  Z26, Z29, L; \
	VFMADD213PS  Z27, Z30, H

// ZERO512 begins a row of a tile, whose code of zero is at the address A.
#define ZERO512(A, L, H) \
	VPBROADCASTD A, Z28; \
	VPMULLD      Z28, Z24, L; \
	VPMULLD      Z28, Z25, H

// EACH512 does ROW for the twelve rows of a tile, with the numbers from the register AT on.
#define EACH512(ROW, AT) \
	ROW((AT), Z0, Z1); \
	ROW(4(AT), Z2, Z3); \
	ROW(8(AT), Z4, Z5); \
	ROW(12(AT), Z6, Z7); \
	ROW(16(AT), Z8, Z9); \
	ROW(20(AT), Z10, Z11); \
	ROW(24(AT), Z12, Z13); \
	ROW(28(AT), Z14, Z15); \
	ROW(32(AT), Z16, Z17); \
	ROW(36(AT), Z18, Z19); \
	ROW(40(AT), Z20, Z21); \
	ROW(44(AT), Z22, Z23)

// func codes12x32(c *float32, a *uint8, b *int8, sums *int32, scales, bias, rowScales *float32, zeros *int32, rows, depth, ldc, lda int)
// depth and lda are in steps of four bytes; else as tiles12x32.
TEXT ·codes12x32(SB), NOSPLIT, $0-96
	MOVQ c+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ rows+64(FP), BX
	MOVQ depth+72(FP), CX
	MOVQ ldc+80(FP), R8
	MOVQ lda+88(FP), R9
	SHLQ $2, R8
	SHLQ $2, R9
	MOVQ CX, R10
	SHLQ $6, R10
	ADDQ DX, R10
	MOVQ rowScales+48(FP), R14

tile512:
	MOVQ    sums+24(FP), R11
	VMOVUPS (R11), Z24
	VMOVUPS 64(R11), Z25
	MOVQ    zeros+56(FP), R12
	EACH512(ZERO512, R12)
	ADDQ    $48, R12
	MOVQ    R12, zeros+56(FP)
	SUM512(VPDPBUSD)

done512:
	MOVQ     scales+32(FP), R11
	VMOVUPS  (R11), Z24
	VMOVUPS  64(R11), Z25
	MOVQ     bias+40(FP), R11
	VMOVUPS  (R11), Z26
	VMOVUPS  64(R11), Z27
	EACH512(SCALE512, R14)
	ADDQ     $48, R14
	END512

// FLOATS256 and BYTES256 add the product of W and X to S, and write over T. Products of bytes
// are added in pairs to 16 bits: those of codes of [Quantize] fit.
#define FLOATS256(W, X, T, S) \
	VFMADD231PS W, X, S

#define BYTES256(W, X, T, S) \
	VPMADDUBSW W, X, T; \
	VPMADDWD   ones<>(SB), T, T; \
	VPADDD     T, S, S

DATA ones<>+0(SB)/8, $0x0001000100010001
DATA ones<>+8(SB)/8, $0x0001000100010001
DATA ones<>+16(SB)/8, $0x0001000100010001
DATA ones<>+24(SB)/8, $0x0001000100010001
GLOBL ones<>(SB), RODATA|NOPTR, $32

// ROW256 is ROW512 for a tile of sixteen columns.
#define ROW256(FMA, A, L, H) \
	VBROADCASTSS A, Y14; \
	FMA(Y12, Y14, Y15, L); \
	FMA(Y13, Y14, Y14, H)

#define STORE256(A, B) \
	VMOVUPS A, (R11); \
	VMOVUPS B, 32(R11); \
	ADDQ    R8, R11

// SUM256 sums up a tile of six rows.
#define SUM256(FMA) \
	LEAQ (SI)(R9*2), AX; \
	ADDQ R9, AX; \
	MOVQ CX, R15; \
depth256: \
	VMOVUPS (R10), Y12; \
	VMOVUPS 32(R10), Y13; \
	ROW256(FMA, (SI), Y0, Y1); \
	ROW256(FMA, (SI)(R9*1), Y2, Y3); \
	ROW256(FMA, (SI)(R9*2), Y4, Y5); \
	ROW256(FMA, (AX), Y6, Y7); \
	ROW256(FMA, (AX)(R9*1), Y8, Y9); \
	ROW256(FMA, (AX)(R9*2), Y10, Y11); \
	ADDQ $64, R10; \
	ADDQ $4, SI; \
	ADDQ $4, AX; \
	DECQ R15; \
	JNZ  depth256

// END256 writes the tile and goes on to the next.
#define END256(START) \
	MOVQ DI, R11; \
	STORE256(Y0, Y1); \
	STORE256(Y2, Y3); \
	STORE256(Y4, Y5); \
	STORE256(Y6, Y7); \
	STORE256(Y8, Y9); \
	STORE256(Y10, Y11); \
	LEAQ (CX*4), R12; \
	SUBQ R12, SI; \
	ADDQ $64, DI; \
	MOVQ R11, R15; \
	MOVQ START, R11; \
	ADDQ $64, R11; \
	DECQ R13; \
	JNZ  tile256; \
	LEAQ -64(R15), DI; \
	SUBQ R12, AX; \
	LEAQ (AX)(R9*2), SI; \
	ADDQ R9, SI; \
	SUBQ $6, BX; \
	JG   rows256; \
	VZEROUPPER; \
	RET

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
	SUM256(FLOATS256)
	END256(bias+24(FP))

// SCALE256 is SCALE512.
#define SCALE256(A, L, H) \
	VBROADCASTSS A, Y14; \
	VMULPS       (R11), Y14, Y15; \
	VMULPS       32(R11), Y14, Y14; \
	VCVTDQ2PS    L, L; \
	VCVTDQ2PS    H, H; \
	VFMADD213PS  Y12, Y15, L; \
	VFMADD213PS  Y13, Y14, H

// ZERO256 is ZERO512.
#define ZERO256(A, L, H) \
	VPBROADCASTD A, Y14; \
	VPMULLD      (R11), Y14, L; \
	VPMULLD      32(R11), Y14, H

// EACH256 is EACH512 for six rows.
#define EACH256(ROW, AT) \
	ROW((AT), Y0, Y1); \
	ROW(4(AT), Y2, Y3); \
	ROW(8(AT), Y4, Y5); \
	ROW(12(AT), Y6, Y7); \
	ROW(16(AT), Y8, Y9); \
	ROW(20(AT), Y10, Y11)

// func codes6x16(c *float32, a *uint8, b *int8, sums *int32, scales, bias, rowScales *float32, zeros *int32, rows, depth, ldc, lda int)
// R14 counts the columns of the panel's halves in bytes.
TEXT ·codes6x16(SB), NOSPLIT, $0-96
	MOVQ c+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ rows+64(FP), BX
	MOVQ depth+72(FP), CX
	MOVQ ldc+80(FP), R8
	MOVQ lda+88(FP), R9
	SHLQ $2, R8
	SHLQ $2, R9

rows256:
	MOVQ DX, R10
	MOVQ sums+24(FP), R11
	MOVQ $2, R13

tile256:
	MOVQ    zeros+56(FP), R12
	EACH256(ZERO256, R12)
	SUM256(BYTES256)
	MOVQ    $2, R12
	SUBQ    R13, R12
	SHLQ    $6, R12
	MOVQ    bias+40(FP), R11
	VMOVUPS (R11)(R12*1), Y12
	VMOVUPS 32(R11)(R12*1), Y13
	MOVQ    scales+32(FP), R11
	ADDQ    R12, R11
	MOVQ    rowScales+48(FP), R12
	EACH256(SCALE256, R12)
	CMPQ    R13, $1
	JNE     next256
	ADDQ    $24, R12
	MOVQ    R12, rowScales+48(FP)
	ADDQ    $24, zeros+56(FP)

next256:
	END256(sums+24(FP))

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

DATA order<>+0(SB)/8, $0x0000000400000000
DATA order<>+8(SB)/8, $0x0000000500000001
DATA order<>+16(SB)/8, $0x0000000600000002
DATA order<>+24(SB)/8, $0x0000000700000003
GLOBL order<>(SB), RODATA|NOPTR, $32

// ACROSS8 leaves in all of Y what OP makes of its eight numbers.
#define ACROSS8(OP, X, Y, T) \
	VEXTRACTF128 $1, Y, T; \
	OP           T, X, X; \
	VPERMILPS    $0x4E, X, T; \
	OP           T, X, X; \
	VPERMILPS    $0xB1, X, T; \
	OP           T, X, X

// func boundsAVX2(x, even *float32, n int) (least, most float32)
// n is a positive multiple of 16. Of 0 and the products.
TEXT ·boundsAVX2(SB), NOSPLIT, $0-32
	MOVQ   x+0(FP), SI
	MOVQ   even+8(FP), DX
	MOVQ   n+16(FP), BX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

bounds16:
	VMOVUPS (SI), Y4
	VMOVUPS 32(SI), Y5
	VMULPS  (DX), Y4, Y4
	VMULPS  32(DX), Y5, Y5
	VMINPS  Y4, Y0, Y0
	VMAXPS  Y4, Y1, Y1
	VMINPS  Y5, Y2, Y2
	VMAXPS  Y5, Y3, Y3
	ADDQ    $64, SI
	ADDQ    $64, DX
	SUBQ    $16, BX
	JG      bounds16

	VMINPS  Y2, Y0, Y0
	VMAXPS  Y3, Y1, Y1
	ACROSS8(VMINPS, X0, Y0, X4)
	ACROSS8(VMAXPS, X1, Y1, X4)
	VMOVSS  X0, least+24(FP)
	VMOVSS  X1, most+28(FP)
	VZEROUPPER
	RET

// ROUND8 makes codes of eight numbers.
#define ROUND8(AT, Y) \
	VMULPS    AT(DX), Y0, Y; \
	VMULPS    AT(SI), Y, Y; \
	VCVTPS2DQ Y, Y; \
	VPADDD    Y6, Y, Y

// func codesAVX2(out *uint8, x, even *float32, n int, scale float32, zero int32)
// n is a positive multiple of 32.
TEXT ·codesAVX2(SB), NOSPLIT, $0-40
	MOVQ         out+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         even+16(FP), DX
	MOVQ         n+24(FP), BX
	VBROADCASTSS scale+32(FP), Y0
	MOVL         zero+36(FP), AX
	VMOVD        AX, X6
	VPBROADCASTD X6, Y6
	VMOVDQU      order<>(SB), Y7

codes32:
	ROUND8(0, Y1)
	ROUND8(32, Y2)
	ROUND8(64, Y3)
	ROUND8(96, Y4)
	VPACKSSDW Y2, Y1, Y1
	VPACKSSDW Y4, Y3, Y3
	VPACKUSWB Y3, Y1, Y1
	VPERMD    Y1, Y7, Y1
	VMOVDQU   Y1, (DI)
	ADDQ      $128, SI
	ADDQ      $128, DX
	ADDQ      $32, DI
	SUBQ      $32, BX
	JG        codes32
	VZEROUPPER
	RET
