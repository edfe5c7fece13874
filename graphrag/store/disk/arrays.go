// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

var errFit = fmt.Errorf("%w: its arrays do not fit each other; build it again", flat.ErrFormat)

// texts are strings in a folder, by number.
type texts struct {
	arena []byte
	ends  []int64
}

func (t texts) len() int { return len(t.ends) }

// bytes is a text where it lies. What is read is not trusted: one whose ends are
// damaged is empty.
func (t texts) bytes(i int) []byte { return t.span(i, i+1) }

// span is where texts lie, from one up to another.
func (t texts) span(i, end int) []byte {
	first, last := int64(0), t.ends[end-1]
	if i > 0 {
		first = t.ends[i-1]
	}
	if first < 0 || first > last || last > int64(len(t.arena)) {
		return nil
	}
	return t.arena[first:last]
}

func (t texts) at(i int) string { return string(t.bytes(i)) }

// search is where s is, or would be, among texts in order.
func (t texts) search(s string) (int, bool) {
	i := sort.Search(t.len(), func(i int) bool { return string(t.bytes(i)) >= s })
	return i, i < t.len() && string(t.bytes(i)) == s
}

// viewTexts are the texts of a name. Nothing is read but the last end, so that a folder
// opens at once.
func viewTexts(f *flat.Folder, name string) (t texts, err error) {
	arena, err1 := flat.View[byte](f, name)
	ends, err2 := flat.View[int64](f, name+"-ends")
	if err := errors.Join(err1, err2); err != nil {
		return t, err
	}
	if n := len(ends); n == 0 && len(arena) > 0 || n > 0 && ends[n-1] != int64(len(arena)) {
		return t, errFit
	}
	return texts{arena, ends}, nil
}

// textsWriter writes texts.
type textsWriter struct {
	arena flat.Array[byte]
	ends  flat.Array[int64]
}

func newTexts(w *flat.Writer, name string) (t textsWriter, err error) {
	var err1, err2 error
	t.arena, err1 = flat.NewArray[byte](w, name)
	t.ends, err2 = flat.NewArray[int64](w, name+"-ends")
	return t, errors.Join(err1, err2)
}

func (t textsWriter) append(s string) {
	t.arena.Append([]byte(s)...)
	t.ends.Append(int64(t.arena.Len()))
}

// bits are a set of rows, which knows how many they are: searches ask.
type bits struct {
	words []uint64
	n     int
}

func newBits(rows int) bits { return bits{words: make([]uint64, (rows+63)/64)} }

func (b *bits) has(i int) bool { return b.words[i>>6]&(1<<(i&63)) != 0 }

func (b *bits) count() int { return b.n }

func (b *bits) add(i int) {
	if !b.has(i) {
		b.words[i>>6] |= 1 << (i & 63)
		b.n++
	}
}

func (b *bits) clone() bits { return bits{slices.Clone(b.words), b.n} }

// common calls found with the places of texts that are in both, which are in order. It
// gallops: a short list in a long one costs the logarithm for each, two long ones one
// pass.
func common(a, b texts, found func(i, j int)) {
	if a.len() > b.len() {
		common(b, a, func(j, i int) { found(i, j) })
		return
	}
	j := 0
	for i := range a.len() {
		s := string(a.bytes(i))
		step := 1
		for j+step < b.len() && string(b.bytes(j+step)) < s {
			step *= 2
		}
		j += sort.Search(min(step, b.len()-j), func(n int) bool { return string(b.bytes(j+n)) >= s })
		if j == b.len() {
			return
		}
		if string(b.bytes(j)) == s {
			found(i, j)
		}
	}
}
