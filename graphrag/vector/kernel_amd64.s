// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// Registers throughout: DI out, SI rows, DX query, BX rows left, R8 bytes from
// row to row, R10..R13 the rows of a group, CX byte offset into them.

// SUM4 leaves the sums of A, B, C, D in LO, the lower half of A; HI is lost.
#define SUM4(A, B, C, D, LO, HI) \
	VHADDPS B, A, A; \
	VHADDPS D, C, C; \
	VHADDPS C, A, A; \
	VEXTRACTF128 $1, A, HI; \
	VADDPS HI, LO, LO

#define ROWS4 \
	MOVQ SI, R10; \
	LEAQ (R10)(R8*1), R11; \
	LEAQ (R11)(R8*1), R12; \
	LEAQ (R12)(R8*1), R13; \
	LEAQ (R13)(R8*1), SI

#define NEXT4 \
	LEAQ (SI)(R8*1), R9; \
	LEAQ (R9)(R8*1), AX; \
	LEAQ (AX)(R8*1), R15

// func dot4AVX2(out, rows, query *float32, n, dim int)
// Four rows at a time, two sums of eight lanes each. The next four (SI, R9,
// AX, R15) are fetched meanwhile: the processor's own prefetching follows one
// stream better than four. Fetching beyond the end is harmless.
TEXT ·dot4AVX2(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ query+16(FP), DX
	MOVQ n+24(FP), BX
	MOVQ dim+32(FP), R8
	SHLQ $2, R8

dot4rows:
	ROWS4
	NEXT4
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	XORQ   CX, CX

dot4dims:
	PREFETCHT0 (SI)(CX*1)
	PREFETCHT0 (R9)(CX*1)
	PREFETCHT0 (AX)(CX*1)
	PREFETCHT0 (R15)(CX*1)
	VMOVUPS     (DX)(CX*1), Y8
	VMOVUPS     32(DX)(CX*1), Y9
	VFMADD231PS (R10)(CX*1), Y8, Y0
	VFMADD231PS (R11)(CX*1), Y8, Y1
	VFMADD231PS (R12)(CX*1), Y8, Y2
	VFMADD231PS (R13)(CX*1), Y8, Y3
	VFMADD231PS 32(R10)(CX*1), Y9, Y4
	VFMADD231PS 32(R11)(CX*1), Y9, Y5
	VFMADD231PS 32(R12)(CX*1), Y9, Y6
	VFMADD231PS 32(R13)(CX*1), Y9, Y7
	ADDQ        $64, CX
	CMPQ        CX, R8
	JLT         dot4dims

	VADDPS  Y4, Y0, Y0
	VADDPS  Y5, Y1, Y1
	VADDPS  Y6, Y2, Y2
	VADDPS  Y7, Y3, Y3
	SUM4(Y0, Y1, Y2, Y3, X0, X1)
	VMOVUPS X0, (DI)
	ADDQ    $16, DI
	SUBQ    $4, BX
	JG      dot4rows
	VZEROUPPER
	RET

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
