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
)

// replies caches the replies of models and embedders from building a system: the next
// change asks only for new replies, and a saved system opens without calls. A nil *replies
// caches nothing.
type replies struct {
	mu      sync.Mutex
	texts   map[replyKey]llm.Reply
	vectors map[replyKey][]float32
	used    map[replyKey]bool // since begin
	fresh   []replyKey        // not in the file of the system
	dim     int               // of the vectors, 0 without any
	kept    int               // how many the last prune left
	made    memo.Keeper       // what was made without a model
}

type replyKey [sha256.Size]byte

// keyOf is the key of something of a kind that something of a name made of a text.
func keyOf(kind, name, text string) replyKey {
	return sha256.Sum256(fmt.Appendf(nil, "%s %d %s %s", kind, len(name), name, text))
}

func (k replyKey) String() string { return hex.EncodeToString(k[:]) }

func newReplies() *replies {
	return &replies{texts: make(map[replyKey]llm.Reply), vectors: make(map[replyKey][]float32), used: make(map[replyKey]bool)}
}

type repliesKey struct{}

// with returns a context under which the models and embedders of a kit use the cache, and what
// was made of a chunk without them is kept, too: not under a memo, because the systems of a
// benchmark do not change, and keeping it takes a tenth more memory.
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

// many reports whether the cache has outgrown twice the chunks and the replies that the last prune left.
func (r *replies) many(chunks int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.texts)+len(r.vectors) > 2*max(chunks, r.kept)+manyReplies
}

// begin starts a change, prune ends one that succeeded: entries that it did not use are
// removed.
func (r *replies) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.used)
}

func (r *replies) prune() {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.texts, func(k replyKey, _ llm.Reply) bool { return !r.used[k] })
	maps.DeleteFunc(r.vectors, func(k replyKey, _ []float32) bool { return !r.used[k] })
	r.kept = len(r.texts) + len(r.vectors)
}

// key covers everything that the model sees, but not the origin of the request.
func (r *replies) key(model string, req llm.Request) (replyKey, bool) {
	req.Stage, req.Question = "", ""
	data, err := json.Marshal([]any{model, req})
	return sha256.Sum256(data), err == nil
}

func (r *replies) reply(key replyKey) (llm.Reply, bool) {
	if r == nil {
		return llm.Reply{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	reply, ok := r.texts[key]
	r.used[key] = r.used[key] || ok
	return reply, ok
}

func (r *replies) keep(key replyKey, reply llm.Reply) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts[key], r.used[key], r.fresh = reply, true, append(r.fresh, key)
}

func (r *replies) vector(text string) ([]float32, bool) {
	if r == nil {
		return nil, false
	}
	key := replyKey(sha256.Sum256([]byte(text)))
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.vectors[key]
	r.used[key] = r.used[key] || ok
	return v, ok
}

func (r *replies) keepVector(text string, v []float32) error {
	if r == nil {
		return nil
	}
	key := replyKey(sha256.Sum256([]byte(text)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dim != 0 && r.dim != len(v) {
		return fmt.Errorf("the embedder gives vectors of %d numbers, those of the index have %d: use the embedder it was built with, or index again", len(v), r.dim)
	}
	r.dim = len(v)
	r.vectors[key], r.used[key], r.fresh = v, true, append(r.fresh, key)
	return nil
}

// copy returns a cache of the same entries.
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
	maps.Copy(r.texts, other.texts)
	maps.Copy(r.vectors, other.vectors)
	r.dim = cmp.Or(other.dim, r.dim)
}

// outcome is a reply as a build keeps it, or the failure that would come again.
type outcome struct {
	Reply llm.Reply `json:"reply"`
	Kind  llm.Kind  `json:"kind,omitempty"`
	Text  string    `json:"text,omitempty"` // of the failure
}

// remembering is a model that answers from the cache of the context and from the replies of a build that did not
// end, if there are any.
type remembering struct{ llm.Model }

func (r remembering) Generate(ctx context.Context, req llm.Request) (reply llm.Reply, err error) {
	kept := repliesOf(ctx)
	key, keyed := kept.key(r.Name(), req)
	reply, there := kept.reply(key)
	switch {
	case !keyed:
		reply, err = r.Model.Generate(ctx, req)
	case there:
		reply.Usage = graphrag.Usage{CachedCalls: 1}
	default:
		if reply, err = r.fetch(ctx, key, req); err == nil {
			kept.keep(key, reply)
		}
	}
	Count(ctx, graphrag.IndexStats{Usage: reply.Usage})
	return reply, err
}

// fetch finds the reply to a request in the store of the build, or asks for it.
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
	case errors.Is(err, share.ErrItem): // of this reply alone: others are asked for
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

// metered counts the usage of a model under the meter of the context.
func metered(m llm.Model) llm.Model { return llm.Metered(remembering{m}) }

// rememberingEmbedder is an embedder that takes vectors from the cache of the context: that
// of the system while it is built, and one of its own for each question.
type rememberingEmbedder struct {
	embed.Embedder
	name string
}

func (r rememberingEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	Count(ctx, graphrag.IndexStats{Stages: []graphrag.Stage{{Name: stepEmbed, Asked: len(texts)}}})
	kept := repliesOf(ctx)
	out := make([][]float32, len(texts))
	var missing []string
	at := make(map[string][]int) // the places of a text
	for i, t := range texts {
		if v, ok := kept.vector(t); ok {
			out[i] = v
			continue
		}
		if at[t] == nil {
			missing = append(missing, t)
		}
		at[t] = append(at[t], i)
	}
	if len(missing) == 0 {
		return out, ctx.Err()
	}
	fresh, err := r.fetch(ctx, "document", missing, r.Embedder.EmbedDocuments)
	if err != nil {
		return nil, err
	}
	for i, v := range fresh {
		for _, place := range at[missing[i]] {
			out[place] = v
		}
		if err := kept.keepVector(missing[i], v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r rememberingEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	kept := repliesOf(ctx)
	if v, ok := kept.vector(text); ok {
		return v, nil
	}
	fresh, err := r.fetch(ctx, "query", []string{text}, func(ctx context.Context, texts []string) ([][]float32, error) {
		v, err := r.Embedder.EmbedQuery(ctx, texts[0])
		return [][]float32{v}, err
	})
	if err != nil {
		return nil, err
	}
	return fresh[0], kept.keepVector(text, fresh[0])
}

// fetch finds vectors in the store of the build, or asks for them.
func (r rememberingEmbedder) fetch(ctx context.Context, kind string, texts []string, ask func(context.Context, []string) ([][]float32, error)) ([][]float32, error) {
	keys := make([]string, len(texts))
	for i, t := range texts {
		keys[i] = keyOf(kind, r.name, t).String()
	}
	out, err := share.Fetch(ctx, keys, func(places []int) ([][]float32, error) {
		share.Embedded(ctx, len(places))
		return ask(ctx, pick(texts, places))
	})
	if errors.Is(err, share.ErrItem) {
		err = share.ErrMissing
	}
	return out, err
}

// pick returns the items of some places.
func pick[T any](all []T, places []int) []T {
	out := make([]T, len(places))
	for i, place := range places {
		out[i] = all[place]
	}
	return out
}

// Saved returns what was made of a kind under the key in an earlier change of the system, or makes it.
// It is saved with the system, as replies are: something that depends on earlier states, and not on the
// documents alone, is so the same when the system is opened. The key tells the state; T is kept as JSON.
func Saved[T any](ctx context.Context, kind, key string, make func() (T, error)) (T, error) {
	one, err := saved(ctx, []replyKey{keyOf(kind, key, "")}, func([]int) ([]T, error) {
		made, err := make()
		return []T{made}, err
	})
	if err != nil {
		var none T
		return none, err
	}
	return one[0], nil
}

// saved is Saved for several keys. make gets the places of those that are not there.
func saved[T any](ctx context.Context, keys []replyKey, make func(places []int) ([]T, error)) ([]T, error) {
	kept := repliesOf(ctx)
	out := slices.Repeat([]T{*new(T)}, len(keys))
	var missing []int
	var names []string
	for i, key := range keys {
		reply, ok := kept.reply(key)
		if !ok || json.Unmarshal([]byte(reply.Text), &out[i]) != nil {
			missing, names = append(missing, i), append(names, key.String())
		}
	}
	fresh, err := share.Make(ctx, names, func(places []int) ([]T, error) { return make(pick(missing, places)) })
	if err != nil {
		return nil, err
	}
	for at, i := range missing {
		data, err := json.Marshal(fresh[at])
		if err != nil {
			return nil, err
		}
		out[i] = fresh[at]
		kept.keep(keys[i], llm.Reply{Text: string(data)})
	}
	return out, nil
}

// rememberingNames finds names in the cache of the context, as replies.
type rememberingNames struct{ extract.NameFinder }

func (r rememberingNames) Find(ctx context.Context, texts []string) ([][]text.Match, error) {
	keys := make([]replyKey, len(texts))
	for i, t := range texts {
		keys[i] = keyOf("names", r.Name(), t)
	}
	return saved(ctx, keys, func(places []int) ([][]text.Match, error) { return r.NameFinder.Find(ctx, pick(texts, places)) })
}
