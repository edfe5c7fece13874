// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// FETCHROWS fetches what is read of the rows, which lie here and there: DI bounds, SI
// codes, BX rows, R8 bytes of a code.
#define FETCHROWS(ROW, LINE) \
	XORQ R13, R13; \
ROW: \
	MOVQ (SI)(R13*8), R10; \
	MOVQ (R9)(R13*8), R11; \
	PREFETCHT0 (R11); \
	XORQ CX, CX; \
LINE: \
	PREFETCHT0 (R10)(CX*1); \
	ADDQ $64, CX; \
	CMPQ CX, R8; \
	JLT LINE; \
	INCQ R13; \
	CMPQ R13, BX; \
	JLT ROW

// func nearVNNI(out *float32, codes **int8, bounds **bound, query *int8, n, dim int)
// Z30 is what lifting the codes by 128 adds to a sum.
TEXT ·nearVNNI(SB), NOSPLIT, $0-48
	MOVQ         out+0(FP), DI
	MOVQ         codes+8(FP), SI
	MOVQ         bounds+16(FP), R9
	MOVQ         query+24(FP), DX
	MOVQ         n+32(FP), BX
	MOVQ         dim+40(FP), R8
	MOVQ         $0x8080808080808080, AX
	VPBROADCASTQ AX, Z31
	FETCHROWS(vnnirow, vnniline)

	VPXORD Z30, Z30, Z30
	MOVQ   DX, R11
	MOVQ   R8, CX
	SUBQ   $64, CX
	JLT    liftlast

lift:
	VPDPBUSD (R11), Z31, Z30
	ADDQ     $64, R11
	SUBQ     $64, CX
	JGE      lift

liftlast:
	CMPQ      CX, $-64
	JEQ       row
	VMOVDQU32 (R11), Y9
	VPDPBUSD  Z9, Z31, Z30

row:
	MOVQ   (SI), R10
	MOVQ   (R9), R12
	MOVQ   DX, R11
	VPXORD Z0, Z0, Z0
	MOVQ   R8, CX
	SUBQ   $64, CX
	JLT    last

dims:
	VPXORD   (R10), Z31, Z8
	VPDPBUSD (R11), Z8, Z0
	ADDQ     $64, R10
	ADDQ     $64, R11
	SUBQ     $64, CX
	JGE      dims

last:
	CMPQ      CX, $-64
	JEQ       sum
	VPXORD    (R10), Y31, Y8
	VMOVDQU32 (R11), Y9
	VPDPBUSD  Z9, Z8, Z0

sum:
	VPSUBD        Z30, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDD        Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VPHADDD       X0, X0, X0
	VPHADDD       X0, X0, X0
	VCVTDQ2PS     X0, X0
	VMULSS        (R12), X0, X0
	VMOVSS        X0, (DI)
	ADDQ          $8, SI
	ADDQ          $8, R9
	ADDQ          $4, DI
	DECQ          BX
	JNZ           row
	VZEROUPPER
	RET

// func nearAVX2(out *float32, codes **int8, bounds **bound, query *int8, n, dim int)
TEXT ·nearAVX2(SB), NOSPLIT, $0-48
	MOVQ out+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ bounds+16(FP), R9
	MOVQ query+24(FP), DX
	MOVQ n+32(FP), BX
	MOVQ dim+40(FP), R8
	FETCHROWS(avx2row, avx2line)

row2:
	MOVQ  (SI), R10
	MOVQ  (R9), R12
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	XORQ  CX, CX

dims2:
	VPMOVSXBW (R10)(CX*1), Y4
	VPMOVSXBW 16(R10)(CX*1), Y5
	VPMOVSXBW (DX)(CX*1), Y6
	VPMOVSXBW 16(DX)(CX*1), Y7
	VPMADDWD  Y6, Y4, Y4
	VPMADDWD  Y7, Y5, Y5
	VPADDD    Y4, Y0, Y0
	VPADDD    Y5, Y1, Y1
	ADDQ      $32, CX
	CMPQ      CX, R8
	JLT       dims2

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPHADDD      X0, X0, X0
	VPHADDD      X0, X0, X0
	VCVTDQ2PS    X0, X0
	VMULSS       (R12), X0, X0
	VMOVSS       X0, (DI)
	ADDQ         $8, SI
	ADDQ         $8, R9
	ADDQ         $4, DI
	DECQ         BX
	JNZ          row2
	VZEROUPPER
	RET

// func fetchBytes(first *byte, n int)
TEXT ·fetchBytes(SB), NOSPLIT, $0-16
	MOVQ first+0(FP), SI
	MOVQ n+8(FP), CX

fetchline:
	PREFETCHT0 (SI)
	ADDQ       $64, SI
	SUBQ       $64, CX
	JG         fetchline
	RET
