// SPDX-License-Identifier: Apache-2.0

package index

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm"
)

// Call is a call to a model, or to an embedder, that may have been paid for in vain.
type Call struct {
	// Key is the hash of what was asked, Process who asked, and Begun when.
	Key     string    `json:"-"`
	Process string    `json:"process"`
	Begun   time.Time `json:"begun"`
	// Failed is how it ended, if it is known to have cost nothing.
	Failed string `json:"failed,omitempty"`
}

// kept is what is kept of a reply: what was asked, and what came, or why nothing did.
type kept struct {
	Request json.RawMessage `json:"request"`
	Reply   llm.Reply       `json:"reply"`
	Kind    llm.Kind        `json:"kind,omitempty"`
	Text    string          `json:"text,omitempty"` // of the failure
}

// sharedModel asks only for replies that are not in the store.
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
		// Who asks the same at the same time in this process waits.
		got, err, shared := m.flights.Do(key, func() (any, error) { return m.once(ctx, key, asked, req) })
		if shared && ctx.Err() == nil && errors.Is(err, context.Canceled) {
			continue // another one's end is not ours
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
	failed := m.v.call(ctx, m.process, key, func() (err error) {
		k.Reply, err = m.Model.Generate(ctx, req)
		return err
	})
	if failed != nil {
		var e *llm.Error
		if !errors.As(failed, &e) || e.Billed != llm.BilledYes || !llm.OfOneReply(e) || e.Retryable() {
			return llm.Reply{}, failed
		}
		k.Reply, k.Kind, k.Text = llm.Reply{Usage: e.Usage}, e.Kind, e.Error() // it would come again
	}
	data, err := json.Marshal(k)
	if err == nil {
		err = m.v.put(context.WithoutCancel(ctx), replies, store.Record{ID: key, Data: data})
	}
	if err != nil {
		return llm.Reply{}, fmt.Errorf("index: keep what was paid for: %w", err)
	}
	return k.Reply, failed
}

// call writes a call down, makes it, and takes it back if it is known to have cost
// nothing.
func (v *vault) call(ctx context.Context, process, key string, do func() error) error {
	c := Call{Process: process, Begun: time.Now().UTC()}
	r, err := record(key+"/"+rand.Text(), c)
	if err == nil {
		err = v.put(ctx, calls, r)
	}
	if err != nil {
		return err
	}
	failed := do()
	var e *llm.Error
	if errors.As(failed, &e) && e.Billed == llm.BilledNo {
		c.Failed = string(e.Kind)
		if r, err = record(r.ID, c); err == nil {
			err = v.put(context.WithoutCancel(ctx), calls, r)
		}
	}
	return errors.Join(failed, err)
}

// doubtful are the calls beside those that what is kept is from.
func (v *vault) doubtful(ctx context.Context) ([]Call, error) {
	t, err := v.g.Table(calls)
	if err != nil {
		return nil, err
	}
	var out, same []Call
	end := func() {
		if len(same) > 1 {
			out = append(out, same[:len(same)-1]...)
		}
		same = nil
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
		if len(same) > 0 && same[0].Key != c.Key {
			end()
		}
		if c.Failed == "" {
			same = append(same, c)
		}
	}
	end()
	return out, nil
}
