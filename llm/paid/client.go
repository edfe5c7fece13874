// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Options of [Open].
type Options struct {
	// File is the journal of replies, vectors and calls. It is made if it is
	// missing, with its folder. Required. Programs and jobs may share one, one
	// program at a time.
	File string
	// Run names the job, for instance by its folder: limits and account are those
	// of all its starts, while replies are shared by all runs of the file.
	Run string
	// Tokens and Money limit what the run spends; 0 is no limit. Money is in the
	// currency of the prices, which it needs.
	Tokens int
	Money  Money
	// Prices may be nil: then no cost is known.
	Prices *Prices
	// CountTokens counts the tokens of a text; nil means llm.EstimateTokens.
	CountTokens func(string) int
	// RetryFailures asks again for every recorded failure, once it is wanted. Without
	// it that is done for filtered replies, whose cause may have passed. A cut one is kept under
	// the limit that cut it: with a larger one the question is another.
	RetryFailures bool
	// Defaults are the settings of requests that have none of their own, see
	// [llm.Defaults]; without a MaxTokens that is [DefaultReplyTokens]. What is sent is
	// part of what a reply is kept under.
	Defaults llm.Request
	// Logger is told what is wrong with what was kept; nil is silent.
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
		errs = append(errs, errors.New("paid: a limit of Money needs Prices"))
	}
	if o.Prices != nil {
		errs = append(errs, o.Prices.Check())
	}
	return errors.Join(errs...)
}

// UserFile is the journal that the programs of a user share:
// wildgraph/replies.journal in [os.UserCacheDir].
func UserFile() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("paid: no folder for replies: %w", err)
	}
	return filepath.Join(dir, "wildgraph", "replies.journal"), nil
}

// Client makes models and embedders whose calls are written down, stay within the
// limits and are paid for once: replies are kept on disk as they come. It is safe
// for concurrent use.
type Client struct {
	o      Options
	j      *journal.Journal
	cache  *cache
	ledger *ledger
	budget *budget

	mu     sync.Mutex
	silent map[string]func(context.Context) error // a small call to each model, nil once it has answered
	wanted bool                                   // they are to be made
	asking chan struct{}                          // holds a token while they are
}

// Open opens the journal and checks the limits against what the run has spent.
// While another program uses the file, the error is [journal.ErrLocked].
func Open(o Options) (*Client, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(o.File), 0o755); err != nil {
		return nil, fmt.Errorf("paid: %w", err)
	}
	j, err := journal.Open(o.File, journal.Header{Schema: Schema}, journal.Options{})
	if errors.Is(err, journal.ErrLocked) {
		return nil, fmt.Errorf("paid: another program keeps its replies in %s: wait for its end, or name another file: %w", o.File, err)
	}
	if err != nil {
		return nil, fmt.Errorf("paid: %w", err)
	}
	if o.Logger != nil && j.Recovered().TornBytes > 0 {
		o.Logger.Warn("paid: an unfinished write was cut off what is kept: a call it was for is made again", "file", o.File, "bytes", j.Recovered().TornBytes)
	}
	c := &Client{o: o, j: j, cache: newCache(j, o.Logger), ledger: newLedger(j, o.Run, o.Prices),
		silent: map[string]func(context.Context) error{}, asking: make(chan struct{}, 1)}
	err = scan(j, c.ledger.read, func(rec journal.Record) error { return c.cache.enter(rec, o.forgotten) })
	if err == nil {
		c.budget, err = o.budget(c.ledger.account().Total)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return c, nil
}

// forgotten tells whether a recorded failure is to be asked for again; f is nil for
// a reply that does not hold what was asked for.
func (o Options) forgotten(f *failure) bool {
	return o.RetryFailures || f != nil && f.Kind == llm.ErrFiltered
}

// count is the greater of two counts: what may be spent must not be guessed too
// low.
func (o Options) count(text string) int {
	n := llm.EstimateTokens(text)
	if o.CountTokens != nil {
		n = max(n, o.CountTokens(text))
	}
	return n
}

// budget is what is left of the limits. What earlier starts may have spent counts as
// spent.
func (o Options) budget(spent Line) (*budget, error) {
	left := amount{tokens: math.MaxInt}
	if o.Tokens > 0 {
		left.tokens = o.Tokens - spent.Most.Tokens()
	}
	if left.tokens < 1 {
		return nil, fmt.Errorf("paid: %w: the run has taken %d tokens of its %d, or may have: raise the limit", llm.ErrBudgetExceeded, spent.Most.Tokens(), o.Tokens)
	}
	if o.Money == 0 {
		return newBudget(left, nil), nil
	}
	left.money = o.Money - spent.MostCost.Amount
	switch {
	case spent.MostCost.Partial:
		return nil, errors.New("paid: the run has called models without a price: what is left of the money is not known: add them to the prices")
	case left.money <= 0:
		return nil, fmt.Errorf("paid: %w: the run has spent %v %s of its %v, or may have: raise the limit",
			llm.ErrBudgetExceeded, spent.MostCost.Amount, o.Prices.Currency, o.Money)
	}
	return newBudget(left, o.Prices), nil
}

// Model is m with its calls paid for once: a reply is returned after it is on disk, a
// known one comes in one piece, and a question that many ask at the same time is asked
// once: who comes second gets the whole reply in one piece, as soon as the first has it.
// Known replies carry the usage of the calls that paid for them, so that meters do not
// depend on where a job was stopped and started again. A context made by [llm.WithAnew]
// ignores the known reply and replaces it.
//
// The key of a reply covers the model's name and every field of the request that the
// model sees, and Sample.
func (c *Client) Model(m llm.Model) (llm.Model, error) {
	if err := c.priced(m.Name(), llm.Usage{PromptTokens: 1, CompletionTokens: 1}); err != nil {
		return nil, err
	}
	settings := c.o.Defaults
	settings.MaxTokens = cmp.Or(settings.MaxTokens, DefaultReplyTokens)
	past, err := llm.Defaults(&model{m, c, true}, settings)
	if err != nil {
		return nil, err
	}
	c.probe("model "+m.Name(), func(ctx context.Context) error {
		req := llm.Prompt("Reply with the word ready.")
		req.Stage = StageProbe
		_, err := past.Generate(ctx, req)
		return llm.Fatal(err) // a model that has nothing to say to this is there
	})
	return llm.Defaults(&model{m, c, false}, settings)
}

// priced refuses a model of unknown cost where money is limited, before it is asked.
func (c *Client) priced(model string, u llm.Usage) error {
	if c.o.Money > 0 && c.o.Prices.Cost(model, u).Partial {
		return fmt.Errorf("paid: no price is known of %s for what it is used for: add it to the prices, or drop the limit of money", model)
	}
	return nil
}

// StageProbe is the stage of the calls that [Client.Probe] makes.
const StageProbe = "probe"

// Embedder is e with its vectors paid for once, see [CachedEmbedder].
func (c *Client) Embedder(e llm.NamedEmbedder) (llm.NamedEmbedder, error) {
	if err := c.priced(e.Name(), llm.Usage{EmbeddedTokens: 1}); err != nil {
		return nil, err
	}
	out := &cachedEmbedder{cache: c.cache, e: &embedder{c, e}}
	c.probe("embedding model "+e.Name(), func(ctx context.Context) error { return out.sign(llm.WithStage(ctx, StageProbe)) })
	return out, nil
}

// probe takes down how a model is asked for a sign of life, once for all its roles.
func (c *Client) probe(who string, ask func(context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.silent[who]; !ok {
		c.silent[who] = ask
	}
}

// Probe has every model and embedder that was handed out asked for a sign of life, by one
// small call past the cache, when the next call is about to be made: a wrong key or name
// of the last of them should be known before hours of work. One that has answered is not
// asked again.
func (c *Client) Probe() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = true
}

// ready makes the calls that Probe wants.
func (c *Client) ready(ctx context.Context) error {
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	case <-ctx.Done():
		return llm.Canceled(ctx, llm.BilledNo)
	}
	c.mu.Lock()
	asked := maps.Clone(c.silent)
	if !c.wanted {
		asked = nil
	}
	c.mu.Unlock()
	for _, who := range slices.Sorted(maps.Keys(asked)) {
		if asked[who] == nil { // it has answered
			continue
		}
		if err := asked[who](ctx); err != nil {
			return fmt.Errorf("asking %s for a sign of life: %w", who, err)
		}
		c.mu.Lock()
		c.silent[who] = nil
		c.mu.Unlock()
	}
	return nil
}

// Account is what all starts of the run have cost.
func (c *Client) Account() Account { return c.ledger.account() }

// Close closes the journal.
func (c *Client) Close() error { return c.j.Close() }
