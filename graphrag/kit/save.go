// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// A saved system is one file: its settings, its chunks, the extractions unless the extractor
// is [Extraction].Whole, and the replies of models. The index is a function of these and is
// built again.

// fileName is the file that [System.Save] writes into its folder.
const fileName = "system.wildgraph"

const (
	fileKind    = "WGSYSTM"
	fileVersion = 1
	maxRecord   = 64 << 20 // bytes of one chunk or reply
	maxRecords  = 1 << 32
	maxDim      = 1 << 16
)

// ErrOptions is wrapped by the errors of [System.Open] for a system that was saved
// with other options.
var ErrOptions = errors.New("the system was saved with other options")

// settings must be equal in a saved system and the one that opens it.
type settings struct {
	Name string `json:"name"`
	Cut  Cut    `json:"cut"`
	// Index is the kind of the parts that build, Lookup the name of the text index.
	Index  string `json:"index_kit"`
	Lookup string `json:"lookup"`
}

func (s *System) settings() settings {
	return settings{s.frame.Name, s.frame.Cut.named(), s.frame.Kit.Index, s.frame.Kit.Lookup}
}

// Save writes the system into a folder, which is made if it is not there.
func (s *System) Save(ctx context.Context, dir string) error {
	now := s.now.Load()
	if now == nil {
		return fmt.Errorf("%s: saved before Index", s.frame.Name)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%s: %w", s.frame.Name, err)
	}
	err := journal.WriteFile(filepath.Join(dir, fileName), func(w io.Writer) error {
		return s.write(ctx, w, now)
	})
	if err != nil {
		return fmt.Errorf("%s: saving: %w", s.frame.Name, err)
	}
	return nil
}

func (s *System) write(ctx context.Context, to io.Writer, now *state) error {
	buffered := bufio.NewWriter(to)
	w := codec.NewWriter(buffered, fileKind, fileVersion)
	var problems []error
	record := func(v any) {
		data, err := json.Marshal(v)
		problems = append(problems, err)
		w.Bytes(data)
	}
	record(s.settings())
	w.Uint(uint64(len(now.docs)))
	for _, id := range slices.Sorted(maps.Keys(now.docs)) {
		w.String(id)
		record(now.docs[id])
		problems = append(problems, ctx.Err())
	}
	var extracted []kg.Extraction
	if now.base != nil && !s.frame.Extract.Whole {
		extracted = slices.Collect(now.base.Extractions())
	}
	w.Uint(uint64(len(extracted)))
	for _, x := range extracted {
		record(x)
	}
	s.paid.mu.Lock()
	defer s.paid.mu.Unlock()
	w.Uint(uint64(len(s.paid.texts)))
	for _, key := range sortedKeys(s.paid.texts) {
		w.Bytes(key[:])
		record(s.paid.texts[key])
	}
	w.Uint(uint64(s.paid.dim))
	w.Uint(uint64(len(s.paid.vectors)))
	for _, key := range sortedKeys(s.paid.vectors) {
		w.Bytes(key[:])
		w.Float32s(s.paid.vectors[key])
	}
	_, err := w.Close()
	return errors.Join(append(problems, err, buffered.Flush())...)
}

func sortedKeys[V any](m map[replyKey]V) []replyKey {
	return slices.SortedFunc(maps.Keys(m), func(a, b replyKey) int { return bytes.Compare(a[:], b[:]) })
}

// Open replaces the system by the one that Save wrote into a folder.
func (s *System) Open(ctx context.Context, dir string) (graphrag.IndexStats, error) {
	return s.open(ctx, dir, nil, nil)
}

// OpenUpdated is Open and [System.Update] with one build.
func (s *System) OpenUpdated(ctx context.Context, dir string, docs iter.Seq2[graphrag.Document, error], deleted ...string) (graphrag.IndexStats, error) {
	return s.open(ctx, dir, docs, deleted)
}

func (s *System) open(ctx context.Context, dir string, docs iter.Seq2[graphrag.Document, error], deleted []string) (graphrag.IndexStats, error) {
	file, err := os.Open(filepath.Join(dir, fileName))
	if err != nil {
		return graphrag.IndexStats{}, fmt.Errorf("%s: opening: %w", s.frame.Name, err)
	}
	defer file.Close()
	saved, err := s.read(ctx, bufio.NewReader(file))
	if err != nil {
		return graphrag.IndexStats{}, fmt.Errorf("%s: opening %s: %w", s.frame.Name, file.Name(), err)
	}
	return s.change(ctx, "open", func(*state) (*draft, error) {
		d, err := newDraft(s.frame)
		if err != nil {
			return nil, err
		}
		s.paid.add(saved.replies)
		d.docs = saved.docs
		if d.base != nil {
			err = d.base.Insert(saved.extracted...)
		}
		if err == nil {
			err = d.update(ctx, docs, deleted)
		}
		return d, err
	})
}

// content is the content of a file.
type content struct {
	docs      map[string][]graphrag.Chunk
	extracted []kg.Extraction
	replies   *replies
}

func (s *System) read(ctx context.Context, from io.Reader) (*content, error) {
	r := codec.NewReader(from, fileKind, fileVersion)
	record := func(v any) {
		if data := r.Bytes(nil, maxRecord); r.Err() == nil {
			if err := json.Unmarshal(data, v); err != nil {
				r.Fail("a record cannot be read: %v", err)
			}
		}
	}
	key := func() (k replyKey) {
		copy(k[:], r.Bytes(nil, len(k)))
		return k
	}
	var saved settings
	if record(&saved); r.Err() == nil && saved != s.settings() {
		return nil, fmt.Errorf("%w: %+v there, %+v here; open it with those, or index anew", ErrOptions, saved, s.settings())
	}
	c := &content{docs: make(map[string][]graphrag.Chunk), replies: newReplies()}
	for n := r.Uint(maxRecords); n > 0 && r.Err() == nil && ctx.Err() == nil; n-- {
		id := string(r.Bytes(nil, maxRecord))
		var chunks []graphrag.Chunk
		record(&chunks)
		c.docs[id] = chunks
	}
	for n := r.Uint(maxRecords); n > 0 && r.Err() == nil && ctx.Err() == nil; n-- {
		var x kg.Extraction
		record(&x)
		c.extracted = append(c.extracted, x)
	}
	for n := r.Uint(maxRecords); n > 0 && r.Err() == nil; n-- {
		k := key()
		var reply llm.Reply
		record(&reply)
		c.replies.texts[k] = reply
	}
	c.replies.dim = int(r.Uint(maxDim))
	if dim := s.frame.Kit.Dim; r.Err() == nil && dim != 0 && c.replies.dim != 0 && dim != c.replies.dim {
		return nil, fmt.Errorf("%w: vectors of %d numbers there, an embedder of %d here; take that embedder, or index anew", ErrOptions, c.replies.dim, dim)
	}
	for n := r.Uint(maxRecords); n > 0 && r.Err() == nil; n-- {
		k, v := key(), make([]float32, c.replies.dim)
		r.Float32s(v)
		c.replies.vectors[k] = v
	}
	return c, errors.Join(r.Close(), ctx.Err())
}
