// SPDX-License-Identifier: Apache-2.0

// Package setup runs systems over benchmarks for the programs: flags, kits and models, systems,
// progress, and the estimate of a dry run.
package setup

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed/hub"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/prompts"
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

	prices     string                          // the file
	prompts    []string                        // values of -prompt
	replaced   map[string]*prompts.Replacement // by system, "" is all
	auto       bool                            // -embed-model was auto
	byName     bool                            // package hub knows -embed-model
	declared   []cli.Flag
	given      map[string]bool
	changed    []string
	sets       []setting
	kg, schema string
	badLines   string // warning about lines of -kg
	selected   []all.System
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
	reported := make(map[string]bool)
	for _, f := range s.declared {
		reported[f.Name] = f.Named
	}
	fs.Visit(func(f *flag.Flag) {
		s.given[f.Name] = true
		if v := f.Value.String(); reported[f.Name] && v != f.DefValue {
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

// ContextTokens returns the budget of each question, nil without one. It depends on the wording alone,
// so it is the same for every system.
func (s Settings) ContextTokens() func(question string) int {
	if s.BudgetContext == 0 {
		return nil
	}
	return func(question string) int {
		if text.ReadQuestion(question).Overview {
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
		if r != ':' && record.ValidName("a"+string(r)) {
			return r
		}
		return '_'
	}, strings.Join(parts, "-"))
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
	problems := cli.CheckAll(s.declared)
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
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
