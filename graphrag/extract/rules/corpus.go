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

// corpus holds the chunks of the last call, their readings, and the lexicon learned from them. An update costs
// only the new and removed chunks, and the chunks whose looked-up words, names or lines have changed. The
// findings equal, to the bit, the findings of a new corpus of the same chunks.
type corpus struct {
	lexicon *lexicon
	lines   []occurrence        // lines of all chunks, sorted
	read    map[string]*reading // by chunk ID; next links readings with the same ID
}

// reading is one chunk with the entities and facts found in it.
type reading struct {
	id, doc, text string
	excerpt       bool // the chunk is not the first of its document
	next          *reading
	fresh         bool
	segments      []segment // sentences of the chunk; nil when it is not being read
	names         []uint64  // hashes of the names that this chunk adds to the lexicon
	learnt, asked []uint32  // lexicon entries on which names depend, and on which found depends
	found         kg.Extraction
}

// The kinds of lexicon entries that a sentence can look up, in the two highest bits of 32: zero for the number
// of a known word, else the hash of an unknown word, a name or a line. A collision of two hashes only makes one
// chunk be read again without need.
const (
	askUnknown uint32 = (iota + 1) << 30
	askName
	askLine
	askMask = askUnknown - 1
)

// written reports whether the corpus writes the word at token i in one of the ways of the bit set how.
func (x *sentence) written(i int, how writing) bool {
	t := &x.tokens[i]
	ask := uint32(t.word)
	if ask == 0 && t.kind == wordToken {
		x.wordAt(x.text[:x.span.End], int(t.start), &token{}) // fills x.lower with the word in lower case
		ask = askUnknown | uint32(hashLine(string(x.lower)))&askMask
	}
	if n := len(x.asked); n == 0 || x.asked[n-1] != ask {
		x.asked = append(x.asked, ask)
	}
	return x.lexicon.writing[t.word]&how != 0
}

// manySeen is the largest count of a name that a rule compares with.
const manySeen = 3

// seen returns how often the corpus's prose contains the name from token i up to j, at most manySeen.
func (x *finder) seen(i, j int) int32 {
	if x.learning {
		return 0
	}
	key := x.key(i, j)
	x.asked = append(x.asked, askName|uint32(key)&askMask)
	return min(x.lexicon.names[key], manySeen)
}

// answers returns the lexicon entries looked up since its last call, sorted, each once.
func (x *sentence) answers() []uint32 {
	slices.Sort(x.asked)
	asked := copied(slices.Compact(x.asked))
	x.asked = x.asked[:0]
	return asked
}

// changes are the lexicon entries that an update has changed: all of them, or the ones in list.
type changes struct {
	all    bool
	list   map[uint32]bool
	filter [1 << 10]uint64 // bits set for the entries in list: a quick test before the map
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

// change updates the corpus to the given chunks, and returns the reading of each. The result does not depend on
// the order of the chunks or the number of workers.
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

// match finds the readings of chunks, and lists the new and the removed ones.
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

// each calls do for every reading; each worker passes do a T of its own, which start made.
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

// cut cuts the chunk into segments if it has none.
func (r *reading) cut(x *sentence) {
	if r.segments == nil {
		r.segments = x.segments(r.text, func(layout) {})
	}
}

// counter is one worker's state in the first pass.
type counter struct {
	sentence
	counts map[string]*counts // by word in lower case: counts in new chunks minus counts in removed ones
	one    uint32             // added per word: 1 in a new chunk, -1 (as unsigned) in a removed one
	lines  [2][]occurrence    // lines of the new chunks, and of the removed ones
}

// occurrence says that a document contains a line, by the hashes of both texts.
type occurrence struct{ line, document uint64 }

func (o occurrence) compare(p occurrence) int {
	return cmp.Or(cmp.Compare(o.line, p.line), cmp.Compare(o.document, p.document))
}

// count is the first pass: it adds the words and lines of new chunks to the lexicon and removes the words and
// lines of chunks that are gone.
func (c *corpus) count(ctx context.Context, fresh, gone []*reading, changed *changes, workers int) error {
	start := func() counter {
		return counter{sentence: newSentence(c.lexicon), counts: make(map[string]*counts)}
	}
	counters, err := each(ctx, slices.Concat(fresh, gone), workers, start, func(x *counter, r *reading) {
		of := &x.lines[0]
		if x.one = 1; !r.fresh {
			x.one, of = ^uint32(0), &x.lines[1] // -1 in unsigned arithmetic
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

// add adds to the counts of a word. It deletes a word with zero counts that is in no table.
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

// sharedBy is the number of documents from which a line that they contain is taken for a part of the web site
// around the texts, such as an item of a menu.
const sharedBy = 4

// share finds the lines that at least sharedBy documents contain, after adding and removing occurrences.
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

// countWords counts the words of the current sentence, if it is prose, in small letters and with a capital.
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

// largeCorpus is the number of occurrences of names from which a corpus counts as large.
const largeCorpus = 2000

// collect is the second pass: it finds the names of chunks again, in prose, and updates their counts in the
// lexicon; it subtracts the names of chunks that are gone.
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

// lexicon is learned from a corpus: how the corpus writes its words inside sentences, which names its prose
// contains, and which lines several documents share. It does not change while workers read chunks.
type lexicon struct {
	words   map[string]int32 // word in lower case → its number, from 1; the words of the tables come first
	class   []class          // classes of each word, by its number
	counts  []counts         // counts of each word, by its number
	writing []writing        // writing of each word, by its number
	names   map[uint64]int32 // hash of a name → number of its occurrences in prose
	total   int              // number of occurrences of all names
	large   bool             // total is at least largeCorpus
	lines   map[uint64]bool  // hashes of lines that several documents share
	tables  *tables
	places  map[uint64]bool // hashes of the place names in the tables; true for regions, which contain other places
}

// counts of a word inside sentences: in small letters, and with a capital.
type counts struct{ small, capital uint32 }

// writing is a set of bits that say how a corpus writes a word inside sentences. Rules use these bits and not
// the counts, so a reading stays valid until a bit changes.
type writing uint8

const (
	known         writing = 1 << iota // the word is in the tables or was counted
	everSmall                         // at least once in small letters
	everCapital                       // at least once with a capital
	oftenCapital                      // at least twice with a capital
	halfCapital                       // with a capital at least as often as in small letters
	mostlyCapital                     // with a capital at least four times as often as in small letters
	common                            // at least twice in small letters, and more than half as often as with a capital
	proper                            // at least twice with a capital, and nine times as often as in small letters
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

// newLexicon returns a lexicon that has only the words and places of the tables.
func newLexicon() *lexicon {
	l := *tableLexicon()
	l.words, l.class = maps.Clone(l.words), slices.Clone(l.class)
	l.counts, l.writing = make([]counts, len(l.class)), slices.Clone(l.writing)
	l.names, l.lines = map[uint64]int32{}, map[uint64]bool{}
	return &l
}

// tableLexicon is built once: it numbers the words of the tables and hashes their place names.
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

// hashLine returns the FNV-1a hash of a string.
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
