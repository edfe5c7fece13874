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
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed/hub"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// Settings are the flags that several programs share.
type Settings struct {
	Systems                               []string
	ListSystems, ListOptions, ShowPrompts bool
	Limit                                 int
	ChunkSize, ChunkOverlap, ChunksPerDoc int

	Kit, IndexKit, AnswerKit      string
	Model, EmbedModel, JudgeModel string
	EmbedInt8                     bool
	// RerankModel, NameModel and SpanModel are names of models of package hub.
	RerankModel, NameModel, SpanModel string
	Mode                              string

	Out, Cache   string
	BudgetTokens int
	// BudgetContext is the largest number of tokens of evidence in a prompt; 0 leaves it to the top-k.
	BudgetContext int
	BudgetMoney   float64
	PriceList     *paid.Prices
	DryRun        bool
	ReplyTokens   int
	Temperature   *float64 // nil sends none to the model
	Concurrency   int
	Seed          uint64
	NoTimings     bool
	MaxFailed     float64
	Retry         bool
	Fresh         bool

	// Graph, if not nil, makes the graph to which gear links if -kg is not given.
	Graph func() (*triples.Index, error)

	// Instruction is the text that replaces the rules in our prompts with -prompt minimal; "" keeps them.
	Instruction string

	prices     string                          // file of -prices
	prompts    []string                        // values of -prompt
	replaced   map[string]*prompts.Replacement // by system, "" is all
	auto       bool                            // -embed-model is "auto"
	byName     bool                            // package hub has the model of -embed-model
	declared   []cli.Flag
	given      map[string]bool
	changed    []string
	sets       []setting
	kg, schema string
	badLines   string       // warning about unreadable lines of -kg
	selected   []all.System // selected systems, in the order of the registry
}

// none, as the value of -systems, runs no system of the registry.
const none = "none"

// Complete sets flags that were not given: the kit (model if a model is named) and what follows from it. It
// corrects the case of the systems' names; systems are the valid names. It returns all faults.
func (s *Settings) Complete(fs *flag.FlagSet, systems []string) []error {
	const callsInFlight = 8 // questions wait for the server, not for a processor
	s.auto = s.EmbedModel == autoEncoder
	s.EmbedModel, s.byName = hub.Find(s.EmbedModel, hub.Options{})
	s.noteChanges(fs)
	for i, name := range s.Systems { // names may have any case
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
	// Ignore models that only the environment names and that this run does not need.
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

// noteChanges records the flags that were given, and the given flags that change figures.
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

// NonDefault returns the flags that affect figures and differ from their defaults, as the user wrote them.
func (s *Settings) NonDefault() []string { return s.changed }

// Given reports whether a flag is on the command line.
func (s *Settings) Given(flag string) bool { return s.given[flag] }

// KitName returns the name of the run's kits to index and to answer, as in reports.
func (s Settings) KitName() string { return kit.Kit{Index: s.IndexKit, Answer: s.AnswerKit}.Name() }

// Paid reports whether the run calls models that cost money.
func (s Settings) Paid() bool { return s.asks() || s.JudgeModel != "" }

// asks reports whether the systems call a language model.
func (s Settings) asks() bool { return s.IndexKit == kit.NameModel || s.AnswerKit == kit.NameModel }

// ByModel reports whether a language model answers.
func (s Settings) ByModel() bool { return s.AnswerKit == kit.NameModel }

// embeds reports whether -embed-model is used. A model from a server is only used by a kit with a model.
func (s Settings) embeds() bool { return s.byName || s.asks() }

// encodes reports whether -embed-model names a local model.
func (s Settings) encodes() bool { return s.byName && s.EmbedModel != "" }

// ContextTokens returns the function from a question to its budget, nil without one. The budget depends on the
// wording alone, so it is the same for every system.
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

// Price returns the function from usage to price, nil without prices.
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

// Folder returns a name that depends on everything that determines the answers: the data, the models, and a
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
	if r, err := record.NewSettings(values); err == nil { // settings can always be encoded
		parts = append(parts, r.Digest[:8])
	}
	return strings.Map(func(r rune) rune {
		if r != ':' && record.ValidName("a"+string(r)) {
			return r
		}
		return '_'
	}, strings.Join(parts, "-"))
}

// IsFolder returns an error, which names the flag, if the flag is given and dir is not a folder.
func (s *Settings) IsFolder(flag, dir string) []error {
	if info, err := os.Stat(dir); s.given[flag] && err != nil {
		return []error{fmt.Errorf("-%s: %v", flag, err)}
	} else if s.given[flag] && !info.IsDir() {
		return []error{fmt.Errorf("-%s %s is not a folder", flag, dir)}
	}
	return nil
}

// check returns the faults of the flags; systems are the valid names.
func (s *Settings) check(systems []string) []error {
	const maxMoney = 1e9 // sums of larger amounts would not be exact
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, f := range s.declared {
		if f.Check != nil {
			if err := f.Check(f.Name); err != nil {
				problems = append(problems, err)
			}
		}
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

// The titles of groups of flags in the help, in its order.
const (
	GroupRun    = "What to run"
	GroupRead   = "What they read"
	GroupModels = "Models"
	GroupMoney  = "Money"
	GroupOutput = "Output"
)

// Flags returns the flags that several programs share. out is the folder of report folders without -out.
func (s *Settings) Flags(getenv func(string) string, out string) []cli.Flag {
	unless := func(v, absent any) any {
		if v == absent {
			return nil
		}
		return v
	}
	asked := func(v any) any { // value of a setting for calls of a model, nil if none is called
		if !s.asks() {
			return nil
		}
		return v
	}
	return []cli.Flag{
		{Name: "systems", Group: GroupRun, Value: cli.Names(&s.Systems), Key: cli.NoKey, Usage: "comma-separated `LIST` of systems, or none (default: all)"},
		{Name: "list-systems", Group: GroupRun, Value: &s.ListSystems, Key: cli.NoKey, Usage: "print the systems, a line each, and exit"},
		{Name: "set", Group: GroupRun, Value: s.addSetting, Key: cli.OtherKey, Usage: "change an option of a system, `SYSTEM.OPTION=VALUE`, e.g. youtu.facts=10 (repeatable)"},
		{Name: "list-options", Group: GroupRun, Value: &s.ListOptions, Key: cli.NoKey, Usage: "print the options of the systems that take part, with their defaults and where these are from, and exit"},
		{Name: "kg", Group: GroupRun, Value: &s.kg, Key: cli.OtherKey, Named: true, Usage: "`PATH` of the graph to which gear links: a file .tsv, .jsonl or .nt (perhaps .gz), a folder with Wikidata5M's files, or one that \"wildgraphbench kg\" built"},
		{Name: "schema", Group: GroupRun, Value: &s.schema, Key: cli.OtherKey, Named: true, Usage: "`FILE` of the schema that youtu begins with, a JSON object of the lists Nodes, Relations and Attributes; or one that is shipped: " + strings.Join(youtu.SeedNames(), ", ")},
		{Name: "limit", Group: GroupRun, Value: &s.Limit, Key: cli.NoKey, Named: true, Check: cli.AtLeast(&s.Limit, 0), Usage: "at most `N` questions per domain and type (0 = all)"},
		{Name: "chunk-size", Group: GroupRead, Value: &s.ChunkSize, Key: "chunk_size", Default: chunk.DefaultSize, Named: true, Check: cli.AtLeast(&s.ChunkSize, 1), Usage: "tokens per chunk (cl100k)"},
		{Name: "chunk-overlap", Group: GroupRead, Value: &s.ChunkOverlap, Key: "chunk_overlap", Default: chunk.DefaultOverlap, Named: true, Check: cli.AtLeast(&s.ChunkOverlap, 0), Usage: "tokens shared by neighbouring chunks"},
		{Name: "chunks-per-page", Group: GroupRead, Value: &s.ChunksPerDoc, Key: "chunks_per_page", Named: true, Check: cli.AtLeast(&s.ChunksPerDoc, 0), Usage: "at most `N` chunks of one page in a ranking (0 = no limit)"},
		{Name: "budget-context", Group: GroupRead, Value: &s.BudgetContext, Key: "budget_context", Decides: func() any { return unless(s.BudgetContext, 0) }, Named: true, Check: cli.AtLeast(&s.BudgetContext, 0), Usage: "every system reads `N` tokens of evidence in place of the top-k, and twice as many for a question that asks for an overview (0 = the top-k)"},
		{Name: "mode", Group: GroupRead, Value: &s.Mode, Key: "mode", Default: reader.Open, Named: true, Check: cli.OneOf(&s.Mode, string(reader.Open), string(reader.Reject), string(reader.Cited)), Usage: "what the answering model may do: open (use its own knowledge), reject (it must refuse without evidence), or cited (answers without a citation are refused, too)"},
		{Name: "seed", Group: GroupRead, Value: &s.Seed, Key: "seed", Default: 1, Named: true, Usage: "seed of all random choices, also sent with every model call"},
		{Name: "model", Group: GroupModels, Value: &s.Model, Key: "model", Default: getenv("WILDGRAPH_MODEL"), Decides: func() any { return asked(s.Model) }, Usage: "`NAME` of the answering model (default: $WILDGRAPH_MODEL)"},
		{Name: "embed-model", Group: GroupModels, Value: &s.EmbedModel, Key: "embed_model", Default: getenv("WILDGRAPH_EMBED_MODEL"), Named: true, Decides: s.embedModel, Usage: "`NAME` of the embedding model: minilm, bge-small, e5-small or hf:ORG/NAME@REVISION, downloaded once; file:DIR for a folder; auto for the first of these that is in the cache; none; or a model of the server (default: $WILDGRAPH_EMBED_MODEL, else LSA)"},
		{Name: "embed-int8", Group: GroupModels, Value: &s.EmbedInt8, Key: cli.OtherKey, Named: true, Usage: "calculate the vectors of a local -embed-model with 8-bit integers: 1.6 to 2.5 times as fast, with slightly different vectors"},
		{Name: "rerank-model", Group: GroupModels, Value: &s.RerankModel, Key: cli.OtherKey, Named: true, Usage: "`NAME` of a cross-encoder that reranks the retrieved passages: hf:ORG/NAME@REVISION or file:DIR, a BertForSequenceClassification with one label"},
		{Name: "name-model", Group: GroupModels, Value: &s.NameModel, Key: cli.OtherKey, Named: true, Usage: "`NAME` of a model that finds the names in texts, for systems that use only names (linearrag, e2graphrag): hf:ORG/NAME@REVISION or file:DIR, a BertForTokenClassification"},
		{Name: "span-model", Group: GroupModels, Value: &s.SpanModel, Key: cli.OtherKey, Named: true, Usage: "`NAME` of a model that, in place of rules, finds the words of a passage that answer, if any do: hf:ORG/NAME@REVISION or file:DIR, a BertForQuestionAnswering"},
		{Name: "judge-model", Group: GroupModels, Value: &s.JudgeModel, Key: cli.OtherKey, Default: getenv("WILDGRAPH_JUDGE_MODEL"), Usage: "`NAME` of the model that judges all answers (default, with -model: $WILDGRAPH_JUDGE_MODEL, else the answering model)"},
		{Name: "kit", Group: GroupModels, Value: &s.Kit, Key: cli.OtherKey, Check: cli.OneOf(&s.Kit, kit.NameOffline, kit.NameModel), Usage: "offline or model: whether rules or a model index and answer (default: model when -model is given, else offline)"},
		{Name: "index-kit", Group: GroupModels, Value: &s.IndexKit, Key: cli.OtherKey, Named: true, Check: s.isKit(&s.IndexKit), Usage: "offline or model: whether rules or a model index (default: as -kit)"},
		{Name: "answer-kit", Group: GroupModels, Value: &s.AnswerKit, Key: cli.OtherKey, Named: true, Check: s.isKit(&s.AnswerKit), Usage: "offline or model: whether rules or a model answer and judge (default: as -kit)"},
		{Name: "prompt", Group: GroupModels, Value: func(v string) error { s.prompts = append(s.prompts, v); return nil }, Key: "instruction", Decides: func() any { return asked(unless(s.Instruction, "")) }, Usage: "a text in place of ours (repeatable): [SYSTEM:]NAME=`FILE` for a prompt by its name in -show-prompts; FILE for the whole instruction to the answering model, byte by byte, to which question and material are added; minimal for a short instruction after the appendix of Youtu-GraphRAG, which a run needs to be compared with its published rows"},
		{Name: "show-prompts", Group: GroupModels, Value: &s.ShowPrompts, Key: cli.NoKey, Usage: "print every prompt, with the meaning of its placeholders, and exit"},
		{Name: "reply-tokens", Group: GroupModels, Value: &s.ReplyTokens, Key: "reply_tokens", Default: paid.DefaultReplyTokens, Named: true, Decides: func() any { return asked(unless(s.ReplyTokens, paid.DefaultReplyTokens)) }, Check: cli.AtLeast(&s.ReplyTokens, 1), Usage: "largest number of tokens of a model's reply; raise it for reasoning models"},
		{Name: "temperature", Group: GroupModels, Value: cli.Temperature(&s.Temperature), Key: "temperature", Decides: s.temperature, Usage: cli.TemperatureUsage},
		{Name: "concurrency", Group: GroupModels, Value: &s.Concurrency, Key: cli.NoKey, Check: cli.AtLeast(&s.Concurrency, 0), Usage: "questions answered concurrently, and the largest number of concurrent model calls (0 = number of CPUs, with a model 8)"},
		{Name: "dry-run", Group: GroupMoney, Value: &s.DryRun, Key: cli.NoKey, Usage: "print the expected calls and tokens, and call nothing"},
		{Name: "budget-tokens", Group: GroupMoney, Value: &s.BudgetTokens, Key: cli.NoKey, Check: cli.AtLeast(&s.BudgetTokens, 0), Usage: "stop before model calls exceed `N` tokens (0 = no limit)"},
		{Name: "budget-money", Group: GroupMoney, Value: &s.BudgetMoney, Key: cli.NoKey, Usage: "stop before model calls cost more than `AMOUNT`, in the currency of -prices (0 = no limit)"},
		{Name: "prices", Group: GroupMoney, Value: &s.prices, Key: cli.NoKey, Usage: "`FILE` of dated prices per million tokens, see docs/offline.md"},
		{Name: "cache", Group: GroupMoney, Value: &s.Cache, Key: cli.NoKey, Usage: "`FILE` of models' replies, shared by runs and programs; the vectors of a local -embed-model are stored in the same folder (default: wildgraph/replies.journal in the user's cache folder)"},
		{Name: "out", Group: GroupOutput, Value: &s.Out, Key: cli.NoKey, Usage: "report folder `DIR`; a run continues from the records in it and adds new ones (default: a folder under ./" + out + " named for the configuration)"},
		{Name: "fresh", Group: GroupOutput, Value: &s.Fresh, Key: cli.NoKey, Usage: "delete the records in the report folder and start again; paid replies stay in -cache"},
		{Name: "retry", Group: GroupOutput, Value: &s.Retry, Key: cli.NoKey, Usage: "ask every question without a score again, and rebuild every index of which a part failed (without it only if the cause may have passed)"},
		{Name: "max-failed", Group: GroupOutput, Value: &s.MaxFailed, Key: cli.NoKey, Default: benchmark.DefaultMaxFailed, Named: true, Usage: "largest `SHARE` of failed pieces, from indexing to judging, with which a system is compared"},
		{Name: "no-timings", Group: GroupOutput, Value: &s.NoTimings, Key: cli.NoKey, Usage: "leave clock and memory figures out, so that equal runs give equal bytes"},
	}
}

// Declare declares a table of flags, such as the table that Flags returns.
func (s *Settings) Declare(fs *flag.FlagSet, w io.Writer, about string, table []cli.Flag, titles ...string) {
	s.declared, s.Temperature = table, new(float64)
	if titles == nil {
		titles = []string{GroupRun, GroupRead, GroupModels, GroupMoney, GroupOutput}
	}
	cli.Declare(fs, w, about, table, titles...)
}

// Decisive returns the settings that determine the answers.
func (s Settings) Decisive() map[string]any {
	c := cli.Decisive(slices.Concat(s.declared, s.Flags(func(string) string { return "" }, "")))
	c["encoding"] = "cl100k_base"
	for _, sys := range s.selected {
		for option, value := range sys.Changes() {
			c[sys.Name+"."+option] = value
		}
	}
	if s.asks() {
		for name, sum := range s.Replaced() {
			c["prompt "+name] = sum
		}
	}
	return c
}

func (s *Settings) embedModel() any {
	if s.EmbedModel == "" && !s.asks() {
		return nil
	}
	return s.EmbedModel
}

func (s *Settings) temperature() any {
	switch {
	case !s.asks():
		return nil
	case s.Temperature == nil:
		return "none"
	}
	return *s.Temperature
}

// addSetting reads a value of -set.
func (s *Settings) addSetting(v string) error {
	name, value, ok := strings.Cut(v, "=")
	system, option, dot := strings.Cut(name, ".")
	if !ok || !dot {
		return errors.New("want SYSTEM.OPTION=VALUE")
	}
	s.sets = append(s.sets, setting{system, option, value})
	return nil
}

// isKit checks the name of a kit if -index-kit or -answer-kit is given.
func (s *Settings) isKit(v *string) func(string) error {
	return func(name string) error {
		if !s.given["index-kit"] && !s.given["answer-kit"] {
			return nil
		}
		return cli.OneOf(v, kit.NameOffline, kit.NameModel)(name)
	}
}
