// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// replies caches the replies of models and embedders from building a system, so that the next change asks only
// for new replies, and a saved system opens without calls. A nil *replies caches nothing.
type replies struct {
	mu     sync.Mutex
	all    map[replyKey]entry
	fresh  []replyKey  // keys of entries that are not in the file of the system
	dim    int         // length of the vectors, 0 without any
	kept   int         // number of entries after the last prune
	change int         // the number of changes that began
	made   memo.Keeper // values computed without a model
}

// entry is a reply, or a vector.
type entry struct {
	reply  *llm.Reply
	vector []float32
	change int // the last change that used it
}

type replyKey [sha256.Size]byte

// keyOf returns the key of a value that the model or function called name computes from a text; kind
// distinguishes several values.
func keyOf(kind, name, text string) replyKey {
	return sha256.Sum256(fmt.Appendf(nil, "%s %d %s %s", kind, len(name), name, text))
}

func (k replyKey) String() string { return hex.EncodeToString(k[:]) }

func newReplies() *replies { return &replies{all: make(map[replyKey]entry)} }

type repliesKey struct{}

// with returns a context under which the models and embedders of a kit use the cache. Values computed from a
// chunk without them are cached too, unless the context has a memo: the systems of a benchmark do not change,
// and caching these values takes a tenth more memory.
func (r *replies) with(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, repliesKey{}, r)
	if memo.Under(ctx) {
		return ctx
	}
	return r.made.With(ctx)
}

func repliesOf(ctx context.Context) *replies {
	r, _ := ctx.Value(repliesKey{}).(*replies)
	return r
}

// many reports whether the cache has become too large: it has manyReplies more than twice the number of chunks,
// and than twice the number of entries that the last prune left.
func (r *replies) many(chunks int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all) > 2*max(chunks, r.kept)+manyReplies
}

// begin starts a change, prune ends one that succeeded: it removes the entries that the change did not use.
func (r *replies) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change++
}

func (r *replies) prune() {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.all, func(_ replyKey, e entry) bool { return e.change != r.change })
	r.kept = len(r.all)
}

// keyOfRequest returns a key of everything that the model sees, without the origin of the request.
func keyOfRequest(model string, req llm.Request) (replyKey, bool) {
	req.Stage, req.Question = "", ""
	data, err := json.Marshal([]any{model, req})
	return sha256.Sum256(data), err == nil
}

func (r *replies) get(key replyKey) (entry, bool) {
	if r == nil {
		return entry{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.all[key]
	if e.change = r.change; ok {
		r.all[key] = e
	}
	return e, ok
}

func (r *replies) keep(key replyKey, e entry) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if dim := len(e.vector); e.reply == nil {
		if r.dim != 0 && r.dim != dim {
			return fmt.Errorf("the embedder returned vectors of %d numbers, those of the index have %d: use the embedder it was built with, or index again", dim, r.dim)
		}
		r.dim = dim
	}
	e.change = r.change
	r.all[key], r.fresh = e, append(r.fresh, key)
	return nil
}

// copy returns a cache with the same entries.
func (r *replies) copy() *replies {
	out := newReplies()
	r.mu.Lock()
	defer r.mu.Unlock()
	out.add(r)
	return out
}

// add copies the entries of another cache.
func (r *replies) add(other *replies) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.all, other.all)
	r.dim, r.change = cmp.Or(other.dim, r.dim), max(r.change, other.change)
}

// outcome is a reply in the form that a build stores, or an error that a repeated call would return too.
type outcome struct {
	Reply llm.Reply `json:"reply"`
	Kind  llm.Kind  `json:"kind,omitempty"`
	Text  string    `json:"text,omitempty"` // text of the error
}

// remembering is a model that first looks for a reply in the cache of the context and among the stored replies
// of a build that did not end.
type remembering struct{ llm.Model }

func (r remembering) Generate(ctx context.Context, req llm.Request) (reply llm.Reply, err error) {
	kept := repliesOf(ctx)
	key, keyed := keyOfRequest(r.Name(), req)
	e, there := kept.get(key)
	switch {
	case !keyed:
		reply, err = r.Model.Generate(ctx, req)
	case there && e.reply != nil:
		reply = *e.reply
		reply.Usage = graphrag.Usage{CachedCalls: 1}
	default:
		if reply, err = r.fetch(ctx, key, req); err == nil {
			err = kept.keep(key, entry{reply: &reply})
		}
	}
	Count(ctx, graphrag.IndexStats{Usage: reply.Usage})
	return reply, err
}

// fetch returns the reply to a request from the store of the build, or asks the model for it.
func (r remembering) fetch(ctx context.Context, key replyKey, req llm.Request) (reply llm.Reply, failed error) {
	asked := false
	found, err := share.Fetch(ctx, []string{key.String()}, func([]int) ([]outcome, error) {
		asked = true
		reply, failed = r.Model.Generate(ctx, req)
		var e *llm.Error
		if errors.As(failed, &e) && e.Billed == llm.BilledYes && llm.OfOneReply(e) && !e.Retryable() {
			return []outcome{{Reply: llm.Reply{Usage: e.Usage}, Kind: e.Kind, Text: e.Error()}}, nil
		}
		return []outcome{{Reply: reply}}, failed
	})
	switch {
	case errors.Is(err, share.ErrItem): // an error of this reply alone: the build continues
		return reply, &llm.Error{Kind: llm.ErrEmpty, Billed: llm.BilledNo, Err: err}
	case err != nil || asked:
		return reply, cmp.Or(failed, err)
	case found[0].Kind != "":
		return reply, &llm.Error{Kind: found[0].Kind, Billed: llm.BilledNo, Err: errors.New(found[0].Text)}
	}
	reply = found[0].Reply
	reply.Usage = graphrag.Usage{CachedCalls: 1}
	return reply, nil
}

// metered returns a model that adds its usage to the meter of the context.
func metered(m llm.Model) llm.Model { return metering.Metered(remembering{m}) }

// rememberingEmbedder is an embedder that takes vectors from the cache of the context: the cache of the system
// during a build, and a new one for each question.
type rememberingEmbedder struct {
	embed.Embedder
	name string
}

func (r rememberingEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	Count(ctx, graphrag.IndexStats{Stages: []graphrag.Stage{{Name: stepEmbed, Asked: len(texts)}}})
	out, err := r.vectors(ctx, "document", texts, r.Embedder.EmbedDocuments)
	return out, cmp.Or(err, ctx.Err())
}

func (r rememberingEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	out, err := r.vectors(ctx, "query", []string{text}, func(ctx context.Context, texts []string) ([][]float32, error) {
		v, err := r.Embedder.EmbedQuery(ctx, texts[0])
		return [][]float32{v}, err
	})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// vectors takes vectors from the cache and from the store of the build, and asks the embedder for the others.
func (r rememberingEmbedder) vectors(ctx context.Context, kind string, texts []string, ask func(context.Context, []string) ([][]float32, error)) ([][]float32, error) {
	keys := make([]replyKey, len(texts))
	for i, t := range texts {
		if keys[i] = sha256.Sum256([]byte(t)); kind != "document" { // an encoder may have two prompts
			keys[i] = keyOf(kind, r.name, t)
		}
	}
	read := func(e entry) ([]float32, bool) { return e.vector, e.reply == nil }
	write := func(v []float32) (entry, error) { return entry{vector: v}, nil }
	return cached(ctx, keys, read, write, func(missing []int) ([][]float32, error) {
		asked := pick(texts, missing)
		names := make([]string, len(asked))
		for i, t := range asked {
			names[i] = keyOf(kind, r.name, t).String()
		}
		out, err := share.Fetch(ctx, names, func(places []int) ([][]float32, error) {
			share.Embedded(ctx, len(places))
			return ask(ctx, pick(asked, places))
		})
		if errors.Is(err, share.ErrItem) {
			err = share.ErrMissing
		}
		return out, err
	})
}

// cached returns the values of keys. read decodes an entry of the cache of ctx, fetch computes the values of
// missing keys, which it gets as indexes into keys, and write encodes them as entries.
func cached[T any](ctx context.Context, keys []replyKey, read func(entry) (T, bool), write func(T) (entry, error), fetch func(missing []int) ([]T, error)) ([]T, error) {
	kept := repliesOf(ctx)
	out := slices.Repeat([]T{*new(T)}, len(keys))
	var missing []int
	at := make(map[replyKey][]int) // indexes of each missing key
	for i, key := range keys {
		if e, ok := kept.get(key); ok {
			if out[i], ok = read(e); ok {
				continue
			}
		}
		if at[key] == nil {
			missing = append(missing, i)
		}
		at[key] = append(at[key], i)
	}
	if len(missing) == 0 {
		return out, nil
	}
	fresh, err := fetch(missing)
	for n, v := range fresh {
		var e entry
		if err == nil {
			e, err = write(v)
		}
		if err == nil {
			err = kept.keep(keys[missing[n]], e)
		}
		for _, place := range at[keys[missing[n]]] {
			out[place] = v
		}
	}
	return out, err
}

// pick returns the items at some indexes.
func pick[T any](all []T, places []int) []T {
	out := make([]T, len(places))
	for i, place := range places {
		out[i] = all[place]
	}
	return out
}

// Saved returns the value of a kind and a key that an earlier change of the system has computed, or else calls
// make. The value is saved with the system, as replies are, so a value that depends on earlier states, not only
// on the documents, is the same after the system is opened. The key must identify that state; T is stored as
// JSON.
func Saved[T any](ctx context.Context, kind, key string, make func() (T, error)) (T, error) {
	one, err := remembered(ctx, []replyKey{keyOf(kind, key, "")}, func([]int) ([]T, error) {
		made, err := make()
		return []T{made}, err
	})
	if err != nil {
		var none T
		return none, err
	}
	return one[0], nil
}

// remembered does the same as Saved for several keys. make gets the indexes of the missing ones.
func remembered[T any](ctx context.Context, keys []replyKey, make func(places []int) ([]T, error)) ([]T, error) {
	read := func(e entry) (v T, ok bool) {
		ok = e.reply != nil && json.Unmarshal([]byte(e.reply.Text), &v) == nil
		return v, ok
	}
	write := func(v T) (entry, error) {
		data, err := json.Marshal(v)
		return entry{reply: &llm.Reply{Text: string(data)}}, err
	}
	return cached(ctx, keys, read, write, func(missing []int) ([]T, error) {
		var names []string
		for _, key := range pick(keys, missing) {
			names = append(names, key.String())
		}
		return share.Make(ctx, names, func(places []int) ([]T, error) { return make(pick(missing, places)) })
	})
}

// rememberingNames finds names, and caches them in the cache of the context as replies.
type rememberingNames struct{ extract.NameFinder }

func (r rememberingNames) Find(ctx context.Context, texts []string) ([][]text.Match, error) {
	keys := make([]replyKey, len(texts))
	for i, t := range texts {
		keys[i] = keyOf("names", r.Name(), t)
	}
	return remembered(ctx, keys, func(places []int) ([][]text.Match, error) { return r.NameFinder.Find(ctx, pick(texts, places)) })
}
