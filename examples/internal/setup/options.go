// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/baselines/agentic"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// setting is a value of -set.
type setting struct{ system, option, value string }

// namedPrompt matches [SYSTEM:]NAME=FILE as a value of -prompt.
var namedPrompt = regexp.MustCompile(`^(?:([\w-]+):)?([a-z0-9-]+/\w+)=(.+)$`)

// readPrompts reads the values of -prompt.
func (s *Settings) readPrompts() (problems []error) {
	texts, answers := map[string]map[string]string{}, false
	for _, v := range s.prompts {
		if !s.asks() && !s.ShowPrompts {
			return []error{errors.New("-prompt needs -kit model: it replaces instructions to a model")}
		}
		system, name, file := "", "reader/read", v
		m := namedPrompt.FindStringSubmatch(v)
		if m != nil {
			system, name, file = m[1], m[2], m[3]
		} else if answers = true; v == "minimal" {
			s.Instruction = reader.Minimal(reader.Mode(s.Mode))
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			problems = append(problems, fmt.Errorf("-prompt: %w", err))
			continue
		}
		if m == nil && strings.TrimSpace(string(data)) != "" {
			data = []byte("{{" + strings.ReplaceAll(strconv.Quote(string(data)), ".", `\x2e`) + "}}") // unescaped, a dot would look like a field
		}
		if texts[system] == nil {
			texts[system] = map[string]string{}
		}
		texts[system][name] = string(data)
	}
	s.replaced = map[string]*prompts.Replacement{}
	for _, system := range slices.Sorted(maps.Keys(texts)) {
		if _, ok := all.Find(system); system != "" && !ok {
			problems = append(problems, fmt.Errorf("-prompt: there is no system %q", system))
		}
		r, err := prompts.Replace(texts[system])
		if err != nil {
			problems = append(problems, fmt.Errorf("-prompt: %w", err))
		}
		s.replaced[system] = r
	}
	if answers && !s.ByModel() && !s.ShowPrompts {
		problems = append(problems, errors.New("-prompt FILE needs -answer-kit model: it replaces instructions to the answering model"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Replaced())) {
		s.changed = append(s.changed, "-prompt "+name+" ("+s.Replaced()[name]+")")
	}
	return problems
}

// PromptsOf returns the prompts that -prompt replaced for a system.
func (s Settings) PromptsOf(sys all.System) *prompts.Replacement {
	out := s.replaced[""]
	for name, own := range s.replaced {
		if name != "" && sys.Is(name) {
			out = own.Over(out)
		}
	}
	return out
}

// Replaced maps each prompt that -prompt replaced, [SYSTEM:]NAME, to the first digits of a digest of its text.
func (s Settings) Replaced() map[string]string {
	out := map[string]string{}
	if s.Instruction != "" {
		out["minimal"] = record.Digest(s.Instruction)[:8]
	}
	for system, r := range s.replaced {
		for name, sum := range r.Sums() {
			out[strings.TrimPrefix(system+":"+name, ":")] = sum
		}
	}
	return out
}

// WritePrompts writes every prompt, with the digests of its replacements.
func (s Settings) WritePrompts(w io.Writer) {
	for _, t := range prompts.All() {
		note := ""
		for name, sum := range s.Replaced() {
			if strings.HasSuffix(":"+name, ":"+t.Name) {
				note += fmt.Sprintf(", replaced by -prompt %s (%s)", name, sum)
			}
		}
		fmt.Fprintf(w, "=== %s%s\n%s\n\n", t.Name, note, t.Text)
	}
}

// choose selects the systems that take part and sets their options.
func (s *Settings) choose() (problems []error) {
	s.selected = all.Systems()
	if len(s.Systems) > 0 {
		s.selected = slices.DeleteFunc(slices.Concat(s.selected, all.Variants(), all.Agents()), func(sys all.System) bool {
			return !slices.ContainsFunc(s.Systems, sys.Is)
		})
	}
	for i := range s.selected {
		var found []error
		s.selected[i], found = s.Changed(s.selected[i])
		problems = append(problems, found...)
	}
	for _, set := range s.sets {
		if !slices.ContainsFunc(s.selected, func(sys all.System) bool { return sys.Is(set.system) }) {
			problems = append(problems, fmt.Errorf("-set %s.%s: no system %q takes part", set.system, set.option, set.system))
		}
	}
	return problems
}

// Changed returns a system with the options of -set, -kg and -schema.
func (s *Settings) Changed(sys all.System) (all.System, []error) {
	var problems []error
	change := func(flag, option, value string) {
		var err error
		if sys, err = sys.With(option, value); err != nil {
			problems = append(problems, fmt.Errorf("-%s: %w", flag, err))
		}
	}
	switch {
	case !sys.NeedsGraph:
	case s.kg != "":
		ix, err := triples.Load(context.Background(), s.kg, nil)
		if err != nil {
			return sys, []error{fmt.Errorf("-kg: %w", err)}
		}
		if bad := ix.Bad(); bad.Lines > 0 {
			s.badLines = fmt.Sprintf("-kg: ignored %d lines that are not triples, first: %v", bad.Lines, bad.First[0])
		}
		sys = sys.WithGraph(ix)
	case s.Graph != nil:
		ix, err := s.Graph()
		if err != nil {
			return sys, []error{err}
		}
		sys = sys.WithGraph(ix)
	}
	if s.schema != "" && !sys.NoSchema && slices.ContainsFunc(sys.Options(), func(o all.Option) bool { return o.Name == "schema" }) {
		change("schema", "schema", s.schema)
	}
	for _, set := range s.sets {
		if sys.Is(set.system) {
			change("set", set.option, set.value)
		}
	}
	return sys, problems
}

// WriteOptions lists the options of the systems that take part, with their defaults.
func (s Settings) WriteOptions(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintf(tw, "option\tvalues\tdefault\twhere the default is from\n")
	for _, sys := range s.selected {
		for _, o := range sys.Options() {
			fmt.Fprintf(tw, "%s.%s\t%s\t%s\t%s\n", sys.Name, o.Name, o.Kind, o.Default, o.Source)
		}
	}
	return tw.Flush()
}

// Common returns the flags on chunks as options. In kit.Cut an overlap of 0 means the default, and -1 none.
func (s Settings) Common() kit.Common {
	return kit.Common{Cut: kit.Cut{Size: s.ChunkSize, Overlap: cmp.Or(s.ChunkOverlap, -1)}, MaxPerDoc: s.ChunksPerDoc}
}

// WriteSystems lists all systems: names, source, and whether they need a model.
func WriteSystems(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, sys := range slices.Concat(all.Systems(), all.Agents()) {
		needs := "offline or with a model"
		switch {
		case strings.HasPrefix(sys.Name, agentic.Prefix):
			continue
		case sys.NoDocuments || sys.NeedsModel:
			needs = "needs a model"
		case sys.NeedsGraph:
			needs += ", over a graph: -kg PATH"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", strings.Join(append([]string{sys.Name}, sys.Also...), ", "), cmp.Or(sys.Source, "our own"), needs)
	}
	fmt.Fprintf(tw, "%sNAME\tour own\tneeds a model: an agent that searches by the system of that name\n", agentic.Prefix)
	return tw.Flush()
}

// Entries returns the entries of the selected systems for a run.
func (p *Parts) Entries() ([]benchmark.Entry, error) {
	var out []benchmark.Entry
	for _, sys := range p.settings.selected {
		e, err := p.Entry(sys)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// Entry returns the entry of a system for a run. It makes the system once, to report bad settings early.
func (p *Parts) Entry(sys all.System) (benchmark.Entry, error) {
	e := benchmark.Entry{Name: sys.Name, Also: sys.Also, Fixed: sys.NoDocuments, Baseline: sys.Baseline}
	switch byModel := p.settings.ByModel(); {
	case sys.NoDocuments && !byModel:
		e.NotApplicable = "needs a language model"
	case sys.NoDocuments && reader.Mode(p.settings.Mode).Rejects():
		e.NotApplicable = "answers from memory: a mode that rejects needs evidence"
	case sys.NeedsModel && !byModel:
		e.NotApplicable = "needs a language model, which decides what it reads"
	case sys.NoSchema && p.settings.IndexKit != kit.NameModel && p.settings.schema == "":
		e.NotApplicable = "needs a model that indexes, or -schema: otherwise there is no schema to leave out"
	default:
		e.NotApplicable = sys.Lacks()
	}
	if e.NotApplicable != "" {
		return e, nil
	}
	common := p.settings.Common()
	p.TellUnused(sys)
	probe, err := p.System(sys, p.Kit, common)
	if err != nil {
		return e, err
	}
	p.Seeded(&e, func(k kit.Kit) (benchmark.System, error) { return p.System(sys, k, common) })
	return e, probe.Close()
}

// Seeded sets the functions that make the system of an entry. With neither an answering model nor a trained
// embedder, repeated questions get systems made with other seeds.
func (p *Parts) Seeded(e *benchmark.Entry, system func(kit.Kit) (benchmark.System, error)) {
	reach := func(k kit.Kit) (benchmark.System, error) {
		if p.client != nil { // a wrong key or model name is reported before hours of indexing
			p.client.Probe()
		}
		if p.Absent != nil {
			return nil, p.Absent
		}
		return system(k)
	}
	e.New = func(string) (benchmark.System, error) { return reach(p.Kit) }
	if p.settings.ByModel() || p.Kit.Trained {
		return
	}
	e.Again = func(_ string, repeat int) (benchmark.System, error) {
		other, err := kit.Offline(kit.OfflineOptions{Seed: p.settings.Seed + uint64(repeat)})
		if err != nil {
			return nil, err
		}
		k := p.Kit
		k.Embed = other.Embed
		return reach(k)
	}
}

// TellUnused warns if a system does not use the embedding model of -embed-model.
func (p *Parts) TellUnused(sys all.System) {
	reads := p.settings.encodes() && p.Kit.Answer == kit.NameOffline // answers compare sentences
	if p.settings.given["embed-model"] && p.Embedder != nil && (sys.Words || sys.NoDocuments) && !reads {
		p.Log.Warn(fmt.Sprintf("-embed-model %s is not used: %s compares no vectors", p.settings.EmbedModel, sys.Name))
	}
}

// System makes a system from a kit. The server provides the models that its options name.
func (p *Parts) System(sys all.System, k kit.Kit, c kit.Common) (*kit.System, error) {
	k.Prompts = p.settings.PromptsOf(sys)
	return sys.WithModels(p.models).New(k, c)
}
