// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// The tile kernels hold a sum for each row of the tile and each centroid of the
// panel in registers: two vectors a row. In each step they load one component
// of all centroids and broadcast that component of each row. Rows of a tile lie
// R8 bytes apart; R10..R13 point to every third of them.

// func scores12x32AVX512(out, tile, panel, offsets *float32, dim, stride int)
// Row r in Z(2r) and Z(2r+1), the panel in Z24 and Z25, rows in Z26..Z31.
#define ROWS3(BASE, AT, A, B, C, A0, A1, B0, B1, C0, C1) \
	VBROADCASTSS AT(BASE), A; \
	VBROADCASTSS AT(BASE)(R8*1), B; \
	VBROADCASTSS AT(BASE)(R8*2), C; \
	VFMADD231PS  Z24, A, A0; \
	VFMADD231PS  Z25, A, A1; \
	VFMADD231PS  Z24, B, B0; \
	VFMADD231PS  Z25, B, B1; \
	VFMADD231PS  Z24, C, C0; \
	VFMADD231PS  Z25, C, C1

#define STEP12(AT, PANEL) \
	VMOVUPS PANEL(SI), Z24; \
	VMOVUPS PANEL+64(SI), Z25; \
	ROWS3(R10, AT, Z26, Z27, Z28, Z0, Z1, Z2, Z3, Z4, Z5); \
	ROWS3(R11, AT, Z29, Z30, Z31, Z6, Z7, Z8, Z9, Z10, Z11); \
	ROWS3(R12, AT, Z26, Z27, Z28, Z12, Z13, Z14, Z15, Z16, Z17); \
	ROWS3(R13, AT, Z29, Z30, Z31, Z18, Z19, Z20, Z21, Z22, Z23)

#define STORE12(A, B) \
	VMOVUPS A, (DI); \
	VMOVUPS B, 64(DI); \
	ADDQ    R9, DI

TEXT ·scores12x32AVX512(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ tile+8(FP), R10
	MOVQ panel+16(FP), SI
	MOVQ offsets+24(FP), AX
	MOVQ dim+32(FP), CX
	MOVQ stride+40(FP), R9
	SHLQ $2, R9
	MOVQ CX, R8
	SHLQ $2, R8
	LEAQ (R8)(R8*2), DX
	LEAQ (R10)(DX*1), R11
	LEAQ (R11)(DX*1), R12
	LEAQ (R12)(DX*1), R13

	VMOVUPS   (AX), Z0
	VMOVUPS   64(AX), Z1
	VMOVAPS   Z0, Z2
	VMOVAPS   Z1, Z3
	VMOVAPS   Z0, Z4
	VMOVAPS   Z1, Z5
	VMOVAPS   Z0, Z6
	VMOVAPS   Z1, Z7
	VMOVAPS   Z0, Z8
	VMOVAPS   Z1, Z9
	VMOVAPS   Z0, Z10
	VMOVAPS   Z1, Z11
	VMOVAPS   Z0, Z12
	VMOVAPS   Z1, Z13
	VMOVAPS   Z0, Z14
	VMOVAPS   Z1, Z15
	VMOVAPS   Z0, Z16
	VMOVAPS   Z1, Z17
	VMOVAPS   Z0, Z18
	VMOVAPS   Z1, Z19
	VMOVAPS   Z0, Z20
	VMOVAPS   Z1, Z21
	VMOVAPS   Z0, Z22
	VMOVAPS   Z1, Z23

steps12:
	STEP12(0, 0)
	STEP12(4, 128)
	STEP12(8, 256)
	STEP12(12, 384)
	ADDQ $16, R10
	ADDQ $16, R11
	ADDQ $16, R12
	ADDQ $16, R13
	ADDQ $512, SI
	SUBQ $4, CX
	JG   steps12

	STORE12(Z0, Z1)
	STORE12(Z2, Z3)
	STORE12(Z4, Z5)
	STORE12(Z6, Z7)
	STORE12(Z8, Z9)
	STORE12(Z10, Z11)
	STORE12(Z12, Z13)
	STORE12(Z14, Z15)
	STORE12(Z16, Z17)
	STORE12(Z18, Z19)
	STORE12(Z20, Z21)
	STORE12(Z22, Z23)
	VZEROUPPER
	RET

// func codeScores12x32VNNI(out *float32, tile *int8, rows *coded, panel *uint8, steps, offsets *float32, dim, stride int)
// As above for bytes, four of a row and of each centroid in a step.
#define CODES3(BASE, AT, A, B, C, A0, A1, B0, B1, C0, C1) \
	VPBROADCASTD AT(BASE), A; \
	VPBROADCASTD AT(BASE)(R8*1), B; \
	VPBROADCASTD AT(BASE)(R8*2), C; \
	VPDPBUSD     A, Z24, A0; \
	VPDPBUSD     A, Z25, A1; \
	VPDPBUSD     B, Z24, B0; \
	VPDPBUSD     B, Z25, B1; \
	VPDPBUSD     C, Z24, C0; \
	VPDPBUSD     C, Z25, C1

#define LIFT12(ROW, A, B) \
	VPBROADCASTD (8*ROW+4)(DX), A; \
	VMOVDQA32    A, B

#define STORECODES12(ROW, A, B) \
	VBROADCASTSS (8*ROW)(DX), Z28; \
	VCVTDQ2PS    A, A; \
	VCVTDQ2PS    B, B; \
	VMULPS       Z24, Z28, Z29; \
	VMULPS       Z25, Z28, Z30; \
	VMULPS       Z29, A, A; \
	VMULPS       Z30, B, B; \
	VADDPS       Z26, A, A; \
	VADDPS       Z27, B, B; \
	VMOVUPS      A, (DI); \
	VMOVUPS      B, 64(DI); \
	ADDQ         R9, DI

TEXT ·codeScores12x32VNNI(SB), NOSPLIT, $0-64
	MOVQ out+0(FP), DI
	MOVQ tile+8(FP), R10
	MOVQ rows+16(FP), DX
	MOVQ panel+24(FP), SI
	MOVQ steps+32(FP), AX
	MOVQ offsets+40(FP), BX
	MOVQ dim+48(FP), CX
	MOVQ stride+56(FP), R9
	SHLQ $2, R9
	MOVQ CX, R8
	LEAQ (R8)(R8*2), R13
	LEAQ (R10)(R13*1), R11
	LEAQ (R11)(R13*1), R12
	ADDQ R12, R13

	LIFT12(0, Z0, Z1)
	LIFT12(1, Z2, Z3)
	LIFT12(2, Z4, Z5)
	LIFT12(3, Z6, Z7)
	LIFT12(4, Z8, Z9)
	LIFT12(5, Z10, Z11)
	LIFT12(6, Z12, Z13)
	LIFT12(7, Z14, Z15)
	LIFT12(8, Z16, Z17)
	LIFT12(9, Z18, Z19)
	LIFT12(10, Z20, Z21)
	LIFT12(11, Z22, Z23)

codes12:
	VMOVDQU32 (SI), Z24
	VMOVDQU32 64(SI), Z25
	CODES3(R10, 0, Z26, Z27, Z28, Z0, Z1, Z2, Z3, Z4, Z5)
	CODES3(R11, 0, Z29, Z30, Z31, Z6, Z7, Z8, Z9, Z10, Z11)
	CODES3(R12, 0, Z26, Z27, Z28, Z12, Z13, Z14, Z15, Z16, Z17)
	CODES3(R13, 0, Z29, Z30, Z31, Z18, Z19, Z20, Z21, Z22, Z23)
	ADDQ $4, R10
	ADDQ $4, R11
	ADDQ $4, R12
	ADDQ $4, R13
	ADDQ $128, SI
	SUBQ $4, CX
	JG   codes12

	VMOVUPS (AX), Z24
	VMOVUPS 64(AX), Z25
	VMOVUPS (BX), Z26
	VMOVUPS 64(BX), Z27
	STORECODES12(0, Z0, Z1)
	STORECODES12(1, Z2, Z3)
	STORECODES12(2, Z4, Z5)
	STORECODES12(3, Z6, Z7)
	STORECODES12(4, Z8, Z9)
	STORECODES12(5, Z10, Z11)
	STORECODES12(6, Z12, Z13)
	STORECODES12(7, Z14, Z15)
	STORECODES12(8, Z16, Z17)
	STORECODES12(9, Z18, Z19)
	STORECODES12(10, Z20, Z21)
	STORECODES12(11, Z22, Z23)
	VZEROUPPER
	RET

// func scores6x16AVX2(out, tile, panel, offsets *float32, dim, stride int)
// Row r in Y(2r) and Y(2r+1), the panel in Y12 and Y13, rows in Y14 and Y15.
#define PAIR6(FIRST, SECOND, A0, A1, B0, B1) \
	VBROADCASTSS FIRST, Y14; \
	VBROADCASTSS SECOND, Y15; \
	VFMADD231PS  Y12, Y14, A0; \
	VFMADD231PS  Y13, Y14, A1; \
	VFMADD231PS  Y12, Y15, B0; \
	VFMADD231PS  Y13, Y15, B1

#define STEP6(AT, PANEL) \
	VMOVUPS PANEL(SI), Y12; \
	VMOVUPS PANEL+32(SI), Y13; \
	PAIR6(AT(R10), AT(R10)(R8*1), Y0, Y1, Y2, Y3); \
	PAIR6(AT(R10)(R8*2), AT(R11), Y4, Y5, Y6, Y7); \
	PAIR6(AT(R11)(R8*1), AT(R11)(R8*2), Y8, Y9, Y10, Y11)

#define STORE6(A, B) \
	VMOVUPS A, (DI); \
	VMOVUPS B, 32(DI); \
	ADDQ    R9, DI

TEXT ·scores6x16AVX2(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ tile+8(FP), R10
	MOVQ panel+16(FP), SI
	MOVQ offsets+24(FP), AX
	MOVQ dim+32(FP), CX
	MOVQ stride+40(FP), R9
	SHLQ $2, R9
	MOVQ CX, R8
	SHLQ $2, R8
	LEAQ (R8)(R8*2), DX
	LEAQ (R10)(DX*1), R11

	VMOVUPS (AX), Y0
	VMOVUPS 32(AX), Y1
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

steps6:
	STEP6(0, 0)
	STEP6(4, 64)
	STEP6(8, 128)
	STEP6(12, 192)
	ADDQ $16, R10
	ADDQ $16, R11
	ADDQ $256, SI
	SUBQ $4, CX
	JG   steps6

	STORE6(Y0, Y1)
	STORE6(Y2, Y3)
	STORE6(Y4, Y5)
	STORE6(Y6, Y7)
	STORE6(Y8, Y9)
	STORE6(Y10, Y11)
	VZEROUPPER
	RET

DATA eights<>+0(SB)/4, $8
GLOBL eights<>(SB), RODATA|NOPTR, $4

DATA sixteens<>+0(SB)/4, $16
GLOBL sixteens<>(SB), RODATA|NOPTR, $4

DATA lanes<>+0(SB)/4, $0
DATA lanes<>+4(SB)/4, $1
DATA lanes<>+8(SB)/4, $2
DATA lanes<>+12(SB)/4, $3
DATA lanes<>+16(SB)/4, $4
DATA lanes<>+20(SB)/4, $5
DATA lanes<>+24(SB)/4, $6
DATA lanes<>+28(SB)/4, $7
DATA lanes<>+32(SB)/4, $8
DATA lanes<>+36(SB)/4, $9
DATA lanes<>+40(SB)/4, $10
DATA lanes<>+44(SB)/4, $11
DATA lanes<>+48(SB)/4, $12
DATA lanes<>+52(SB)/4, $13
DATA lanes<>+56(SB)/4, $14
DATA lanes<>+60(SB)/4, $15
GLOBL lanes<>(SB), RODATA|NOPTR, $64

// func best8AVX2(out *lanes8, scores *float32, n int)
// The best, the second and the index of the best in each of eight lanes. A
// score that only equals the best becomes the second, so the first one wins.
TEXT ·best8AVX2(SB), NOSPLIT, $0-24
	MOVQ         out+0(FP), DI
	MOVQ         scores+8(FP), SI
	MOVQ         n+16(FP), CX
	VMOVUPS      (SI), Y0               // first
	VPCMPEQD     Y1, Y1, Y1
	VPSLLD       $23, Y1, Y1            // second: -Inf
	VMOVDQU      lanes<>(SB), Y2        // index
	VMOVDQA      Y2, Y3                 // index of this group
	VPBROADCASTD eights<>(SB), Y4
	JMP          next8

group8:
	VPADDD    Y4, Y3, Y3
	VMOVUPS   (SI), Y5
	VCMPPS    $0x1e, Y0, Y5, Y6         // Y5 > Y0
	VMINPS    Y0, Y5, Y7
	VMAXPS    Y7, Y1, Y1
	VMAXPS    Y0, Y5, Y0
	VBLENDVPS Y6, Y3, Y2, Y2

next8:
	ADDQ    $32, SI
	SUBQ    $8, CX
	JG      group8
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VZEROUPPER
	RET

// ALL16 leaves in all lanes of A what OP makes of them.
#define ALL16(OP, A, T) \
	VSHUFF32X4 $0x4e, A, A, T; \
	OP         T, A, A;        \
	VSHUFF32X4 $0xb1, A, A, T; \
	OP         T, A, A;        \
	VPERMILPS  $0x4e, A, T;    \
	OP         T, A, A;        \
	VPERMILPS  $0xb1, A, T;    \
	OP         T, A, A

// func best16AVX512(out *top, scores *float32, rows, n int)
// As above in sixteen lanes, and then of these: the best, its lowest index, and the best
// of the seconds in that lane and the firsts in the others.
TEXT ·best16AVX512(SB), NOSPLIT, $0-32
	MOVQ         out+0(FP), DI
	MOVQ         scores+8(FP), SI
	MOVQ         rows+16(FP), DX
	MOVQ         n+24(FP), R8
	VMOVDQU32    lanes<>(SB), Z8
	VPBROADCASTD sixteens<>(SB), Z4
	VPTERNLOGD   $0xff, Z9, Z9, Z9
	VPSRLD       $1, Z9, Z10            // the greatest index
	VPSLLD       $23, Z9, Z9            // -Inf

row16:
	MOVQ      R8, CX
	VMOVUPS   (SI), Z0
	VMOVAPS   Z9, Z1
	VMOVDQA32 Z8, Z2
	VMOVDQA32 Z8, Z3
	JMP       next16

group16:
	VPADDD    Z4, Z3, Z3
	VMOVUPS   (SI), Z5
	VCMPPS    $0x1e, Z0, Z5, K1
	VMINPS    Z0, Z5, Z7
	VMAXPS    Z7, Z1, Z1
	VMAXPS    Z0, Z5, Z0
	VMOVDQA32 Z3, K1, Z2

next16:
	ADDQ      $64, SI
	SUBQ      $16, CX
	JG        group16
	VMOVAPS   Z0, Z5
	ALL16(VMAXPS, Z5, Z6)
	VCMPPS    $0, Z0, Z5, K1
	VMOVDQA32 Z10, Z7
	VMOVDQA32 Z2, K1, Z7
	ALL16(VPMINSD, Z7, Z6)
	VPCMPEQD  Z2, Z7, K1
	VMOVAPS   Z1, K1, Z0
	ALL16(VMAXPS, Z0, Z6)
	VMOVSS    X5, (DI)
	VMOVSS    X0, 4(DI)
	VMOVD     X7, 8(DI)
	ADDQ      $12, DI
	DECQ      DX
	JNZ       row16
	VZEROUPPER
	RET

// func atLeast16AVX512(indices *int32, scores *float32, n int, least float32) (found int)
TEXT ·atLeast16AVX512(SB), NOSPLIT, $0-40
	MOVQ         indices+0(FP), DI
	MOVQ         scores+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSS least+24(FP), Z1
	VMOVDQU32    lanes<>(SB), Z3
	VPBROADCASTD sixteens<>(SB), Z4
	MOVQ         DI, DX

least16:
	VMOVUPS      (SI), Z0
	VCMPPS       $0x1d, Z1, Z0, K1
	VPCOMPRESSD.Z Z3, K1, Z5
	VMOVDQU32    Z5, (DI)
	KMOVW        K1, AX
	POPCNTL      AX, AX
	LEAQ         (DI)(AX*4), DI
	VPADDD       Z4, Z3, Z3
	ADDQ         $64, SI
	SUBQ         $16, CX
	JG           least16
	SUBQ         DX, DI
	SHRQ         $2, DI
	MOVQ         DI, found+32(FP)
	VZEROUPPER
	RET

// func largest16AVX512(row *float32, n int) (bits uint32)
TEXT ·largest16AVX512(SB), NOSPLIT, $0-20
	MOVQ       row+0(FP), SI
	MOVQ       n+8(FP), CX
	VPXORD     Z0, Z0, Z0
	VPTERNLOGD $0xff, Z9, Z9, Z9
	VPSRLD     $1, Z9, Z9

largest16:
	VPANDD  (SI), Z9, Z1
	VPMAXUD Z1, Z0, Z0
	ADDQ    $64, SI
	SUBQ    $16, CX
	JG      largest16
	ALL16(VPMAXUD, Z0, Z1)
	VMOVD   X0, AX
	MOVL    AX, bits+16(FP)
	VZEROUPPER
	RET

DATA round<>+0(SB)/4, $0x4b400000 // roundBy
GLOBL round<>(SB), RODATA|NOPTR, $4

// MISSED8 adds the squares of what eight codes, Q, miss of the components in V.
#define MISSED8(V, Q) \
	VCVTPS2PD V, Z5;        \
	VCVTPS2PD Q, Z6;        \
	VMULPD    Z11, Z6, Z6;  \
	VSUBPD    Z6, Z5, Z5;   \
	VMULPD    Z5, Z5, Z5;   \
	VADDPD    Z5, Z14, Z14

// func code16AVX512(code *int8, row *float32, n int, step float64, inverse float32, squares *[8]float64, sums *[16]int32)
TEXT ·code16AVX512(SB), NOSPLIT, $0-56
	MOVQ         code+0(FP), DI
	MOVQ         row+8(FP), SI
	MOVQ         n+16(FP), CX
	VBROADCASTSD step+24(FP), Z11
	VBROADCASTSS inverse+32(FP), Z10
	MOVQ         squares+40(FP), DX
	MOVQ         sums+48(FP), BX
	VBROADCASTSS round<>(SB), Z12
	VPXORD       Z13, Z13, Z13
	VPXORD       Z14, Z14, Z14

codes16:
	VMOVUPS       (SI), Z0
	VMULPS        Z10, Z0, Z1
	VADDPS        Z12, Z1, Z1
	VSUBPS        Z12, Z1, Z1
	VCVTPS2DQ     Z1, Z2
	VPADDD        Z2, Z13, Z13
	VPMOVDB       Z2, (DI)
	VEXTRACTF64X4 $1, Z0, Y3
	VEXTRACTF64X4 $1, Z1, Y4
	MISSED8(Y0, Y1)
	MISSED8(Y3, Y4)
	ADDQ          $64, SI
	ADDQ          $16, DI
	SUBQ          $16, CX
	JG            codes16
	VMOVUPD       Z14, (DX)
	VMOVDQU32     Z13, (BX)
	VZEROUPPER
	RET

// func distance8AVX2(sums *[8]float64, x, y *float32, n int)
TEXT ·distance8AVX2(SB), NOSPLIT, $0-32
	MOVQ   sums+0(FP), DI
	MOVQ   x+8(FP), SI
	MOVQ   y+16(FP), DX
	MOVQ   n+24(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

squares8:
	VCVTPS2PD (SI), Y2
	VCVTPS2PD 16(SI), Y3
	VCVTPS2PD (DX), Y4
	VCVTPS2PD 16(DX), Y5
	VSUBPD    Y4, Y2, Y2
	VSUBPD    Y5, Y3, Y3
	VMULPD    Y2, Y2, Y2
	VMULPD    Y3, Y3, Y3
	VADDPD    Y2, Y0, Y0
	VADDPD    Y3, Y1, Y1
	ADDQ      $32, SI
	ADDQ      $32, DX
	SUBQ      $8, CX
	JG        squares8
	VMOVUPD   Y0, (DI)
	VMOVUPD   Y1, 32(DI)
	VZEROUPPER
	RET

// func add8AVX2(sums *float64, row, next *float32, n int)
// next is the row to be added after this one: it is fetched meanwhile.
TEXT ·add8AVX2(SB), NOSPLIT, $0-32
	MOVQ sums+0(FP), DI
	MOVQ row+8(FP), SI
	MOVQ next+16(FP), DX
	MOVQ n+24(FP), CX

sums8:
	PREFETCHT0 (DX)
	VCVTPS2PD  (SI), Y0
	VCVTPS2PD  16(SI), Y1
	VADDPD     (DI), Y0, Y0
	VADDPD     32(DI), Y1, Y1
	VMOVUPD    Y0, (DI)
	VMOVUPD    Y1, 32(DI)
	ADDQ       $32, SI
	ADDQ       $32, DX
	ADDQ       $64, DI
	SUBQ       $8, CX
	JG         sums8
	VZEROUPPER
	RET
