// SPDX-License-Identifier: Apache-2.0

package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm"
)

// work is the generation with the documents and replies. After put records are durable and visible to all
// processes.
type work struct {
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

func (w *work) put(ctx context.Context, table string, records ...store.Record) error {
	t, err := w.g.Table(table)
	if err == nil {
		err = t.Put(ctx, records...)
	}
	if err != nil || w.durable || table == documents {
		return err
	}
	return w.flush(context.WithoutCancel(ctx))
}

// flush makes earlier puts durable. Callers that arrive during a flush share the next one.
func (w *work) flush(ctx context.Context) error {
	w.mu.Lock()
	f := w.next
	if f == nil {
		f = &flush{done: make(chan struct{})}
		w.next = f
		go func() {
			w.writing.Lock()
			defer w.writing.Unlock()
			w.mu.Lock()
			w.next = nil
			w.mu.Unlock()
			f.err = w.g.Flush(ctx)
			close(f.done)
		}()
	}
	w.mu.Unlock()
	<-f.done
	return f.err
}

// get returns the data of the replies that are there, by key.
func (w *work) get(ctx context.Context, keys ...string) (map[string][]byte, error) {
	t, err := w.g.Table(replies)
	if err != nil {
		return nil, err
	}
	found, err := t.Get(ctx, keys...)
	out := make(map[string][]byte, len(found))
	for _, r := range found {
		out[r.ID] = r.Data
	}
	return out, err
}

// keyOf returns the key of the reply to a request.
func keyOf(kind, name string, request []byte) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %s", kind, name, request))
	return hex.EncodeToString(sum[:])
}

// kept is a stored reply: the request, and the reply or the failure that would come again.
type kept struct {
	Request json.RawMessage `json:"request"`
	Reply   llm.Reply       `json:"reply"`
	Kind    llm.Kind        `json:"kind,omitempty"`
	Text    string          `json:"text,omitempty"` // of the failure
}

// Reply implements [kit.Replies].
func (w *work) Reply(ctx context.Context, model string, req llm.Request, ask func() (llm.Reply, error)) (llm.Reply, error) {
	request, err := json.Marshal(req)
	if err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: err}
	}
	key := keyOf("reply", model, request)
	there, err := w.get(ctx, key)
	if err != nil {
		return llm.Reply{}, err
	}
	if data := there[key]; data != nil {
		var k kept
		if err := json.Unmarshal(data, &k); err != nil || !bytes.Equal(k.Request, request) {
			return llm.Reply{}, fmt.Errorf("index: the reply %s is not one to this request: %w", key, errors.Join(err, store.ErrMismatch))
		}
		if k.Kind != "" {
			return llm.Reply{}, &llm.Error{Kind: k.Kind, Billed: llm.BilledNo, Usage: k.Reply.Usage, Err: errors.New(k.Text)}
		}
		k.Reply.Usage = llm.Usage{CachedCalls: 1}
		return k.Reply, nil
	}
	if err := share.Ask(ctx, key); err != nil {
		return llm.Reply{}, err
	}
	k := kept{Request: request}
	reply, failed := ask()
	k.Reply = reply
	var e *llm.Error
	if errors.As(failed, &e) && e.Billed == llm.BilledYes && llm.OfOneReply(e) && !e.Retryable() {
		k.Reply, k.Kind, k.Text = llm.Reply{Usage: e.Usage}, e.Kind, e.Error() // it would come again
	} else if failed != nil {
		return reply, failed
	}
	count(ctx, k.Reply.Usage, 0)
	data, err := json.Marshal(k)
	if err == nil {
		err = w.put(context.WithoutCancel(ctx), replies, store.Record{ID: key, Data: data})
	}
	if err != nil {
		return reply, fmt.Errorf("index: storing a reply that was paid for: %w", err)
	}
	return reply, failed
}

// atOnce is the number of vectors that are read and asked for at once.
const atOnce = 256

// Vectors implements [kit.Replies].
func (w *work) Vectors(ctx context.Context, embedder, kind string, texts []string, ask func([]string) ([][]float32, error)) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var missing error
	for lo := 0; lo < len(texts); lo += atOnce {
		part := texts[lo:min(lo+atOnce, len(texts))]
		keys := make([]string, len(part))
		for i, text := range part {
			keys[i] = keyOf(kind, embedder, []byte(text))
		}
		there, err := w.get(ctx, keys...)
		if err != nil {
			return nil, err
		}
		var mine []string
		var at []int
		for i, key := range keys {
			if data := there[key]; data != nil {
				out[lo+i] = vector(data)
			} else if err := share.Ask(ctx, key); err != nil {
				missing = err
			} else {
				mine, at = append(mine, part[i]), append(at, i)
			}
		}
		if len(mine) == 0 {
			continue
		}
		vectors, err := ask(mine)
		if err != nil || len(vectors) != len(mine) {
			return vectors, err // the caller reports a wrong number
		}
		rs := make([]store.Record, len(mine))
		for i, v := range vectors {
			out[lo+at[i]] = v
			rs[i] = store.Record{ID: keys[at[i]], Data: encoded(v)}
		}
		if err := w.put(context.WithoutCancel(ctx), replies, rs...); err != nil {
			return nil, fmt.Errorf("index: storing vectors that were paid for: %w", err)
		}
		count(ctx, llm.Usage{}, len(mine))
	}
	if missing != nil {
		return nil, share.ErrMissing
	}
	return out, nil
}

// encoded and vector are the form of a vector in the store: JSON, as all data there is.
func encoded(v []float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	data, _ := json.Marshal(b) // bytes always marshal
	return data
}

func vector(data []byte) []float32 {
	var b []byte
	if json.Unmarshal(data, &b) != nil || len(b)%4 != 0 {
		return nil
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// asked adds up what a share asks for.
type asked struct {
	mu    sync.Mutex
	usage llm.Usage
	texts int
}

type askedKey struct{}

func withAsked(ctx context.Context) (context.Context, *asked) {
	a := &asked{}
	return context.WithValue(ctx, askedKey{}, a), a
}

func (a *asked) sum() (llm.Usage, int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.usage, a.texts
}

func count(ctx context.Context, usage llm.Usage, texts int) {
	if a, _ := ctx.Value(askedKey{}).(*asked); a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.usage, a.texts = a.usage.Add(usage), a.texts+texts
	}
}
