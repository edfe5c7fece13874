// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Kinds of the answer to a [SubQuery] in Youtu-GraphRAG.
const (
	Auto      = ""
	Node      = "node"      // an entity and its attributes
	Fact      = "triple"    // a relation between two entities
	Community = "community" // what many entities have in common
)

// SubQuery is a part of a question that is searched for separately.
type SubQuery struct {
	ID, Text string
	// Target and Types are hints about the answer: its kind, and names of entity types of the schema.
	Target string
	Types  []string
	// DependsOn lists the IDs of the sub-queries whose results this one needs.
	DependsOn []string
}

// maxSubQuery is the longest text of a sub-query, in bytes.
const maxSubQuery = 1000

// repairPlan repairs the proposed sub-queries of a question, as [Decomposed] documents. The second result
// describes the changes.
func repairPlan(question string, proposed []SubQuery, schema *extract.Schema, most int) ([]SubQuery, []string) {
	if most <= 0 {
		most = DefaultSubQueries
	}
	p := plan{names: make(map[string]string), said: make(map[string]string), taken: make(map[string]bool)}
	for _, s := range proposed {
		p.add(s, most)
	}
	if len(p.kept) == 0 {
		if len(proposed) == 0 {
			p.note("no sub-query: the question itself is asked")
		}
		return []SubQuery{{ID: "q1", Text: question}}, p.notes
	}
	for i := range p.kept {
		p.types(&p.kept[i], schema)
		p.needs(&p.kept[i])
	}
	p.untangle()
	return p.kept, p.notes
}

type plan struct {
	kept  []SubQuery
	names map[string]string // proposed ID → ID of the first sub-query with it
	said  map[string]string // folded text → ID of its sub-query
	taken map[string]bool
	notes []string
}

func (p *plan) note(format string, a ...any) { p.notes = append(p.notes, fmt.Sprintf(format, a...)) }

// add keeps a sub-query unless it is empty, repeated, or beyond the limit most.
func (p *plan) add(s SubQuery, most int) {
	given := strings.TrimSpace(s.ID)
	s.Text = clip(strings.Join(strings.Fields(s.Text), " "))
	switch {
	case fold(s.Text) == "":
		p.note("sub-query %q has no text", given)
		return
	case p.said[fold(s.Text)] != "":
		p.note("sub-query %q says the same as %q", given, p.said[fold(s.Text)])
		p.names[given] = cmp.Or(p.names[given], p.said[fold(s.Text)])
		return
	case len(p.kept) == most:
		p.note("sub-query %q is one too many: at most %d are asked", given, most)
		return
	}
	s.ID = clip(given)
	for n := len(p.kept) + 1; s.ID == "" || p.taken[s.ID]; n++ {
		s.ID = fmt.Sprintf("q%d", n)
	}
	if s.ID != given {
		p.note("sub-query %d has the ID %q, which is empty or taken: it is %q now", len(p.kept)+1, given, s.ID)
	}
	p.taken[s.ID], p.said[fold(s.Text)] = true, s.ID
	if given != "" && p.names[given] == "" {
		p.names[given] = s.ID
	}
	p.kept = append(p.kept, s)
}

// types removes unknown targets and types.
func (p *plan) types(s *SubQuery, schema *extract.Schema) {
	s.Target = fold(s.Target)
	if s.Target == "auto" {
		s.Target = Auto
	}
	if !slices.Contains([]string{Auto, Node, Fact, Community}, s.Target) {
		p.note("sub-query %q has the unknown target %q", s.ID, s.Target)
		s.Target = Auto
	}
	var known []string
	for _, t := range s.Types {
		name, ok := "", false
		if schema != nil {
			name, ok = schema.Name(t)
		}
		switch {
		case !ok:
			p.note("sub-query %q has the unknown type %q", s.ID, t)
		case !slices.Contains(known, name):
			known = append(known, name)
		}
	}
	s.Types = known
}

// needs removes invalid dependencies of a sub-query.
func (p *plan) needs(s *SubQuery) {
	var known []string
	for _, d := range s.DependsOn {
		id, ok := p.names[strings.TrimSpace(d)]
		switch {
		case !ok:
			p.note("sub-query %q waits for %q, which is not there", s.ID, d)
		case id == s.ID:
			p.note("sub-query %q waits for itself", s.ID)
		case !slices.Contains(known, id):
			known = append(known, id)
		}
	}
	s.DependsOn = known
}

// untangle removes circular dependencies: if all remaining sub-queries wait for each other, it removes the
// dependencies of the first one.
func (p *plan) untangle() {
	done := make(map[string]bool)
	for left := len(p.kept); left > 0; {
		before, stuck := left, -1
		for i := range p.kept {
			s := &p.kept[i]
			if done[s.ID] {
				continue
			}
			if slices.ContainsFunc(s.DependsOn, func(d string) bool { return !done[d] }) {
				if stuck < 0 {
					stuck = i
				}
				continue
			}
			done[s.ID] = true
			left--
		}
		if left == before {
			s := &p.kept[stuck]
			p.note("sub-query %q waits in a circle", s.ID)
			s.DependsOn = slices.DeleteFunc(s.DependsOn, func(d string) bool { return !done[d] })
		}
	}
}

func fold(s string) string { return text.FoldName(s) }

// clip cuts a text at the end of a word.
func clip(s string) string {
	if len(s) <= maxSubQuery {
		return s
	}
	s = strings.ToValidUTF8(s[:maxSubQuery], "")
	if at := strings.LastIndexByte(s, ' '); at > 0 {
		s = s[:at]
	}
	return s
}
