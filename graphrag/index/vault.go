// SPDX-License-Identifier: Apache-2.0

package index

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm"
)

// The tables of the collection NAME-work: things by the hash of their content or of their inputs,
// replies by the hash of the request, and calls.
const (
	things  = "things"
	replies = "replies"
	calls   = "calls"
)

var workSchema = store.Schema{Tables: map[string]store.TableSchema{things: {}, replies: {}, calls: {}}}

// refOf returns the hash of values, as a reference to them or to what is computed from them.
// They are strings, numbers, and lists and structs of these, which always marshal.
func refOf(of ...any) string {
	data, err := json.Marshal(of)
	if err != nil {
		panic(fmt.Sprintf("index: a reference to %T: %v", of, err))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// vault stores things in a generation. After put they are durable and visible to all
// processes.
type vault struct {
	g       store.Generation
	durable bool // without a flush

	writing sync.Mutex // one flush at a time
	mu      sync.Mutex
	next    *flush // the next flush, which covers what is put now
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

// flush makes earlier puts durable. Callers that arrive during a flush share the next one.
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

// get returns the data of the existing ids.
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

// errGone reports a missing reference: it is of another store, or of one that was emptied.
var errGone = errors.New("what a task refers to is not in the store: submit the documents again")

// list reads things of one type in the order of their references, all of which must exist.
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

// record returns a thing as it is stored.
func record(ref string, of any) (store.Record, error) {
	data, err := json.Marshal(of)
	return store.Record{ID: ref, Data: data}, err
}

// keep stores something under the hash of its content; n is the N of its batch.
func keep(ctx context.Context, v *vault, of any, n int) (Batch, error) {
	b := Batch{Ref: refOf(of), N: n}
	r, err := record(b.Ref, of)
	if err == nil {
		err = v.put(ctx, things, r)
	}
	return b, err
}

// keepAll stores things, and the list of their hashes.
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

// Call is a call of a model or an embedder without a stored result.
type Call struct {
	// Key is the hash of the request, Process the caller, and Begun the time of the call.
	Key     string    `json:"-"`
	Process string    `json:"process"`
	Begun   time.Time `json:"begun"`
	// Failed is the error; "" if it is running, or was when its process died.
	Failed string `json:"failed,omitempty"`
}

// kept is a stored reply: the request, and the reply or the error.
type kept struct {
	Request json.RawMessage `json:"request"`
	Reply   llm.Reply       `json:"reply"`
	Kind    llm.Kind        `json:"kind,omitempty"`
	Text    string          `json:"text,omitempty"` // of the failure
}

// sharedModel calls the model only for replies that are not in the store.
type sharedModel struct {
	llm.Model
	v       *vault
	process string
	flights *singleflight.Group
}

// Generate implements [llm.Model].
func (m sharedModel) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	asked, err := json.Marshal([]any{m.Name(), req})
	if err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: err}
	}
	key := refOf("reply", string(asked))
	for {
		// Concurrent equal requests in this process share a call.
		got, err, shared := m.flights.Do(key, func() (any, error) { return m.once(ctx, key, asked, req) })
		if shared && ctx.Err() == nil && errors.Is(err, context.Canceled) {
			continue // the other caller was cancelled, not this one
		}
		reply, _ := got.(llm.Reply)
		return reply, err
	}
}

func (m sharedModel) once(ctx context.Context, key string, asked []byte, req llm.Request) (llm.Reply, error) {
	there, err := m.v.get(ctx, replies, key)
	if err != nil {
		return llm.Reply{}, err
	}
	if data := there[key]; data != nil {
		var k kept
		if err := json.Unmarshal(data, &k); err != nil || !bytes.Equal(k.Request, asked) {
			return llm.Reply{}, fmt.Errorf("index: the reply %s is not one to this request: %w", key, errors.Join(err, store.ErrMismatch))
		}
		if k.Kind != "" {
			return llm.Reply{}, &llm.Error{Kind: k.Kind, Billed: llm.BilledNo, Usage: k.Reply.Usage, Err: errors.New(k.Text)}
		}
		return k.Reply, nil
	}
	k := kept{Request: asked}
	err = m.v.call(ctx, m.process, key, func() (keep bool, _ error) {
		var failed error
		k.Reply, failed = m.Model.Generate(ctx, req)
		var e *llm.Error
		if errors.As(failed, &e) && e.Billed == llm.BilledYes && llm.OfOneReply(e) && !e.Retryable() {
			k.Reply, k.Kind, k.Text = llm.Reply{Usage: e.Usage}, e.Kind, e.Error() // it would come again
		} else if failed != nil {
			return false, failed
		}
		data, err := json.Marshal(k)
		if err == nil {
			err = m.v.put(context.WithoutCancel(ctx), replies, store.Record{ID: key, Data: data})
		}
		if err != nil {
			return false, fmt.Errorf("index: keep what was paid for: %w", err)
		}
		return true, failed
	})
	return k.Reply, err
}

// call makes a call that is recorded while it runs. do reports whether its result is stored; if
// not, the record stays, unless the call is known to be free.
func (v *vault) call(ctx context.Context, process, key string, do func() (kept bool, err error)) error {
	c := Call{Process: process, Begun: time.Now().UTC()}
	r, err := record(key+"/"+rand.Text(), c)
	if err == nil {
		err = v.put(ctx, calls, r)
	}
	if err != nil {
		return err
	}
	kept, failed := do()
	ctx = context.WithoutCancel(ctx)
	var e *llm.Error
	if kept || errors.As(failed, &e) && e.Billed == llm.BilledNo {
		t, err := v.g.Table(calls)
		if err == nil {
			err = t.Delete(ctx, r.ID) // the next flush will do
		}
		return errors.Join(failed, err)
	}
	c.Failed = failed.Error()
	if r, err = record(r.ID, c); err == nil {
		err = v.put(ctx, calls, r)
	}
	return errors.Join(failed, err)
}

// doubtful returns the recorded calls.
func (v *vault) doubtful(ctx context.Context) (out []Call, err error) {
	t, err := v.g.Table(calls)
	if err == nil && !v.durable {
		err = v.flush(ctx)
	}
	if err != nil {
		return nil, err
	}
	for r, err := range t.All(ctx, "") {
		var c Call
		if err == nil {
			err = json.Unmarshal(r.Data, &c)
		}
		if err != nil {
			return nil, fmt.Errorf("index: calls: %w", err)
		}
		c.Key, _, _ = strings.Cut(r.ID, "/")
		out = append(out, c)
	}
	return out, nil
}
