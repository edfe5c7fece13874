// SPDX-License-Identifier: Apache-2.0

package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// Options of [Open]. All processes of a job need the same.
type Options struct {
	// Store holds documents and replies, in the collection Name-work. It is required.
	Store store.Store
	Name  string
	// System returns a new, empty system of the job. Its model and its encoder are called for what the store
	// lacks. It is required.
	System func() (*kit.System, error)
}

func (o *Options) check() error {
	c := opt.Checks{Of: "index"}
	c.Want(o.Store != nil, "Store", "missing", "a store")
	c.Want(o.System != nil, "System", "missing", "a function that makes the system")
	c.Add(store.CheckName("Name", o.Name+workSuffix))
	return c.Err()
}

const workSuffix = "-work"

// atOnce is the number of documents per put.
const atOnce = 256

// Tables of the collection Name-work: documents by ID, and replies by the hash of the request.
const (
	documents = "documents"
	replies   = "replies"
)

// Index processes the shares of a job. It is safe for concurrent use, and several processes may use it if the
// store allows that.
type Index struct {
	o       Options
	work    store.Generation
	replies *share.Replies
}

// Open opens the collection of the job, or creates it.
func Open(ctx context.Context, o Options) (*Index, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c, err := o.Store.Create(ctx, o.Name+workSuffix, store.Schema{Tables: map[string]store.TableSchema{documents: {}, replies: {}}})
	if err != nil {
		return nil, fmt.Errorf("index: creating the collection %s: %w", o.Name+workSuffix, err)
	}
	g, err := c.Write(ctx, "work")
	if err != nil {
		return nil, fmt.Errorf("index: opening the work of the job: %w", err)
	}
	open := func(context.Context) (store.Generation, error) { return g, nil }
	return &Index{o, g, &share.Replies{Open: open, Table: replies, Durable: o.Store.Can().Durable}}, nil
}

// Close closes the collection. The store stays open.
func (x *Index) Close() error { return x.work.Close() }

// Put stores the documents of the job, and removes all others. It returns their number.
func (x *Index) Put(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (int, error) {
	here := make(map[string]bool)
	t, err := x.work.Table(documents)
	if err != nil {
		return 0, fmt.Errorf("index: opening the table of documents: %w", err)
	}
	var records []store.Record
	put := func() error {
		defer func() { records = records[:0] }()
		return t.Put(ctx, records...)
	}
	for d, err := range docs {
		if err == nil && here[d.ID] {
			err = fmt.Errorf("two documents have the ID %.80q", d.ID)
		}
		var data []byte
		if err == nil {
			data, err = json.Marshal(d)
		}
		if records = append(records, store.Record{ID: d.ID, Data: data}); err == nil && len(records) == atOnce {
			err = put()
		}
		if err != nil {
			return 0, fmt.Errorf("index: storing documents: %w", err)
		}
		here[d.ID] = true
	}
	if err := errors.Join(put(), x.work.Flush(ctx)); err != nil {
		return 0, fmt.Errorf("index: storing documents: %w", err)
	}
	var gone []string
	for d, err := range x.Documents(ctx) {
		if err != nil {
			return 0, err
		}
		if !here[d.ID] {
			gone = append(gone, d.ID)
		}
	}
	if err := errors.Join(t.Delete(ctx, gone...), x.work.Flush(ctx)); err != nil {
		return 0, fmt.Errorf("index: removing documents: %w", err)
	}
	return len(here), nil
}

// Documents returns the documents of the job in the order of their IDs.
func (x *Index) Documents(ctx context.Context) iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		t, err := x.work.Table(documents)
		if err != nil {
			yield(graphrag.Document{}, fmt.Errorf("index: opening the table of documents: %w", err))
			return
		}
		for r, err := range t.All(ctx, "") {
			var d graphrag.Document
			if err == nil {
				err = json.Unmarshal(r.Data, &d)
			}
			if err != nil {
				err = fmt.Errorf("index: document %.80q: %w", r.ID, err)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// Share is the part of the replies that one process requests: part I of N, counted from 0.
type Share struct {
	I int `json:"i"`
	N int `json:"n"`
}

// Done is the result of processing a share.
type Done struct {
	// Missing is the number of replies that the share left to others; 0 means that all are stored.
	Missing int `json:"missing"`
	// Usage is the usage of the share's calls, even failed ones; Texts is the number of embedded texts.
	Usage llm.Usage `json:"usage"`
	Texts int       `json:"texts"`
}

// Doer processes shares.
type Doer interface {
	Do(ctx context.Context, s Share) (Done, error)
}

var _ Doer = (*Index)(nil)

// Do requests the replies of a share, up to the end of the first step that lacks replies of other shares.
func (x *Index) Do(ctx context.Context, s Share) (Done, error) {
	if s.N < 1 || s.I < 0 || s.I >= s.N {
		return Done{}, fmt.Errorf("index: share %d of %d: want one from 0 to N-1", s.I, s.N)
	}
	ctx, at := share.With(ctx, func(key string) bool {
		h := fnv.New64a()
		h.Write([]byte(key))
		return h.Sum64()%uint64(s.N) == uint64(s.I)
	})
	ctx, meter := metering.WithMeter(ctx)
	system, err := x.o.System()
	if err == nil {
		_, err = x.Build(ctx, system)
		err = errors.Join(err, system.Close())
	}
	if errors.Is(err, share.ErrMissing) {
		err = nil
	}
	return Done{Missing: at.Missing(), Usage: meter.Usage(), Texts: at.Texts()}, err
}

// Build indexes the documents with a system, from the replies in the store. It requests missing ones.
func (x *Index) Build(ctx context.Context, s *kit.System) (graphrag.IndexStats, error) {
	return s.Index(x.replies.With(ctx), x.Documents(ctx))
}

// Progress is the progress of a job.
type Progress struct {
	// Round is the number of the current round, Shares the number of shares, and Done the number of shares that
	// are finished in this round.
	Round  int `json:"round"`
	Shares int `json:"shares"`
	Done   int `json:"done"`
	// Missing is the largest number of replies that a share of the previous round lacked. Usage and Texts are
	// sums over all rounds.
	Missing int       `json:"missing"`
	Usage   llm.Usage `json:"usage"`
	Texts   int       `json:"texts"`

	asked, missing int // in the current round: requests made, and most replies missing
}

// Next begins the next round and returns its shares, none if no reply is missing. If the last round made no
// requests although replies are missing, the next one has a single share, which requests all of them.
func (p *Progress) Next() []Share {
	n := p.Shares
	switch {
	case p.Round > 0 && p.missing == 0:
		return nil
	case p.Round > 0 && p.asked == 0:
		n = 1
	}
	p.Round, p.Done, p.Missing, p.asked, p.missing = p.Round+1, 0, p.missing, 0, 0
	var out []Share
	for i := range n {
		out = append(out, Share{i, n})
	}
	return out
}

// Add adds the result of a share in the current round.
func (p *Progress) Add(d Done) {
	p.Done++
	p.asked += d.Usage.Calls + d.Texts
	p.missing = max(p.missing, d.Missing)
	p.Usage, p.Texts = p.Usage.Add(d.Usage), p.Texts+d.Texts
}
