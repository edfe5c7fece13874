// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Replies keeps the replies of a build in a table of a store, so that a killed process loses only the calls that
// are running. It is safe for concurrent use.
type Replies struct {
	// Open opens the generation of the Table, at the first use.
	Open  func(context.Context) (store.Generation, error)
	Table string
	// Durable tables need no flush. New ones have nothing to be found at the start.
	Durable, New bool

	opening    sync.Mutex
	generation store.Generation

	writing sync.Mutex // one flush at a time
	mu      sync.Mutex
	next    *flush // the next flush, which covers what is put now
}

type flush struct {
	done chan struct{}
	err  error
}

type repliesKey struct{}

// With returns a context under which [Fetch] keeps replies.
func (r *Replies) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, repliesKey{}, r)
}

// Kept returns the replies of a context, nil without any.
func Kept(ctx context.Context) *Replies {
	r, _ := ctx.Value(repliesKey{}).(*Replies)
	return r
}

// atOnce is the number of keys that are asked for at once.
const atOnce = 256

// Fetch returns the replies to keys, in order: those in the table of the context, and those that ask returns for
// the places that it lacks, which are in the table before they are returned. ask is called for the keys of the
// [Share] of the context alone; if a key of another share is missing, the error is that of [Ask].
func Fetch[T any](ctx context.Context, keys []string, ask func(places []int) ([]T, error)) ([]T, error) {
	if len(keys) == 0 {
		return nil, nil
	}
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
			} else if err := json.Unmarshal(data, &out[i]); err != nil {
				return nil, fmt.Errorf("the stored reply %s cannot be read: discard the generation of replies, and index again: %w", keys[i], err)
			}
		}
		if len(mine) == 0 {
			continue
		}
		made, err := exactly(mine, ask)
		if err == nil {
			err = put(ctx, r, keys, mine, made)
		}
		if err != nil {
			return nil, err
		}
		for at, i := range mine {
			out[i] = made[at]
		}
	}
	return out, left
}

// exactly asks for one reply for each place.
func exactly[T any](places []int, ask func(places []int) ([]T, error)) ([]T, error) {
	made, err := ask(places)
	if err == nil && len(made) != len(places) {
		err = fmt.Errorf("%d replies, or vectors, were given for %d: look at the model or the embedder", len(made), len(places))
	}
	return made, err
}

// Make is Fetch for what each process makes itself: under a share nothing of it is kept.
func Make[T any](ctx context.Context, keys []string, make func(places []int) ([]T, error)) ([]T, error) {
	if ctx.Value(shareKey{}) != nil {
		ctx = context.WithValue(ctx, repliesKey{}, (*Replies)(nil))
	}
	return Fetch(ctx, keys, make)
}

// put stores replies, also when ctx ended meanwhile.
func put[T any](ctx context.Context, r *Replies, keys []string, places []int, made []T) error {
	ctx = context.WithoutCancel(ctx)
	records := make([]store.Record, len(places))
	for at, i := range places {
		data, err := json.Marshal(made[at])
		if err != nil {
			return fmt.Errorf("a reply cannot be stored: %w", err)
		}
		records[at] = store.Record{ID: keys[i], Data: data}
	}
	t, err := r.table(ctx)
	if err == nil {
		err = t.Put(ctx, records...)
	}
	if err == nil && !r.Durable {
		err = r.flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("storing replies that were paid for: %w", err)
	}
	return nil
}

// get returns the data of the replies that are there, by key.
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

// flush makes earlier puts durable. Callers that arrive during a flush share the next one.
func (r *Replies) flush(ctx context.Context) error {
	r.mu.Lock()
	f := r.next
	if f == nil {
		f = &flush{done: make(chan struct{})}
		r.next = f
		go func() {
			r.writing.Lock()
			defer r.writing.Unlock()
			r.mu.Lock()
			r.next = nil
			r.mu.Unlock()
			f.err = r.generation.Flush(ctx)
			close(f.done)
		}()
	}
	r.mu.Unlock()
	<-f.done
	return f.err
}

// Close closes the generation, if it was opened.
func (r *Replies) Close() error {
	if r == nil || r.generation == nil {
		return nil
	}
	return r.generation.Close()
}
