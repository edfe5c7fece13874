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

	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/kit"
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
	if err == nil && len(records) > 0 {
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

// kept is a stored reply, or the failure that would come again.
type kept struct {
	Reply llm.Reply `json:"reply"`
	Kind  llm.Kind  `json:"kind,omitempty"`
	Text  string    `json:"text,omitempty"` // of the failure
}

// session reads and asks for the replies of one system, and counts those that it asked for.
type session struct {
	*work
	mu   sync.Mutex
	done Done
}

var _ kit.Replies = (*session)(nil)

func (s *session) count(usage llm.Usage, texts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done.Usage, s.done.Texts = s.done.Usage.Add(usage), s.done.Texts+texts
}

// Reply implements [kit.Replies].
func (s *session) Reply(ctx context.Context, model string, req llm.Request, ask func() (llm.Reply, error)) (llm.Reply, error) {
	request, err := json.Marshal(req)
	if err != nil {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: err}
	}
	key := keyOf("reply", model, request)
	there, err := s.get(ctx, key)
	if err != nil {
		return llm.Reply{}, err
	}
	if data := there[key]; data != nil {
		var k kept
		if err := json.Unmarshal(data, &k); err != nil {
			return llm.Reply{}, fmt.Errorf("index: the stored reply %s cannot be read: %w", key, err)
		}
		if k.Kind != "" {
			return llm.Reply{}, &llm.Error{Kind: k.Kind, Billed: llm.BilledNo, Usage: k.Reply.Usage, Err: errors.New(k.Text)}
		}
		k.Reply.Usage = llm.Usage{CachedCalls: 1}
		return k.Reply, nil
	}
	if err := share.Ask(ctx, key); errors.Is(err, share.ErrItem) {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrEmpty, Billed: llm.BilledNo, Err: err} // of this reply alone: others are asked for
	} else if err != nil {
		return llm.Reply{}, err
	}
	reply, failed := ask()
	k := kept{Reply: reply}
	var e *llm.Error
	if errors.As(failed, &e) && e.Billed == llm.BilledYes && llm.OfOneReply(e) && !e.Retryable() {
		k.Reply, k.Kind, k.Text = llm.Reply{Usage: e.Usage}, e.Kind, e.Error() // it would come again
	} else if failed != nil {
		return reply, failed
	}
	s.count(k.Reply.Usage, 0)
	data, err := json.Marshal(k)
	if err == nil {
		err = s.put(context.WithoutCancel(ctx), replies, store.Record{ID: key, Data: data})
	}
	if err != nil {
		return reply, fmt.Errorf("index: storing a reply that was paid for: %w", err)
	}
	return reply, failed
}

// atOnce is the number of documents that are put, and of vectors that are asked for, at once.
const atOnce = 256

// Vectors implements [kit.Replies].
func (s *session) Vectors(ctx context.Context, embedder, kind string, texts []string, ask func([]string) ([][]float32, error)) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var missing error
	for lo := 0; lo < len(texts); lo += atOnce {
		part := texts[lo:min(lo+atOnce, len(texts))]
		keys := make([]string, len(part))
		for i, text := range part {
			keys[i] = keyOf(kind, embedder, []byte(text))
		}
		there, err := s.get(ctx, keys...)
		if err != nil {
			return nil, err
		}
		var mine []string
		var at []int
		for i, key := range keys {
			if data := there[key]; data != nil {
				if err := json.Unmarshal(data, &out[lo+i]); err != nil {
					return nil, fmt.Errorf("index: the stored vector %s cannot be read: %w", key, err)
				}
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
			data, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("index: a vector of the encoder: %w", err)
			}
			rs[i] = store.Record{ID: keys[at[i]], Data: data}
		}
		if err := s.put(context.WithoutCancel(ctx), replies, rs...); err != nil {
			return nil, fmt.Errorf("index: storing vectors that were paid for: %w", err)
		}
		s.count(llm.Usage{}, len(mine))
	}
	if missing != nil {
		return nil, share.ErrMissing
	}
	return out, nil
}
