// SPDX-License-Identifier: Apache-2.0

package tokens

import "testing"

// Eight bytes at once are what the table says of each.
func TestASCIILetters(t *testing.T) {
	table := basicPlane()
	for c := range 256 {
		for at := range 9 {
			b := []byte("abcdefghi")
			b[at] = byte(c)
			for fold, in := range map[uint64]set{0x20: letters, 0: tails} {
				want := 8 // the ninth is left to others
				if at < 8 && (c >= 0x80 || !table[c].in(in)) {
					want = at
				}
				if got := asciiLetters(string(b), 0, fold); got != want {
					t.Fatalf("byte %#02x at %d, fold %#x: %d, want %d", c, at, fold, got, want)
				}
			}
		}
	}
}
