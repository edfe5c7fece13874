// SPDX-License-Identifier: Apache-2.0

package load

// Escape and Together export functions for tests.
var Escape, Together = escapeLine, together

// SetPieceSize sets the size of the pieces of files of records, and returns the former size.
func SetPieceSize(n int) (was int) { was, pieceSize = pieceSize, n; return was }
