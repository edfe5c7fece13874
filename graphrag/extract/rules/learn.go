// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Learn reads the chunks of a corpus. The order of the chunks and the number of
// workers (0 stands for one per processor) change nothing.
func Learn(ctx context.Context, chunks []graphrag.Chunk, workers int) (*Lexicon, error) {
	l, _, err := learn(ctx, chunks, workers)
	return l, err
}

// learn also returns the segments of each chunk.
func learn(ctx context.Context, chunks []graphrag.Chunk, workers int) (*Lexicon, [][]segment, error) {
	l := newLexicon()
	segments, err := l.count(ctx, chunks, workers)
	if err == nil {
		err = l.collect(ctx, chunks, segments, workers)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("rules: learn the lexicon: %w", err)
	}
	return l, segments, nil
}

// eachChunk calls do for every chunk, from workers that have a T each.
func eachChunk[T any](ctx context.Context, chunks []graphrag.Chunk, workers int, start func() T, do func(x *T, i int)) ([]T, error) {
	all := make([]T, max(1, min(par.Workers(workers), len(chunks))))
	for i := range all {
		all[i] = start()
	}
	return all, par.Ranges(ctx, len(chunks), 1, len(all), func(worker, i, _ int) error {
		do(&all[worker], i)
		return nil
	})
}

// count fills in the words and the lines, and returns the segments of each chunk:
// the first pass.
func (l *Lexicon) count(ctx context.Context, chunks []graphrag.Chunk, workers int) ([][]segment, error) {
	segments := make([][]segment, len(chunks))
	documents := numberDocuments(chunks)
	counters, err := eachChunk(ctx, chunks, workers, func() counter { return newCounter(l) }, func(c *counter, i int) {
		segments[i] = c.chunk(chunks[i].Text, documents[i])
	})
	if err != nil {
		return nil, err
	}
	// Words are numbered in the order of their letters, so that nothing
	// depends on who counted which.
	sums := map[string]counts{}
	var lines []occurrence
	for _, c := range counters {
		for word, n := range c.others {
			sum := sums[word]
			sums[word] = counts{sum.small + c.counts[n].small, sum.capital + c.counts[n].capital}
		}
		for n := range l.class {
			l.small[n] += c.known[n].small
			l.capital[n] += c.known[n].capital
		}
		lines = append(lines, c.lines...)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, word := range slices.Sorted(maps.Keys(sums)) {
		l.words[word] = int32(len(l.class))
		l.class = append(l.class, 0)
		l.small = append(l.small, sums[word].small)
		l.capital = append(l.capital, sums[word].capital)
	}
	l.shared(lines)
	return segments, ctx.Err()
}

// counts of a word inside sentences.
type counts struct{ small, capital uint32 }

// occurrence is a line in a document.
type occurrence struct {
	line     uint64
	document int32
}

// shared keeps the lines that stand in several documents.
func (l *Lexicon) shared(lines []occurrence) {
	slices.SortFunc(lines, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.document, b.document))
	})
	for i := 0; i < len(lines); {
		documents := 1
		j := i + 1
		for ; j < len(lines) && lines[j].line == lines[i].line; j++ {
			if lines[j].document != lines[j-1].document {
				documents++
			}
		}
		if documents >= sharedBy {
			l.lines[lines[i].line] = true
		}
		i = j
	}
}

// sharedBy is in how many documents a line stands that belongs to the pages
// around the texts, such as an item of a menu.
const sharedBy = 4

// counter is the first pass of one worker.
type counter struct {
	sentence
	known  []counts         // of the words of the tables
	others map[string]int32 // other words
	counts []counts
	lines  []occurrence
}

func newCounter(l *Lexicon) counter {
	return counter{sentence: newSentence(l), known: make([]counts, len(l.class)), others: map[string]int32{}}
}

func (c *counter) chunk(s string, document int32) []segment {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); len(line) > 2 {
			c.lines = append(c.lines, occurrence{hashLine(line), document})
		}
	}
	var out []segment
	for _, span := range text.Sentences(s) {
		c.open(s, span)
		k := c.layout()
		if k != boilerplate {
			out = append(out, segment{span, k})
		}
		if k != prose {
			continue
		}
		for i := range c.tokens {
			if t := &c.tokens[i]; t.kind == wordToken && !c.atStart(i) {
				c.add(t)
			}
		}
	}
	return out
}

func (c *counter) add(t *token) {
	var n *counts
	if t.word > 0 {
		n = &c.known[t.word]
	} else {
		c.lower = appendLower(c.lower[:0], c.text[t.start:t.end])
		at, ok := c.others[string(c.lower)]
		if !ok {
			at = int32(len(c.counts))
			c.others[string(c.lower)] = at
			c.counts = append(c.counts, counts{})
		}
		n = &c.counts[at]
	}
	if t.has(upperFirst | innerUpper) {
		n.capital++
	} else {
		n.small++
	}
}

// collect gathers the names of the prose: the second pass.
func (l *Lexicon) collect(ctx context.Context, chunks []graphrag.Chunk, segments [][]segment, workers int) error {
	type collector struct {
		finder
		found map[uint64]int32
	}
	start := func() collector {
		return collector{finder{mentions: mentions{sentence: newSentence(l)}, learning: true}, map[uint64]int32{}}
	}
	collectors, err := eachChunk(ctx, chunks, workers, start, func(x *collector, i int) {
		x.excerpt = chunks[i].Index > 0
		for _, s := range segments[i] {
			if s.layout == fragment {
				continue
			}
			x.open(chunks[i].Text, s.Span)
			x.find(s.layout)
			for i := range x.entities {
				if e := &x.entities[i]; !e.numeric() {
					x.found[x.key(e.first, e.last)]++
				}
			}
		}
	})
	total := 0
	for _, c := range collectors {
		for key, n := range c.found {
			l.names[key] += n
			total += int(n)
		}
	}
	l.large = total >= largeCorpus
	return err
}

// largeCorpus is how many names make a corpus large.
const largeCorpus = 2000

// numberDocuments gives each chunk the number of its document.
func numberDocuments(chunks []graphrag.Chunk) []int32 {
	numbers := map[string]int32{}
	out := make([]int32, len(chunks))
	for i := range chunks {
		n, ok := numbers[chunks[i].Doc]
		if !ok {
			n = int32(len(numbers))
			numbers[chunks[i].Doc] = n
		}
		out[i] = n
	}
	return out
}
