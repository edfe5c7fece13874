// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// DefaultK is the number of chunks that are read for a question without a K. A model reads
// DefaultTokens tokens at least, since five short notes do not contain a chain of facts.
const (
	DefaultK      = graphrag.DefaultK
	DefaultTokens = 2000
)

// amount is a question with its form and with how much is read for it.
type amount struct {
	graphrag.Question
	floor int // least tokens of what is read, 0 without one
}

// amount completes a question. The form goes by its wording where a model answers: the offline
// reader is calibrated for single facts.
func (k Kit) amount(q graphrag.Question) amount {
	a := amount{Question: q}
	asks := k.Answer != NameOffline
	if q.Form == "" && asks && text.AsksOverview(q.Text) {
		a.Form = graphrag.Overview
	}
	if q.K != 0 || q.Tokens != 0 || q.Depth != 0 {
		a.K = max(a.K, graphrag.NoEvidence)
		return a
	}
	a.K = DefaultK
	if asks {
		a.floor = DefaultTokens
		if a.Form == graphrag.Overview {
			a.K, a.floor = 2*a.K, 2*a.floor
		}
	}
	return a
}

// fill is the evidence with further ranked chunks, as long as everything that is read has no more
// tokens than the floor. Parts of what is read already are left out.
func (a amount) fill(found graphrag.Found, tokens func(string) int) []graphrag.Hit {
	left := a.floor
	for _, d := range found.Derived {
		left -= tokens(d.Text)
	}
	out := slices.Clip(found.Evidence)
	for _, h := range out {
		left -= tokens(retrieve.Shown(h.Chunk))
	}
	for _, h := range found.Ranked {
		if left <= 0 {
			break
		}
		if slices.ContainsFunc(out, func(o graphrag.Hit) bool {
			return o.Chunk.Doc == h.Chunk.Doc && o.Chunk.Start <= h.Chunk.Start && h.Chunk.End <= o.Chunk.End
		}) {
			continue
		}
		if left -= tokens(retrieve.Shown(h.Chunk)); left >= 0 {
			out = append(out, h)
		}
	}
	return out
}
