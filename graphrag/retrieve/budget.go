// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"fmt"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Budget returns a retriever that keeps what is to be read within
// Question.Tokens, as [Fit] does. Without a budget it changes nothing. It asks r
// for more chunks until the budget is full.
func Budget(r graphrag.Retriever, count func(string) int) (graphrag.Retriever, error) {
	var errs []error
	if r == nil {
		errs = append(errs, fmt.Errorf("retrieve: Budget: %w", errMissing))
	}
	if count == nil {
		errs = append(errs, errors.New("retrieve: Budget: the counter of tokens is missing"))
	}
	return budgeted{r, count}, errors.Join(errs...)
}

type budgeted struct {
	r     graphrag.Retriever
	count func(string) int
}

// tokensPerChunk is how long chunks are taken to be at first.
const tokensPerChunk = 100

func (b budgeted) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	if q.Tokens <= 0 {
		return b.r.Retrieve(ctx, q)
	}
	want := q.Want()
	var usage graphrag.Usage
	for n := q.Tokens/tokensPerChunk + 1; ; n *= 4 {
		wider := q
		wider.K, wider.Depth = n, max(n, want)
		found, err := b.r.Retrieve(ctx, wider)
		if err != nil {
			return found, err
		}
		usage = usage.Add(found.Usage)
		given := found.Read(wider)
		found.Evidence, found.Derived = Fit(given, found.Derived, q.Tokens, b.count)
		if len(found.Evidence) == len(given) && len(given) == n {
			continue // there may be room for more
		}
		found.Ranked = found.Ranked[:min(len(found.Ranked), max(want, len(found.Evidence)))]
		found.Usage = usage
		return found, nil
	}
}

// Within returns the beginning of a list that costs no more than a number of
// tokens.
func Within[T any](list []T, tokens int, cost func(T) int) []T {
	for i, x := range list {
		if tokens -= cost(x); tokens < 0 {
			return list[:i:i]
		}
	}
	return list
}

// Fit returns what of the evidence and the derived texts fits into a number of
// tokens. Derived texts get half of them, or what the evidence leaves, the rest goes
// to evidence, both in the order given, up to the first piece that does not fit.
// If nothing fits at all, the first chunk is cut. The evidence is not nil.
func Fit(evidence []graphrag.Hit, derived []graphrag.Derived, tokens int, count func(string) int) ([]graphrag.Hit, []graphrag.Derived) {
	left := tokens
	for i := 0; i < len(evidence) && len(derived) > 0 && left > tokens/2; i++ {
		left = max(left-count(Titled(evidence[i].Chunk)), tokens/2)
	}
	used, notes := 0, 0
	for ; notes < len(derived); notes++ {
		n := count(derived[notes].Text)
		if used+n > left {
			break
		}
		used += n
	}
	left = tokens - used
	out := []graphrag.Hit{}
	for _, h := range evidence {
		n := count(Titled(h.Chunk))
		if n > left {
			if len(out) == 0 && notes == 0 {
				out = append(out, shorten(h, left, count))
			}
			break
		}
		left -= n
		out = append(out, h)
	}
	return out, derived[:notes:notes]
}

// shorten cuts a hit to as many whole words as fit into a number of tokens, and
// moves the end of its source span accordingly.
func shorten(h graphrag.Hit, tokens int, count func(string) int) graphrag.Hit {
	full := h.Chunk
	var ends []int // of each word
	inside := false
	for i, r := range full.Text {
		if inside && unicode.IsSpace(r) {
			ends = append(ends, i)
		}
		inside = !unicode.IsSpace(r)
	}
	if inside {
		ends = append(ends, len(full.Text))
	}
	low, high := 0, len(ends) // low words fit, high+1 do not
	for low < high {
		middle := (low + high + 1) / 2
		h.Chunk.Text = full.Text[:ends[middle-1]]
		if count(Titled(h.Chunk)) <= tokens {
			low = middle
		} else {
			high = middle - 1
		}
	}
	h.Chunk.Text = ""
	if low > 0 {
		h.Chunk.Text = full.Text[:ends[low-1]]
	}
	// The text of a chunk is its source span, unless it was cleaned. Cleaning only
	// ever takes bytes away.
	if len(full.Text) == full.End-full.Start {
		h.Chunk.End = full.Start + len(h.Chunk.Text)
	}
	h.Chunk.Tokens = 0 // no longer known in the splitter's units
	return h
}
