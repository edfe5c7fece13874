// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// lexicon is what was learned of a corpus: how its words are written where a capital
// means something, which names its prose contains, and which lines its pages share.
// It does not change and is safe for concurrent use.
type lexicon struct {
	words   map[string]int32 // lower case → number, from 1
	class   []class          // by number
	small   []uint32         // inside sentences: in small letters
	capital []uint32         // inside sentences: with a capital
	names   map[uint64]int32 // key of a name → how often prose has it
	large   bool             // enough names that a word seen once means little
	lines   map[uint64]bool  // hashes of lines that several documents share
	tables  *tables
	places  map[uint64]bool // keys of the places of the tables; true for those that contain others
}

// newLexicon returns a lexicon of the closed tables alone, to be filled.
func newLexicon() *lexicon {
	l := *tableLexicon()
	l.words, l.class = maps.Clone(l.words), slices.Clone(l.class)
	l.small, l.capital = make([]uint32, len(l.class)), make([]uint32, len(l.class))
	l.names, l.lines = map[uint64]int32{}, map[uint64]bool{}
	return &l
}

// tableLexicon numbers the words of the tables and keys their places, once.
var tableLexicon = sync.OnceValue(func() *lexicon {
	t := loadTables()
	l := &lexicon{words: make(map[string]int32, 2*len(t.classes)), class: make([]class, 1, len(t.classes)+1), places: map[uint64]bool{}, tables: t}
	for _, word := range t.words {
		l.words[word] = int32(len(l.class))
		l.class = append(l.class, t.classes[word])
	}
	l.small, l.capital = make([]uint32, len(l.class)), make([]uint32, len(l.class))
	x := newSentence(l)
	for i, name := range t.places {
		x.cut(name, text.Span{End: len(name)})
		l.places[x.key(0, len(x.tokens))] = i < t.regions
	}
	return l
})

// common reports whether a word is mostly written in small letters.
func (l *lexicon) common(word int32) bool {
	return l.small[word] >= 2 && l.small[word]*2 > l.capital[word]
}

// proper reports whether a word is nearly always written with a capital, and was
// seen so.
func (l *lexicon) proper(word int32) bool {
	return l.capital[word] >= 2 && l.capital[word] >= 9*l.small[word]
}

// hashLine is FNV-1a over the bytes of a line.
func hashLine(s string) uint64 {
	h := uint64(fnvOffset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// sharedLine reports whether several documents contain the line of a text in which
// the byte at stands.
func (l *lexicon) sharedLine(s string, at int) bool {
	if len(l.lines) == 0 {
		return false
	}
	start := strings.LastIndexByte(s[:at], '\n') + 1
	line, _, _ := strings.Cut(s[start:], "\n")
	return l.lines[hashLine(strings.TrimSpace(line))]
}

// learn reads the chunks of a corpus and returns its lexicon and the segments of each
// chunk. The order of the chunks and the number of workers change nothing.
func learn(ctx context.Context, chunks []graphrag.Chunk, workers int) (*lexicon, [][]segment, error) {
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

// counts of a word inside sentences.
type counts struct{ small, capital uint32 }

// counter is the first pass of one worker.
type counter struct {
	sentence
	counts map[string]*counts // by word in lower case
	lines  []occurrence
}

// occurrence is a line in a document, by their hashes.
type occurrence struct{ line, document uint64 }

// sharedBy is in how many documents a line stands that belongs to the pages
// around the texts, such as an item of a menu.
const sharedBy = 4

// count is the first pass: it fills in the words and the lines, and returns the
// segments of each chunk.
func (l *lexicon) count(ctx context.Context, chunks []graphrag.Chunk, workers int) ([][]segment, error) {
	segments := make([][]segment, len(chunks))
	start := func() counter {
		return counter{sentence: newSentence(l), counts: map[string]*counts{}}
	}
	counters, err := eachChunk(ctx, chunks, workers, start, func(c *counter, i int) {
		document := hashLine(chunks[i].Doc)
		for line := range strings.Lines(chunks[i].Text) {
			if line = strings.TrimSpace(line); len(line) > 2 {
				c.lines = append(c.lines, occurrence{hashLine(line), document})
			}
		}
		segments[i] = c.segments(chunks[i].Text, c.countWords)
	})
	if err != nil {
		return nil, err
	}
	sums, lines := counters[0].counts, counters[0].lines
	for _, c := range counters[1:] {
		for word, n := range c.counts {
			if sum := sums[word]; sum != nil {
				sum.small, sum.capital = sum.small+n.small, sum.capital+n.capital
			} else {
				sums[word] = n
			}
		}
		lines = append(lines, c.lines...)
	}
	// Words are numbered in the order of their letters, so that nothing
	// depends on who counted which.
	for _, word := range slices.Sorted(maps.Keys(sums)) {
		n, ok := l.words[word]
		if !ok {
			n = int32(len(l.class))
			l.words[word] = n
			l.class, l.small, l.capital = append(l.class, 0), append(l.small, 0), append(l.capital, 0)
		}
		l.small[n], l.capital[n] = sums[word].small, sums[word].capital
	}
	l.share(lines)
	return segments, ctx.Err()
}

// share keeps the lines that several documents contain.
func (l *lexicon) share(lines []occurrence) {
	slices.SortFunc(lines, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.document, b.document))
	})
	documents := 0
	for i, o := range slices.Compact(lines) {
		if i > 0 && lines[i-1].line != o.line {
			documents = 0
		}
		if documents++; documents == sharedBy {
			l.lines[o.line] = true
		}
	}
}

// countWords counts how the words of an open sentence of prose are written.
func (c *counter) countWords(k layout) {
	if k != prose {
		return
	}
	for i := range c.tokens {
		t := &c.tokens[i]
		if t.kind != wordToken || c.atStart(i) {
			continue
		}
		if c.lower = c.lower[:0]; t.word > 0 {
			c.lower = append(c.lower, c.lexicon.tables.words[t.word-1]...)
		} else {
			c.lower = appendLower(c.lower, c.word(i))
		}
		n := c.counts[string(c.lower)]
		if n == nil {
			n = &counts{}
			c.counts[string(c.lower)] = n
		}
		if t.has(upperFirst | innerUpper) {
			n.capital++
		} else {
			n.small++
		}
	}
}

// largeCorpus is how many names make a corpus large.
const largeCorpus = 2000

// collect is the second pass: it counts the names of the prose.
func (l *lexicon) collect(ctx context.Context, chunks []graphrag.Chunk, segments [][]segment, workers int) error {
	type collector struct {
		finder
		found map[uint64]int32
	}
	start := func() collector {
		return collector{finder{sentence: newSentence(l), learning: true}, map[uint64]int32{}}
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
