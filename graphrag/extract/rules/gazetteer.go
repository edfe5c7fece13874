// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Name is a name known beforehand, with its type; an empty type is [Other].
type Name struct{ Name, Type string }

// gazetteer holds the names the user gave, by the key of their tokens in lower
// case.
type gazetteer struct {
	types   map[uint64]typ
	longest map[uint64]int // key of a first token → tokens of the longest name that begins so
}

// newGazetteer reads the names into a gazetteer and returns the names of all
// types. Names that hold no word are errors, as is one with two types.
func newGazetteer(l *Lexicon, names []Name) (*gazetteer, []string, error) {
	labels := typeNames[:len(typeNames):len(typeNames)]
	if len(names) == 0 {
		return nil, labels, nil
	}
	var errs []error
	g := &gazetteer{map[uint64]typ{}, map[uint64]int{}}
	numbers := map[string]typ{}
	for n, label := range labels {
		numbers[label] = typ(n)
	}
	x := newSentence(l)
	for i, name := range names {
		x.cut(name.Name, text.Span{End: len(name.Name)})
		n := len(x.tokens)
		if n == 0 || text.FoldName(name.Name) == "" {
			errs = append(errs, fmt.Errorf("rules: Names[%d] %q holds no name", i, kg.Beginning(name.Name)))
			continue
		}
		label := name.Type
		if label == "" {
			label = Other
		}
		number, ok := numbers[label]
		if !ok {
			number = typ(len(labels))
			numbers[label] = number
			labels = append(labels, label)
		}
		key := x.key(0, n)
		if before, ok := g.types[key]; ok && before != number {
			errs = append(errs, fmt.Errorf("rules: Names[%d] %q is %s here and %s before: give it one type", i, kg.Beginning(name.Name), label, labels[before]))
		}
		g.types[key] = number
		first := x.key(0, 1)
		g.longest[first] = max(g.longest[first], n)
	}
	return g, labels, errors.Join(errs...)
}

// find claims the names of the gazetteer, the longest first, whatever their
// case.
func (g *gazetteer) find(x *mentions) {
	if g == nil {
		return
	}
	for i := 0; i < len(x.tokens); i++ {
		longest := g.longest[x.key(i, i+1)]
		for j := min(i+longest, len(x.tokens)); j > i; j-- {
			if kind, ok := g.types[x.key(i, j)]; ok {
				if x.claim(i, j, kind) {
					i = j - 1
				}
				break
			}
		}
	}
}
