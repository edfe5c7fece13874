// SPDX-License-Identifier: Apache-2.0

// Package codec writes and reads binary files that notice damage.
//
// A file begins with eight bytes, seven that name its kind and one for the
// version of its format. Blocks of up to 64 KiB follow: the length as uint32, the
// bytes, and the CRC-32C of the file up to there; a block of no bytes ends it.
// What the blocks hold is for the caller to say. All is little-endian.
//
// A [Reader] reads a file and not a byte more, trusts no block before its checksum
// is found right, and takes no more memory than in proportion to what it has
// read. Errors of both kinds stick: only the last call needs to be looked at.
package codec

import (
	"errors"
	"hash/crc32"
)

// ErrFormat is wrapped by the errors for bytes that are not a file of the kind,
// not whole, damaged, or of another version.
var ErrFormat = errors.New("not a valid file")

const (
	blockBytes = 1 << 16
	kindBytes  = 7
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is what a file of a kind begins with.
func header(kind string, version byte) []byte {
	b := make([]byte, kindBytes+1)
	copy(b[:kindBytes], kind)
	b[kindBytes] = version
	return b
}
