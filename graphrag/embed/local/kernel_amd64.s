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

// The constants of kernel.go: all that EXP needs, then those of gelu.
DATA consts<>+0(SB)/4, $0xc2a00000 // least
DATA consts<>+4(SB)/4, $0x3fb8aa3b // log2e
DATA consts<>+8(SB)/4, $0x3f318000 // ln2High
DATA consts<>+12(SB)/4, $0xb95e8083 // ln2Low
DATA consts<>+16(SB)/4, $0x39500d01 // c7
DATA consts<>+20(SB)/4, $0x3ab60b61 // c6
DATA consts<>+24(SB)/4, $0x3c088889 // c5
DATA consts<>+28(SB)/4, $0x3d2aaaab // c4
DATA consts<>+32(SB)/4, $0x3e2aaaab // c3
DATA consts<>+36(SB)/4, $0x3f000000 // c2
DATA consts<>+40(SB)/4, $0x3f800000 // one
DATA consts<>+44(SB)/4, $0x3f3504f3 // rootHalf
DATA consts<>+48(SB)/4, $0x3ea7ba05 // erfP
DATA consts<>+52(SB)/4, $0x3e027906 // erf1
DATA consts<>+56(SB)/4, $0xbe11a98e // erf2
DATA consts<>+60(SB)/4, $0x3f35f0e3 // erf3
DATA consts<>+64(SB)/4, $0xbf3a00e3 // erf4
DATA consts<>+68(SB)/4, $0x3f07dc22 // erf5
DATA consts<>+72(SB)/4, $0x7fffffff // all but the sign
DATA consts<>+76(SB)/4, $127 // of the exponent
GLOBL consts<>(SB), RODATA|NOPTR, $80

// CONST broadcasts one of them.
#define CONST(AT, Y) VBROADCASTSS consts<>+AT(SB), Y

// EXP makes e^X of X, with the registers P and T; Y8 to Y15 hold what EXPSETUP put
// there. See exp in kernel.go.
#define EXPSETUP \
	CONST(0, Y8); \
	CONST(4, Y9); \
	CONST(8, Y10); \
	CONST(12, Y11); \
	CONST(40, Y12); \
	CONST(16, Y13); \
	CONST(20, Y14); \
	CONST(76, Y15)

#define EXP(X, P, T, C) \
	VMAXPS       Y8, X, X; \
	VMULPS       Y9, X, T; \
	VROUNDPS     $0, T, T; \
	VFNMADD231PS Y10, T, X; \
	VFNMADD231PS Y11, T, X; \
	VCVTPS2DQ    T, T; \
	VPADDD       Y15, T, T; \
	VPSLLD       $23, T, T; \
	VMOVUPS      Y13, P; \
	VFMADD213PS  Y14, X, P; \
	CONST(24, C); \
	VFMADD213PS  C, X, P; \
	CONST(28, C); \
	VFMADD213PS  C, X, P; \
	CONST(32, C); \
	VFMADD213PS  C, X, P; \
	CONST(36, C); \
	VFMADD213PS  C, X, P; \
	VFMADD213PS  Y12, X, P; \
	VFMADD213PS  Y12, X, P; \
	VMULPS       T, P, X

// func geluAVX2(x *float32, n int)
// Y0 is |x|, Y1 its z, Y2 t, Y3 the polynomial, Y4 e^(-z²).
TEXT ·geluAVX2(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), BX
	EXPSETUP

gelu8:
	CONST(72, Y0)
	VANDPS       (DI), Y0, Y0
	CONST(44, Y1)
	VMULPS       Y0, Y1, Y1
	CONST(48, Y2)
	VFMADD213PS  Y12, Y1, Y2
	VDIVPS       Y2, Y12, Y2
	VXORPS       Y4, Y4, Y4
	VFNMADD231PS Y1, Y1, Y4
	EXP(Y4, Y5, Y6, Y7)
	CONST(68, Y3)
	CONST(64, Y5)
	VFMADD213PS  Y5, Y2, Y3
	CONST(60, Y5)
	VFMADD213PS  Y5, Y2, Y3
	CONST(56, Y5)
	VFMADD213PS  Y5, Y2, Y3
	CONST(52, Y5)
	VFMADD213PS  Y5, Y2, Y3
	VMULPS       Y2, Y3, Y3
	VMULPS       Y4, Y3, Y3
	VXORPS       Y5, Y5, Y5
	VMAXPS       (DI), Y5, Y5
	VFNMADD231PS Y0, Y3, Y5
	VMOVUPS      Y5, (DI)
	ADDQ         $32, DI
	SUBQ         $8, BX
	JG           gelu8
	VZEROUPPER
	RET

// func softmaxAVX2(x *float32, n int)
// Y0 is the largest number, then Y1 the sum.
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), BX
	EXPSETUP
	VMOVUPS (DI), Y0
	XORQ    CX, CX

most8:
	VMAXPS (DI)(CX*4), Y0, Y0
	ADDQ   $8, CX
	CMPQ   CX, BX
	JLT    most8

	VEXTRACTF128 $1, Y0, X1
	VMAXPS       X1, X0, X0
	VPERMILPS    $0x4E, X0, X1
	VMAXPS       X1, X0, X0
	VPERMILPS    $0xB1, X0, X1
	VMAXPS       X1, X0, X0
	VBROADCASTSS X0, Y0
	VXORPS       Y1, Y1, Y1
	XORQ         CX, CX

exp8:
	VMOVUPS (DI)(CX*4), Y4
	VSUBPS  Y0, Y4, Y4
	EXP(Y4, Y5, Y6, Y7)
	VADDPS  Y4, Y1, Y1
	VMOVUPS Y4, (DI)(CX*4)
	ADDQ    $8, CX
	CMPQ    CX, BX
	JLT     exp8

	VEXTRACTF128 $1, Y1, X2
	VADDPS       X2, X1, X1
	VHADDPS      X1, X1, X1
	VHADDPS      X1, X1, X1
	VBROADCASTSS X1, Y1
	VDIVPS       Y1, Y12, Y1
	XORQ         CX, CX

scale8:
	VMULPS  (DI)(CX*4), Y1, Y4
	VMOVUPS Y4, (DI)(CX*4)
	ADDQ    $8, CX
	CMPQ    CX, BX
	JLT     scale8
	VZEROUPPER
	RET

// SUM8 leaves the sum of the lanes of A in all lanes of A; X and T are A's and
// another's lower half.
#define SUM8(A, X, T) \
	VEXTRACTF128 $1, A, T; \
	VADDPS       T, X, X; \
	VHADDPS      X, X, X; \
	VHADDPS      X, X, X

// func normalizeAVX2(x, base, gain, bias *float32, n int, eps float32)
// Y0 and Y1 are sums, Y2 the mean, Y3 one over the deviation, X7 the length.
TEXT ·normalizeAVX2(SB), NOSPLIT, $0-44
	MOVQ      x+0(FP), DI
	MOVQ      base+8(FP), SI
	MOVQ      gain+16(FP), DX
	MOVQ      bias+24(FP), R8
	MOVQ      n+32(FP), BX
	VCVTSI2SSQ BX, X7, X7
	VXORPS    Y0, Y0, Y0
	VXORPS    Y1, Y1, Y1
	XORQ      CX, CX

mean16:
	VMOVUPS (DI)(CX*4), Y4
	VMOVUPS 32(DI)(CX*4), Y5
	VADDPS  (SI)(CX*4), Y4, Y4
	VADDPS  32(SI)(CX*4), Y5, Y5
	VMOVUPS Y4, (DI)(CX*4)
	VMOVUPS Y5, 32(DI)(CX*4)
	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	ADDQ    $16, CX
	CMPQ    CX, BX
	JLT     mean16

	VADDPS Y1, Y0, Y0
	SUM8(Y0, X0, X1)
	VDIVSS       X7, X0, X0
	VBROADCASTSS X0, Y2
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	XORQ         CX, CX

square16:
	VMOVUPS     (DI)(CX*4), Y4
	VMOVUPS     32(DI)(CX*4), Y5
	VSUBPS      Y2, Y4, Y4
	VSUBPS      Y2, Y5, Y5
	VFMADD231PS Y4, Y4, Y0
	VFMADD231PS Y5, Y5, Y1
	ADDQ        $16, CX
	CMPQ        CX, BX
	JLT         square16

	VADDPS Y1, Y0, Y0
	SUM8(Y0, X0, X1)
	VDIVSS       X7, X0, X0
	VADDSS       eps+40(FP), X0, X0
	VSQRTSS      X0, X0, X0
	CONST(40, Y3)
	VDIVSS       X0, X3, X3
	VBROADCASTSS X3, Y3
	XORQ         CX, CX

scale16:
	VMOVUPS     (DI)(CX*4), Y4
	VMOVUPS     32(DI)(CX*4), Y5
	VSUBPS      Y2, Y4, Y4
	VSUBPS      Y2, Y5, Y5
	VMULPS      Y3, Y4, Y4
	VMULPS      Y3, Y5, Y5
	VMOVUPS     (R8)(CX*4), Y0
	VMOVUPS     32(R8)(CX*4), Y1
	VFMADD231PS (DX)(CX*4), Y4, Y0
	VFMADD231PS 32(DX)(CX*4), Y5, Y1
	VMOVUPS     Y0, (DI)(CX*4)
	VMOVUPS     Y1, 32(DI)(CX*4)
	ADDQ        $16, CX
	CMPQ        CX, BX
	JLT         scale16
	VZEROUPPER
	RET
