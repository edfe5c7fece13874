// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

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

// TOTAL8 adds up Y in the first number of X, its lower half.
#define TOTAL8(X, Y, T) \
	VEXTRACTF128 $1, Y, T; \
	VADDPS       T, X, X; \
	VHADDPS      X, X, X; \
	VHADDPS      X, X, X

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

	TOTAL8(X1, Y1, X2)
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

// func normalizeAVX2(x, base, gain, bias *float32, n int, eps float32)
// Y0 is the mean, Y1 the scale.
TEXT ·normalizeAVX2(SB), NOSPLIT, $0-44
	MOVQ         x+0(FP), DI
	MOVQ         base+8(FP), SI
	MOVQ         gain+16(FP), DX
	MOVQ         bias+24(FP), R8
	MOVQ         n+32(FP), BX
	VCVTSI2SSQ   BX, X15, X15
	VXORPS       Y0, Y0, Y0
	VXORPS       Y1, Y1, Y1
	XORQ         CX, CX

sum8:
	VMOVUPS (DI)(CX*4), Y2
	VADDPS  (SI)(CX*4), Y2, Y2
	VMOVUPS Y2, (DI)(CX*4)
	VADDPS  Y2, Y0, Y0
	ADDQ    $8, CX
	CMPQ    CX, BX
	JLT     sum8

	TOTAL8(X0, Y0, X2)
	VDIVSS       X15, X0, X0
	VBROADCASTSS X0, Y0
	XORQ         CX, CX

square8:
	VMOVUPS     (DI)(CX*4), Y2
	VSUBPS      Y0, Y2, Y2
	VFMADD231PS Y2, Y2, Y1
	ADDQ        $8, CX
	CMPQ        CX, BX
	JLT         square8

	TOTAL8(X1, Y1, X2)
	VDIVSS       X15, X1, X1
	VADDSS       eps+40(FP), X1, X1
	VSQRTSS      X1, X1, X1
	VMOVSS       consts<>+40(SB), X2 // one
	VDIVSS       X1, X2, X1
	VBROADCASTSS X1, Y1
	XORQ         CX, CX

out8:
	VMOVUPS     (DI)(CX*4), Y2
	VSUBPS      Y0, Y2, Y2
	VMULPS      Y1, Y2, Y2
	VMOVUPS     (R8)(CX*4), Y3
	VFMADD231PS (DX)(CX*4), Y2, Y3
	VMOVUPS     Y3, (DI)(CX*4)
	ADDQ        $8, CX
	CMPQ        CX, BX
	JLT         out8
	VZEROUPPER
	RET
