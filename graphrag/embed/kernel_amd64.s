// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// ADD adds the product of a value and eight components of a row to a sum.
#define ADD(AT, SUM, PRODUCT) \
	VMULPS AT(BX), Y8, PRODUCT; \
	VADDPS PRODUCT, SUM, SUM

// ROW leads BX to a row's part of the tile, and fills Y8 with its value.
#define ROW \
	MOVLQSX      (R10)(DX*4), BX; \
	IMULQ        R9, BX; \
	ADDQ         SI, BX; \
	VBROADCASTSS (R11)(DX*4), Y8

// func sumRowsAVX2(out, x *float32, cols *int32, vals *float32, n, width int)
// A tile of 64 components, and at the end one of 8, is added up in registers over all
// rows. DI and SI are where the tile is in out and in the first row of x.
TEXT ·sumRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ cols+16(FP), R10
	MOVQ vals+24(FP), R11
	MOVQ n+32(FP), R8
	MOVQ width+40(FP), R9
	MOVQ R9, CX
	SHLQ $2, R9

wide:
	SUBQ   $64, CX
	JLT    narrow
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	XORQ   DX, DX

wideRow:
	ROW
	ADD(0, Y0, Y9)
	ADD(32, Y1, Y10)
	ADD(64, Y2, Y11)
	ADD(96, Y3, Y12)
	ADD(128, Y4, Y13)
	ADD(160, Y5, Y14)
	ADD(192, Y6, Y15)
	ADD(224, Y7, Y9)
	INCQ    DX
	CMPQ    DX, R8
	JLT     wideRow
	VMOVUPS Y0, 0(DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VMOVUPS Y4, 128(DI)
	VMOVUPS Y5, 160(DI)
	VMOVUPS Y6, 192(DI)
	VMOVUPS Y7, 224(DI)
	ADDQ    $256, DI
	ADDQ    $256, SI
	JMP     wide

narrow:
	ADDQ $64, CX

next:
	SUBQ   $8, CX
	JLT    done
	VXORPS Y0, Y0, Y0
	XORQ   DX, DX

row:
	ROW
	ADD(0, Y0, Y9)
	INCQ    DX
	CMPQ    DX, R8
	JLT     row
	VMOVUPS Y0, 0(DI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	JMP     next

done:
	VZEROUPPER
	RET
