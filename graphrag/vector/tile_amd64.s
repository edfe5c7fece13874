// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// ROWS16 loads the next 64 bytes of sixteen rows, R8 bytes apart, to Z0 to Z15: what the
// mask K1 wants of them.
#define ROWS16 \
	MOVQ SI, R10; \
	LEAQ (SI)(R8*4), R11; \
	LEAQ (SI)(R8*8), R12; \
	LEAQ (R11)(R8*8), R13; \
	LEAQ (R8)(R8*2), R9; \
	VMOVDQU32.Z (R10), K1, Z0; \
	VMOVDQU32.Z (R10)(R8*1), K1, Z1; \
	VMOVDQU32.Z (R10)(R8*2), K1, Z2; \
	VMOVDQU32.Z (R10)(R9*1), K1, Z3; \
	VMOVDQU32.Z (R11), K1, Z4; \
	VMOVDQU32.Z (R11)(R8*1), K1, Z5; \
	VMOVDQU32.Z (R11)(R8*2), K1, Z6; \
	VMOVDQU32.Z (R11)(R9*1), K1, Z7; \
	VMOVDQU32.Z (R12), K1, Z8; \
	VMOVDQU32.Z (R12)(R8*1), K1, Z9; \
	VMOVDQU32.Z (R12)(R8*2), K1, Z10; \
	VMOVDQU32.Z (R12)(R9*1), K1, Z11; \
	VMOVDQU32.Z (R13), K1, Z12; \
	VMOVDQU32.Z (R13)(R8*1), K1, Z13; \
	VMOVDQU32.Z (R13)(R8*2), K1, Z14; \
	VMOVDQU32.Z (R13)(R9*1), K1, Z15

// QUAD turns four rows, A to D, in each quarter of the registers: column c of the
// quarter is in the c-th register.
#define QUAD(A, B, C, D) \
	VPUNPCKLDQ  B, A, Z16; \
	VPUNPCKHDQ  B, A, Z17; \
	VPUNPCKLDQ  D, C, Z18; \
	VPUNPCKHDQ  D, C, Z19; \
	VPUNPCKLQDQ Z18, Z16, A; \
	VPUNPCKHQDQ Z18, Z16, B; \
	VPUNPCKLQDQ Z19, Z17, C; \
	VPUNPCKHQDQ Z19, Z17, D

// HALF1 turns the quarters of four registers and stores, lifted by 128, the columns in
// the first half of the 64 bytes, HALF2 those in the second.
#define HALF1(A, B, C, D, OFF) \
	VSHUFI32X4 $0x88, B, A, Z16; \
	VSHUFI32X4 $0xdd, B, A, Z17; \
	VSHUFI32X4 $0x88, D, C, Z18; \
	VSHUFI32X4 $0xdd, D, C, Z19; \
	VSHUFI32X4 $0x88, Z18, Z16, Z20; \
	VSHUFI32X4 $0x88, Z19, Z17, Z21; \
	VPXORD     Z31, Z20, Z20; \
	VPXORD     Z31, Z21, Z21; \
	VMOVDQU32  Z20, OFF(DI); \
	VMOVDQU32  Z21, (1024+OFF)(DI)

#define HALF2(OFF) \
	VSHUFI32X4 $0xdd, Z18, Z16, Z20; \
	VSHUFI32X4 $0xdd, Z19, Z17, Z21; \
	VPXORD     Z31, Z20, Z20; \
	VPXORD     Z31, Z21, Z21; \
	VMOVDQU32  Z20, (2048+OFF)(DI); \
	VMOVDQU32  Z21, (3072+OFF)(DI)

// func pack16AVX512(tile *uint8, codes *int8, dim int)
// Sixteen rows, transposed in words of four codes.
TEXT ·pack16AVX512(SB), NOSPLIT, $0-24
	MOVQ         tile+0(FP), DI
	MOVQ         codes+8(FP), SI
	MOVQ         dim+16(FP), R8
	MOVQ         $0x8080808080808080, AX
	VPBROADCASTQ AX, Z31
	MOVL         $0xffff, AX
	KMOVW        AX, K1
	MOVQ         R8, CX
	SUBQ         $64, CX
	JLT          pack16last

pack16dims:
	ROWS16
	QUAD(Z0, Z1, Z2, Z3)
	QUAD(Z4, Z5, Z6, Z7)
	QUAD(Z8, Z9, Z10, Z11)
	QUAD(Z12, Z13, Z14, Z15)
	HALF1(Z0, Z4, Z8, Z12, 0)
	HALF2(0)
	HALF1(Z1, Z5, Z9, Z13, 256)
	HALF2(256)
	HALF1(Z2, Z6, Z10, Z14, 512)
	HALF2(512)
	HALF1(Z3, Z7, Z11, Z15, 768)
	HALF2(768)
	ADDQ $64, SI
	ADDQ $4096, DI
	SUBQ $64, CX
	JGE  pack16dims

pack16last:
	CMPQ  CX, $-64
	JEQ   pack16done
	MOVL  $0xff, AX
	KMOVW AX, K1
	ROWS16
	QUAD(Z0, Z1, Z2, Z3)
	QUAD(Z4, Z5, Z6, Z7)
	QUAD(Z8, Z9, Z10, Z11)
	QUAD(Z12, Z13, Z14, Z15)
	HALF1(Z0, Z4, Z8, Z12, 0)
	HALF1(Z1, Z5, Z9, Z13, 256)
	HALF1(Z2, Z6, Z10, Z14, 512)
	HALF1(Z3, Z7, Z11, Z15, 768)

pack16done:
	VZEROUPPER
	RET

// REACH16 makes a mask of sixteen sums: those whose upper bound reaches what the query
// of a probe wants. Scales are in SCALE, rests at REST(R9), see probe for the rest.
#define REACH16(SUM, SCALE, REST, OFFSET, STEP, WANT, MASK) \
	VPSUBD.BCST OFFSET(R10), SUM, SUM; \
	VCVTDQ2PS SUM, SUM; \
	VMULPS.BCST STEP(R10), SCALE, Z28; \
	VMULPS Z28, SUM, SUM; \
	VADDPS REST(R9), SUM, SUM; \
	VCMPPS.BCST $13, WANT(R10), SUM, K1; \
	KMOVW K1, AX; \
	MOVW AX, MASK(DI)

#define REACH(A, B, C, D, OFFSET, STEP, WANT, MASK) \
	REACH16(A, Z24, 256, OFFSET, STEP, WANT, (MASK+0)); \
	REACH16(B, Z25, 320, OFFSET, STEP, WANT, (MASK+2)); \
	REACH16(C, Z26, 384, OFFSET, STEP, WANT, (MASK+4)); \
	REACH16(D, Z27, 448, OFFSET, STEP, WANT, (MASK+6))

// func tileVNNI(masks *uint64, tile *uint8, bounds *float32, queries *int8, probes *probe, groups, dim int)
// tileRows rows against tileQueries queries at a time: Z0 to Z23 have a sum each for
// sixteen rows and a query.
TEXT ·tileVNNI(SB), NOSPLIT, $0-56
	MOVQ masks+0(FP), DI
	MOVQ bounds+16(FP), R9
	MOVQ queries+24(FP), DX
	MOVQ probes+32(FP), R10
	MOVQ groups+40(FP), BX
	MOVQ dim+48(FP), R8
	SHRQ $2, R8

tilegroup:
	MOVQ tile+8(FP), SI
	VPXORD Z0, Z0, Z0
	VPXORD Z1, Z1, Z1
	VPXORD Z2, Z2, Z2
	VPXORD Z3, Z3, Z3
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z8, Z8, Z8
	VPXORD Z9, Z9, Z9
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	VPXORD Z16, Z16, Z16
	VPXORD Z17, Z17, Z17
	VPXORD Z18, Z18, Z18
	VPXORD Z19, Z19, Z19
	VPXORD Z20, Z20, Z20
	VPXORD Z21, Z21, Z21
	VPXORD Z22, Z22, Z22
	VPXORD Z23, Z23, Z23
	MOVQ R8, CX

tiledims:
	VMOVDQU32 (SI), Z24
	VMOVDQU32 64(SI), Z25
	VMOVDQU32 128(SI), Z26
	VMOVDQU32 192(SI), Z27
	VPBROADCASTD (DX), Z28
	VPDPBUSD Z28, Z24, Z0
	VPDPBUSD Z28, Z25, Z1
	VPDPBUSD Z28, Z26, Z2
	VPDPBUSD Z28, Z27, Z3
	VPBROADCASTD 4(DX), Z29
	VPDPBUSD Z29, Z24, Z4
	VPDPBUSD Z29, Z25, Z5
	VPDPBUSD Z29, Z26, Z6
	VPDPBUSD Z29, Z27, Z7
	VPBROADCASTD 8(DX), Z30
	VPDPBUSD Z30, Z24, Z8
	VPDPBUSD Z30, Z25, Z9
	VPDPBUSD Z30, Z26, Z10
	VPDPBUSD Z30, Z27, Z11
	VPBROADCASTD 12(DX), Z31
	VPDPBUSD Z31, Z24, Z12
	VPDPBUSD Z31, Z25, Z13
	VPDPBUSD Z31, Z26, Z14
	VPDPBUSD Z31, Z27, Z15
	VPBROADCASTD 16(DX), Z28
	VPDPBUSD Z28, Z24, Z16
	VPDPBUSD Z28, Z25, Z17
	VPDPBUSD Z28, Z26, Z18
	VPDPBUSD Z28, Z27, Z19
	VPBROADCASTD 20(DX), Z29
	VPDPBUSD Z29, Z24, Z20
	VPDPBUSD Z29, Z25, Z21
	VPDPBUSD Z29, Z26, Z22
	VPDPBUSD Z29, Z27, Z23
	ADDQ $256, SI
	ADDQ $24, DX
	DECQ CX
	JNZ tiledims

	VMOVUPS (R9), Z24
	VMOVUPS 64(R9), Z25
	VMOVUPS 128(R9), Z26
	VMOVUPS 192(R9), Z27
	REACH(Z0, Z1, Z2, Z3, 0, 4, 8, 0)
	REACH(Z4, Z5, Z6, Z7, 12, 16, 20, 8)
	REACH(Z8, Z9, Z10, Z11, 24, 28, 32, 16)
	REACH(Z12, Z13, Z14, Z15, 36, 40, 44, 24)
	REACH(Z16, Z17, Z18, Z19, 48, 52, 56, 32)
	REACH(Z20, Z21, Z22, Z23, 60, 64, 68, 40)
	ADDQ $72, R10
	ADDQ $48, DI
	DECQ BX
	JNZ tilegroup
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
