// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// What a row does with all its lanes, eight at a time. Products are rounded before they are
// added, as in Go.

// Eight lanes of backwardRow from AT on, of floats from HALF on.
#define BACKWARD(AT, HALF) \
	VMULPD    AT(AX), Z10, Z0;    \
	VMOVUPD   Z0, AT(SI);         \
	VMULPD    Z11, Z0, Z1;        \
	VCVTPS2PD HALF(R8), Z2;       \
	VMULPD    AT(R9), Z2, Z2;     \
	VADDPD    AT(BX), Z2, Z2;     \
	VADDPD    Z1, Z2, Z2;         \
	VMULPD    AT(R10), Z2, Z2;    \
	VCVTPD2PS Z2, Y2;             \
	VMOVUPS   Y2, HALF(DI);       \
	VCVTPS2PD Y2, Z2;             \
	VSUBPD    Z1, Z2, Z2;         \
	VCVTPD2PS Z2, Y2;             \
	VMOVUPS   Y2, HALF(R8)

// func backwardRowAVX512(sum, r, w *lane, t, z *[lanes]float32, beta, going *lane, by, inverse float64)
TEXT ·backwardRowAVX512(SB), NOSPLIT, $0-72
	MOVQ sum+0(FP), AX
	MOVQ r+8(FP), BX
	MOVQ w+16(FP), SI
	MOVQ t+24(FP), DI
	MOVQ z+32(FP), R8
	MOVQ beta+40(FP), R9
	MOVQ going+48(FP), R10
	VBROADCASTSD by+56(FP), Z10
	VBROADCASTSD inverse+64(FP), Z11
	BACKWARD(0, 0)
	BACKWARD(64, 32)
	VZEROUPPER
	RET

// Eight lanes of forwardRow from AT on, of floats from HALF on.
#define FORWARD(AT, HALF) \
	VMULPD    AT(AX), Z10, Z0;  \
	VMOVUPD   AT(SI), Z1;       \
	VSUBPD    Z1, Z0, Z0;       \
	VMULPD    Z11, Z0, Z0;      \
	VMOVUPD   Z0, AT(SI);       \
	VCVTPS2PD HALF(DI), Z2;     \
	VMULPD    Z12, Z2, Z3;      \
	VSUBPD    Z1, Z3, Z3;       \
	VADDPD    Z0, Z2, Z2;       \
	VMULPD    Z2, Z3, Z3;       \
	VADDPD    AT(R8), Z3, Z3;   \
	VMOVUPD   Z3, AT(R8)

// func forwardRowAVX512(sum, w *lane, t *[lanes]float32, dot *lane, by, pivot, inverse float64)
TEXT ·forwardRowAVX512(SB), NOSPLIT, $0-56
	MOVQ sum+0(FP), AX
	MOVQ w+8(FP), SI
	MOVQ t+16(FP), DI
	MOVQ dot+24(FP), R8
	VBROADCASTSD by+32(FP), Z10
	VBROADCASTSD pivot+40(FP), Z12
	VBROADCASTSD inverse+48(FP), Z11
	FORWARD(0, 0)
	FORWARD(64, 32)
	VZEROUPPER
	RET

// Eight lanes of a row of stepRows from AT on, of floats from HALF on: ALPHA goes, RHO and
// NORM add up.
#define STEP(AT, HALF, ALPHA, RHO, NORM) \
	VCVTPS2PD HALF(DI), Z0;      \
	VMULPD    ALPHA, Z0, Z1;     \
	VADDPD    AT(AX), Z1, Z1;    \
	VMOVUPD   Z1, AT(AX);        \
	VADDPD    AT(SI), Z0, Z0;    \
	VMULPD    ALPHA, Z0, Z0;     \
	VMOVUPD   AT(BX), Z1;        \
	VSUBPD    Z0, Z1, Z1;        \
	VMOVUPD   Z1, AT(BX);        \
	VMULPD    Z1, Z1, Z2;        \
	VMULPD    Z10, Z2, Z2;       \
	VADDPD    Z2, RHO, RHO;      \
	VPANDQ    Z12, Z1, Z1;       \
	VMULPD    Z11, Z1, Z1;       \
	VADDPD    Z1, NORM, NORM

// func stepRowsAVX512(y, r, w *lane, t *[lanes]float32, pivot, strength *float64, n int, alpha, rho, norm *lane)
TEXT ·stepRowsAVX512(SB), NOSPLIT, $0-80
	MOVQ y+0(FP), AX
	MOVQ r+8(FP), BX
	MOVQ w+16(FP), SI
	MOVQ t+24(FP), DI
	MOVQ pivot+32(FP), R8
	MOVQ strength+40(FP), R9
	MOVQ n+48(FP), CX
	MOVQ alpha+56(FP), R10
	MOVQ $0x7fffffffffffffff, DX
	VPBROADCASTQ DX, Z12
	VMOVUPD (R10), Z4
	VMOVUPD 64(R10), Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
	VPXORQ Z8, Z8, Z8
	VPXORQ Z9, Z9, Z9

row:
	VBROADCASTSD (R8), Z10
	VBROADCASTSD (R9), Z11
	STEP(0, 0, Z4, Z6, Z8)
	STEP(64, 32, Z5, Z7, Z9)
	ADDQ $128, AX
	ADDQ $128, BX
	ADDQ $128, SI
	ADDQ $64, DI
	ADDQ $8, R8
	ADDQ $8, R9
	DECQ CX
	JNZ  row
	MOVQ rho+64(FP), R8
	MOVQ norm+72(FP), R9
	VMOVUPD Z6, (R8)
	VMOVUPD Z7, 64(R8)
	VMOVUPD Z8, (R9)
	VMOVUPD Z9, 64(R9)
	VZEROUPPER
	RET
