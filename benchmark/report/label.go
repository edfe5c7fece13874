// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/judge"
)

// offlineKit is the name of the kit whose answers are extracted by rules.
const offlineKit = "offline"

// The makers of answers in the CSV file.
const (
	byRules   = "extracted"
	byModel   = "model"
	elsewhere = "elsewhere"
)

// label describes the makers of answers and verdicts, in every form of a report. Its texts are empty if
// nothing is answered.
type label struct {
	answers, judge string // of columns
	words          bool   // the judge compares words
	found          bool   // what was found says more than the verdicts
	prefix         string // before the name of a judged figure
	title          string // behind a title of judged figures
	strong         string // both facts at the top of the page
	note           string // and in sentences
	// published is true if published figures compare: a model answered, and one judged by the procedure of
	// the paper.
	published bool
}

// judgeKind holds the words for a kind of judges.
type judgeKind struct{ kind, prefix, short, note string }

// judges are the words for all kinds of judges.
var judges = map[judge.Kind]judgeKind{
	judge.KindWords:      {"lexical", "Lexical ", "lexical judge", "Verdicts compare words, to which right answers in other words are mostly wrong."},
	judge.KindExact:      {"lexical", "Lexical ", "lexical judge", "Verdicts compare words."},
	judge.KindEntailment: {"entailment", "Entailed ", "judged by entailment", "Verdicts are those of a small model that tells whether one text follows from another."},
	judge.KindModel:      {byModel, "Model-judged ", "judged by a model", "Verdicts are a language model's."},
	judge.KindOther:      {"other", "", "other judge", "Verdicts are by a judge from outside of the library."},
}

// labelOf reads the name of the kit and the description of the judge. A kit's name such as "model+offline"
// ends with the kind of the answering parts.
func labelOf(run *benchmark.Run) (l label) {
	if !hasAnswers(run.Dataset.Types) {
		return l
	}
	short, note := l.answered(run)
	j := judges[run.JudgeInfo.Kind]
	l.judge, l.prefix, l.words = j.kind, j.prefix, j.kind == "lexical"
	l.found = l.words || l.answers == byRules && l.judge != byModel
	l.published = l.judge == byModel && l.answers != byRules && short != allElsewhere && run.JudgeInfo.Published
	both := strings.TrimPrefix(short+", "+j.short, ", ")
	l.title, l.strong = " ("+both+")", capital(both)+"."
	l.note = strings.TrimSpace(note + " " + j.note)
	if !l.published {
		l.note += " These figures do not compare with published ones."
	}
	return l
}

// allElsewhere means that the kit answered nothing.
const allElsewhere = "answers made elsewhere"

// answered sets the column of rows by the kit, and describes who answered in a few words and in sentences.
func (l *label) answered(run *benchmark.Run) (short, note string) {
	var foreign []string
	ran := 0
	for _, s := range run.Systems {
		if s.NotApplicable == "" {
			ran++
			if s.Foreign {
				foreign = append(foreign, s.Name)
			}
		}
	}
	switch {
	case run.Kit == offlineKit || strings.HasSuffix(run.Kit, "+"+offlineKit):
		l.answers, short, note = byRules, "extracted answers", "Answers are sentences that rules extracted: no language model wrote them."
	case run.Kit != "":
		l.answers, short, note = byModel, "a model's answers", "Answers are a language model's."
	}
	switch n := len(foreign); {
	case n == 0:
	case n == ran:
		return allElsewhere, "All answers were made elsewhere: what they cost is not known, and what was found only where they say it."
	default:
		short = strings.TrimPrefix(short+" and answers made elsewhere", " and ")
		note = strings.TrimSpace(fmt.Sprintf("%s Those of %s were made elsewhere.", note, strings.Join(foreign, ", ")))
	}
	return short, note
}

// by returns who answered for a system.
func (l label) by(s System) string {
	if s.foreign {
		return elsewhere
	}
	return l.answers
}

// hasAnswers reports whether any questions are answered, and not only searched for.
func hasAnswers(types []benchmark.Type) bool {
	return len(types) == 0 || slices.ContainsFunc(types, func(t benchmark.Type) bool { return !t.Search })
}
