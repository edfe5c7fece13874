// SPDX-License-Identifier: Apache-2.0

package passage

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// Lengths in tokens, beside those of the options.
const (
	maxSentence = 90 // a longer one is cut evenly
	minHeaded   = 20 // from here on a heading begins a new unit
	minLast     = 40 // a shorter last unit joins the one before
)

// Unit is a run of whole sentences.
type Unit struct {
	Start, End int // in the clean text of its page
	From, To   int // in its source
	Tokens     int // without the separator to the next
}

// piece is a sentence, or a part of a long one, in the clean text.
type piece struct {
	Unit
	heading bool
}

// units puts together the clean text of a page and its units.
func (d *draft) units(ctx context.Context, most int) (clean string, units []Unit, err error) {
	var b strings.Builder
	pieces := make([]piece, len(d.sentences))
	for i, s := range d.sentences {
		if i > 0 {
			b.WriteString(separator(d.bare[d.sentences[i-1].End:s.Start]))
		}
		source := d.mapping.Span(s.Span)
		pieces[i] = piece{Unit{Start: b.Len(), From: source.Start, To: source.End}, d.bare[s.Start] == '#'}
		b.WriteString(s.In(d.bare))
		pieces[i].End = b.Len()
	}
	clean = b.String()
	starts, err := tokens.Cl100k().Starts(ctx, nil, clean)
	if err != nil {
		return "", nil, err
	}
	var cut []piece
	at := 0
	for i, p := range pieces {
		first := at
		for at < len(starts) && int(starts[at]) < p.End {
			at++
		}
		p.Tokens = at - first
		if p.Tokens <= maxSentence {
			cut = append(cut, p)
			continue
		}
		cut = d.evenly(cut, p, d.sentences[i].Start, clean, starts[first:at])
	}
	return clean, pack(cut, most), nil
}

// separator is what stands between two sentences that stay, of what stood there.
func separator(gap string) string {
	switch {
	case gap == "":
		return ""
	case strings.Contains(gap, "\n"):
		return "\n"
	}
	return " "
}

// evenly cuts a long sentence, which begins at bare in the page without links, into
// parts of about the same length, between words where there are any.
func (d *draft) evenly(cut []piece, p piece, bare int, clean string, starts []int32) []piece {
	parts := (len(starts) + maxSentence - 1) / maxSentence
	from, first := p.Start, 0
	for i := 1; i <= parts; i++ {
		to, last := p.End, len(starts)
		if i < parts {
			last = between(clean, starts, i*len(starts)/parts)
			for to = int(starts[last]); to < p.End && !utf8.RuneStart(clean[to]); to++ {
			}
		}
		if to <= from {
			continue
		}
		source := d.mapping.Span(text.Span{Start: bare + from - p.Start, End: bare + to - p.Start})
		cut = append(cut, piece{Unit{from, to, source.Start, source.End, last - first}, p.heading && i == 1})
		from, first = to, last
	}
	return cut
}

// between is the first of a few tokens from at on that begins with white space, or at.
func between(clean string, starts []int32, at int) int {
	for i := at; i < min(at+8, len(starts)); i++ {
		if c := clean[starts[i]]; c == ' ' || c == '\n' || c == '\t' {
			return i
		}
	}
	return at
}

// pack makes units of pieces.
func pack(pieces []piece, most int) []Unit {
	var units []Unit
	for i, p := range pieces {
		last := len(units) - 1
		if i == 0 || units[last].Tokens+p.Tokens > most || p.heading && units[last].Tokens >= minHeaded {
			units = append(units, p.Unit)
			continue
		}
		units[last].join(p.Unit)
	}
	if last := len(units) - 1; last > 0 && units[last].Tokens < minLast {
		units[last-1].join(units[last])
		units = units[:last]
	}
	return units
}

// join lets a unit go on to the end of the next.
func (u *Unit) join(next Unit) {
	u.End, u.To = next.End, next.To
	u.Tokens += next.Tokens
}
