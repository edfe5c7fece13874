// SPDX-License-Identifier: Apache-2.0

package fusion

import (
	"cmp"
	"slices"
)

// Scored is one entry of a list with scores.
type Scored[ID cmp.Ordered] struct {
	ID    ID
	Score float64
}

// Interleave takes the first of every list, then the second of every list,
// and so on, leaving out what it has already taken.
func Interleave[ID cmp.Ordered](lists ...[]ID) []ID {
	longest, total := 0, 0
	for _, list := range lists {
		longest = max(longest, len(list))
		total += len(list)
	}
	merged := make([]ID, 0, total)
	taken := make(map[ID]struct{}, total)
	for rank := range longest {
		for _, list := range lists {
			if rank >= len(list) {
				continue
			}
			if _, again := taken[list[rank]]; !again {
				taken[list[rank]] = struct{}{}
				merged = append(merged, list[rank])
			}
		}
	}
	return merged
}

// ballot collects the shares that lists give to identifiers.
type ballot[ID cmp.Ordered] struct {
	shares []Scored[ID]
	seen   map[ID]struct{} // of the list being read
}

func newBallot[ID cmp.Ordered](capacity int) *ballot[ID] {
	return &ballot[ID]{
		shares: make([]Scored[ID], 0, capacity),
		seen:   make(map[ID]struct{}),
	}
}

// startList forgets which identifiers were seen.
func (b *ballot[ID]) startList() { clear(b.seen) }

// first reports whether id is met for the first time in this list.
func (b *ballot[ID]) first(id ID) bool {
	if _, again := b.seen[id]; again {
		return false
	}
	b.seen[id] = struct{}{}
	return true
}

func (b *ballot[ID]) add(id ID, share float64) {
	b.shares = append(b.shares, Scored[ID]{id, share})
}

// count adds up the shares of each identifier and ranks the sums. Shares are
// added in ascending order, which makes the sum independent of the order of
// the lists. With votes, the sum is multiplied by the number of shares.
func (b *ballot[ID]) count(votes bool) []Scored[ID] {
	slices.SortFunc(b.shares, func(x, y Scored[ID]) int {
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Score, y.Score))
	})
	merged := b.shares[:0]
	for start := 0; start < len(b.shares); {
		end, sum := start, 0.0
		for ; end < len(b.shares) && cmp.Compare(b.shares[end].ID, b.shares[start].ID) == 0; end++ {
			sum += b.shares[end].Score
		}
		if votes {
			sum *= float64(end - start)
		}
		merged = append(merged, Scored[ID]{b.shares[start].ID, sum})
		start = end
	}
	slices.SortFunc(merged, func(x, y Scored[ID]) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.ID, y.ID))
	})
	return merged
}
