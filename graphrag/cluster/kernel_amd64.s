// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// The tile kernel keeps a sum for each row of the tile and each centroid of the panel in
// registers: two vectors a row. Each step loads one component of all centroids and broadcasts
// that component of each row. Rows of a tile are R8 bytes apart; R10 and R11 point to the first
// and the fourth.

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

DATA lanes<>+0(SB)/4, $0
DATA lanes<>+4(SB)/4, $1
DATA lanes<>+8(SB)/4, $2
DATA lanes<>+12(SB)/4, $3
DATA lanes<>+16(SB)/4, $4
DATA lanes<>+20(SB)/4, $5
DATA lanes<>+24(SB)/4, $6
DATA lanes<>+28(SB)/4, $7
GLOBL lanes<>(SB), RODATA|NOPTR, $32

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
