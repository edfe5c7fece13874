// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/btree"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Site is pages that were cut together, in the order of [Page.ID]. It knows where
// each sentence stands, so pages come and go at the cost of what changes. It stays as it is: a
// change makes another one, which shares what is alike with it.
type Site struct {
	o      PageOptions
	docs   *btree.Map[string, graphrag.Document] // by Page.ID
	stands *btree.BTreeG[standing]
}

// standing is a sentence on a page.
type standing struct {
	hash uint64
	page string
}

func (a standing) before(b standing) bool {
	return a.hash < b.hash || a.hash == b.hash && a.page < b.page
}

// NewSite cuts pages into clean passages: short, overlapping, of whole sentences, and
// without boilerplate. Each page has an ID of its own, and they come in the order of [Page.ID].
//
// Boilerplate is what several pages share, so pages are cut together: a sentence that
// stands on four pages, or on six if it is longer than 80 characters, stays on the first
// of them alone. Links, lines without a word and sentences that a page repeats are
// dropped as well. The first line of a page, its title, always stays.
//
// What is left is divided into units of about 50 tokens: runs of whole sentences, with a
// new unit at each heading; a sentence of more than 90 tokens is cut evenly. A passage
// begins with a unit and takes further ones until it has 150 tokens, so passages overlap,
// and what is asked for stands in the middle of one of them. [Page.Chunk] returns a chunk
// of any run of units, so a passage that was found can be widened. A blank page has no unit.
//
// Within a budget, many pages by short passages are worth more than few by long ones:
// docs/systems.md has figures. The result depends on the pages alone.
func NewSite(ctx context.Context, docs []graphrag.Document, o PageOptions) (*Site, []Page, error) {
	s := &Site{o, btree.NewMap[string, graphrag.Document](0), btree.NewBTreeGOptions(standing.before, btree.Options{NoLocks: true})}
	return s.Change(ctx, docs, nil)
}

// Documents are those of the pages, in their order.
func (s *Site) Documents() []graphrag.Document { return s.docs.Values() }

// Change returns the site with documents, each in place of one of its ID, and without those of some
// IDs. The pages are those of the documents, in the order of Page.ID, and those that were there and
// have another text now, because a sentence of theirs became boilerplate or is none any more.
func (s *Site) Change(ctx context.Context, docs []graphrag.Document, gone []string) (*Site, []Page, error) {
	next := &Site{s.o, s.docs.Copy(), s.stands.Copy()}
	names := func(doc string) string { return (&Page{Doc: doc}).ID() }
	docs = slices.SortedStableFunc(slices.Values(docs), func(a, b graphrag.Document) int { return cmp.Compare(names(a.ID), names(b.ID)) })
	var before []graphrag.Document
	for _, d := range docs {
		gone = append(gone[:len(gone):len(gone)], d.ID)
	}
	for _, id := range gone {
		if d, ok := next.docs.Delete(names(id)); ok {
			before = append(before, d)
		}
	}
	left, err1 := s.o.read(ctx, before)
	drafts, err2 := s.o.read(ctx, docs)
	if err := cmp.Or(err1, err2); err != nil {
		return nil, nil, err
	}
	touched := make(map[uint64]bool)
	for i, d := range left {
		for _, x := range d.sentences {
			next.stands.Delete(standing{x.hash, names(before[i].ID)})
			touched[x.hash] = true
		}
	}
	var come []standing
	for i, d := range drafts {
		name := names(docs[i].ID)
		if _, twice := next.docs.Set(name, docs[i]); twice {
			return nil, nil, fmt.Errorf("chunk: site: two pages have the ID %.80q", docs[i].ID)
		}
		for _, x := range d.sentences {
			come = append(come, standing{x.hash, name})
		}
	}
	slices.SortFunc(come, func(a, b standing) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.page, b.page)) })
	for _, x := range come {
		next.stands.Load(x)
		touched[x.hash] = true
	}
	again := next.changed(s, touched, docs)
	more, err := s.o.read(ctx, again)
	if err != nil {
		return nil, nil, err
	}
	docs = append(docs, again...)
	pages, err := s.o.cut(ctx, docs, append(drafts, more...), func(i int, hash uint64) (int32, bool) {
		on := next.first(hash)
		return int32(len(on)), on[0] == names(docs[i].ID)
	})
	return next, pages, err
}

// first are the first pages of a sentence, as many as tell whether it is boilerplate.
func (s *Site) first(hash uint64) []string {
	on := make([]string, 0, everywhereLong)
	s.stands.Ascend(standing{hash: hash}, func(x standing) bool {
		if x.hash == hash {
			on = append(on, x.page)
		}
		return x.hash == hash && len(on) < everywhereLong
	})
	return on
}

// changed are the documents that were there before, beside those that come now, of which a page may
// have another text, given the sentences that stand on more or fewer pages.
func (s *Site) changed(was *Site, touched map[uint64]bool, come []graphrag.Document) []graphrag.Document {
	if was.docs.Len() == 0 {
		return nil
	}
	found := make(map[string]bool)
	for hash := range touched {
		before, now := was.first(hash), s.first(hash)
		for _, most := range []int{everywhere, everywhereLong} { // which counts is for the sentence to say
			stays := func(on []string, page string) bool { return len(on) < most || on[0] == page }
			for _, page := range slices.Concat(before, now) { // a page that is in neither is dropped by both
				if stays(before, page) != stays(now, page) {
					found[page] = true
				}
			}
		}
	}
	for _, d := range come {
		delete(found, (&Page{Doc: d.ID}).ID())
	}
	var out []graphrag.Document
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if d, ok := s.docs.Get(name); ok {
			out = append(out, d)
		}
	}
	return out
}
