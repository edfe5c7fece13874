// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/trace"
)

// corpus is the chunks that were read, and their lexicon. It changes at the cost of the chunks
// that come and go, and of those in which a word, name or line that was asked for has changed its
// meaning; the findings equal, to the bit, the findings of a new corpus of the same chunks.
type corpus struct {
	lexicon *lexicon
	lines   []occurrence        // of all chunks, sorted
	read    map[string]*reading // by ID; readings of one ID are linked
}

// reading is a chunk with its findings.
type reading struct {
	id, doc, text string
	excerpt       bool // it was cut out of a longer text
	next          *reading
	fresh         bool
	segments      []segment // while it is read
	names         []uint64  // that it adds to the lexicon
	learnt, asked []uint32  // the lexicon's entries on which its names and its findings depend
	found         kg.Extraction
}

// What is asked of a lexicon, as 32 bits: the number of a word, or the hash of a word that it
// does not know, of a name, or of a line. Two that are taken for one cost a reading, and no more.
const (
	askUnknown uint32 = (iota + 1) << 30
	askName
	askLine
	askMask = askUnknown - 1
)

// written reports how the corpus writes token i.
func (x *sentence) written(i int, how writing) bool {
	t := &x.tokens[i]
	ask := uint32(t.word)
	if ask == 0 && t.kind == wordToken {
		x.wordAt(x.text[:x.span.End], int(t.start), &token{}) // for the letters by which it was looked up
		ask = askUnknown | uint32(hashLine(string(x.lower)))&askMask
	}
	if n := len(x.asked); n == 0 || x.asked[n-1] != ask {
		x.asked = append(x.asked, ask)
	}
	return x.lexicon.writing[t.word]&how != 0
}

// manySeen is up to where it matters how often prose has a name.
const manySeen = 3

// seen returns how often prose has the name from token i up to j, manySeen at most.
func (x *finder) seen(i, j int) int32 {
	if x.learning {
		return 0
	}
	key := x.key(i, j)
	x.asked = append(x.asked, askName|uint32(key)&askMask)
	return min(x.lexicon.names[key], manySeen)
}

// answers returns the entries that were looked up since, each once.
func (x *sentence) answers() []uint32 {
	slices.Sort(x.asked)
	asked := copied(slices.Compact(x.asked))
	x.asked = x.asked[:0]
	return asked
}

// changes are the answers of a lexicon that have changed: all, or those in a list.
type changes struct {
	all    bool
	list   map[uint32]bool
	filter [1 << 10]uint64 // most that are asked for are not in the list
}

func (c *changes) add(ask uint32) {
	c.list[ask] = true
	c.filter[ask>>6%uint32(len(c.filter))] |= 1 << (ask % 64)
}

func (c *changes) any(asked []uint32) bool {
	return c.all || slices.ContainsFunc(asked, func(ask uint32) bool {
		return c.filter[ask>>6%uint32(len(c.filter))]&(1<<(ask%64)) != 0 && c.list[ask]
	})
}

// change makes it the corpus of some chunks, and returns the reading of each. The order of the
// chunks and the number of workers change nothing.
func (c *corpus) change(ctx context.Context, chunks []graphrag.Chunk, workers int) ([]*reading, error) {
	all, fresh, gone := c.match(chunks)
	changed := &changes{list: make(map[uint32]bool)}
	if err := c.count(ctx, fresh, gone, changed, workers); err != nil {
		return nil, err
	}
	stale := func(asked func(*reading) []uint32) (out []*reading) {
		for _, r := range all {
			if r.fresh || changed.any(asked(r)) {
				out = append(out, r)
			}
		}
		return out
	}
	if err := c.collect(ctx, stale(func(r *reading) []uint32 { return r.learnt }), gone, changed, workers); err != nil {
		return nil, err
	}
	again := stale(func(r *reading) []uint32 { return r.asked })
	trace.Of(ctx).Set(slog.Int("wildgraph.read", len(again)))
	start := func() reader { return reader{finder: finder{sentence: newSentence(c.lexicon)}} }
	_, err := each(ctx, again, workers, start, func(x *reader, r *reading) {
		r.cut(&x.sentence)
		x.extract(r)
		r.asked, r.segments, r.fresh = x.answers(), nil, false
	})
	return all, err
}

// match finds the readings of chunks, and lists the fresh and the gone ones.
func (c *corpus) match(chunks []graphrag.Chunk) (all, fresh, gone []*reading) {
	before := c.read
	c.read = make(map[string]*reading, len(chunks))
	for i := range chunks {
		d := &chunks[i]
		r := before[d.ID]
		if r != nil && r.doc == d.Doc && r.text == d.Text && r.excerpt == (d.Index > 0) {
			before[d.ID] = r.next
		} else {
			r = &reading{id: d.ID, doc: d.Doc, text: d.Text, excerpt: d.Index > 0, fresh: true}
			fresh = append(fresh, r)
		}
		r.next, c.read[d.ID] = c.read[d.ID], r
		all = append(all, r)
	}
	for _, r := range before {
		for ; r != nil; r = r.next {
			gone = append(gone, r)
		}
	}
	return all, fresh, gone
}

// each calls do for every reading, from workers that have a T each.
func each[T any](ctx context.Context, of []*reading, workers int, start func() T, do func(*T, *reading)) ([]T, error) {
	all := make([]T, max(1, min(par.Workers(workers), len(of))))
	for i := range all {
		all[i] = start()
	}
	return all, par.Ranges(ctx, len(of), 1, len(all), func(worker, i, _ int) error {
		do(&all[worker], of[i])
		return nil
	})
}

// cut cuts a chunk into segments, unless it is cut.
func (r *reading) cut(x *sentence) {
	if r.segments == nil {
		r.segments = x.segments(r.text, func(layout) {})
	}
}

// counter is the first pass of one worker.
type counter struct {
	sentence
	counts map[string]*counts // by word in lower case: of the fresh chunks, minus the gone ones
	one    uint32             // what a word adds
	lines  [2][]occurrence    // of the fresh, and of the gone
}

// occurrence is a line in a document, by their hashes.
type occurrence struct{ line, document uint64 }

func (o occurrence) compare(p occurrence) int {
	return cmp.Or(cmp.Compare(o.line, p.line), cmp.Compare(o.document, p.document))
}

// count is the first pass: it takes the words and lines of fresh chunks into the lexicon, and those
// of chunks that are gone out of it.
func (c *corpus) count(ctx context.Context, fresh, gone []*reading, changed *changes, workers int) error {
	start := func() counter {
		return counter{sentence: newSentence(c.lexicon), counts: make(map[string]*counts)}
	}
	counters, err := each(ctx, slices.Concat(fresh, gone), workers, start, func(x *counter, r *reading) {
		of := &x.lines[0]
		if x.one = 1; !r.fresh {
			x.one, of = ^uint32(0), &x.lines[1] // as -1
		}
		document := hashLine(r.doc)
		for line := range strings.Lines(r.text) {
			if line = strings.TrimSpace(line); len(line) > 2 {
				*of = append(*of, occurrence{hashLine(line), document})
			}
		}
		r.segments = x.segments(r.text, x.countWords)
	})
	if err != nil {
		return err
	}
	sums := counters[0]
	for _, x := range counters[1:] {
		for word, n := range x.counts {
			if sum := sums.counts[word]; sum != nil {
				sum.small, sum.capital = sum.small+n.small, sum.capital+n.capital
			} else {
				sums.counts[word] = n
			}
		}
		for i := range sums.lines {
			sums.lines[i] = append(sums.lines[i], x.lines[i]...)
		}
	}
	for word, n := range sums.counts {
		c.lexicon.add(word, *n, changed)
	}
	c.share(sums.lines[0], sums.lines[1], changed)
	return ctx.Err()
}

// add adds to the counts of a word. One that is in no table and no sentence any more is forgotten.
func (l *lexicon) add(word string, more counts, changed *changes) {
	if more == (counts{}) {
		return
	}
	n, ok := l.words[word]
	if !ok {
		n = int32(len(l.class))
		l.words[word] = n
		l.class, l.counts, l.writing = append(l.class, 0), append(l.counts, counts{}), append(l.writing, 0)
		changed.add(askUnknown | uint32(hashLine(word))&askMask)
	}
	of := &l.counts[n]
	of.small, of.capital = of.small+more.small, of.capital+more.capital
	now := of.writing()
	if int(n) <= len(l.tables.words) {
		now |= known
	}
	if now&known == 0 {
		delete(l.words, word)
	}
	if now != l.writing[n] {
		changed.add(uint32(n))
	}
	l.writing[n] = now
}

// sharedBy is in how many documents a line stands that belongs to the pages
// around the texts, such as an item of a menu.
const sharedBy = 4

// share finds the lines that several documents contain.
func (c *corpus) share(more, less []occurrence, changed *changes) {
	if len(more)+len(less) == 0 {
		return
	}
	lines := append(c.lines, more...)
	slices.SortFunc(lines, occurrence.compare)
	slices.SortFunc(less, occurrence.compare)
	lines = slices.DeleteFunc(lines, func(o occurrence) bool {
		gone := len(less) > 0 && less[0] == o
		if gone {
			less = less[1:]
		}
		return gone
	})
	shared, documents := make(map[uint64]bool), 0
	for i, o := range lines {
		switch {
		case i == 0 || lines[i-1].line != o.line:
			documents = 1
		case lines[i-1] != o:
			documents++
		}
		if documents == sharedBy {
			shared[o.line] = true
		}
	}
	for _, sets := range [][2]map[uint64]bool{{shared, c.lexicon.lines}, {c.lexicon.lines, shared}} {
		for line := range sets[0] {
			if !sets[1][line] {
				changed.add(askLine | uint32(line)&askMask)
			}
		}
	}
	c.lines, c.lexicon.lines = lines, shared
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
		if c.lower = c.lower[:0]; t.word > 0 && int(t.word) <= len(c.lexicon.tables.words) {
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
			n.capital += c.one
		} else {
			n.small += c.one
		}
	}
}

// largeCorpus is the number of names that make a corpus large.
const largeCorpus = 2000

// collect is the second pass: it counts the names of the prose of chunks again, and subtracts the
// names of chunks that are gone.
func (c *corpus) collect(ctx context.Context, of, gone []*reading, changed *changes, workers int) error {
	l := c.lexicon
	more := make(map[uint64]int32)
	add := func(of []*reading, n int32) {
		for _, r := range of {
			for _, key := range r.names {
				more[key] += n
			}
		}
	}
	add(gone, -1)
	add(of, -1)
	type collector struct {
		finder
		names []uint64
	}
	start := func() collector { return collector{finder: finder{sentence: newSentence(l), learning: true}} }
	_, err := each(ctx, of, workers, start, func(x *collector, r *reading) {
		r.cut(&x.sentence)
		x.excerpt, x.names = r.excerpt, x.names[:0]
		for _, s := range r.segments {
			if s.layout == fragment {
				continue
			}
			x.open(r.text, s.Span)
			x.find(s.layout)
			for i := range x.entities {
				if e := &x.entities[i]; !e.numeric() {
					x.names = append(x.names, x.key(e.first, e.last))
				}
			}
		}
		r.names, r.learnt = copied(x.names), x.answers()
	})
	if err != nil {
		return err
	}
	add(of, 1)
	for key, n := range more {
		was := l.names[key]
		if l.names[key] = was + n; was+n == 0 {
			delete(l.names, key)
		}
		if min(was, manySeen) != min(was+n, manySeen) {
			changed.add(askName | uint32(key)&askMask)
		}
		l.total += int(n)
	}
	large := l.total >= largeCorpus
	changed.all, l.large = large != l.large, large
	return nil
}

// lexicon is learned from a corpus: how its words are written where a capital means something,
// which names its prose contains, and which lines its pages share. While chunks are read it does
// not change, and is safe for concurrent use.
type lexicon struct {
	words   map[string]int32 // lower case → number, from 1; words of the tables first
	class   []class          // by number
	counts  []counts         // by number
	writing []writing        // by number
	names   map[uint64]int32 // key of a name → how often prose has it
	total   int              // of all names
	large   bool             // enough names that a word seen once means little
	lines   map[uint64]bool  // hashes of lines that several documents share
	tables  *tables
	places  map[uint64]bool // keys of the places of the tables; true for those that contain others
}

// counts of a word inside sentences: in small letters, and with a capital.
type counts struct{ small, capital uint32 }

// writing is how a corpus writes a word inside sentences, as far as rules go by it: a set of
// bits. No rule goes by the counts themselves, so a reading stays valid until a bit changes.
type writing uint8

const (
	known         writing = 1 << iota // it is in the tables or in a sentence
	everSmall                         // in small letters
	everCapital                       // with a capital
	oftenCapital                      // with a capital, twice
	halfCapital                       // with a capital as often as in small letters
	mostlyCapital                     // with a capital four times as often
	common                            // mostly in small letters
	proper                            // nearly always with a capital, and seen so
)

func (n counts) writing() (w writing) {
	for i, is := range [...]bool{
		n.small+n.capital > 0, n.small > 0, n.capital > 0, n.capital > 1, n.capital >= n.small, n.capital >= 4*n.small,
		n.small >= 2 && n.small*2 > n.capital, n.capital >= 2 && n.capital >= 9*n.small,
	} {
		if is {
			w |= 1 << i
		}
	}
	return w
}

// newLexicon returns a lexicon of the closed tables alone, to be filled.
func newLexicon() *lexicon {
	l := *tableLexicon()
	l.words, l.class = maps.Clone(l.words), slices.Clone(l.class)
	l.counts, l.writing = make([]counts, len(l.class)), slices.Clone(l.writing)
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
	l.writing = slices.Repeat([]writing{known | counts{}.writing()}, len(l.class))
	l.writing[0] = counts{}.writing()
	x := newSentence(l)
	for i, name := range t.places {
		x.cut(name, text.Span{End: len(name)})
		l.places[x.key(0, len(x.tokens))] = i < t.regions
	}
	return l
})

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
