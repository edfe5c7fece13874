// SPDX-License-Identifier: Apache-2.0

package text

import "testing"

// Eight bytes at once are what the table says of each.
func TestWordBytes(t *testing.T) {
	for c := range 256 {
		for at := range 8 {
			b := []byte("aZ09zA5q")
			b[at] = byte(c)
			lower, n := wordBytes(load64(string(b)))
			want := 8
			if ascii[c] == 0 || ascii[c] == wide {
				want = at
			}
			if n != want {
				t.Fatalf("byte %#02x at %d: %d bytes of a word, want %d", c, at, n, want)
			}
			for i := range n {
				if got := byte(lower >> (8 * i)); got != ascii[b[i]] {
					t.Fatalf("byte %#02x became %#02x, want %#02x", b[i], got, ascii[b[i]])
				}
			}
		}
	}
}
