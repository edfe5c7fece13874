// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
)

// Updater is a retriever over chunks that changes at the cost of what changes. It stays as it
// is: a change makes another one, which shares what is alike with it.
type Updater interface {
	graphrag.Retriever
	// Update returns the retriever over the chunks without the ones in gone and with the
	// ones in added. Its results equal, to the bit, the results of one that is built from
	// scratch. It is nil where one has to be built from scratch.
	Update(ctx context.Context, added, gone []graphrag.Chunk) (Updater, error)
}

// Limiter is an Updater that can be limited to some of the chunks.
type Limiter interface {
	Updater
	// Limit returns the retriever over the chunks whose fields meet a condition; text is the
	// condition as a string. Its results equal, to the bit, the results of one that is built
	// from these chunks alone. The values of a field are listed once for all conditions on
	// it.
	Limit(text string, c graphrag.Condition) graphrag.Retriever
}

// segment is an index of chunks that were added at once, or joined later, as in Lucene and
// its kin (O'Neil and others, "The log-structured merge-tree", 1996).
type segment[I any] struct {
	index  I
	chunks []graphrag.Chunk // by ID, as indexed
	live   bm25.Docs        // those that are not gone; nil: all
	n      int              // how many these are
	ids    []int32          // these, of a few
	meet   *meeting
}

// meeting remembers which chunks of a segment meet conditions, and their fields.
type meeting struct {
	mu      sync.Mutex
	sets    map[string]bm25.Docs
	columns map[string]*column
}

// column is the values of a field, each once, and of each chunk the number of its own, or -1.
type column struct {
	values []any
	of     []int32
}

// maxSets is how many sets of each segment are remembered.
const maxSets = 64

// Bounds of segments. One is joined with those after it once they are half as large, so that
// there are few, and a chunk is indexed again a few times only; one of maxSegment chunks is
// not, so that no change has to wait for long.
const maxSegment = 1 << 16

// newSegment is one of all of some chunks.
func newSegment[I any](chunks []graphrag.Chunk, index func([]graphrag.Chunk) (I, error)) (segment[I], error) {
	chunks = slices.SortedStableFunc(slices.Values(chunks), byID)
	ix, err := index(chunks)
	return segment[I]{index: ix, chunks: chunks, n: len(chunks), meet: new(meeting)}, err
}

// origin is where a chunk stood.
type origin struct {
	segment int
	doc     int32
}

// revise returns segments without some chunks and with others. index makes the index of added
// chunks, join the index of chunks of several segments.
func revise[I any](segments []segment[I], added, gone []graphrag.Chunk, index func([]graphrag.Chunk) (I, error), join func(from []segment[I], places []origin, chunks []graphrag.Chunk) (I, error)) ([]segment[I], error) {
	segments = without(segments, gone)
	if len(added) > 0 {
		s, err := newSegment(added, index)
		if err != nil {
			return nil, err
		}
		segments = append(segments, s)
	}
	first := len(segments) - 1 // of those that are joined
	for sum := 0; first > 0; first-- {
		sum += segments[first].n
		if before := segments[first-1].n; before >= 2*sum || before+sum > maxSegment {
			break
		}
	}
	out := segments[:0:0]
	for i, s := range segments {
		together := []segment[I]{s}
		if i == first {
			together = segments[i:]
		}
		if len(together) > 1 || s.n < len(s.chunks)/2 {
			var err error
			if s, err = joined(together, join); err != nil {
				return nil, err
			}
		}
		if s.n > 0 {
			out = append(out, s)
		}
		if i == first {
			break
		}
	}
	return out, nil
}

// without returns segments without some chunks.
func without[I any](segments []segment[I], gone []graphrag.Chunk) []segment[I] {
	out := slices.Clone(segments)
	for i := range out {
		s := &out[i]
		changed := false
		for _, c := range gone {
			at, ok := slices.BinarySearchFunc(s.chunks, c, byID)
			if !ok || s.live != nil && !s.live.Has(int32(at)) {
				continue
			}
			if !changed {
				s.live, changed = s.set(), true
			}
			s.live.Remove(int32(at))
			s.n--
		}
	}
	return out
}

// set returns a set of the live chunks that may be changed.
func (s *segment[I]) set() bm25.Docs {
	if s.live == nil {
		return bm25.AllDocs(len(s.chunks))
	}
	return slices.Clone(s.live)
}

// joined makes one of segments.
func joined[I any](segments []segment[I], join func([]segment[I], []origin, []graphrag.Chunk) (I, error)) (segment[I], error) {
	var places []origin
	for i := range segments {
		for d := range segments[i].set().All() {
			places = append(places, origin{i, d})
		}
	}
	chunk := func(p origin) *graphrag.Chunk { return &segments[p.segment].chunks[p.doc] }
	slices.SortFunc(places, func(a, b origin) int { return cmp.Compare(chunk(a).ID, chunk(b).ID) })
	chunks := make([]graphrag.Chunk, len(places))
	for i, p := range places {
		chunks[i] = *chunk(p)
	}
	ix, err := join(segments, places, chunks)
	return segment[I]{index: ix, chunks: chunks, n: len(chunks), meet: new(meeting)}, err
}

// fewShare is the share of the chunks of a segment from which on they are listed.
const fewShare = 4

// limited returns segments of the chunks that meet a condition.
func limited[I any](segments []segment[I], text string, c graphrag.Condition) []segment[I] {
	out := slices.Clone(segments)
	for i := range out {
		s := &out[i]
		live, set := s.set(), s.meet.of(text, s.chunks, c)
		for w := range live {
			live[w] &= set[w]
		}
		if s.live, s.ids, s.n = live, nil, live.Len(); s.n < len(s.chunks)/fewShare {
			s.ids = slices.AppendSeq(make([]int32, 0, s.n), live.All())
		}
	}
	return out
}

// of returns which chunks meet a condition.
func (m *meeting) of(text string, chunks []graphrag.Chunk, c graphrag.Condition) bm25.Docs {
	m.mu.Lock()
	defer m.mu.Unlock()
	if set, ok := m.sets[text]; ok {
		return set
	}
	set := bm25.Docs(c.Select(len(chunks), func(field string) ([]any, []int32) {
		if m.columns[field] == nil {
			if m.columns == nil || len(m.columns) >= maxSets {
				m.columns = make(map[string]*column)
			}
			m.columns[field] = columnOf(field, chunks)
		}
		return m.columns[field].values, m.columns[field].of
	}))
	if m.sets == nil || len(m.sets) >= maxSets {
		m.sets = make(map[string]bm25.Docs)
	}
	m.sets[text] = set
	return set
}

// valuesKey is the key of a list of values.
type valuesKey string

func columnOf(field string, chunks []graphrag.Chunk) *column {
	c := &column{of: make([]int32, len(chunks))}
	numbers := make(map[any]int32)
	for i := range chunks {
		if i > 0 && chunks[i].Doc == chunks[i-1].Doc { // the chunks of a document share its fields
			c.of[i] = c.of[i-1]
			continue
		}
		value := chunks[i].Fields[field]
		key := value
		if l, ok := value.([]string); ok {
			key = valuesKey(fmt.Sprintf("%q", l))
		}
		n, known := numbers[key]
		if !known {
			n = int32(len(c.values))
			if x, ok := value.(float64); ok {
				value = x // a copy beside the others: conditions read all of them
			}
			if value == nil {
				n = -1
			} else {
				c.values = append(c.values, value)
			}
			numbers[key] = n
		}
		c.of[i] = n
	}
	return c
}

// ranked orders hits of several segments, and keeps the first k.
func ranked(hits []graphrag.Hit, k int) []graphrag.Hit {
	slices.SortFunc(hits, func(a, b graphrag.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), byID(a.Chunk, b.Chunk))
	})
	return hits[:min(k, len(hits))]
}
