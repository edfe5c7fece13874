// SPDX-License-Identifier: Apache-2.0

package text

import "iter"

// List is a list of texts, each made when it is read: the passages of a corpus under their
// titles are no second corpus in memory. It is safe for concurrent use.
type List struct {
	n  int
	at func(i int) string
}

// NewList is the list of n texts that at returns, the same ones whenever it is called, also
// by several goroutines at once.
func NewList(n int, at func(i int) string) List { return List{n, at} }

// Strings is the list of texts that are there.
func Strings(texts []string) List { return List{len(texts), func(i int) string { return texts[i] }} }

// Len is the number of texts.
func (l List) Len() int { return l.n }

// At is a text.
func (l List) At(i int) string { return l.at(i) }

// All are the texts in their order.
func (l List) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range l.n {
			if !yield(l.at(i)) {
				return
			}
		}
	}
}
