// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// The kernels add up sixteen lanes in Z0 and Z1, arc by arc, n of them, at least one.
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

// func fetch64AVX512(targets *int32, n int, p unsafe.Pointer)
TEXT ·fetch64AVX512(SB), NOSPLIT, $0-24
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

// func fetch32AVX512(targets *int32, n int, p unsafe.Pointer)
TEXT ·fetch32AVX512(SB), NOSPLIT, $0-24
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
