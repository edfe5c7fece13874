// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// The kernels add up sixteen lanes in Z0 and Z1 or Y0 to Y3, arc by arc, n of them, at
// least one.
// Products are rounded before they are added, as in Go, so the sums are the same bits.

#define BEGIN \
	MOVQ   targets+0(FP), SI; \
	MOVQ   weights+8(FP), DX; \
	MOVQ   n+16(FP), CX;      \
	MOVQ   p+24(FP), DI;      \
	VPXORQ Z0, Z0, Z0;        \
	VPXORQ Z1, Z1, Z1

#define END \
	MOVQ    sum+32(FP), R8; \
	VMOVUPD Z0, (R8);       \
	VMOVUPD Z1, 64(R8);     \
	VZEROUPPER

// func sum64AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum64AVX512(SB), NOSPLIT, $0-40
	BEGIN

loop:
	MOVLQSX (SI), AX
	SHLQ    $7, AX
	VADDPD (DI)(AX*1), Z0, Z0
	VADDPD 64(DI)(AX*1), Z1, Z1
	ADDQ $4, SI
	DECQ CX
	JNZ  loop
	END
	RET

// func sum64by32AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum64by32AVX512(SB), NOSPLIT, $0-40
	BEGIN

loop:
	MOVLQSX (SI), AX
	SHLQ    $7, AX
	VBROADCASTSS (DX), Y2
	VCVTPS2PD    Y2, Z2
	VMULPD (DI)(AX*1), Z2, Z3
	VMULPD 64(DI)(AX*1), Z2, Z4
	VADDPD Z3, Z0, Z0
	VADDPD Z4, Z1, Z1
	ADDQ $4, SI
	ADDQ $4, DX
	DECQ CX
	JNZ  loop
	END
	RET

// func sum64by64AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum64by64AVX512(SB), NOSPLIT, $0-40
	BEGIN

loop:
	MOVLQSX (SI), AX
	SHLQ    $7, AX
	VBROADCASTSD (DX), Z2
	VMULPD (DI)(AX*1), Z2, Z3
	VMULPD 64(DI)(AX*1), Z2, Z4
	VADDPD Z3, Z0, Z0
	VADDPD Z4, Z1, Z1
	ADDQ $4, SI
	ADDQ $8, DX
	DECQ CX
	JNZ  loop
	END
	RET

// func sum32AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum32AVX512(SB), NOSPLIT, $0-40
	BEGIN

loop:
	MOVLQSX (SI), AX
	SHLQ    $6, AX
	VCVTPS2PD (DI)(AX*1), Z3
	VCVTPS2PD 32(DI)(AX*1), Z4
	VADDPD Z3, Z0, Z0
	VADDPD Z4, Z1, Z1
	ADDQ $4, SI
	DECQ CX
	JNZ  loop
	END
	RET

// func sum32by32AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum32by32AVX512(SB), NOSPLIT, $0-40
	BEGIN

loop:
	MOVLQSX (SI), AX
	SHLQ    $6, AX
	VBROADCASTSS (DX), Y2
	VCVTPS2PD    Y2, Z2
	VCVTPS2PD (DI)(AX*1), Z3
	VCVTPS2PD 32(DI)(AX*1), Z4
	VMULPD Z3, Z2, Z3
	VMULPD Z4, Z2, Z4
	VADDPD Z3, Z0, Z0
	VADDPD Z4, Z1, Z1
	ADDQ $4, SI
	ADDQ $4, DX
	DECQ CX
	JNZ  loop
	END
	RET

// func sum32by64AVX512(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum32by64AVX512(SB), NOSPLIT, $0-40
	BEGIN

loop:
	MOVLQSX (SI), AX
	SHLQ    $6, AX
	VBROADCASTSD (DX), Z2
	VCVTPS2PD (DI)(AX*1), Z3
	VCVTPS2PD 32(DI)(AX*1), Z4
	VMULPD Z3, Z2, Z3
	VMULPD Z4, Z2, Z4
	VADDPD Z3, Z0, Z0
	VADDPD Z4, Z1, Z1
	ADDQ $4, SI
	ADDQ $8, DX
	DECQ CX
	JNZ  loop
	END
	RET

#define BEGIN256 \
	MOVQ   targets+0(FP), SI; \
	MOVQ   weights+8(FP), DX; \
	MOVQ   n+16(FP), CX;      \
	MOVQ   p+24(FP), DI;      \
	VPXOR  Y0, Y0, Y0;        \
	VPXOR  Y1, Y1, Y1;        \
	VPXOR  Y2, Y2, Y2;        \
	VPXOR  Y3, Y3, Y3

#define END256 \
	MOVQ    sum+32(FP), R8; \
	VMOVUPD Y0, (R8);       \
	VMOVUPD Y1, 32(R8);     \
	VMOVUPD Y2, 64(R8);     \
	VMOVUPD Y3, 96(R8);     \
	VZEROUPPER

#define ADD256 \
	VADDPD Y4, Y0, Y0; \
	VADDPD Y5, Y1, Y1; \
	VADDPD Y6, Y2, Y2; \
	VADDPD Y7, Y3, Y3

#define LOAD32 \
	MOVLQSX   (SI), AX;           \
	SHLQ      $6, AX;             \
	VCVTPS2PD (DI)(AX*1), Y4;     \
	VCVTPS2PD 16(DI)(AX*1), Y5;   \
	VCVTPS2PD 32(DI)(AX*1), Y6;   \
	VCVTPS2PD 48(DI)(AX*1), Y7

#define TIMES \
	VMULPD Y4, Y8, Y4; \
	VMULPD Y5, Y8, Y5; \
	VMULPD Y6, Y8, Y6; \
	VMULPD Y7, Y8, Y7

#define TIMES64 \
	MOVLQSX (SI), AX;             \
	SHLQ    $7, AX;               \
	VMULPD  (DI)(AX*1), Y8, Y4;   \
	VMULPD  32(DI)(AX*1), Y8, Y5; \
	VMULPD  64(DI)(AX*1), Y8, Y6; \
	VMULPD  96(DI)(AX*1), Y8, Y7

#define WEIGHT32 \
	VBROADCASTSS (DX), X8;   \
	VCVTPS2PD    X8, Y8;     \
	ADDQ         $4, DX

#define WEIGHT64 \
	VBROADCASTSD (DX), Y8; \
	ADDQ         $8, DX

// func sum64AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum64AVX2(SB), NOSPLIT, $0-40
	BEGIN256

loop:
	MOVLQSX (SI), AX
	SHLQ    $7, AX
	VADDPD  (DI)(AX*1), Y0, Y0
	VADDPD  32(DI)(AX*1), Y1, Y1
	VADDPD  64(DI)(AX*1), Y2, Y2
	VADDPD  96(DI)(AX*1), Y3, Y3
	ADDQ $4, SI
	DECQ CX
	JNZ  loop
	END256
	RET

// func sum64by32AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum64by32AVX2(SB), NOSPLIT, $0-40
	BEGIN256

loop:
	WEIGHT32
	TIMES64
	ADD256
	ADDQ $4, SI
	DECQ CX
	JNZ  loop
	END256
	RET

// func sum64by64AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum64by64AVX2(SB), NOSPLIT, $0-40
	BEGIN256

loop:
	WEIGHT64
	TIMES64
	ADD256
	ADDQ $4, SI
	DECQ CX
	JNZ  loop
	END256
	RET

// func sum32AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum32AVX2(SB), NOSPLIT, $0-40
	BEGIN256

loop:
	LOAD32
	ADD256
	ADDQ $4, SI
	DECQ CX
	JNZ  loop
	END256
	RET

// func sum32by32AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum32by32AVX2(SB), NOSPLIT, $0-40
	BEGIN256

loop:
	WEIGHT32
	LOAD32
	TIMES
	ADD256
	ADDQ $4, SI
	DECQ CX
	JNZ  loop
	END256
	RET

// func sum32by64AVX2(targets *int32, weights unsafe.Pointer, n int, p unsafe.Pointer, sum *lane)
TEXT ·sum32by64AVX2(SB), NOSPLIT, $0-40
	BEGIN256

loop:
	WEIGHT64
	LOAD32
	TIMES
	ADD256
	ADDQ $4, SI
	DECQ CX
	JNZ  loop
	END256
	RET

// func fetch8(targets *int32, n int, p unsafe.Pointer)
TEXT ·fetch8(SB), NOSPLIT, $0-24
	MOVQ targets+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ p+16(FP), DI

loop:
	MOVLQSX    (SI), AX
	PREFETCHT0 (DI)(AX*8)
	ADDQ       $4, SI
	DECQ       CX
	JNZ        loop
	RET

// func fetch4(targets *int32, n int, p unsafe.Pointer)
TEXT ·fetch4(SB), NOSPLIT, $0-24
	MOVQ targets+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ p+16(FP), DI

loop:
	MOVLQSX    (SI), AX
	PREFETCHT0 (DI)(AX*4)
	ADDQ       $4, SI
	DECQ       CX
	JNZ        loop
	RET

// func fetch128(targets *int32, n int, p unsafe.Pointer)
TEXT ·fetch128(SB), NOSPLIT, $0-24
	MOVQ targets+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ p+16(FP), DI

loop:
	MOVLQSX     (SI), AX
	SHLQ        $7, AX
	PREFETCHT0  (DI)(AX*1)
	PREFETCHT0  64(DI)(AX*1)
	ADDQ        $4, SI
	DECQ        CX
	JNZ         loop
	RET

// func fetch64(targets *int32, n int, p unsafe.Pointer)
TEXT ·fetch64(SB), NOSPLIT, $0-24
	MOVQ targets+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ p+16(FP), DI

loop:
	MOVLQSX     (SI), AX
	SHLQ        $6, AX
	PREFETCHT0  (DI)(AX*1)
	ADDQ        $4, SI
	DECQ        CX
	JNZ         loop
	RET
