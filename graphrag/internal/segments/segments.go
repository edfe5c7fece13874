// SPDX-License-Identifier: Apache-2.0

package segments

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
)

// Segment is an index of chunks that were added together, or merged later, as in Lucene and other
// log-structured merge-trees (O'Neil and others, "The log-structured merge-tree", 1996).
type Segment[I any] struct {
	Index  I
	Chunks []graphrag.Chunk // sorted by ID; a chunk's position is its number in Index
	Live   bm25.Docs        // the chunks that were not removed; nil means all
	N      int              // number of live chunks
	IDs    []int32          // numbers of the live chunks, if they are few; else nil
	meet   *meeting
}

// meeting caches the sets of a segment's chunks that meet conditions, and the values of their fields.
type meeting struct {
	mu      sync.Mutex
	sets    map[string]bm25.Docs
	columns map[string]*column
}

// column holds the distinct values of a field, and for each chunk the index of its value, -1 for none.
type column struct {
	values []any
	of     []int32
}

// maxSets is the number of sets that are cached per segment.
const maxSets = 64

// maxSegment is the most chunks of a merged segment. A segment is merged once the later ones reach half its
// size, so a chunk is indexed O(log n) times. Larger segments are not merged, so that no change takes long.
const maxSegment = 1 << 16

// ByID compares chunks by ID.
func ByID(a, b graphrag.Chunk) int { return cmp.Compare(a.ID, b.ID) }

// New returns a segment of chunks, with the index that the function index builds.
func New[I any](chunks []graphrag.Chunk, index func([]graphrag.Chunk) (I, error)) (Segment[I], error) {
	chunks = slices.SortedStableFunc(slices.Values(chunks), ByID)
	ix, err := index(chunks)
	return Segment[I]{Index: ix, Chunks: chunks, N: len(chunks), meet: new(meeting)}, err
}

// Origin identifies a chunk in a list of segments, by its segment and its number there.
type Origin struct {
	Segment int
	Doc     int32
}

// Revise returns segments without the chunks gone and with the chunks added. index builds an index of added
// chunks, and join builds one index of the chunks of several segments.
func Revise[I any](segments []Segment[I], added, gone []graphrag.Chunk, index func([]graphrag.Chunk) (I, error), join func(from []Segment[I], places []Origin, chunks []graphrag.Chunk) (I, error)) ([]Segment[I], error) {
	segments = without(segments, gone)
	if len(added) > 0 {
		s, err := New(added, index)
		if err != nil {
			return nil, err
		}
		segments = append(segments, s)
	}
	first := len(segments) - 1 // first of the segments to merge
	for sum := 0; first > 0; first-- {
		sum += segments[first].N
		if before := segments[first-1].N; before >= 2*sum || before+sum > maxSegment {
			break
		}
	}
	out := segments[:0:0]
	for i, s := range segments {
		together := []Segment[I]{s}
		if i == first {
			together = segments[i:]
		}
		if len(together) > 1 || s.N < len(s.Chunks)/2 {
			var err error
			if s, err = joined(together, join); err != nil {
				return nil, err
			}
		}
		if s.N > 0 {
			out = append(out, s)
		}
		if i == first {
			break
		}
	}
	return out, nil
}

// without returns the segments without the chunks gone.
func without[I any](segments []Segment[I], gone []graphrag.Chunk) []Segment[I] {
	out := slices.Clone(segments)
	for i := range out {
		s := &out[i]
		changed := false
		for _, c := range gone {
			at, ok := slices.BinarySearchFunc(s.Chunks, c, ByID)
			if !ok || s.Live != nil && !s.Live.Has(int32(at)) {
				continue
			}
			if !changed {
				s.Live, changed = s.Set(), true
			}
			s.Live.Remove(int32(at))
			s.N--
		}
	}
	return out
}

// Set returns a copy of the set of live chunks.
func (s *Segment[I]) Set() bm25.Docs {
	if s.Live == nil {
		return bm25.AllDocs(len(s.Chunks))
	}
	return slices.Clone(s.Live)
}

// joined merges segments into one, without removed chunks.
func joined[I any](segments []Segment[I], join func([]Segment[I], []Origin, []graphrag.Chunk) (I, error)) (Segment[I], error) {
	var places []Origin
	for i := range segments {
		for d := range segments[i].Set().All() {
			places = append(places, Origin{i, d})
		}
	}
	chunk := func(p Origin) *graphrag.Chunk { return &segments[p.Segment].Chunks[p.Doc] }
	slices.SortFunc(places, func(a, b Origin) int { return cmp.Compare(chunk(a).ID, chunk(b).ID) })
	chunks := make([]graphrag.Chunk, len(places))
	for i, p := range places {
		chunks[i] = *chunk(p)
	}
	ix, err := join(segments, places, chunks)
	return Segment[I]{Index: ix, Chunks: chunks, N: len(chunks), meet: new(meeting)}, err
}

// fewShare is the divisor of a segment's number of chunks below which the live chunks are listed in IDs.
const fewShare = 4

// Limited returns the segments with only the chunks that meet condition c live. text is the cache key of c.
func Limited[I any](segments []Segment[I], text string, c graphrag.Condition) []Segment[I] {
	out := slices.Clone(segments)
	for i := range out {
		s := &out[i]
		live, set := s.Set(), s.meet.of(text, s.Chunks, c)
		for w := range live {
			live[w] &= set[w]
		}
		if s.Live, s.IDs, s.N = live, nil, live.Len(); s.N < len(s.Chunks)/fewShare {
			s.IDs = slices.AppendSeq(make([]int32, 0, s.N), live.All())
		}
	}
	return out
}

// of returns the set of the chunks that meet a condition.
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

// valuesKey is the map key for a field that is a list of values.
type valuesKey string

func columnOf(field string, chunks []graphrag.Chunk) *column {
	c := &column{of: make([]int32, len(chunks))}
	numbers := make(map[any]int32)
	for i := range chunks {
		if i > 0 && chunks[i].Doc == chunks[i-1].Doc { // all chunks of a document have the same fields
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
				value = x // a new copy, so that all numbers of the column are close in memory
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
