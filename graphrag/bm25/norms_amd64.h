// SPDX-License-Identifier: Apache-2.0

// INDEX loads the document OFF bytes behind SI.
#define INDEX(OFF) \
	MOVWLZX OFF(SI), AX; \
	ANDL    $8191, AX

// NORMS4 leaves in V the norms of the four documents OFF bytes behind SI: one by one,
// which takes half the time of a gather.
#define NORMS4(OFF, V) \
	INDEX(OFF+0); \
	VMOVSS    (BX)(AX*4), V; \
	INDEX(OFF+2); \
	VINSERTPS $0x10, (BX)(AX*4), V, V; \
	INDEX(OFF+4); \
	VINSERTPS $0x20, (BX)(AX*4), V, V; \
	INDEX(OFF+6); \
	VINSERTPS $0x30, (BX)(AX*4), V, V
