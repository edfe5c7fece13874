// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
)

// Offline is the name of the kit whose judged figures are lexical.
const Offline = "offline"

// label tells who answered and who judged: nobody shall take the figures for those
// of a language model where there was none.
type label struct {
	offline bool // answers are made without a model
	lexical bool // judged by words, or made offline
	// published tells that figures of publications compare: a model answered, and one
	// judged by the procedure of the paper. graphs is the
	// same for graphs: a model has extracted them.
	published, graphs bool
}

// labelOf reads the names of kit and judge. The kind of the parts that answer
// stands last in a kit's name such as "model+offline", the kind of a judge first
// in its name.
func labelOf(run *benchmark.Run) label {
	offline := run.Kit == Offline || strings.HasSuffix(run.Kit, "+"+Offline)
	graphs := run.Kit == "model" || strings.HasPrefix(run.Kit, "model+")
	if !answers(run.Dataset.Types) {
		return label{graphs: graphs} // retrieval is what it is
	}
	l := label{offline: offline, lexical: offline || strings.HasPrefix(run.Judge, "lexical/")}
	profile, _, _ := strings.Cut(strings.TrimPrefix(run.Judge, "wildgraph/"), "/")
	l.published = !l.lexical && (profile == "paper" || profile == "shortanswer")
	l.graphs = graphs
	return l
}

// answers tells whether there are questions that are answered, and not only searched for.
func answers(types []benchmark.Type) bool {
	return len(types) == 0 || slices.ContainsFunc(types, func(t benchmark.Type) bool { return !t.Search })
}

// title marks a title of judged figures.
func (l label) title(s string) string {
	switch {
	case l.offline:
		return s + " (offline)"
	case l.lexical:
		return s + " (lexical judge)"
	}
	return s
}

// prefix stands before the name of a judged figure within a sentence.
func (l label) prefix() string {
	if l.lexical {
		return "Lexical "
	}
	return ""
}

// note says what the figures are, "" for a model's.
func (l label) note() string {
	switch {
	case l.offline:
		return "Offline kit: extracted answers and a lexical judge. " +
			"These figures are not a language model's and do not compare with published ones."
	case l.lexical:
		return "Lexical judge: the verdicts compare words. They are not a language model's and do not compare with published ones."
	}
	return ""
}

// heading completes the name of a data set.
func (l label) heading() string {
	switch {
	case l.offline:
		return ", offline kit"
	case l.lexical:
		return ", lexical judge"
	}
	return ""
}

// page is what stands at the top of a page.
func (l label) page() (strong, text string) {
	switch {
	case l.offline:
		return "Offline kit.", "Retrieval is real. Answers are extracted sentences and verdicts are lexical: " +
			"no language model took part, and these figures do not compare with a model's."
	case l.lexical:
		return "Lexical judge.", "Verdicts compare words: they are not a language model's, and do not compare with published ones."
	}
	return "", ""
}
