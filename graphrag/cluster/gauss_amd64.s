// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// Products are rounded before they are added, as in plain Go.

// ADD adds the product of a weight and the rows to sums.
#define ADD(WEIGHT, LOW, HIGH) \
	VMULPD Z1, WEIGHT, Z12; \
	VMULPD Z2, WEIGHT, Z13; \
	VADDPD Z12, LOW, LOW; \
	VADDPD Z13, HIGH, HIGH

// SQUARE adds the squares of sums to Z10 and Z11.
#define SQUARE(LOW, HIGH) \
	VMULPD LOW, LOW, LOW; \
	VMULPD HIGH, HIGH, HIGH; \
	VADDPD LOW, Z10, Z10; \
	VADDPD HIGH, Z11, Z11

// func score16AVX512(scores, top, rows, centred *lanes, mean, whiten *float64, d int, constant float64)
// Two rows of the matrix at a time, at R11 and R13, BX and BX+1, by sixteen rows of vectors.
TEXT ·score16AVX512(SB), NOSPLIT, $0-64
	MOVQ scores+0(FP), DI
	MOVQ top+8(FP), SI
	MOVQ rows+16(FP), R8
	MOVQ centred+24(FP), R9
	MOVQ mean+32(FP), R10
	MOVQ whiten+40(FP), R11
	MOVQ d+48(FP), CX
	LEAQ (R11)(CX*8), R13
	MOVQ CX, DX
	SHLQ $4, DX
	MOVQ R9, R12
	XORQ AX, AX

centre:
	VBROADCASTSD (R10)(AX*8), Z0
	VMOVUPD      (R8), Z1
	VMOVUPD      64(R8), Z2
	VSUBPD       Z0, Z1, Z1
	VSUBPD       Z0, Z2, Z2
	VMOVUPD      Z1, (R12)
	VMOVUPD      Z2, 64(R12)
	ADDQ         $128, R8
	ADDQ         $128, R12
	INCQ         AX
	CMPQ         AX, CX
	JLT          centre

	VPXORQ Z10, Z10, Z10
	VPXORQ Z11, Z11, Z11
	XORQ   BX, BX
	DECQ   CX

pair:
	CMPQ   BX, CX
	JGE    last
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	MOVQ   R9, R12
	XORQ   AX, AX

weights:
	VMOVUPD      (R12), Z1
	VMOVUPD      64(R12), Z2
	VBROADCASTSD (R11)(AX*8), Z7
	VBROADCASTSD (R13)(AX*8), Z8
	ADD(Z7, Z3, Z4)
	ADD(Z8, Z5, Z6)
	ADDQ         $128, R12
	INCQ         AX
	CMPQ         AX, BX
	JLE          weights

	VMOVUPD      (R12), Z1
	VMOVUPD      64(R12), Z2
	VBROADCASTSD (R13)(AX*8), Z8
	ADD(Z8, Z5, Z6)
	SQUARE(Z3, Z4)
	SQUARE(Z5, Z6)
	ADDQ         DX, R11
	ADDQ         DX, R13
	ADDQ         $2, BX
	JMP          pair

last:
	JGT    done
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	XORQ   AX, AX

lastWeights:
	VMOVUPD      (R9), Z1
	VMOVUPD      64(R9), Z2
	VBROADCASTSD (R11)(AX*8), Z7
	ADD(Z7, Z3, Z4)
	ADDQ         $128, R9
	INCQ         AX
	CMPQ         AX, BX
	JLE          lastWeights
	SQUARE(Z3, Z4)

done:
	MOVQ         $0x3fe0000000000000, AX // ½
	VPBROADCASTQ AX, Z8
	VBROADCASTSD constant+56(FP), Z9
	VMULPD       Z8, Z10, Z10
	VMULPD       Z8, Z11, Z11
	VSUBPD       Z10, Z9, Z10
	VSUBPD       Z11, Z9, Z11
	VMOVUPD      Z10, (DI)
	VMOVUPD      Z11, 64(DI)
	VMOVUPD      (SI), Z0
	VMOVUPD      64(SI), Z1
	VMAXPD       Z0, Z10, Z0
	VMAXPD       Z1, Z11, Z1
	VMOVUPD      Z0, (SI)
	VMOVUPD      Z1, 64(SI)
	VZEROUPPER
	RET

// func near16AVX512(near *uint16, scores, top *lanes, k int, least float64)
TEXT ·near16AVX512(SB), NOSPLIT, $0-40
	MOVQ         near+0(FP), DI
	MOVQ         scores+8(FP), SI
	MOVQ         top+16(FP), DX
	MOVQ         k+24(FP), CX
	VBROADCASTSD least+32(FP), Z0
	VMOVUPD      (DX), Z1
	VMOVUPD      64(DX), Z2

compare:
	VMOVUPD (SI), Z3
	VMOVUPD 64(SI), Z4
	VSUBPD  Z1, Z3, Z3
	VSUBPD  Z2, Z4, Z4
	VCMPPD  $0x1e, Z0, Z3, K1
	VCMPPD  $0x1e, Z0, Z4, K2
	KMOVW   K1, AX
	KMOVW   K2, BX
	SHLL    $8, BX
	ORL     BX, AX
	MOVW    AX, (DI)
	ADDQ    $128, SI
	ADDQ    $2, DI
	DECQ    CX
	JNZ     compare
	VZEROUPPER
	RET

// MASK has a mask of d components, CX, in K1 and their bytes in R9.
#define MASK \
	MOVL  $1, AX; \
	SHLL  CX, AX; \
	DECL  AX; \
	KMOVW AX, K1; \
	MOVQ  CX, R9; \
	SHLQ  $2, R9

// MEMBER reads the next of the vectors at SI, by its number at R10, to Z1 and Z2, zeros behind it,
// and its share at R11 to Z3.
#define MEMBER \
	MOVLQSX       (R10), BX; \
	IMULQ         R9, BX; \
	VMOVUPS.Z     (SI)(BX*1), K1, Z0; \
	VEXTRACTF64X4 $1, Z0, Y2; \
	VCVTPS2PD     Y0, Z1; \
	VCVTPS2PD     Y2, Z2; \
	VBROADCASTSD  (R11), Z3; \
	ADDQ          $4, R10; \
	ADDQ          $8, R11

// func add16AVX512(sums *lanes, vectors *float32, rows *int32, shares *float64, n, d int)
TEXT ·add16AVX512(SB), NOSPLIT, $0-48
	MOVQ    sums+0(FP), DI
	MOVQ    vectors+8(FP), SI
	MOVQ    rows+16(FP), R10
	MOVQ    shares+24(FP), R11
	MOVQ    n+32(FP), R8
	MOVQ    d+40(FP), CX
	MASK
	VMOVUPD (DI), Z4
	VMOVUPD 64(DI), Z5

add:
	MEMBER
	VMULPD  Z1, Z3, Z1
	VMULPD  Z2, Z3, Z2
	VADDPD  Z1, Z4, Z4
	VADDPD  Z2, Z5, Z5
	DECQ    R8
	JNZ     add
	VMOVUPD Z4, (DI)
	VMOVUPD Z5, 64(DI)
	VZEROUPPER
	RET

// HALF adds the product of a component at R13 and the first eight to a sum.
#define HALF(AT, SUM) \
	VMULPD.BCST AT(R13), Z1, Z0; \
	VADDPD      Z0, SUM, SUM

// WHOLE adds that of all components.
#define WHOLE(AT, LOW, HIGH) \
	VBROADCASTSD AT(R13), Z0; \
	VMULPD       Z1, Z0, Z3; \
	VMULPD       Z2, Z0, Z0; \
	VADDPD       Z3, LOW, LOW; \
	VADDPD       Z0, HIGH, HIGH

#define STORE(AT, LOW, HIGH) \
	VMOVUPD LOW, AT(DI); \
	VMOVUPD HIGH, AT+64(DI)

// func spread16AVX512(square *[kernelDim]lanes, mean *lanes, vectors *float32, rows *int32, shares *float64, n, d int)
// The first eight rows of the square are in Z8 to Z15, without their upper half; the others
// in Z16 to Z23 and Z24 to Z31. At R13 are the components times the share.
TEXT ·spread16AVX512(SB), NOSPLIT, $128-56
	MOVQ    square+0(FP), DI
	MOVQ    mean+8(FP), DX
	MOVQ    vectors+16(FP), SI
	MOVQ    rows+24(FP), R10
	MOVQ    shares+32(FP), R11
	MOVQ    n+40(FP), R8
	MOVQ    d+48(FP), CX
	MASK
	LEAQ    scaled-128(SP), R13
	VMOVUPD (DX), Z6
	VMOVUPD 64(DX), Z7
	VPXORQ  Z8, Z8, Z8
	VPXORQ  Z9, Z9, Z9
	VPXORQ  Z10, Z10, Z10
	VPXORQ  Z11, Z11, Z11
	VPXORQ  Z12, Z12, Z12
	VPXORQ  Z13, Z13, Z13
	VPXORQ  Z14, Z14, Z14
	VPXORQ  Z15, Z15, Z15
	VPXORQ  Z16, Z16, Z16
	VPXORQ  Z17, Z17, Z17
	VPXORQ  Z18, Z18, Z18
	VPXORQ  Z19, Z19, Z19
	VPXORQ  Z20, Z20, Z20
	VPXORQ  Z21, Z21, Z21
	VPXORQ  Z22, Z22, Z22
	VPXORQ  Z23, Z23, Z23
	VPXORQ  Z24, Z24, Z24
	VPXORQ  Z25, Z25, Z25
	VPXORQ  Z26, Z26, Z26
	VPXORQ  Z27, Z27, Z27
	VPXORQ  Z28, Z28, Z28
	VPXORQ  Z29, Z29, Z29
	VPXORQ  Z30, Z30, Z30
	VPXORQ  Z31, Z31, Z31

member:
	MEMBER
	VSUBPD  Z6, Z1, Z1
	VSUBPD  Z7, Z2, Z2
	VMULPD  Z1, Z3, Z4
	VMULPD  Z2, Z3, Z5
	VMOVUPD Z4, (R13)
	VMOVUPD Z5, 64(R13)
	HALF(0, Z8)
	HALF(8, Z9)
	HALF(16, Z10)
	HALF(24, Z11)
	HALF(32, Z12)
	HALF(40, Z13)
	HALF(48, Z14)
	HALF(56, Z15)
	CMPQ    CX, $8
	JLE     next
	WHOLE(64, Z16, Z24)
	WHOLE(72, Z17, Z25)
	CMPQ    CX, $10
	JLE     next
	WHOLE(80, Z18, Z26)
	WHOLE(88, Z19, Z27)
	CMPQ    CX, $12
	JLE     next
	WHOLE(96, Z20, Z28)
	WHOLE(104, Z21, Z29)
	CMPQ    CX, $14
	JLE     next
	WHOLE(112, Z22, Z30)
	WHOLE(120, Z23, Z31)

next:
	DECQ R8
	JNZ  member

	VMOVUPD Z8, 0(DI)
	VMOVUPD Z9, 128(DI)
	VMOVUPD Z10, 256(DI)
	VMOVUPD Z11, 384(DI)
	VMOVUPD Z12, 512(DI)
	VMOVUPD Z13, 640(DI)
	VMOVUPD Z14, 768(DI)
	VMOVUPD Z15, 896(DI)
	STORE(1024, Z16, Z24)
	STORE(1152, Z17, Z25)
	STORE(1280, Z18, Z26)
	STORE(1408, Z19, Z27)
	STORE(1536, Z20, Z28)
	STORE(1664, Z21, Z29)
	STORE(1792, Z22, Z30)
	STORE(1920, Z23, Z31)
	VZEROUPPER
	RET
