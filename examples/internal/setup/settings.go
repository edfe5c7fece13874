// SPDX-License-Identifier: Apache-2.0

// Package setup runs systems over benchmarks for the programs: flags, kits and models, systems,
// progress, and the estimate of a dry run.
package setup

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed/hub"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// Settings holds the flags that the programs share.
type Settings struct {
	Systems                               []string
	ListSystems, ListOptions, ShowPrompts bool
	Limit                                 int
	ChunkSize, ChunkOverlap, ChunksPerDoc int

	Kit, IndexKit, AnswerKit      string
	Model, EmbedModel, JudgeModel string
	EmbedInt8                     bool
	// RerankModel, NameModel and SpanModel are names of package hub.
	RerankModel, NameModel, SpanModel string
	Mode                              string

	Out, Cache   string
	BudgetTokens int
	// BudgetContext bounds the evidence in a prompt in tokens; 0 bounds it by the top-k.
	BudgetContext int
	BudgetMoney   float64
	PriceList     *paid.Prices
	DryRun        bool
	ReplyTokens   int
	Temperature   *float64 // nil: none is sent
	Concurrency   int
	Seed          uint64
	NoTimings     bool
	MaxFailed     float64
	Retry         bool
	Fresh         bool

	// Graph, if not nil, makes the graph that gear links to without -kg.
	Graph func() (*triples.Index, error)

	// Instruction replaces our rules with -prompt minimal; "" keeps ours.
	Instruction string

	prices     string                      // the file
	prompts    []string                    // values of -prompt
	replaced   map[string]*llm.Replacement // by system, "" is all
	auto       bool                        // -embed-model was auto
	byName     bool                        // package hub knows -embed-model
	given      map[string]bool
	changed    []string
	sets       []setting
	kg, schema string
	badLines   string // warning about lines of -kg
	selected   []all.System
}

// Flags declares the flags except -model and -mode, which programs declare. Out is the folder of the
// report folders without -out.
func (s *Settings) Flags(fs *flag.FlagSet, getenv func(string) string, out string) {
	List(fs, &s.Systems, "systems", "comma-separated `LIST` of systems, or none (default: all)")
	fs.BoolVar(&s.ListSystems, "list-systems", false, "print the systems, a line each, and exit")
	s.setFlags(fs)
	s.promptFlags(fs)
	fs.IntVar(&s.Limit, "limit", 0, "at most `N` questions per domain and type (0 = all)")
	fs.IntVar(&s.ChunkSize, "chunk-size", chunk.DefaultSize, "tokens per chunk (cl100k)")
	fs.IntVar(&s.ChunkOverlap, "chunk-overlap", chunk.DefaultOverlap, "tokens shared by neighbouring chunks")
	fs.IntVar(&s.ChunksPerDoc, "chunks-per-page", 0, "at most `N` chunks of one page in a ranking (0 = no limit)")
	fs.StringVar(&s.Kit, "kit", "", "offline or model: the parts that index and those that answer (default: model when -model is given, else offline)")
	fs.StringVar(&s.IndexKit, "index-kit", "", "offline or model: the parts that index (default: those of -kit)")
	fs.StringVar(&s.AnswerKit, "answer-kit", "", "offline or model: the parts that answer and judge (default: those of -kit)")
	fs.StringVar(&s.EmbedModel, "embed-model", getenv("WILDGRAPH_EMBED_MODEL"), "`NAME` of the embedding model: minilm, bge-small, e5-small or hf:ORG/NAME@REVISION, fetched once; file:DIR, a folder; auto, what of these is there; none; or a server's (default: $WILDGRAPH_EMBED_MODEL, else LSA)")
	fs.BoolVar(&s.EmbedInt8, "embed-int8", false, "an -embed-model that needs no server calculates in whole numbers of 8 bits: 1.6 to 2.5 times as fast, with other vectors")
	fs.StringVar(&s.RerankModel, "rerank-model", "", "`NAME` of a cross-encoder that orders anew what is retrieved: hf:ORG/NAME@REVISION or file:DIR, a BertForSequenceClassification with one label")
	fs.StringVar(&s.NameModel, "name-model", "", "`NAME` of a model that finds names where systems go by names alone (linearrag, e2graphrag): hf:ORG/NAME@REVISION or file:DIR, a BertForTokenClassification")
	fs.StringVar(&s.SpanModel, "span-model", "", "`NAME` of a model that finds the words of an answer, or none, in place of rules: hf:ORG/NAME@REVISION or file:DIR, a BertForQuestionAnswering")
	fs.StringVar(&s.JudgeModel, "judge-model", getenv("WILDGRAPH_JUDGE_MODEL"), "`NAME` of the judging model, whoever answered (default: with an answering model $WILDGRAPH_JUDGE_MODEL, else that model)")
	fs.StringVar(&s.Out, "out", "", "report folder `DIR`; a run goes on from what is there and adds what is new (default: a folder under ./"+out+" named for the configuration)")
	fs.BoolVar(&s.Fresh, "fresh", false, "forget what is recorded in the report folder and start over; replies that were paid for stay in -cache")
	fs.StringVar(&s.Cache, "cache", "", "`FILE` of models' replies, shared by runs and programs; the vectors of an -embed-model that needs no server are kept beside it (default: wildgraph/replies.journal in the user's cache folder)")
	fs.IntVar(&s.BudgetTokens, "budget-tokens", 0, "stop before model calls exceed `N` tokens (0 = no limit)")
	fs.IntVar(&s.BudgetContext, "budget-context", 0, "read evidence for `N` tokens in place of the top-k, with every system; where the wording of a question asks for an overview, for twice as many (0 = the top-k)")
	fs.Float64Var(&s.BudgetMoney, "budget-money", 0, "stop before model calls cost more than `AMOUNT`, in the currency of -prices (0 = no limit)")
	fs.StringVar(&s.prices, "prices", "", "`FILE` of dated prices per million tokens, see docs/offline.md")
	fs.BoolVar(&s.DryRun, "dry-run", false, "print the expected calls and tokens, and call nothing")
	fs.IntVar(&s.ReplyTokens, "reply-tokens", paid.DefaultReplyTokens, "most tokens a model's reply may have; raise it for models that think aloud")
	cli.Temperature(fs, &s.Temperature)
	fs.IntVar(&s.Concurrency, "concurrency", 0, "questions answered at a time, and the most model calls in flight (0 = number of CPUs, with a model 8)")
	fs.Uint64Var(&s.Seed, "seed", 1, "seed of everything random, sent with every model call")
	fs.Float64Var(&s.MaxFailed, "max-failed", benchmark.DefaultMaxFailed, "largest `SHARE` of failed pieces, from indexing to judging, with which a system is compared")
	fs.BoolVar(&s.Retry, "retry", false, "ask again for everything without a score, and build again every index of which a part failed (without it: where the cause may have passed)")
	fs.BoolVar(&s.NoTimings, "no-timings", false, "leave clock and memory figures out, so that equal runs give equal bytes")
}

// Help lists the flags in groups. Flags of own come first in the group of the same title.
func Help(w io.Writer, fs *flag.FlagSet, about string, own ...cli.Group) {
	groups := []cli.Group{
		{Title: "What to run", Flags: []string{"systems", "list-systems", "set", "list-options", "kg", "schema", "limit"}},
		{Title: "What they read", Flags: []string{"chunk-size", "chunk-overlap", "chunks-per-page", "budget-context", "mode", "seed"}},
		{Title: "Models", Flags: []string{"model", "embed-model", "embed-int8", "rerank-model", "name-model", "span-model", "judge-model", "kit", "index-kit", "answer-kit", "prompt", "show-prompts", "reply-tokens", "temperature", "concurrency"}},
		{Title: "Money", Flags: []string{"dry-run", "budget-tokens", "budget-money", "prices", "cache"}},
		{Title: "Output", Flags: []string{"out", "fresh", "retry", "max-failed", "no-timings"}},
	}
	for i, g := range groups {
		for _, o := range own {
			if o.Title == g.Title {
				groups[i].Flags = append(slices.Clone(o.Flags), g.Flags...)
			}
		}
	}
	cli.Help(w, fs, about, groups...)
}

// Forget removes the records of the report folder with -fresh.
func (s Settings) Forget() error {
	if !s.Fresh || s.DryRun {
		return nil
	}
	return record.Forget(s.Out)
}

// none as -systems runs no system of the registry.
const none = "none"

// List declares a flag of names separated by commas.
func List(fs *flag.FlagSet, to *[]string, name, usage string) {
	fs.Func(name, usage, func(v string) error {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(*to, part) {
				*to = append(*to, part)
			}
		}
		if len(*to) == 0 {
			return errors.New("an empty list")
		}
		return nil
	})
}

// Complete sets what was not given: the kit (model when a model is named) and the settings that follow
// from it, and the case of system names. systems are the valid names. It returns all problems.
func (s *Settings) Complete(fs *flag.FlagSet, systems []string) []error {
	const callsInFlight = 8 // questions wait for the server, not for a processor, see transport.Transport
	s.auto = s.EmbedModel == autoEncoder
	s.EmbedModel, s.byName = hub.Find(s.EmbedModel, hub.Options{})
	s.noteChanges(fs)
	for i, name := range s.Systems { // in any case
		if at := slices.IndexFunc(systems, func(known string) bool { return strings.EqualFold(known, name) }); at >= 0 {
			s.Systems[i] = systems[at]
		}
	}
	var problems []error
	if s.given["out"] && s.Out == "" {
		problems = append(problems, errors.New("-out is empty: name a folder, or leave the flag out"))
	}
	if info, err := os.Stat(s.Out); err == nil && !info.IsDir() || err != nil && !errors.Is(err, os.ErrNotExist) {
		problems = append(problems, fmt.Errorf("-out %s is not a usable folder: choose another (it is created if missing)", s.Out))
	}
	if s.Kit == "" {
		s.Kit = kit.NameOffline
		if s.Model != "" {
			s.Kit = kit.NameModel
		}
	}
	s.IndexKit, s.AnswerKit = cmp.Or(s.IndexKit, s.Kit), cmp.Or(s.AnswerKit, s.Kit)
	// Ignore model names from the environment that this run does not need.
	for flag, name := range map[string]struct {
		of   *string
		used bool
	}{"model": {&s.Model, s.asks()}, "embed-model": {&s.EmbedModel, s.embeds()}, "judge-model": {&s.JudgeModel, s.ByModel()}} {
		if !name.used && !s.given[flag] {
			*name.of = ""
		}
	}
	if s.AnswerKit == kit.NameModel && s.JudgeModel == "" {
		s.JudgeModel = s.Model
	}
	if s.Concurrency == 0 && s.Paid() {
		s.Concurrency = callsInFlight
	}
	if s.Cache == "" && (s.encodes() || s.Paid()) {
		var err error
		if s.Cache, err = paid.UserFile(); err != nil {
			problems = append(problems, err)
		}
	}
	var err error
	if s.PriceList, err = cli.Prices(s.prices); err != nil {
		problems = append(problems, err)
	}
	problems = slices.Concat(problems, s.readPrompts(), s.check(systems))
	if len(problems) == 0 && fs.Lookup("systems") != nil {
		problems = s.choose()
	}
	return problems
}

// noteChanges records the flags that were given, and the changes that decide figures.
func (s *Settings) noteChanges(fs *flag.FlagSet) {
	s.given = make(map[string]bool)
	fs.Visit(func(f *flag.Flag) {
		s.given[f.Name] = true
		if v := f.Value.String(); slices.Contains(deciding, f.Name) && v != f.DefValue {
			s.changed = append(s.changed, "-"+f.Name+" "+v)
		}
	})
	for _, set := range s.sets {
		s.changed = append(s.changed, fmt.Sprintf("-set %s.%s=%s", set.system, set.option, set.value))
	}
	switch t := s.Temperature; {
	case !s.given["temperature"]:
	case t == nil:
		s.changed = append(s.changed, "-temperature none")
	case *t != 0:
		s.changed = append(s.changed, fmt.Sprint("-temperature ", *t))
	}
}

// deciding lists the flags that decide figures and are named in reports.
var deciding = []string{"limit", "chunk-size", "chunk-overlap", "chunks-per-page", "index-kit", "answer-kit", "embed-model", "embed-int8", "rerank-model", "name-model", "span-model", "budget-context",
	"mode", "seed", "reply-tokens", "max-failed", "k", "k-summary", "repeat", "kg", "schema", "grounded", "partial"}

// NonDefault returns the flags that decide figures and are not at their defaults, as given.
func (s *Settings) NonDefault() []string { return s.changed }

// Given reports whether a flag is on the command line.
func (s *Settings) Given(flag string) bool { return s.given[flag] }

// KitName returns the names of both kits, as in reports.
func (s Settings) KitName() string { return kit.Kit{Index: s.IndexKit, Answer: s.AnswerKit}.Name() }

// Paid reports whether models are called.
func (s Settings) Paid() bool { return s.asks() || s.JudgeModel != "" }

// asks reports whether the systems call a model.
func (s Settings) asks() bool { return s.IndexKit == kit.NameModel || s.AnswerKit == kit.NameModel }

// ByModel reports whether a model answers.
func (s Settings) ByModel() bool { return s.AnswerKit == kit.NameModel }

// embeds reports whether -embed-model is used: a server's model needs a kit with a model.
func (s Settings) embeds() bool { return s.byName || s.asks() }

// encodes reports whether there is an embedding model that needs no server.
func (s Settings) encodes() bool { return s.byName && s.EmbedModel != "" }

// Decisive returns the settings that decide the answers.
func (s Settings) Decisive() map[string]any {
	c := map[string]any{
		"chunk_size": s.ChunkSize, "chunk_overlap": s.ChunkOverlap, "encoding": "cl100k_base",
		"chunks_per_page": s.ChunksPerDoc, "mode": s.Mode, "seed": s.Seed,
	}
	if s.EmbedModel != "" {
		c["embed_model"] = s.EmbedModel
	}
	if s.BudgetContext > 0 {
		c["budget_context"] = s.BudgetContext
	}
	for _, sys := range s.selected {
		for option, value := range sys.Changes() {
			c[sys.Name+"."+option] = value
		}
	}
	if s.asks() {
		c["model"], c["embed_model"] = s.Model, s.EmbedModel
		c["temperature"] = "none"
		if s.Temperature != nil {
			c["temperature"] = *s.Temperature
		}
		if s.Instruction != "" {
			c["instruction"] = s.Instruction
		}
		for name, sum := range s.Replaced() {
			c["prompt "+name] = sum
		}
		if s.ReplyTokens != paid.DefaultReplyTokens {
			c["reply_tokens"] = s.ReplyTokens
		}
	}
	return c
}

// ContextTokens returns the budget of each question, nil without one. It depends on the wording alone,
// so it is the same for every system.
func (s Settings) ContextTokens() func(question string) int {
	if s.BudgetContext == 0 {
		return nil
	}
	return func(question string) int {
		if text.AsksOverview(question) {
			return 2 * s.BudgetContext
		}
		return s.BudgetContext
	}
}

// Price returns the function from usage to cost, nil without prices.
func (s Settings) Price() func(graphrag.Usage) (float64, bool) {
	if s.PriceList == nil {
		return nil
	}
	return func(u graphrag.Usage) (float64, bool) {
		embedded := graphrag.Usage{EmbeddedTokens: u.EmbeddedTokens}
		u.EmbeddedTokens = 0
		cost := s.PriceList.Cost(s.Model, u)
		if !s.byName && s.EmbedModel != "" { // local models cost nothing
			cost = cost.Add(s.PriceList.Cost(s.EmbedModel, embedded))
		}
		return cost.Amount.Units(), !cost.Partial
	}
}

// Currency returns the currency of the prices, "" without prices.
func (s Settings) Currency() string {
	if s.PriceList == nil {
		return ""
	}
	return s.PriceList.Currency
}

// Folder returns a name made of everything that decides the answers: the data, the models, and a
// digest of the settings and of more. Runs with other systems, questions or judges share it.
func (s Settings) Folder(data, models string, more map[string]any) string {
	parts := []string{"sample", s.KitName()}
	if dir, err := filepath.Abs(data); data != "" && err == nil {
		parts[0] = filepath.Base(dir)
	}
	if s.asks() {
		parts[1] = models
	}
	values := s.Decisive()
	values["kit"] = s.KitName()
	maps.Copy(values, more)
	if r, err := record.NewSettings(values); err == nil { // they can be written as JSON
		parts = append(parts, r.Digest[:8])
	}
	return strings.Map(func(r rune) rune {
		if r != ':' && benchmark.ValidName("a"+string(r)) {
			return r
		}
		return '_'
	}, strings.Join(parts, "-"))
}

// OneOf returns an error unless a flag has one of the values allowed.
func OneOf(flag, v string, allowed ...string) []error {
	if slices.Contains(allowed, v) {
		return nil
	}
	return []error{fmt.Errorf("-%s %q: want one of %s", flag, v, strings.Join(allowed, ", "))}
}

// AtLeast returns an error if the value of a flag is less.
func AtLeast(flag string, v, least int) []error {
	if v >= least {
		return nil
	}
	return []error{fmt.Errorf("-%s %d: want %d or more", flag, v, least)}
}

// IsFolder returns an error if a flag is given and does not name a folder.
func (s *Settings) IsFolder(flag, dir string) []error {
	if info, err := os.Stat(dir); s.given[flag] && err != nil {
		return []error{fmt.Errorf("-%s: %v", flag, err)}
	} else if s.given[flag] && !info.IsDir() {
		return []error{fmt.Errorf("-%s %s is not a folder", flag, dir)}
	}
	return nil
}

// check returns the errors of the flags; systems are the valid names.
func (s *Settings) check(systems []string) []error {
	const maxMoney = 1e9 // sums of larger budgets would not be exact
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	add := func(found []error) { problems = append(problems, found...) }
	add(OneOf("kit", s.Kit, kit.NameOffline, kit.NameModel))
	if s.given["index-kit"] || s.given["answer-kit"] {
		add(OneOf("index-kit", s.IndexKit, kit.NameOffline, kit.NameModel))
		add(OneOf("answer-kit", s.AnswerKit, kit.NameOffline, kit.NameModel))
	}
	add(OneOf("mode", s.Mode, string(reader.Open), string(reader.Reject), string(reader.Cited)))
	for _, n := range []struct {
		flag     string
		v, least int
	}{
		{"limit", s.Limit, 0}, {"chunk-size", s.ChunkSize, 1}, {"chunk-overlap", s.ChunkOverlap, 0}, {"chunks-per-page", s.ChunksPerDoc, 0},
		{"budget-tokens", s.BudgetTokens, 0}, {"budget-context", s.BudgetContext, 0}, {"concurrency", s.Concurrency, 0}, {"reply-tokens", s.ReplyTokens, 1},
	} {
		add(AtLeast(n.flag, n.v, n.least))
	}
	if !(s.BudgetMoney >= 0 && s.BudgetMoney <= maxMoney) {
		bad("-budget-money %v: want 0 to %.0e", s.BudgetMoney, maxMoney)
	}
	if !(s.MaxFailed >= 0 && s.MaxFailed <= 1) {
		bad("-max-failed %v: want a share from 0 to 1", s.MaxFailed)
	}
	if s.BudgetMoney > 0 && s.prices == "" {
		bad("-budget-money needs -prices FILE: this program has no prices of its own")
	}
	if s.ChunkOverlap >= s.ChunkSize && s.ChunkSize >= 1 {
		bad("-chunk-overlap %d is not less than -chunk-size %d", s.ChunkOverlap, s.ChunkSize)
	}
	if s.asks() && s.Model == "" {
		bad("-kit model needs -model NAME (or $WILDGRAPH_MODEL)")
	}
	for flag, used := range map[string]bool{"model": s.asks(), "budget-tokens": s.Paid(), "budget-money": s.Paid(), "embed-model": s.embeds()} {
		if s.given[flag] && !used {
			bad("-%s needs -kit model%s", flag, map[bool]string{true: ", or a model that needs no server: minilm, bge-small, e5-small, hf:ORG/NAME@REVISION, file:DIR"}[flag == "embed-model"])
		}
	}
	if s.EmbedInt8 && !s.encodes() {
		bad("-embed-int8 needs an -embed-model that needs no server: minilm, bge-small, e5-small, hf:ORG/NAME@REVISION, file:DIR")
	}
	for _, name := range s.Systems {
		if name == none && len(s.Systems) > 1 {
			bad("-systems: none, and others")
		} else if name != none && !slices.Contains(systems, name) {
			meant := ""
			if near := cli.Nearest(name, systems); near != "" {
				meant = fmt.Sprintf(", did you mean %s?", near)
			}
			bad("-systems: unknown system %q%s; there are %s", name, meant, all.Shown(systems))
		}
	}
	return problems
}
