// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// Over returns the search over parts. The options Cut, Extract, Graph, Link and Share are for [New], and
// must not be set.
func Over(p Parts, o Options) (graphrag.Retriever, error) {
	s := &searcher{Parts: p, o: o.Defaults()}
	var err1, err2 error
	s.read, err1 = reading(p.Kit, o.Reader, s.sourced())
	if p.Passages != nil {
		s.base, err2 = retrieve.PerDoc(p.Passages, o.MaxPerDoc)
	}
	if err := errors.Join(o.check(p.Kit.AnswerModel), s.check(o), err1, err2); err != nil {
		return nil, fmt.Errorf("gear: %w", err)
	}
	if s.Find == nil {
		s.Find = kit.NewCorpus(p.Kit, nil, nil).Find
	}
	s.voting = o.Original && p.Kit.AnswerModel != nil
	s.keep = kit.Step(p.Kit.AnswerModel, filterByModel, keepAll)
	return s.agent()
}

func (s *searcher) check(o Options) error {
	var c kit.Checks
	c.Want(s.Passages != nil, "Passages", "missing", "a retriever")
	c.Want(s.Kit.Find != nil || s.Find != nil, "Find", "missing", "one, or that of a kit")
	c.Want(o.Graph == nil && o.Extract == nil && o.Cut == kit.Cut{} && o.Link == "" && o.Share == 0,
		"Graph, Extract, Cut, Link or Share", "set", "none of them: they are for New")
	c.Want(!(o.Original && s.o.Expand != ExpandNever) || s.sourced(), "Graph", "of no passages", "a Sourced one for Original")
	if s.o.Expand == ExpandNever {
		return c.Err()
	}
	c.Want(s.Graph != nil, "Graph", "missing", "one, or the expansion never")
	c.Want(s.Align != nil || o.Original, "Align", "missing", "a retriever")
	return c.Err()
}

func (s *searcher) sourced() bool {
	if s.Graph == nil {
		return false
	}
	_, ok := s.Graph().(Sourced)
	return ok
}

// agent searches in steps, without the graph for a simple question.
func (s *searcher) agent() (graphrag.Retriever, error) {
	whole, err := s.steps(s.o.Expand)
	if s.o.When == WhenEvery || err != nil {
		return s.finish(whole), err
	}
	flat, err := s.steps(ExpandNever)
	is := simpleByForm
	if s.o.When == WhenModel {
		is = simpleByModel(s.Kit.AnswerModel)
	}
	return s.finish(when(is, flat, whole)), err
}

func (s *searcher) steps(e Expansion) (graphrag.Retriever, error) {
	first, later := s.step(e == ExpandAlways), s.step(e != ExpandNever)
	if s.o.Steps == 1 {
		return first, nil
	}
	return agent.Reflecting(first, later, kit.Step(s.Kit.AnswerModel, reflectByModel, reflectByRules), agent.Options{Steps: s.o.Steps - 1, Merge: s.fused})
}
