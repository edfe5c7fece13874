// SPDX-License-Identifier: Apache-2.0

package load

import "strings"

// lineEnd returns the offset after the line feed that ends the line at start.
func lineEnd(s string, start int) int {
	if i := strings.IndexByte(s[start:], '\n'); i >= 0 {
		return start + i + 1
	}
	return len(s)
}

// lines yields the lines of a text with their offsets.
func lines(s string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for at := 0; at < len(s); {
			end := lineEnd(s, at)
			if !yield(at, s[at:end]) {
				return
			}
			at = end
		}
	}
}

// lineStarts are the offsets at which the lines of a text begin.
func lineStarts(s string) []int {
	starts := []int{0}
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// Bounds of what is taken apart at all: lines of a text, columns of a row, and values of
// JSON. A file beyond them is read as text.
const (
	maxLines  = 1 << 20
	maxCells  = 1 << 16
	maxValues = 1 << 20
)

// manyLines tells whether a text has too many lines to be taken apart.
func manyLines(s string) bool { return strings.Count(s, "\n") > maxLines }
