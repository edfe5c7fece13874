// SPDX-License-Identifier: Apache-2.0

// Package share stores the replies of a build in a table, and divides the requests among processes by their keys.
package share

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// ErrMissing ends the step of a process that needs replies of other processes. ErrItem ends one item of a step;
// the other items continue.
var (
	ErrMissing = errors.New("replies of other shares are missing")
	ErrItem    = errors.New("a reply of another share is missing")
)

// Share is the part of a distributed build that one process does, with counts of what it did.
type Share struct {
	mine    func(key string) bool
	missing atomic.Int64
	texts   atomic.Int64
}

type (
	shareKey struct{}
	itemKey  struct{}
	item     struct{ missing atomic.Bool }
)

// With returns a context in which a model is called only for replies whose keys mine accepts. It counts the
// others.
func With(ctx context.Context, mine func(key string) bool) (context.Context, *Share) {
	s := &Share{mine: mine}
	return context.WithValue(ctx, shareKey{}, s), s
}

// Missing returns the number of replies that were left to other processes.
func (s *Share) Missing() int { return int(s.missing.Load()) }

// Texts returns the number of texts that the process embedded.
func (s *Share) Texts() int { return int(s.texts.Load()) }

// Embedded adds n embedded texts to the Share of the context.
func Embedded(ctx context.Context, n int) {
	if s, _ := ctx.Value(shareKey{}).(*Share); s != nil {
		s.texts.Add(int64(n))
	}
}

// Ask returns nil if this process is to get the reply for a key, else [ErrItem] within an item and [ErrMissing]
// elsewhere. It returns nil if the context has no Share.
func Ask(ctx context.Context, key string) error {
	s, _ := ctx.Value(shareKey{}).(*Share)
	if s == nil {
		return nil
	}
	i, _ := ctx.Value(itemKey{}).(*item)
	if s.mine(key) && (i == nil || !i.missing.Load()) {
		return nil
	}
	s.missing.Add(1)
	if i == nil {
		return ErrMissing
	}
	i.missing.Store(true)
	return ErrItem
}

// Item returns a context for one item of a step. After a missing reply, the later requests of the item are left
// out, because they depend on it.
func Item(ctx context.Context) context.Context {
	if ctx.Value(shareKey{}) == nil || ctx.Value(itemKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, itemKey{}, new(item))
}

// End returns [ErrMissing] at the end of a step in which replies are missing, on which the next step depends.
func End(ctx context.Context) error {
	s, _ := ctx.Value(shareKey{}).(*Share)
	if s == nil || ctx.Value(itemKey{}) != nil || s.missing.Load() == 0 {
		return nil
	}
	return ErrMissing
}

// Each is [par.Each] for the items of a step that asks a model.
func Each(ctx context.Context, n, workers int, do func(ctx context.Context, i int) error) error {
	err := par.Each(ctx, n, workers, func(i int) error { return do(Item(ctx), i) })
	return cmp.Or(err, End(ctx))
}

// Replies stores the replies of a build in a table of a store, so that a killed process loses only the calls in
// progress. It is safe for concurrent use.
type Replies struct {
	// Open opens the generation that contains the Table; it is called at the first use.
	Open  func(context.Context) (store.Generation, error)
	Table string
	// Durable says that the table needs no flush. New says that the table is empty at the start. The replies of
	// the first call are then stored only with a second call or after a failure, since a small change needs no
	// table.
	Durable, New bool

	opening    sync.Mutex
	generation store.Generation
	held       []store.Record // replies of the first call, not yet stored

	puts     atomic.Int64
	flushing sync.Mutex
	flushed  int64 // number of puts that are durable
}

type repliesKey struct{}

// With returns a context in which [Fetch] stores replies in r.
func (r *Replies) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, repliesKey{}, r)
}

// Kept returns the Replies of a context, nil if it has none.
func Kept(ctx context.Context) *Replies {
	r, _ := ctx.Value(repliesKey{}).(*Replies)
	return r
}

// atOnce is the number of keys that are looked up in one request.
const atOnce = 256

// Fetch returns the replies for keys, in order, from the table of the context. It calls ask with the indexes of
// the keys that the table lacks and that the [Share] of the context includes, and stores the results before it
// returns. If a key of another process is missing, it returns the error of [Ask].
func Fetch[T any](ctx context.Context, keys []string, ask func(places []int) ([]T, error)) ([]T, error) {
	places := make([]int, len(keys))
	for i := range places {
		places[i] = i
	}
	r := Kept(ctx)
	if r == nil {
		return exactly(places, ask)
	}
	out := make([]T, len(keys))
	var left error
	for lo := 0; lo < len(keys); lo += atOnce {
		hi := min(lo+atOnce, len(keys))
		there, err := r.get(ctx, keys[lo:hi])
		if err != nil {
			return nil, err
		}
		var mine []int
		for _, i := range places[lo:hi] {
			if data, ok := there[keys[i]]; !ok {
				if err := Ask(ctx, keys[i]); err != nil {
					left = err
				} else {
					mine = append(mine, i)
				}
			} else if err := decode(data, &out[i]); err != nil {
				return nil, fmt.Errorf("the stored reply %s cannot be read: discard the generation of replies, and index again: %w", keys[i], err)
			}
		}
		if len(mine) == 0 {
			continue
		}
		if err := r.put(ctx, nil); err != nil {
			return nil, err
		}
		made, err := exactly(mine, ask)
		if err != nil {
			return nil, err
		}
		records := make([]store.Record, len(mine))
		for at, i := range mine {
			out[i], records[at].ID = made[at], keys[i]
			if records[at].Data, err = encode(made[at]); err != nil {
				return nil, fmt.Errorf("encoding a reply to store it: %w", err)
			}
		}
		if err := r.put(ctx, records); err != nil {
			return nil, err
		}
	}
	return out, left
}

// exactly calls ask and checks that it returns one reply per index.
func exactly[T any](places []int, ask func(places []int) ([]T, error)) ([]T, error) {
	made, err := ask(places)
	if err == nil && len(made) != len(places) {
		err = fmt.Errorf("got %d replies or vectors for %d requests: check the model or the embedder", len(made), len(places))
	}
	return made, err
}

// Make is Fetch for results that every process makes for itself: with a Share in the context it stores nothing.
func Make[T any](ctx context.Context, keys []string, make func(places []int) ([]T, error)) ([]T, error) {
	if ctx.Value(shareKey{}) != nil {
		ctx = context.WithValue(ctx, repliesKey{}, (*Replies)(nil))
	}
	return Fetch(ctx, keys, make)
}

// put stores the records and the ones held back, even if ctx is cancelled. If the table is New, the first call
// only holds its records back.
func (r *Replies) put(ctx context.Context, records []store.Record) error {
	r.opening.Lock()
	first := r.New && r.generation == nil && r.held == nil
	records, r.held = append(r.held, records...), nil
	if first {
		records, r.held = nil, records
	}
	r.opening.Unlock()
	if len(records) == 0 {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	t, err := r.table(ctx)
	if err == nil {
		err = t.Put(ctx, records...)
	}
	if err == nil && !r.Durable {
		err = r.flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("storing replies: %w", err)
	}
	return nil
}

// encode returns a vector as bytes, which is a hundred times faster than JSON, and any other value as JSON.
func encode(v any) ([]byte, error) {
	if row, ok := v.([]float32); ok {
		return binary.Append(nil, binary.LittleEndian, row)
	}
	return json.Marshal(v)
}

func decode(data []byte, to any) error {
	row, ok := to.(*[]float32)
	if !ok {
		return json.Unmarshal(data, to)
	}
	*row = make([]float32, len(data)/4)
	_, err := binary.Decode(data, binary.LittleEndian, *row)
	return err
}

// get returns the stored replies for keys, by key.
func (r *Replies) get(ctx context.Context, keys []string) (map[string][]byte, error) {
	if r.New {
		return nil, nil
	}
	t, err := r.table(ctx)
	if err != nil {
		return nil, err
	}
	found, err := t.Get(ctx, keys...)
	out := make(map[string][]byte, len(found))
	for _, record := range found {
		out[record.ID] = record.Data
	}
	return out, err
}

func (r *Replies) table(ctx context.Context) (store.Table, error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	if r.generation == nil {
		g, err := r.Open(ctx)
		if err != nil {
			return nil, err
		}
		r.generation = g
	}
	return r.generation.Table(r.Table)
}

// flush makes all earlier puts durable. One flush serves all callers that arrived before it began.
func (r *Replies) flush(ctx context.Context) error {
	mine := r.puts.Add(1)
	r.flushing.Lock()
	defer r.flushing.Unlock()
	if r.flushed >= mine {
		return nil
	}
	all := r.puts.Load()
	err := r.generation.Flush(ctx)
	if err == nil {
		r.flushed = all
	}
	return err
}

// Close stores the replies held back if the build failed, and closes the generation if it was opened.
func (r *Replies) Close(ctx context.Context, failed error) (err error) {
	if failed != nil {
		err = r.put(ctx, nil)
	}
	if r.generation != nil {
		err = errors.Join(err, r.generation.Close())
	}
	return err
}
