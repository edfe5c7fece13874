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

// func dot2x4AVX2(out, rows, queries *float32, n, dim int)
// Two rows against four queries at a time.
TEXT ·dot2x4AVX2(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ queries+16(FP), R10
	MOVQ n+24(FP), BX
	MOVQ dim+32(FP), R8
	SHLQ $2, R8
	LEAQ (R10)(R8*1), R11
	LEAQ (R11)(R8*1), R12
	LEAQ (R12)(R8*1), R13

dot2x4rows:
	LEAQ   (SI)(R8*1), DX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	XORQ   CX, CX

dot2x4dims:
	VMOVUPS     (SI)(CX*1), Y8
	VMOVUPS     (DX)(CX*1), Y9
	VMOVUPS     (R10)(CX*1), Y10
	VMOVUPS     (R11)(CX*1), Y11
	VMOVUPS     (R12)(CX*1), Y12
	VMOVUPS     (R13)(CX*1), Y13
	VFMADD231PS Y10, Y8, Y0
	VFMADD231PS Y11, Y8, Y1
	VFMADD231PS Y12, Y8, Y2
	VFMADD231PS Y13, Y8, Y3
	VFMADD231PS Y10, Y9, Y4
	VFMADD231PS Y11, Y9, Y5
	VFMADD231PS Y12, Y9, Y6
	VFMADD231PS Y13, Y9, Y7
	ADDQ        $32, CX
	CMPQ        CX, R8
	JLT         dot2x4dims

	SUM4(Y0, Y1, Y2, Y3, X0, X1)
	SUM4(Y4, Y5, Y6, Y7, X4, X5)
	VMOVUPS X0, (DI)
	VMOVUPS X4, 16(DI)
	ADDQ    $32, DI
	LEAQ    (DX)(R8*1), SI
	SUBQ    $2, BX
	JG      dot2x4rows
	VZEROUPPER
	RET

// HALF4 folds four sums of sixteen lanes into eight.
#define HALF4(A, B, C, D, AY, BY, CY, DY) \
	VEXTRACTF32X8 $1, A, Y16; \
	VEXTRACTF32X8 $1, B, Y17; \
	VEXTRACTF32X8 $1, C, Y18; \
	VEXTRACTF32X8 $1, D, Y19; \
	VADDPS Y16, AY, AY; \
	VADDPS Y17, BY, BY; \
	VADDPS Y18, CY, CY; \
	VADDPS Y19, DY, DY

// func dot4x4AVX512(out, rows, queries *float32, n, dim int)
// Four rows against four queries at a time. R14 is left alone (it is g),
// the queries are in DX, AX, R9, R15.
TEXT ·dot4x4AVX512(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ queries+16(FP), DX
	MOVQ n+24(FP), BX
	MOVQ dim+32(FP), R8
	SHLQ $2, R8
	LEAQ (DX)(R8*1), AX
	LEAQ (AX)(R8*1), R9
	LEAQ (R9)(R8*1), R15

dot4x4rows:
	ROWS4
	VXORPS Z0, Z0, Z0
	VXORPS Z1, Z1, Z1
	VXORPS Z2, Z2, Z2
	VXORPS Z3, Z3, Z3
	VXORPS Z4, Z4, Z4
	VXORPS Z5, Z5, Z5
	VXORPS Z6, Z6, Z6
	VXORPS Z7, Z7, Z7
	VXORPS Z8, Z8, Z8
	VXORPS Z9, Z9, Z9
	VXORPS Z10, Z10, Z10
	VXORPS Z11, Z11, Z11
	VXORPS Z12, Z12, Z12
	VXORPS Z13, Z13, Z13
	VXORPS Z14, Z14, Z14
	VXORPS Z15, Z15, Z15
	XORQ   CX, CX

dot4x4dims:
	VMOVUPS     (DX)(CX*1), Z20
	VMOVUPS     (AX)(CX*1), Z21
	VMOVUPS     (R9)(CX*1), Z22
	VMOVUPS     (R15)(CX*1), Z23
	VMOVUPS     (R10)(CX*1), Z16
	VMOVUPS     (R11)(CX*1), Z17
	VMOVUPS     (R12)(CX*1), Z18
	VMOVUPS     (R13)(CX*1), Z19
	VFMADD231PS Z20, Z16, Z0
	VFMADD231PS Z21, Z16, Z1
	VFMADD231PS Z22, Z16, Z2
	VFMADD231PS Z23, Z16, Z3
	VFMADD231PS Z20, Z17, Z4
	VFMADD231PS Z21, Z17, Z5
	VFMADD231PS Z22, Z17, Z6
	VFMADD231PS Z23, Z17, Z7
	VFMADD231PS Z20, Z18, Z8
	VFMADD231PS Z21, Z18, Z9
	VFMADD231PS Z22, Z18, Z10
	VFMADD231PS Z23, Z18, Z11
	VFMADD231PS Z20, Z19, Z12
	VFMADD231PS Z21, Z19, Z13
	VFMADD231PS Z22, Z19, Z14
	VFMADD231PS Z23, Z19, Z15
	ADDQ        $64, CX
	CMPQ        CX, R8
	JLT         dot4x4dims

	HALF4(Z0, Z1, Z2, Z3, Y0, Y1, Y2, Y3)
	HALF4(Z4, Z5, Z6, Z7, Y4, Y5, Y6, Y7)
	HALF4(Z8, Z9, Z10, Z11, Y8, Y9, Y10, Y11)
	HALF4(Z12, Z13, Z14, Z15, Y12, Y13, Y14, Y15)
	SUM4(Y0, Y1, Y2, Y3, X0, X1)
	SUM4(Y4, Y5, Y6, Y7, X4, X5)
	SUM4(Y8, Y9, Y10, Y11, X8, X9)
	SUM4(Y12, Y13, Y14, Y15, X12, X13)
	VMOVUPS X0, (DI)
	VMOVUPS X4, 16(DI)
	VMOVUPS X8, 32(DI)
	VMOVUPS X12, 48(DI)
	ADDQ    $64, DI
	SUBQ    $4, BX
	JG      dot4x4rows
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

// AHEAD is how far codes are fetched ahead, in bytes.
#define AHEAD 6144

// LIFT128 leaves 128 in each byte of Z31.
#define LIFT128 \
	MOVQ $0x8080808080808080, AX; \
	VPBROADCASTQ AX, Z31

// ROWSUM leaves the sums of the row at SI by the low plane of a query, at R15, in LOW, and
// by the high one in HIGH. The labels are for its branches.
#define ROWSUM(DIMS, LAST, DONE, LOW, HIGH) \
	VPXORD LOW, LOW, LOW; \
	VPXORD HIGH, HIGH, HIGH; \
	MOVQ R15, DX; \
	MOVQ R8, CX; \
	SUBQ $64, CX; \
	JLT LAST; \
DIMS: \
	PREFETCHT0 AHEAD(SI); \
	VPXORD (SI), Z31, Z8; \
	VPDPBUSD (DX), Z8, LOW; \
	VPDPBUSD 64(DX), Z8, HIGH; \
	ADDQ $64, SI; \
	ADDQ $128, DX; \
	SUBQ $64, CX; \
	JGE DIMS; \
LAST: \
	CMPQ CX, $-64; \
	JEQ DONE; \
	VPXORD (SI), Y31, Y8; \
	VPDPBUSD (DX), Z8, LOW; \
	VPDPBUSD 64(DX), Z8, HIGH; \
	ADDQ $32, SI; \
DONE:

// func codes4VNNI(out *int32, codes, planes *int8, offset int32, n, dim int)
// 64 codes in one instruction for each plane of the query. It wants bytes without a sign,
// so codes are lifted by 128, and the offset is what that adds. Rows are read one after
// the other, as memory likes it, and summed up four at a time.
TEXT ·codes4VNNI(SB), NOSPLIT, $0-48
	MOVQ         out+0(FP), DI
	MOVQ         codes+8(FP), SI
	MOVLQSX      offset+24(FP), R9
	VPBROADCASTD R9, X30
	MOVQ         n+32(FP), BX
	MOVQ         dim+40(FP), R8
	MOVQ         planes+16(FP), R15
	LIFT128

vnni4rows:
	ROWSUM(vnni4a, vnni4aend, vnni4asum, Z0, Z4)
	ROWSUM(vnni4b, vnni4bend, vnni4bsum, Z1, Z5)
	ROWSUM(vnni4c, vnni4cend, vnni4csum, Z2, Z6)
	ROWSUM(vnni4d, vnni4dend, vnni4dsum, Z3, Z7)

	VPSLLD        $8, Z4, Z4
	VPSLLD        $8, Z5, Z5
	VPSLLD        $8, Z6, Z6
	VPSLLD        $8, Z7, Z7
	VPADDD        Z4, Z0, Z0
	VPADDD        Z5, Z1, Z1
	VPADDD        Z6, Z2, Z2
	VPADDD        Z7, Z3, Z3
	VEXTRACTI64X4 $1, Z0, Y4
	VEXTRACTI64X4 $1, Z1, Y5
	VEXTRACTI64X4 $1, Z2, Y6
	VEXTRACTI64X4 $1, Z3, Y7
	VPADDD        Y4, Y0, Y0
	VPADDD        Y5, Y1, Y1
	VPADDD        Y6, Y2, Y2
	VPADDD        Y7, Y3, Y3
	VPHADDD       Y1, Y0, Y0
	VPHADDD       Y3, Y2, Y2
	VPHADDD       Y2, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VPSUBD        X30, X0, X0
	VMOVDQU       X0, (DI)
	ADDQ          $16, DI
	SUBQ          $4, BX
	JG            vnni4rows
	VZEROUPPER
	RET

// func differ8VPOPCNT(out *int32, rows, planes *uint64, n, words int)
// Eight rows at a time, a word of each in one register.
TEXT ·differ8VPOPCNT(SB), NOSPLIT, $0-40
	MOVQ out+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ n+24(FP), BX
	MOVQ words+32(FP), R8

differ8rows:
	MOVQ   planes+16(FP), DX
	MOVQ   R8, CX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2

differ8words:
	VMOVDQU64   (SI), Z4
	VPXORQ.BCST (DX), Z4, Z4
	VPANDQ.BCST 8(DX), Z4, Z5
	VPANDQ.BCST 16(DX), Z4, Z6
	VPOPCNTQ    Z4, Z4
	VPOPCNTQ    Z5, Z5
	VPOPCNTQ    Z6, Z6
	VPADDQ      Z4, Z0, Z0
	VPADDQ      Z5, Z1, Z1
	VPADDQ      Z6, Z2, Z2
	ADDQ        $64, SI
	ADDQ        $24, DX
	DECQ        CX
	JNZ         differ8words

	VPSLLQ  $1, Z1, Z1
	VPSLLQ  $2, Z2, Z2
	VPADDQ  Z1, Z0, Z0
	VPADDQ  Z2, Z0, Z0
	VPMOVQD Z0, Y0
	VMOVDQU Y0, (DI)
	ADDQ    $32, DI
	SUBQ    $8, BX
	JG      differ8rows
	VZEROUPPER
	RET
