// SPDX-License-Identifier: Apache-2.0

package index

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

// The tables of what an index is made of: things under hashes of their content or of
// what they were made from, replies under those of requests, and calls.
const (
	things  = "things"
	replies = "replies"
	calls   = "calls"
)

var workSchema = store.Schema{Tables: map[string]store.TableSchema{things: {}, replies: {}, calls: {}}}

// refOf is the hash of values: a reference to what they are, or to what is made from
// them. They are strings, numbers and lists and structs of these, which always marshal.
func refOf(of ...any) string {
	data, err := json.Marshal(of)
	if err != nil {
		panic(fmt.Sprintf("index: a reference to %T: %v", of, err))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// vault keeps things in a generation. What put returned for is durable, and found by
// all processes.
type vault struct {
	g       store.Generation
	durable bool // without a flush

	writing sync.Mutex // one flush at a time
	mu      sync.Mutex
	next    *flush // the one that takes in what is put now
}

type flush struct {
	done chan struct{}
	err  error
}

func (v *vault) put(ctx context.Context, table string, records ...store.Record) error {
	t, err := v.g.Table(table)
	if err == nil && len(records) > 0 {
		err = t.Put(ctx, records...)
	}
	if err != nil || v.durable || len(records) == 0 {
		return err
	}
	return v.flush(context.WithoutCancel(ctx))
}

// flush makes what was put before durable. Those who come while one is under way share
// the next.
func (v *vault) flush(ctx context.Context) error {
	v.mu.Lock()
	f := v.next
	if f == nil {
		f = &flush{done: make(chan struct{})}
		v.next = f
		go func() {
			v.writing.Lock()
			defer v.writing.Unlock()
			v.mu.Lock()
			v.next = nil
			v.mu.Unlock()
			f.err = v.g.Flush(ctx)
			close(f.done)
		}()
	}
	v.mu.Unlock()
	<-f.done
	return f.err
}

// get returns the data of those that are there, by id.
func (v *vault) get(ctx context.Context, table string, ids ...string) (map[string][]byte, error) {
	t, err := v.g.Table(table)
	if err != nil {
		return nil, err
	}
	found, err := t.Get(ctx, ids...)
	out := make(map[string][]byte, len(found))
	for _, r := range found {
		out[r.ID] = r.Data
	}
	return out, err
}

// errGone is of a reference to what is not there: another store, or one that was
// cleared.
var errGone = errors.New("what a task refers to is not in the store: submit the documents again")

// list reads things of one kind, in the order of their references, all of which must be
// there.
func list[T any](ctx context.Context, v *vault, refs []string) ([]T, error) {
	data, err := v.get(ctx, things, refs...)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(refs))
	for i, ref := range refs {
		if data[ref] == nil {
			return nil, fmt.Errorf("%w: %s", errGone, ref)
		}
		if err := json.Unmarshal(data[ref], &out[i]); err != nil {
			return nil, fmt.Errorf("reading %s: %w", ref, err)
		}
	}
	return out, nil
}

// thing reads one.
func thing[T any](ctx context.Context, v *vault, ref string) (T, error) {
	all, err := list[T](ctx, v, []string{ref})
	if err != nil {
		var none T
		return none, err
	}
	return all[0], nil
}

// record is a thing as it is kept.
func record(ref string, of any) (store.Record, error) {
	data, err := json.Marshal(of)
	return store.Record{ID: ref, Data: data}, err
}

// keep keeps something under the hash of its content; n is how much it is.
func keep(ctx context.Context, v *vault, of any, n int) (Batch, error) {
	b := Batch{Ref: refOf(of), N: n}
	r, err := record(b.Ref, of)
	if err == nil {
		err = v.put(ctx, things, r)
	}
	return b, err
}

// keepAll keeps things, and the list of their hashes.
func keepAll[T any](ctx context.Context, v *vault, of []T) (Batch, error) {
	refs, rs := make([]string, len(of)), make([]store.Record, len(of)+1)
	for i := range of {
		refs[i] = refOf(of[i])
		var err error
		if rs[i], err = record(refs[i], of[i]); err != nil {
			return Batch{}, err
		}
	}
	b := Batch{Ref: refOf(refs), N: len(of)}
	var err error
	if rs[len(of)], err = record(b.Ref, refs); err != nil {
		return Batch{}, err
	}
	return b, v.put(ctx, things, rs...)
}
