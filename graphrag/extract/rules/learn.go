// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Learn reads the chunks of a corpus. The order of the chunks and the number of
// workers (0 stands for one per processor) change nothing.
func Learn(ctx context.Context, chunks []graphrag.Chunk, workers int) (*Lexicon, error) {
	l, _, err := learn(ctx, chunks, workers)
	return l, err
}

// learn also returns the sentences of each chunk.
func learn(ctx context.Context, chunks []graphrag.Chunk, workers int) (*Lexicon, [][]segment, error) {
	l := newLexicon()
	sentences := l.count(ctx, chunks, workers)
	l.collect(ctx, chunks, sentences, workers)
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("rules: learn the lexicon: %w", err)
	}
	return l, sentences, nil
}

// count fills in the words and the lines, and returns the sentences of each
// chunk.
func (l *Lexicon) count(ctx context.Context, chunks []graphrag.Chunk, workers int) [][]segment {
	sentences := make([][]segment, len(chunks))
	documents := numberDocuments(chunks)
	tallies := make([]*counter, workerCount(workers, len(chunks)))
	for i := range tallies {
		tallies[i] = newCounter(l)
	}
	each(ctx, len(chunks), len(tallies), func(worker, i int) {
		sentences[i] = tallies[worker].chunk(chunks[i].Text, documents[i])
	})
	// Words are numbered in the order of their letters, so that nothing
	// depends on who counted which.
	sums := map[string]counts{}
	var lines []sighting
	for _, c := range tallies {
		for word, n := range c.own {
			sum := sums[word]
			sums[word] = counts{sum.small + c.counts[n].small, sum.capital + c.counts[n].capital}
		}
		for n := range l.class {
			l.small[n] += c.known[n].small
			l.capital[n] += c.known[n].capital
		}
		lines = append(lines, c.lines...)
	}
	own := make([]string, 0, len(sums))
	for word := range sums {
		own = append(own, word)
	}
	slices.Sort(own)
	for _, word := range own {
		l.words[word] = int32(len(l.class))
		l.class = append(l.class, 0)
		l.small = append(l.small, sums[word].small)
		l.capital = append(l.capital, sums[word].capital)
	}
	l.shared(lines)
	return sentences
}

// counts of a word inside sentences.
type counts struct{ small, capital uint32 }

// sighting is a line in a document.
type sighting struct {
	line     uint64
	document int32
}

// shared keeps the lines that stand in several documents.
func (l *Lexicon) shared(lines []sighting) {
	slices.SortFunc(lines, func(a, b sighting) int {
		switch {
		case a.line < b.line:
			return -1
		case a.line > b.line:
			return 1
		}
		return int(a.document) - int(b.document)
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
	own    map[string]int32 // other words
	counts []counts
	lines  []sighting
}

func newCounter(l *Lexicon) *counter {
	c := &counter{sentence: newSentence(l), known: make([]counts, len(l.class)), own: map[string]int32{}}
	return c
}

func (c *counter) chunk(s string, document int32) []segment {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); len(line) > 2 {
			c.lines = append(c.lines, sighting{hashLine(line), document})
		}
	}
	var out []segment
	for _, span := range text.Sentences(s) {
		c.open(s, span)
		k := c.layout()
		if k != page {
			out = append(out, segment{span, k})
		}
		if k != prose {
			continue
		}
		for i := range c.tokens {
			if t := &c.tokens[i]; t.kind == wordToken && !c.opens(i) {
				c.add(t)
			}
		}
	}
	return out
}

func (c *counter) add(t *token) {
	n := &counts{}
	if t.word > 0 {
		n = &c.known[t.word]
	} else {
		c.lower = appendLower(c.lower[:0], c.text[t.start:t.end])
		at, ok := c.own[string(c.lower)]
		if !ok {
			at = int32(len(c.counts))
			c.own[string(c.lower)] = at
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
func (l *Lexicon) collect(ctx context.Context, chunks []graphrag.Chunk, sentences [][]segment, workers int) {
	finders := make([]finder, workerCount(workers, len(chunks)))
	found := make([]map[uint64]int32, len(finders))
	for i := range finders {
		finders[i] = finder{mentions: mentions{sentence: newSentence(l)}, learning: true}
		found[i] = map[uint64]int32{}
	}
	each(ctx, len(chunks), len(finders), func(worker, i int) {
		x := &finders[worker]
		x.excerpt = chunks[i].Index > 0
		for _, s := range sentences[i] {
			if s.layout == fragment {
				continue
			}
			x.open(chunks[i].Text, s.Span)
			x.find(s.layout)
			for i := range x.entities {
				if e := &x.entities[i]; !e.figure() {
					found[worker][x.key(e.first, e.last)]++
				}
			}
		}
	})
	total := 0
	for _, names := range found {
		for key, n := range names {
			l.names[key] += n
			total += int(n)
		}
	}
	l.large = total >= largeCorpus
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

// workerCount returns how many workers n chunks get.
func workerCount(workers, n int) int {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return max(1, min(workers, n))
}

// each calls do for 0..n-1 from several workers until ctx is cancelled.
func each(ctx context.Context, n, workers int, do func(worker, i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(worker, i)
			}
		})
	}
	wait.Wait()
}
