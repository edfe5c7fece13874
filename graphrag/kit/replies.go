// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract"
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
	if r == nil {
		return replyKey{}, false
	}
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

// Replies keeps replies and vectors outside of a system, so that several processes can share them. It calls
// ask for what it lacks, and returns an error if that is not to be asked for here.
type Replies interface {
	Reply(ctx context.Context, model string, req llm.Request, ask func() (llm.Reply, error)) (llm.Reply, error)
	Vectors(ctx context.Context, embedder, kind string, texts []string, ask func([]string) ([][]float32, error)) ([][]float32, error)
}

type outsideKey struct{}

// WithReplies returns a context under which a system is built of the replies that r keeps.
func WithReplies(ctx context.Context, r Replies) context.Context {
	return context.WithValue(ctx, outsideKey{}, r)
}

// remembering is a model that answers from the cache of the context, if there is one.
type remembering struct{ llm.Model }

func (r remembering) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	kept := repliesOf(ctx)
	key, keyed := kept.key(r.Name(), req)
	if reply, ok := kept.reply(key); keyed && ok {
		reply.Usage = graphrag.Usage{CachedCalls: 1}
		noteReply(ctx, reply)
		return reply, nil
	}
	ask := func() (llm.Reply, error) { return r.Model.Generate(ctx, req) }
	var reply llm.Reply
	var err error
	if outside, _ := ctx.Value(outsideKey{}).(Replies); outside != nil {
		reply, err = outside.Reply(ctx, r.Name(), req, ask)
	} else {
		reply, err = ask()
	}
	if err == nil && keyed {
		kept.keep(key, reply)
	}
	noteReply(ctx, reply)
	return reply, err
}

// noteReply adds a reply to the progress of a change.
func noteReply(ctx context.Context, reply llm.Reply) {
	note(ctx, func(t *tally) { t.sofar.Usage = t.sofar.Usage.Add(reply.Usage) })
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
	countStage(ctx, stepEmbed, graphrag.Stage{Asked: len(texts)})
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
	fresh, err := r.ask(ctx, "document", missing, func(texts []string) ([][]float32, error) { return r.Embedder.EmbedDocuments(ctx, texts) })
	if err != nil || len(fresh) != len(missing) {
		return fresh, err // the caller reports a wrong number
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
	fresh, err := r.ask(ctx, "query", []string{text}, func(texts []string) ([][]float32, error) {
		v, err := r.Embedder.EmbedQuery(ctx, texts[0])
		return [][]float32{v}, err
	})
	if err != nil {
		return nil, err
	}
	return fresh[0], kept.keepVector(text, fresh[0])
}

// ask asks for vectors, or finds them outside of the system.
func (r rememberingEmbedder) ask(ctx context.Context, kind string, texts []string, ask func([]string) ([][]float32, error)) ([][]float32, error) {
	if outside, _ := ctx.Value(outsideKey{}).(Replies); outside != nil {
		return outside.Vectors(ctx, r.name, kind, texts, ask)
	}
	return ask(texts)
}

// Saved returns what was made of a kind under the key in an earlier change of the system, or makes it.
// It is saved with the system, as replies are: something that depends on earlier states, and not on the
// documents alone, is so the same when the system is opened. The key tells the state; T is kept as JSON.
func Saved[T any](ctx context.Context, kind, key string, make func() (T, error)) (T, error) {
	var made T
	kept := repliesOf(ctx)
	if kept == nil {
		return make()
	}
	sum := replyKey(sha256.Sum256(fmt.Appendf(nil, "%s %d %s", kind, len(key), key)))
	if reply, ok := kept.reply(sum); ok && json.Unmarshal([]byte(reply.Text), &made) == nil {
		return made, nil
	}
	made, err := make()
	if err != nil {
		return made, err
	}
	data, err := json.Marshal(made)
	if err == nil {
		kept.keep(sum, llm.Reply{Text: string(data)})
	}
	return made, err
}

// rememberingNames finds names in the cache of the context, as replies.
type rememberingNames struct{ extract.NameFinder }

func (r rememberingNames) Find(ctx context.Context, texts []string) ([][]text.Match, error) {
	kept := repliesOf(ctx)
	if kept == nil {
		return r.NameFinder.Find(ctx, texts)
	}
	out, keys := make([][]text.Match, len(texts)), make([]replyKey, len(texts))
	var missing []string
	var at []int
	for i, t := range texts {
		keys[i] = sha256.Sum256(fmt.Appendf(nil, "names %d %s %s", len(r.Name()), r.Name(), t))
		reply, ok := kept.reply(keys[i])
		if !ok || json.Unmarshal([]byte(reply.Text), &out[i]) != nil {
			missing, at = append(missing, t), append(at, i)
		}
	}
	fresh, err := r.NameFinder.Find(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i, names := range fresh {
		data, err := json.Marshal(names)
		if err != nil {
			return nil, err
		}
		out[at[i]] = names
		kept.keep(keys[at[i]], llm.Reply{Text: string(data)})
	}
	return out, nil
}
