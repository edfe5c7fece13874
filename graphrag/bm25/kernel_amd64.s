// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"
#include "norms_amd64.h"

// Eight lanes at a time.

// NORMS8 leaves in Y the norms of the eight documents at SI; X is its lower half.
#define NORMS8(X, Y) \
	NORMS4(0, X); \
	NORMS4(8, X7); \
	VINSERTF128 $1, X7, Y, Y

// func impacts8(out *float32, docs *uint16, tfs *uint8, norms *float32, n int, weight float32) bool
// Eight postings at a time, as impactsOf; n is a multiple of that, and not 0.
TEXT ·impacts8(SB), NOSPLIT, $0-49
	MOVQ         out+0(FP), DI
	MOVQ         docs+8(FP), SI
	MOVQ         tfs+16(FP), DX
	MOVQ         norms+24(FP), BX
	MOVQ         n+32(FP), CX
	VBROADCASTSS weight+40(FP), Y15
	VPCMPEQD     Y13, Y13, Y13
	VPSRLD       $24, Y13, Y13           // largeTF
	VPXOR        Y12, Y12, Y12

impacts:
	VPMOVZXBD (DX), Y1
	VPCMPEQD  Y13, Y1, Y3
	VPOR      Y3, Y12, Y12
	VCVTDQ2PS Y1, Y1
	NORMS8(X2, Y2)
	VADDPS    Y2, Y1, Y2
	VDIVPS    Y2, Y1, Y1
	VMULPS    Y15, Y1, Y1
	VMOVUPS   Y1, (DI)
	ADDQ      $32, DI
	ADDQ      $16, SI
	ADDQ      $8, DX
	SUBQ      $8, CX
	JG        impacts

	VPTEST Y12, Y12
	SETEQ  ret+48(FP)
	VZEROUPPER
	RET

// TAKE8 appends the candidates of eight sums V, whose norms are OFF bytes behind BX and
// whose first document is R12+FIRST: BITS are the lanes, R9 is where their numbers are.
#define TAKE8(V, BITS, OFF, FIRST, NONE) \
	TESTL       BITS, BITS; \
	JEQ         NONE; \
	LEAQ        FIRST(R12), AX; \
	VMOVD       AX, X4; \
	VPBROADCASTW X4, X4; \
	VPMOVZXBW   (R9)(BITS*8), X5; \
	VPADDW      X4, X5, X4; \
	VMOVDQU     X4, (DI); \
	VPMOVZXBD   (R9)(BITS*8), Y5; \
	VPERMPS     V, Y5, Y4; \
	VMOVUPS     Y4, (R10); \
	VPERMPS     OFF(BX), Y5, Y4; \
	VMOVUPS     Y4, (R11); \
	POPCNTL     BITS, BITS; \
	LEAQ        (DI)(BITS*2), DI; \
	LEAQ        (R10)(BITS*4), R10; \
	LEAQ        (R11)(BITS*4), R11; \
NONE:

// func collect32(docs *uint16, candidateSums, candidateNorms, sums, norms *float32, lanes *[256][8]uint8, n int, minimum float32) int
// collect64 with thirty-two sums at a time; n is a multiple of that.
TEXT ·collect32(SB), NOSPLIT, $0-72
	MOVQ         docs+0(FP), DI
	MOVQ         candidateSums+8(FP), R10
	MOVQ         candidateNorms+16(FP), R11
	MOVQ         sums+24(FP), SI
	MOVQ         norms+32(FP), BX
	MOVQ         laneTable+40(FP), R9
	MOVQ         n+48(FP), CX
	VBROADCASTSS minimum+56(FP), Y15
	VPXOR        Y12, Y12, Y12
	XORQ         R12, R12

sums:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS 64(SI), Y2
	VMOVUPS 96(SI), Y3
	VMOVUPS Y12, (SI)
	VMOVUPS Y12, 32(SI)
	VMOVUPS Y12, 64(SI)
	VMOVUPS Y12, 96(SI)
	VMAXPS  Y0, Y1, Y4
	VMAXPS  Y2, Y3, Y5
	VMAXPS  Y4, Y5, Y4
	VCMPPS  $13, Y15, Y4, Y4
	VPTEST  Y4, Y4
	JEQ     next

	VCMPPS    $13, Y15, Y0, Y4
	VMOVMSKPS Y4, R8
	TAKE8(Y0, R8, 0, 0, none0)
	VCMPPS    $13, Y15, Y1, Y4
	VMOVMSKPS Y4, R8
	TAKE8(Y1, R8, 32, 8, none1)
	VCMPPS    $13, Y15, Y2, Y4
	VMOVMSKPS Y4, R8
	TAKE8(Y2, R8, 64, 16, none2)
	VCMPPS    $13, Y15, Y3, Y4
	VMOVMSKPS Y4, R8
	TAKE8(Y3, R8, 96, 24, none3)

next:
	ADDQ $128, SI
	ADDQ $128, BX
	ADDQ $32, R12
	SUBQ $32, CX
	JG   sums

	SUBQ docs+0(FP), DI
	SHRQ $1, DI
	MOVQ DI, ret+64(FP)
	VZEROUPPER
	RET

// FREQUENCY inserts lane I of X: that of the I-th document from R14 on, or 0 behind the
// end of the column.
#define FREQUENCY(I, X) \
	MOVWLZX (2*I)(R14), AX; \
	LEAQ    (BX)(AX*1), R8; \
	CMPQ    AX, DX; \
	CMOVQCC SI, R8; \
	VPINSRB $I, (R8), X, X

#define FREQUENCIES(X) \
	VPXOR X, X, X; \
	FREQUENCY(0, X); \
	FREQUENCY(1, X); \
	FREQUENCY(2, X); \
	FREQUENCY(3, X); \
	FREQUENCY(4, X); \
	FREQUENCY(5, X); \
	FREQUENCY(6, X); \
	FREQUENCY(7, X)

// REFINE8 refines the eight candidates from R12 on, whose frequencies are in Y3.
#define REFINE8 \
	VMOVUPS   (R11)(R12*4), Y6; \
	VMOVDQU   (DI)(R12*2), X0; \
	VCVTDQ2PS Y3, Y3; \
	VADDPS    Y6, Y3, Y4; \
	VDIVPS    Y4, Y3, Y3; \
	VMULPS    Y15, Y3, Y3; \
	VADDPS    (R10)(R12*4), Y3, Y3; \
	VADDPS    Y12, Y3, Y5; \
	VCMPPS    $13, Y11, Y5, Y5; \
	VMOVMSKPS Y5, R8; \
	VPMOVZXBD (R9)(R8*8), Y5; \
	VPERMPS   Y3, Y5, Y3; \
	VMOVUPS   Y3, (R10)(R13*4); \
	VPERMPS   Y6, Y5, Y6; \
	VMOVUPS   Y6, (R11)(R13*4); \
	VPMOVZXBW (R9)(R8*8), X5; \
	VPMULLW   X10, X5, X5; \
	VPADDW    X9, X5, X5; \
	VPSHUFB   X5, X0, X0; \
	VMOVDQU   X0, (DI)(R13*2); \
	POPCNTL   R8, R8; \
	ADDQ      R8, R13; \
	ADDQ      $8, R12

DATA absent<>+0x00(SB)/1, $0
GLOBL absent<>(SB), RODATA|NOPTR, $1

// func refine8(docs *uint16, sums, norms *float32, read, kept, n int, column *uint8, length int, lanes *[256][8]uint8, weight, rest, cutoff float32) (int, int)
// refine16 with twice eight candidates at a time; fewer than sixteen are left.
TEXT ·refine8(SB), NOSPLIT, $0-104
	MOVQ         docs+0(FP), DI
	MOVQ         sums+8(FP), R10
	MOVQ         norms+16(FP), R11
	MOVQ         read+24(FP), R12
	MOVQ         kept+32(FP), R13
	MOVQ         n+40(FP), CX
	MOVQ         column+48(FP), BX
	MOVQ         length+56(FP), DX
	MOVQ         laneTable+64(FP), R9
	LEAQ         absent<>(SB), SI
	VBROADCASTSS weight+72(FP), Y15
	VBROADCASTSS rest+76(FP), Y12
	VBROADCASTSS cutoff+80(FP), Y11
	VPCMPEQD     Y13, Y13, Y13
	VPSRLD       $24, Y13, Y13           // largeTF
	VPCMPEQW     X9, X9, X9
	VPSRLW       $15, X9, X9
	VPSLLW       $1, X9, X10
	VPSLLW       $8, X9, X9              // 0x0100 a word
	VPSLLW       $8, X10, X8
	VPOR         X8, X10, X10            // 0x0202: a lane's number becomes those of its bytes
	SUBQ         R12, CX
	SUBQ         $16, CX
	JLT          refined

refine:
	LEAQ      (DI)(R12*2), R14
	FREQUENCIES(X1)
	ADDQ      $16, R14
	FREQUENCIES(X2)
	VPMOVZXBD X1, Y3
	VPMOVZXBD X2, Y7
	VPCMPEQD  Y13, Y3, Y4
	VPCMPEQD  Y13, Y7, Y5
	VPOR      Y4, Y5, Y4
	VPTEST    Y4, Y4
	JNE       refined
	REFINE8
	VMOVDQA   Y7, Y3
	REFINE8
	SUBQ      $16, CX
	JGE       refine

refined:
	MOVQ R12, ret+88(FP)
	MOVQ R13, ret1+96(FP)
	VZEROUPPER
	RET
