// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// maxTriples is the largest file of triples that is read.
const maxTriples = 1 << 30

// source is where triples come from: the file of -triples, or without one what rules
// extract from the corpus.
type source struct {
	seed     uint64
	name     string
	data     []byte            // of a graph
	recorded *extract.Recorded // of the passages
	digest   string
}

// readTriples reads a result file of HippoRAG (.json), or a graph (.tsv or .jsonl, which
// may be compressed: .gz).
func readTriples(name string, seed uint64) (s source, err error) {
	s.seed = seed
	if name == "" {
		return s, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return s, fmt.Errorf("-triples: %w", err)
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, maxTriples+1))
	if err == nil && len(data) > maxTriples {
		err = fmt.Errorf("%s has more than %d bytes", name, maxTriples)
	}
	if err == nil && strings.HasSuffix(name, ".json") {
		s.recorded, err = extract.ReadOpenIE(bytes.NewReader(data))
	}
	if err != nil {
		return s, fmt.Errorf("-triples: %w", err)
	}
	s.name, s.data, s.digest = name, data, record.Digest(string(data))
	return s, nil
}

// extractor is that of recorded triples, nil without them.
func (s source) extractor() extract.Extractor {
	if s.recorded == nil {
		return nil
	}
	return s.recorded
}

// graph makes a graph from elsewhere, of a share of the triples: the same ones for a
// seed, and those of a small share among those of a larger one.
func (s source) graph(ctx context.Context, c kit.Cut, docs iter.Seq2[graphrag.Document, error], share float64) (*triples.Index, error) {
	all := s.facts(ctx, c, docs)
	if s.recorded == nil && s.data != nil {
		r, err := s.reader()
		if err != nil {
			return nil, err
		}
		all = r.All()
	}
	return triples.New(ctx, thinned(all, share, s.seed), triples.Options{})
}

func (s source) reader() (*triples.Reader, error) {
	switch name := strings.TrimSuffix(s.name, ".gz"); {
	case strings.HasSuffix(name, ".tsv"):
		return triples.TSV(s.name, bytes.NewReader(s.data)), nil
	case strings.HasSuffix(name, ".jsonl"):
		return triples.JSONL(s.name, bytes.NewReader(s.data)), nil
	}
	return nil, fmt.Errorf("-triples %s: want a name that ends in .json, .tsv or .jsonl, the last two perhaps with .gz", s.name)
}

// facts are the triples of the corpus. A graph from elsewhere costs nothing here, so
// no model is asked for them.
func (s source) facts(ctx context.Context, c kit.Cut, docs iter.Seq2[graphrag.Document, error]) iter.Seq2[triples.Triple, error] {
	return func(yield func(triples.Triple, error) bool) {
		found, err := s.extract(ctx, c, docs)
		if err != nil {
			yield(triples.Triple{}, err)
			return
		}
		named := func(s string) triples.Entity { return triples.Entity{ID: s, Label: s} }
		for _, f := range found {
			for _, fact := range f.Facts {
				if !yield(triples.Triple{Head: named(fact.Head), Relation: named(fact.Relation), Tail: named(fact.Tail)}, nil) {
					return
				}
			}
		}
	}
}

func (s source) extract(ctx context.Context, c kit.Cut, docs iter.Seq2[graphrag.Document, error]) ([]kg.Extraction, error) {
	chunker, err := c.Chunker()
	if err != nil {
		return nil, err
	}
	chunks, err := chunker.All(ctx, docs)
	if err != nil {
		return nil, err
	}
	if s.recorded != nil {
		return s.recorded.Extract(ctx, chunks)
	}
	offline, err := kit.Offline(kit.OfflineOptions{Seed: s.seed})
	if err != nil {
		return nil, err
	}
	byRules, err := offline.Triples()
	if err != nil {
		return nil, err
	}
	return byRules.Extract(ctx, chunks)
}

// thinned keeps a share of triples, chosen by a hash of their ids and the seed.
func thinned(all iter.Seq2[triples.Triple, error], share float64, seed uint64) iter.Seq2[triples.Triple, error] {
	return func(yield func(triples.Triple, error) bool) {
		for t, err := range all {
			if (err != nil || share >= 1 || point(t, seed) < share) && !yield(t, err) {
				return
			}
		}
	}
}

// point is a number from 0 to 1 for a triple.
func point(t triples.Triple, seed uint64) float64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, seed))
	for _, s := range []string{t.Head.ID, t.Relation.ID, t.Tail.ID} {
		h.Write([]byte(s))
		h.Write([]byte{0xff}) // which no UTF-8 has
	}
	x := h.Sum64() // FNV mixes its last bytes little: mix as splitmix64 does
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}
