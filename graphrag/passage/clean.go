// SPDX-License-Identifier: Apache-2.0

package passage

import (
	"hash/fnv"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// How many pages a sentence must stand on to be boilerplate, and how many if it is
// longer than maxShort characters: long sentences are also quoted.
const (
	everywhere     = 4
	everywhereLong = 6
	maxShort       = 80
)

// draft is a page in the making.
type draft struct {
	bare      string // without links
	mapping   text.Mapping
	sentences []sentence
}

// sentence is one that may stay.
type sentence struct {
	text.Span // in the bare text
	hash      uint64
	long      bool
	first     bool // stands in the first line, and stays
}

// read cuts a page into sentences, and leaves out those without a word and those
// that the page has had before.
func read(source string) draft {
	var d draft
	d.bare, d.mapping = text.StripLinks(source)
	seen := make(map[uint64]bool)
	firstLine := -1 // where it ends
	for _, p := range text.Sentences(d.bare) {
		if firstLine < 0 {
			firstLine = len(d.bare)
			if i := strings.IndexByte(d.bare[p.Start:], '\n'); i >= 0 {
				firstLine = p.Start + i
			}
		}
		s := sentence{Span: p, first: p.Start < firstLine}
		said := p.In(d.bare)
		h := fnv.New64a()
		_, _ = io.WriteString(h, said)
		s.hash = h.Sum64()
		if seen[s.hash] || !strings.ContainsFunc(said, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			continue
		}
		seen[s.hash] = true
		s.long = utf8.RuneCountInString(said) > maxShort
		d.sentences = append(d.sentences, s)
	}
	return d
}

// stand says of a sentence on how many pages it stands, and which is the first.
type stand struct{ pages, first int32 }

// count counts on how many pages each sentence stands.
func count(pages []draft) map[uint64]stand {
	stands := make(map[uint64]stand)
	for i, d := range pages {
		for _, s := range d.sentences {
			st, ok := stands[s.hash]
			if !ok {
				st.first = int32(i)
			}
			st.pages++
			stands[s.hash] = st
		}
	}
	return stands
}

// clean drops the boilerplate of a page: what stands on many pages stays on the first
// of them alone, so that nothing of the corpus is lost.
func (d *draft) clean(page int, stands map[uint64]stand) {
	kept := d.sentences[:0]
	for _, s := range d.sentences {
		st, most := stands[s.hash], int32(everywhere)
		if s.long {
			most = everywhereLong
		}
		if s.first || st.pages < most || st.first == int32(page) {
			kept = append(kept, s)
		}
	}
	d.sentences = kept
}
