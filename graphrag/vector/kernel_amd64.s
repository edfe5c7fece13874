// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// Registers throughout: DI out, SI rows, DX query, BX rows left, R8 bytes from
// row to row, R10..R13 the rows of a group, CX byte offset into them.

#define ROWS4 \
	MOVQ SI, R10; \
	LEAQ (R10)(R8*1), R11; \
	LEAQ (R11)(R8*1), R12; \
	LEAQ (R12)(R8*1), R13; \
	LEAQ (R13)(R8*1), SI

// func codes4AVX2(out *int32, codes *int8, query *int16, n, dim int)
// Four rows at a time; a code is widened to 16 bits, products are added in
// pairs to 32 bits.
TEXT ·codes4AVX2(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ query+16(FP), DX
	MOVQ n+24(FP), BX
	MOVQ dim+32(FP), R8

codes4rows:
	ROWS4
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	XORQ  CX, CX

codes4dims:
	VMOVDQU   (DX)(CX*2), Y8
	VPMOVSXBW (R10)(CX*1), Y4
	VPMOVSXBW (R11)(CX*1), Y5
	VPMOVSXBW (R12)(CX*1), Y6
	VPMOVSXBW (R13)(CX*1), Y7
	VPMADDWD  Y8, Y4, Y4
	VPMADDWD  Y8, Y5, Y5
	VPMADDWD  Y8, Y6, Y6
	VPMADDWD  Y8, Y7, Y7
	VPADDD    Y4, Y0, Y0
	VPADDD    Y5, Y1, Y1
	VPADDD    Y6, Y2, Y2
	VPADDD    Y7, Y3, Y3
	ADDQ      $16, CX
	CMPQ      CX, R8
	JLT       codes4dims

	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VMOVDQU      X0, (DI)
	ADDQ         $16, DI
	SUBQ         $4, BX
	JG           codes4rows
	VZEROUPPER
	RET
