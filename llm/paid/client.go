// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// Options of [Open].
type Options struct {
	// File is the journal of replies, vectors and calls. It is created, with its folder, if it is missing.
	// Required. Programs and jobs may share it, one program at a time.
	File string
	// Run names the job, for example by its folder: limits and account cover all starts of the job, while all
	// jobs share the replies in the file.
	Run string
	// Tokens and Money limit the spending of the run; 0 is no limit. Money is in the currency of Prices and
	// requires Prices.
	Tokens int
	Money  Money
	// Prices may be nil: then costs are unknown.
	Prices *Prices
	// CountTokens counts the tokens of a text; nil means llm.EstimateTokens.
	CountTokens func(string) int
	// RetryFailures repeats requests whose failure is cached. Without it only filtered requests are repeated,
	// since the filter may have changed. A truncated reply is cached under its limit: a larger limit makes
	// another request.
	RetryFailures bool
	// Defaults are the settings of requests that leave them unset: MaxTokens, by default
	// [DefaultReplyTokens], Temperature, TopP, Seed and Stop. Settings are part of the cache key.
	Defaults llm.Request
	// Logger receives warnings about unusable records; nil is silent.
	Logger *slog.Logger
}

func (o Options) check() error {
	var errs []error
	if o.File == "" {
		errs = append(errs, errors.New("paid: File is missing: name the journal of replies"))
	}
	if o.Tokens < 0 || o.Money < 0 {
		errs = append(errs, fmt.Errorf("paid: the limits of %d tokens and %v must not be negative: 0 is no limit", o.Tokens, o.Money))
	}
	if o.Money > 0 && o.Prices == nil {
		errs = append(errs, errors.New("paid: Money is limited, but Prices are missing: set Prices"))
	}
	if o.Prices != nil {
		errs = append(errs, o.Prices.Check())
	}
	if n := o.Defaults.MaxTokens; n < 0 {
		errs = append(errs, fmt.Errorf("paid: MaxTokens %d is negative: 0 is the default, %d", n, DefaultReplyTokens))
	}
	for name, v := range map[string]*float64{"Temperature": o.Defaults.Temperature, "TopP": o.Defaults.TopP} {
		if v != nil && !(*v >= 0 && *v <= math.MaxFloat64) {
			errs = append(errs, fmt.Errorf("paid: %s is %v, want a number that is not negative", name, *v))
		}
	}
	return errors.Join(errs...)
}

// UserFile returns the journal shared by the programs of a user: wildgraph/replies.journal in
// [os.UserCacheDir].
func UserFile() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("paid: find the user's cache folder: %w", err)
	}
	return filepath.Join(dir, "wildgraph", "replies.journal"), nil
}

// Client makes models and embedders whose calls are recorded, stay within the limits and are paid for once:
// replies are stored on disk as they arrive. It is safe for concurrent use.
type Client struct {
	o      Options
	j      *journal.Journal
	cache  *cache
	ledger *ledger
	budget *budget

	mu          sync.Mutex
	probes      map[string]func(context.Context) error // by name of the model; nil once the model has answered
	probeWanted bool
	probing     chan struct{} // holds one element while a caller makes the probes
}

// Open opens the journal and checks the limits against the earlier spending of the run. While another program
// uses the file, the error is [journal.ErrLocked].
func Open(o Options) (*Client, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(o.File), 0o755); err != nil {
		return nil, fmt.Errorf("paid: make the folder of the replies: %w", err)
	}
	j, err := journal.Open(o.File, journal.Header{Schema: Schema}, journal.Options{})
	if errors.Is(err, journal.ErrLocked) {
		return nil, fmt.Errorf("paid: another program uses %s for its replies: wait until it ends, or name another file: %w", o.File, err)
	}
	if err != nil {
		return nil, fmt.Errorf("paid: open the stored replies: %w", err)
	}
	if o.Logger != nil && j.Recovered().TornBytes > 0 {
		o.Logger.Warn("paid: an unfinished write was cut off the file: its call is made again", "file", o.File, "bytes", j.Recovered().TornBytes)
	}
	l := &ledger{j: j, run: o.Run, prices: o.Prices, tallies: map[purpose]Line{}, open: map[string]Entry{}, lengths: map[string]int{}}
	c := &Client{o: o, j: j, cache: newCache(j, o.Logger), ledger: l,
		probes: map[string]func(context.Context) error{}, probing: make(chan struct{}, 1)}
	// f is nil for a reply without the requested JSON.
	forgotten := func(f *failure) bool { return o.RetryFailures || f != nil && f.Kind == llm.ErrFiltered }
	err = scan(j, c.ledger.read, func(rec journal.Record) error { return c.cache.enter(rec, forgotten) })
	if err == nil {
		c.budget, err = o.budget(c.ledger.account().Total)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return c, nil
}

// count returns the tokens of a text: the greater of the estimate and of CountTokens, so that limits hold.
func (o Options) count(text string) int {
	n := llm.EstimateTokens(text)
	if o.CountTokens != nil {
		n = max(n, o.CountTokens(text))
	}
	return n
}

// budget returns what earlier starts have left of the limits. Their possible costs count as spent.
func (o Options) budget(spent Line) (*budget, error) {
	left := amount{tokens: math.MaxInt}
	if o.Tokens > 0 {
		left.tokens = o.Tokens - spent.Most.Tokens()
	}
	if left.tokens < 1 {
		return nil, fmt.Errorf("paid: %w: the run may have used %d tokens of its %d: raise the limit", llm.ErrBudgetExceeded, spent.Most.Tokens(), o.Tokens)
	}
	if o.Money == 0 {
		return newBudget(left, nil), nil
	}
	left.money = o.Money - spent.MostCost.Amount
	switch {
	case spent.MostCost.Partial:
		return nil, errors.New("paid: the run has called models without a price, so the rest of its money is not known: add their prices")
	case left.money <= 0:
		return nil, fmt.Errorf("paid: %w: the run may have spent %v %s of its %v: raise the limit",
			llm.ErrBudgetExceeded, spent.MostCost.Amount, o.Prices.Currency, o.Money)
	}
	return newBudget(left, o.Prices), nil
}

// Model returns m with every call paid for once: a reply is returned after it is on disk, and a cached one
// comes in one piece. Of concurrent equal requests one is sent; the others get the whole reply when it is
// complete. Cached replies carry the usage of the original calls, so that meters do not depend on
// interruptions of a job. Under a context of [metering.WithFreshReply] the cached reply is ignored and replaced.
//
// The key of a reply covers the model's name, every field of the request that the model sees, and Sample.
func (c *Client) Model(m llm.Model) (llm.Model, error) {
	if err := c.priced(m.Name(), llm.Usage{PromptTokens: 1, CompletionTokens: 1}); err != nil {
		return nil, err
	}
	past := &cachedModel{m, c, true}
	c.probe("model "+m.Name(), func(ctx context.Context) error {
		req := llm.Prompt("Reply with the word ready.")
		req.Stage = StageProbe
		_, err := past.Generate(ctx, req)
		return llm.Fatal(err) // even an unusable reply proves that the model answers
	})
	return &cachedModel{m, c, false}, nil
}

// settings returns a request with the defaults of the client, and the sample of ctx ([metering.WithSample]).
func (c *Client) settings(ctx context.Context, req llm.Request) llm.Request {
	d := c.o.Defaults
	req.MaxTokens = cmp.Or(req.MaxTokens, d.MaxTokens, DefaultReplyTokens)
	req.Temperature, req.TopP = cmp.Or(req.Temperature, d.Temperature), cmp.Or(req.TopP, d.TopP)
	req.Seed = cmp.Or(req.Seed, d.Seed)
	if req.Stop == nil {
		req.Stop = slices.Clone(d.Stop)
	}
	if n := metering.SampleOf(ctx); n > 0 {
		req.Sample += n
		if req.Seed != nil {
			seed := *req.Seed + int64(n)
			req.Seed = &seed
		}
	}
	return req
}

// priced returns an error for a model without a price if money is limited.
func (c *Client) priced(model string, u llm.Usage) error {
	if c.o.Money > 0 && c.o.Prices.Cost(model, u).Partial {
		return fmt.Errorf("paid: %s has no price for its use, chat or embeddings: add it to the prices, or drop the limit of money", model)
	}
	return nil
}

// StageProbe is the stage of the calls that [Client.Probe] makes.
const StageProbe = "probe"

// Embedder returns e with every vector paid for once, see [CachedEmbedder].
func (c *Client) Embedder(e llm.NamedEmbedder) (llm.NamedEmbedder, error) {
	if err := c.priced(e.Name(), llm.Usage{EmbeddedTokens: 1}); err != nil {
		return nil, err
	}
	out := &cachedEmbedder{cache: c.cache, e: &embedder{c, e}}
	c.probe("embedding model "+e.Name(), func(ctx context.Context) error {
		v, err := out.e.EmbedQuery(metering.WithStage(ctx, StageProbe), "ready") // asks the server, not the cache
		if err != nil {
			return err
		}
		return out.check([]string{"ready"}, [][]float32{v})
	})
	return out, nil
}

// probe registers ask as the probe of a model or an embedder, unless one is registered under that name.
func (c *Client) probe(who string, ask func(context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.probes[who]; !ok {
		c.probes[who] = ask
	}
}

// Probe makes the next call wait for one small uncached call to every model and embedder of the client, so that
// a wrong key or name is known before hours of work. Models that have answered are not probed again.
func (c *Client) Probe() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probeWanted = true
}

// runProbes makes the calls that [Client.Probe] requested.
func (c *Client) runProbes(ctx context.Context) error {
	select {
	case c.probing <- struct{}{}:
		defer func() { <-c.probing }()
	case <-ctx.Done():
		return llm.Canceled(ctx, llm.BilledNo)
	}
	c.mu.Lock()
	asked := maps.Clone(c.probes)
	if !c.probeWanted {
		asked = nil
	}
	c.mu.Unlock()
	for _, who := range slices.Sorted(maps.Keys(asked)) {
		if asked[who] == nil { // the model has answered
			continue
		}
		if err := asked[who](ctx); err != nil {
			return fmt.Errorf("a short call to %s, made before all others, failed: %w", who, err)
		}
		c.mu.Lock()
		c.probes[who] = nil
		c.mu.Unlock()
	}
	return nil
}

// Account returns the costs of all starts of the run.
func (c *Client) Account() Account { return c.ledger.account() }

// Close closes the journal.
func (c *Client) Close() error { return c.j.Close() }

// DefaultReplyTokens is the limit of a reply, in tokens, if the request has none: the largest limit that nearly
// every chat model accepts.
const DefaultReplyTokens = 4096

// pay makes a call between its two entries in the ledger, under a reservation of its worst case: the prompt
// and a reply up to the limit, or up to the longest reply of a model that exceeded a limit. Before a retry,
// the reservation grows and the cost so far is recorded, so that it survives the death of the program.
func (c *Client) pay(ctx context.Context, k call) error {
	stage := cmp.Or(k.req.Stage, metering.StageOf(ctx))
	if stage != StageProbe {
		if err := c.runProbes(ctx); err != nil {
			return err
		}
	}
	most := k.worstUsage(c.o.count)
	limit := most.CompletionTokens
	held, err := c.budget.reserve(ctx, k.model, func() llm.Usage {
		most.CompletionTokens = max(limit, c.ledger.longest(k.model))
		return most
	})
	if err != nil {
		return err
	}
	defer held.settle()
	e := Entry{
		ID: rand.Text(), Run: c.o.Run, Key: k.key(), Model: k.model, Most: most,
		Stage: stage, Question: cmp.Or(k.req.Question, metering.QuestionOf(ctx)),
	}
	if err := c.ledger.keep(recordIntent, e); err != nil {
		held.spend(llm.Usage{})
		return err
	}
	var bill metering.Bill
	bill.Retry = func() error {
		most.CompletionTokens = max(most.CompletionTokens, bill.Longest(), c.ledger.longest(k.model))
		if err := held.grow(worstCase(bill.Known(), bill.Unknown()+1, most)); err != nil {
			return err
		}
		if e.Usage == bill.Known() && e.Unknown == bill.Unknown() {
			return nil
		}
		e.Usage, e.Unknown = bill.Known(), bill.Unknown()
		return c.ledger.keep(recordIntent, e)
	}
	used, err := k.make(metering.WithBill(ctx, &bill))
	e.Usage, e.Unknown = k.usageOf(used, &bill, err, most)
	e.Longest = c.noteOverrun(ctx, k.model, cmp.Or(bill.Longest(), used.CompletionTokens), limit)
	span := trace.Of(ctx)
	span.Set(slog.Bool("wildgraph.paid", true))
	if p := c.o.Prices; p != nil && !p.Cost(e.Model, e.Usage).Partial {
		cost := p.Cost(e.Model, e.Usage).Amount.Units()
		span.Set(slog.Float64("wildgraph.cost", cost), slog.String("wildgraph.currency", p.Currency))
	}
	err = c.ledger.end(ctx, e, err)
	held.spend(worstCase(e.Usage, e.Unknown, most))
	return err
}

// noteOverrun records a reply that is longer than its limit and returns its length in tokens; it returns 0 for
// other replies and for implausible figures.
func (c *Client) noteOverrun(ctx context.Context, model string, tokens, limit int) int {
	if tokens <= limit || tokens > maxTokens {
		return 0
	}
	first := c.ledger.learn(model, tokens)
	c.budget.lengthen(model, tokens)
	if first && c.o.Logger != nil {
		c.o.Logger.WarnContext(ctx, "paid: a reply is longer than its limit: from now on a call reserves as much as the longest reply took",
			"model", model, "tokens", tokens, "limit", limit)
	}
	return tokens
}

// call is one call to a paid service: a request to a model, or texts to embed.
type call struct {
	model string
	req   llm.Request
	raw   []byte   // canonical request, nil for embeddings
	texts []string // texts to embed, nil for a request to a model
	make  func(context.Context) (llm.Usage, error)
}

// perMessage is the number of tokens that OpenAI's chat template adds to a message, its role included.
const perMessage = 4

// worstUsage returns the largest usage of one attempt.
func (c call) worstUsage(count func(string) int) llm.Usage {
	var u llm.Usage
	for _, t := range c.texts {
		u.EmbeddedTokens += count(t)
	}
	if c.raw == nil {
		return u
	}
	u.PromptTokens = count(string(c.req.Schema))
	for _, m := range c.req.Messages {
		u.PromptTokens += count(m.Text) + perMessage
	}
	u.CompletionTokens = cmp.Or(c.req.MaxTokens, DefaultReplyTokens)
	return u
}

// maxTokens is more than any call uses with all its attempts and batches; larger figures are implausible.
const maxTokens = 1_000_000_000

// usageOf returns the known usage of a call and the number of further attempts that may have been billed. The
// reply, the bill and the error describe the same attempts, so the largest figure counts. Implausible figures
// are replaced by the worst case.
func (c call) usageOf(used llm.Usage, bill *metering.Bill, err error, most llm.Usage) (known llm.Usage, unknown int) {
	known, unknown = larger(used, bill.Known()), bill.Unknown()
	if err != nil {
		var own *llm.Error
		billed := llm.BilledUnknown
		if errors.As(err, &own) {
			known, billed = larger(known, own.Usage), own.Billed
		}
		if billed == llm.BilledUnknown || billed == llm.BilledYes && known.Tokens() == 0 {
			unknown = max(unknown, 1)
		}
	}
	switch {
	case implausible(known):
		known = llm.Usage{Calls: max(known.Calls, 0), PromptTokens: most.PromptTokens, CompletionTokens: most.CompletionTokens,
			EmbeddedTokens: most.EmbeddedTokens, Estimated: true}
	case err == nil && known.Tokens() == 0 && c.raw == nil: // vectors come without usage
		known = llm.Usage{EmbeddedTokens: most.EmbeddedTokens, Estimated: true}
	}
	return known, unknown
}

func larger(a, b llm.Usage) llm.Usage {
	return llm.Usage{
		Calls: max(a.Calls, b.Calls), CachedCalls: max(a.CachedCalls, b.CachedCalls),
		PromptTokens:     max(a.PromptTokens, b.PromptTokens),
		CompletionTokens: max(a.CompletionTokens, b.CompletionTokens),
		EmbeddedTokens:   max(a.EmbeddedTokens, b.EmbeddedTokens),
		Estimated:        a.Estimated || b.Estimated,
	}
}

func implausible(u llm.Usage) bool {
	return min(u.Calls, u.PromptTokens, u.CompletionTokens, u.EmbeddedTokens) < 0 ||
		max(u.Calls, u.PromptTokens, u.CompletionTokens, u.EmbeddedTokens) > maxTokens
}

// worstCase returns the largest possible usage of a call: known, and most for each unknown attempt.
func worstCase(known llm.Usage, unknown int, most llm.Usage) llm.Usage {
	times := func(n int) llm.Usage {
		return llm.Usage{PromptTokens: n * most.PromptTokens, CompletionTokens: n * most.CompletionTokens, EmbeddedTokens: n * most.EmbeddedTokens}
	}
	if known.Estimated { // the usage of some attempts, perhaps of all, is estimated
		known = larger(known, times(max(known.Calls, 1)))
	}
	return known.Add(times(unknown))
}

// key returns the first 8 bytes of the hash of a request in hexadecimal, "" for embeddings.
func (c call) key() string {
	if c.raw == nil {
		return ""
	}
	k := keyOf(c.raw)
	return fmt.Sprintf("%x", k[:8])
}

// ask asks a model and pays for the call.
func (c *Client) ask(ctx context.Context, m llm.Model, raw []byte, req llm.Request, piece func(string) error) (reply llm.Reply, err error) {
	err = c.pay(ctx, call{model: m.Name(), req: req, raw: raw, make: func(ctx context.Context) (llm.Usage, error) {
		var err error
		reply, err = llm.Stream(ctx, m, req, piece)
		return reply.Usage, err
	}})
	if err != nil {
		return llm.Reply{}, err
	}
	return reply, nil
}
