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

DATA evens<>+0(SB)/8, $0x0000000200000000
DATA evens<>+8(SB)/8, $0x0000000600000004
DATA evens<>+16(SB)/8, $0x0000000a00000008
DATA evens<>+24(SB)/8, $0x0000000e0000000c
DATA evens<>+32(SB)/8, $0x0000001200000010
DATA evens<>+40(SB)/8, $0x0000001600000014
DATA evens<>+48(SB)/8, $0x0000001a00000018
DATA evens<>+56(SB)/8, $0x0000001e0000001c
GLOBL evens<>(SB), RODATA|NOPTR, $64

// func reachAVX512(masks *uint16, sums *int32, bounds *bound, n int, step, slack, cut float32)
// Sixteen rows at a time, the operations of reachRows in their order.
TEXT ·reachAVX512(SB), NOSPLIT, $0-44
	MOVQ         masks+0(FP), DI
	MOVQ         sums+8(FP), SI
	MOVQ         bounds+16(FP), DX
	MOVQ         n+24(FP), CX
	VBROADCASTSS step+32(FP), Z10
	VBROADCASTSS slack+36(FP), Z11
	VBROADCASTSS cut+40(FP), Z12
	VMOVDQU32    evens<>(SB), Z13
	MOVL         $1, AX
	VPBROADCASTD AX, Z14
	VPADDD       Z13, Z14, Z14

reach16:
	VMOVUPS   (DX), Z0
	VMOVUPS   64(DX), Z1
	VMOVAPS   Z0, Z2
	VPERMT2PS Z1, Z13, Z0
	VPERMT2PS Z1, Z14, Z2
	VCVTDQ2PS (SI), Z3
	VMULPS    Z10, Z0, Z0
	VMULPS    Z0, Z3, Z3
	VADDPS    Z11, Z2, Z2
	VADDPS    Z2, Z3, Z3
	VCMPPS    $13, Z12, Z3, K1
	KMOVW     K1, AX
	MOVW      AX, (DI)
	ADDQ      $64, SI
	ADDQ      $128, DX
	ADDQ      $2, DI
	SUBQ      $16, CX
	JG        reach16
	VZEROUPPER
	RET
