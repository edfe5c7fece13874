// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
)

// Offline is the name of the kit whose judged figures are lexical.
const Offline = "offline"

// label marks figures that are not a language model's, in every form of a report. Its
// texts are empty where a model answered and judged.
type label struct {
	lexical bool   // judged by words, or made offline
	prefix  string // before the name of a judged figure
	title   string // behind a title of judged figures
	heading string // behind the name of the data set
	note    string // below tables
	strong  string // at the top of the page, before text
	text    string
	// published is true if published figures compare: a model answered, and one judged
	// by the procedure of the paper.
	published bool
}

// labelOf reads the names of kit and judge. The kind of the parts that answer
// stands last in a kit's name such as "model+offline", the kind of a judge first
// in its name.
func labelOf(run *benchmark.Run) label {
	var l label
	switch {
	case !answers(run.Dataset.Types): // retrieval needs no label
	case run.Kit == Offline || strings.HasSuffix(run.Kit, "+"+Offline):
		l.lexical, l.title, l.heading = true, " (offline)", ", offline kit"
		l.note = "Offline kit: extracted answers and a lexical judge. These figures are not a language model's and do not compare with published ones."
		l.strong, l.text = "Offline kit.", "Retrieval is real. Answers are extracted sentences and verdicts are lexical: "+
			"no language model took part, and these figures do not compare with a model's."
	case strings.HasPrefix(run.Judge, "lexical/"):
		l.lexical, l.title, l.heading = true, " (lexical judge)", ", lexical judge"
		l.strong, l.text = "Lexical judge.", "Verdicts compare words: they are not a language model's, and do not compare with published ones."
		l.note = "Lexical judge: the verdicts compare words. They are not a language model's and do not compare with published ones."
	default:
		profile, _, _ := strings.Cut(strings.TrimPrefix(run.Judge, "wildgraph/"), "/")
		l.published = profile == "paper" || profile == "shortanswer"
	}
	if l.lexical {
		l.prefix = "Lexical "
	}
	if strings.HasPrefix(run.Judge, "entailment/") {
		l.prefix = "Entailed "
		l.strong, l.text = "Judged by entailment.", "Verdicts are those of a small model that was trained to tell whether one text follows from another: they do not compare with published ones."
		l.note = "Judged by whether answers entail the gold statements: these figures do not compare with published ones."
		l.title, l.published = " (entailment)", false
	}
	return l
}

// answers reports whether there are questions that are answered, and not only searched for.
func answers(types []benchmark.Type) bool {
	return len(types) == 0 || slices.ContainsFunc(types, func(t benchmark.Type) bool { return !t.Search })
}
