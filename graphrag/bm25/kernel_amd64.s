// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"
#include "norms_amd64.h"

DATA iota<>+0x00(SB)/4, $0
DATA iota<>+0x04(SB)/4, $1
DATA iota<>+0x08(SB)/4, $2
DATA iota<>+0x0c(SB)/4, $3
DATA iota<>+0x10(SB)/4, $4
DATA iota<>+0x14(SB)/4, $5
DATA iota<>+0x18(SB)/4, $6
DATA iota<>+0x1c(SB)/4, $7
DATA iota<>+0x20(SB)/4, $8
DATA iota<>+0x24(SB)/4, $9
DATA iota<>+0x28(SB)/4, $10
DATA iota<>+0x2c(SB)/4, $11
DATA iota<>+0x30(SB)/4, $12
DATA iota<>+0x34(SB)/4, $13
DATA iota<>+0x38(SB)/4, $14
DATA iota<>+0x3c(SB)/4, $15
GLOBL iota<>(SB), RODATA|NOPTR, $64

// MASK leaves in K the lanes of the first CX of sixteen.
#define MASK(K) \
	MOVL   $1, AX; \
	SHLL   CX, AX; \
	DECL   AX; \
	KMOVW  AX, K

// func impacts16(out *float32, docs *uint16, tfs *uint8, norms *float32, n int, weight float32) bool
// Sixteen postings at a time: weight*(tf/(tf+norm)), each rounded as in Go.
TEXT ·impacts16(SB), NOSPLIT, $0-49
	MOVQ         out+0(FP), DI
	MOVQ         docs+8(FP), SI
	MOVQ         tfs+16(FP), DX
	MOVQ         norms+24(FP), BX
	MOVQ         n+32(FP), CX
	VBROADCASTSS weight+40(FP), Z15
	MOVL         $8191, AX               // windowSize-1: what is read from a file is not trusted
	VPBROADCASTD AX, Z14
	MOVL         $255, AX                // largeTF
	VPBROADCASTD AX, Z13
	KXORW        K3, K3, K3
	KXNORW       K1, K1, K1

impacts:
	CMPQ CX, $16
	JGE  group
	TESTQ CX, CX
	JEQ  impactsDone
	MASK(K1)

group:
	VPMOVZXBD.Z (DX), K1, Z1
	VPCMPEQD    Z13, Z1, K2
	KORW        K2, K3, K3
	VCVTDQ2PS   Z1, Z1
	CMPQ        CX, $16
	JLT         gather
	NORMS4(0, X2)
	NORMS4(8, X3)
	NORMS4(16, X4)
	NORMS4(24, X5)
	VINSERTF128  $1, X3, Y2, Y2
	VINSERTF128  $1, X5, Y4, Y4
	VINSERTF64X4 $1, Y4, Z2, Z2
	JMP         divide

gather:
	VPMOVZXWD.Z (SI), K1, Z0
	VPANDD      Z14, Z0, Z0
	KMOVW       K1, K4
	VPXORD      Z2, Z2, Z2
	VGATHERDPS  (BX)(Z0*4), K4, Z2

divide:
	VADDPS      Z2, Z1, Z2
	VDIVPS      Z2, Z1, Z1
	VMULPS      Z15, Z1, Z1
	VMOVUPS     Z1, K1, (DI)
	ADDQ        $64, DI
	ADDQ        $32, SI
	ADDQ        $16, DX
	SUBQ        $16, CX
	JG          impacts

impactsDone:
	KORTESTW K3, K3
	SETEQ    ret+48(FP)
	VZEROUPPER
	RET

// TAKE appends the candidates of sixteen sums V, whose norms are OFF bytes behind BX,
// and goes on to the next documents.
#define TAKE(V, K, OFF, NONE) \
	KMOVW         K, R8; \
	TESTL         R8, R8; \
	JEQ           NONE; \
	VPCOMPRESSD.Z Z14, K, Z4; \
	VPMOVDW       Z4, (DI); \
	VCOMPRESSPS.Z V, K, Z5; \
	VMOVUPS       Z5, (R10); \
	VMOVUPS       OFF(BX), Z6; \
	VCOMPRESSPS.Z Z6, K, Z6; \
	VMOVUPS       Z6, (R11); \
	POPCNTL       R8, R8; \
	LEAQ          (DI)(R8*2), DI; \
	LEAQ          (R10)(R8*4), R10; \
	LEAQ          (R11)(R8*4), R11; \
NONE: \
	VPADDD        Z13, Z14, Z14

// func collect64(docs *uint16, candidateSums, candidateNorms, sums, norms *float32, n int, minimum float32) int
// Sixty-four sums at a time; n is a multiple of that.
TEXT ·collect64(SB), NOSPLIT, $0-64
	MOVQ         docs+0(FP), DI
	MOVQ         candidateSums+8(FP), R10
	MOVQ         candidateNorms+16(FP), R11
	MOVQ         sums+24(FP), SI
	MOVQ         norms+32(FP), BX
	MOVQ         n+40(FP), CX
	VBROADCASTSS minimum+48(FP), Z15
	VMOVDQU32    iota<>(SB), Z14
	MOVL         $16, AX
	VPBROADCASTD AX, Z13
	MOVL         $64, AX
	VPBROADCASTD AX, Z11
	VPXORD       Z12, Z12, Z12

sums:
	VMOVUPS  (SI), Z0
	VMOVUPS  64(SI), Z1
	VMOVUPS  128(SI), Z2
	VMOVUPS  192(SI), Z3
	VMOVUPS  Z12, (SI)
	VMOVUPS  Z12, 64(SI)
	VMOVUPS  Z12, 128(SI)
	VMOVUPS  Z12, 192(SI)
	VCMPPS   $13, Z15, Z0, K1
	VCMPPS   $13, Z15, Z1, K2
	VCMPPS   $13, Z15, Z2, K3
	VCMPPS   $13, Z15, Z3, K4
	KORW     K1, K2, K5
	KORW     K3, K4, K6
	KORTESTW K5, K6
	JNE      take
	VPADDD   Z11, Z14, Z14
	JMP      next

take:
	TAKE(Z0, K1, 0, none1)
	TAKE(Z1, K2, 64, none2)
	TAKE(Z2, K3, 128, none3)
	TAKE(Z3, K4, 192, none4)

next:
	ADDQ $256, SI
	ADDQ $256, BX
	SUBQ $64, CX
	JG   sums

	SUBQ docs+0(FP), DI
	SHRQ $1, DI
	MOVQ DI, ret+56(FP)
	VZEROUPPER
	RET

// func refine16(docs *uint16, sums, norms *float32, read, kept, n int, column *uint8, limit int, weight, rest, cutoff float32) (int, int)
// Sixteen candidates at a time. What is kept overwrites what was read.
TEXT ·refine16(SB), NOSPLIT, $0-96
	MOVQ         docs+0(FP), DI
	MOVQ         sums+8(FP), R10
	MOVQ         norms+16(FP), R11
	MOVQ         read+24(FP), R12
	MOVQ         kept+32(FP), R13
	MOVQ         n+40(FP), CX
	MOVQ         column+48(FP), BX
	VPBROADCASTD limit+56(FP), Z14
	VBROADCASTSS weight+64(FP), Z15
	VBROADCASTSS rest+68(FP), Z12
	VBROADCASTSS cutoff+72(FP), Z11
	MOVL         $255, AX
	VPBROADCASTD AX, Z13
	SUBQ         R12, CX
	JLE          refined
	KXNORW       K1, K1, K1

refine:
	CMPQ CX, $16
	JGE  lanes
	MASK(K1)

lanes:
	VPMOVZXWD     (DI)(R12*2), Z0
	VMOVUPS       (R11)(R12*4), Z6
	VPMINUD       Z14, Z0, Z1
	VPSUBD        Z1, Z0, Z2
	VPSLLD        $3, Z2, Z2
	KMOVW         K1, K4
	VPXORD        Z3, Z3, Z3
	VPGATHERDD    (BX)(Z1*1), K4, Z3
	VPSRLVD       Z2, Z3, Z3
	VPANDD        Z13, Z3, Z3
	VPCMPEQD      Z13, Z3, K1, K2
	KORTESTW      K2, K2
	JNE           refined
	VCVTDQ2PS     Z3, Z3
	VADDPS        Z6, Z3, Z4
	VDIVPS        Z4, Z3, Z3
	VMULPS        Z15, Z3, Z3
	VADDPS        (R10)(R12*4), Z3, Z3
	VADDPS        Z12, Z3, Z5
	VCMPPS        $13, Z11, Z5, K1, K2
	KMOVW         K2, R8
	VPCOMPRESSD.Z Z0, K2, Z0
	VPMOVDW       Z0, (DI)(R13*2)
	VCOMPRESSPS.Z Z3, K2, Z3
	VMOVUPS       Z3, (R10)(R13*4)
	VCOMPRESSPS.Z Z6, K2, Z6
	VMOVUPS       Z6, (R11)(R13*4)
	POPCNTL       R8, R8
	ADDQ          R8, R13
	ADDQ          $16, R12
	SUBQ          $16, CX
	JG            refine
	MOVQ          n+40(FP), R12

refined:
	MOVQ R12, ret+80(FP)
	MOVQ R13, ret1+88(FP)
	VZEROUPPER
	RET
