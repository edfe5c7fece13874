// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// setting is a value of -set: an option of a system.
type setting struct{ system, option, value string }

// setFlags declares the flags that change options of systems.
func (s *Settings) setFlags(fs *flag.FlagSet) {
	fs.BoolVar(&s.ListOptions, "list-options", false, "print the options of the systems that take part, with their defaults and where these are from, and exit")
	fs.Func("set", "change an option of a system, `SYSTEM.OPTION=VALUE`, e.g. youtu.facts=10 (repeatable)", func(v string) error {
		name, value, ok := strings.Cut(v, "=")
		system, option, dot := strings.Cut(name, ".")
		if !ok || !dot {
			return errors.New("want SYSTEM.OPTION=VALUE")
		}
		s.sets = append(s.sets, setting{system, option, value})
		return nil
	})
	fs.StringVar(&s.kg, "kg", "", "the graph that gear links to, a `PATH`: a file .tsv, .jsonl or .nt (perhaps .gz), a folder with Wikidata5M's files, or one that \"wildgraphbench kg\" built")
	fs.StringVar(&s.schema, "schema", "", "`FILE` of the schema that youtu begins with, a JSON object of the lists Nodes, Relations and Attributes; or one that is shipped: "+strings.Join(youtu.SeedNames(), ", "))
}

// promptFlag declares -prompt.
func (s *Settings) promptFlag(fs *flag.FlagSet) {
	fs.StringVar(&s.prompt, "prompt", "", "what the answering model is told in place of our rules: minimal (after the appendix of Youtu-GraphRAG, whose published rows stand beside such runs only), or the text of a `FILE`")
}

// mostInstruction is the size in bytes beyond which a file is no instruction.
const mostInstruction = 64 << 10

// readPrompt sets the instruction that -prompt names.
func (s *Settings) readPrompt() []error {
	switch {
	case s.prompt == "":
		return nil
	case !s.ByModel():
		return []error{errors.New("-prompt needs -answer-kit model: it is what a model is told")}
	case s.prompt == "minimal":
		s.Instruction = reader.Minimal(reader.Mode(s.Mode))
		return nil
	}
	data, err := os.ReadFile(s.prompt)
	if err != nil {
		return []error{fmt.Errorf("-prompt: %w", err)}
	}
	if s.Instruction = strings.TrimSpace(string(data)); s.Instruction == "" || len(data) > mostInstruction || !utf8.ValidString(s.Instruction) {
		return []error{fmt.Errorf("-prompt %s: want a text of 1 to %d bytes", s.prompt, mostInstruction)}
	}
	return nil
}

// choose finds the systems that take part and changes their options.
func (s *Settings) choose() (problems []error) {
	s.selected = all.Systems()
	if len(s.Systems) > 0 {
		s.selected = slices.DeleteFunc(slices.Concat(s.selected, all.Variants(), all.Agents()), func(sys all.System) bool {
			return !slices.ContainsFunc(s.Systems, sys.Is)
		})
	}
	used := make([]bool, len(s.sets))
	for i := range s.selected {
		var found []error
		s.selected[i], found = s.Changed(s.selected[i])
		problems = append(problems, found...)
		for j, set := range s.sets {
			used[j] = used[j] || s.selected[i].Is(set.system)
		}
	}
	for j, set := range s.sets {
		if !used[j] {
			problems = append(problems, fmt.Errorf("-set %s.%s: no system %q takes part", set.system, set.option, set.system))
		}
	}
	return problems
}

// Changed returns a system with the options that -set, -kg and -schema give it.
func (s *Settings) Changed(sys all.System) (all.System, []error) {
	var problems []error
	change := func(flag, option, value string) {
		var err error
		if sys, err = sys.With(option, value); err != nil {
			problems = append(problems, fmt.Errorf("-%s: %w", flag, err))
		}
	}
	switch {
	case !sys.Graph:
	case s.kg != "":
		ix, err := triples.Load(context.Background(), s.kg, nil)
		if err != nil {
			return sys, []error{fmt.Errorf("-kg: %w", err)}
		}
		if bad := ix.Bad(); bad.Lines > 0 {
			s.passedOver = fmt.Sprintf("-kg: lines that are no triples are passed over: %d, first: %v", bad.Lines, bad.First[0])
		}
		sys = sys.WithGraph(ix)
	case s.Graph != nil:
		ix, err := s.Graph()
		if err != nil {
			return sys, []error{err}
		}
		sys = sys.WithGraph(ix)
	}
	if s.schema != "" && !sys.Unbound && slices.ContainsFunc(sys.Options(), func(o all.Option) bool { return o.Name == "schema" }) {
		change("schema", "schema", s.schema)
	}
	for _, set := range s.sets {
		if sys.Is(set.system) {
			change("set", set.option, set.value)
		}
	}
	return sys, problems
}

// Selected are the systems that take part, in the order of the registry: those that are
// named, or all but variants and agents.
func (s Settings) Selected() []all.System { return s.selected }

// WriteOptions writes a line for each option of the systems that take part.
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
