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

// Call is a call to a model, or to an embedder, of which nothing was kept.
type Call struct {
	// Key is the hash of what was asked, Process who asked, and Begun when.
	Key     string    `json:"-"`
	Process string    `json:"process"`
	Begun   time.Time `json:"begun"`
	// Failed is why it failed, "" if it is under way, or was when its process died.
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

// call makes a call that is written down while it is under way. do tells whether what
// came of it is kept; if it is not, it stays written down, unless it is known to have cost
// nothing.
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

// doubtful are the calls of which nothing was kept.
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
