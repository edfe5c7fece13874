// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"log/slog"

	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/joint"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/judge/paper"
	"github.com/wildgraph/wildgraph/judge/upstream"
	"github.com/wildgraph/wildgraph/llm"
)

// parts are what the systems of a run share, and what judges them.
type parts struct {
	*lab.Parts
	judges []profiled
}

// profiled is a judge with the name of its procedure, "" without a model.
type profiled struct {
	judge.Judge
	profile string
}

func newParts(s settings, log *slog.Logger) (*parts, error) {
	o := judge.Options{Precision: judge.PrecisionRef(s.precisionRef), Grounded: s.grounded}
	shared, err := lab.NewParts(s.Settings, log)
	if err != nil {
		return nil, err
	}
	p := &parts{Parts: shared}
	if shared.Judge == nil {
		j, err := lexical.New(o)
		if err != nil {
			return nil, err
		}
		p.judges = []profiled{{Judge: j}}
		return p, nil
	}
	for _, name := range s.judgeProfiles {
		j, err := byProfile(name, shared.Judge, s, o)
		if err != nil {
			return nil, errors.Join(err, shared.Close())
		}
		p.judges = append(p.judges, profiled{j, name})
	}
	return p, nil
}

// profileLexical judges by words, whatever answered.
const profileLexical = "lexical"

func byProfile(name string, m llm.Model, s settings, o judge.Options) (judge.Judge, error) {
	switch name {
	case upstream.Profile:
		return upstream.New(m, upstream.Options{Options: o, NoParameters: s.judgeNoParameters})
	case profileLexical:
		return lexical.New(o)
	case paper.Profile:
		return paper.New(m, paper.Options{Options: o})
	}
	return joint.New(m, joint.Options{Options: o})
}
