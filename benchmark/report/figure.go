// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/judge"
)

// figure is one figure of a report.
type figure struct {
	// key is the name in files and flags, title the heading of columns, help a description.
	key, title, help string
	// of returns the figure of one question; a report has the mean over all questions. It is nil for
	// f1_of_means, which is computed from the sums of all verdicts.
	of func(benchmark.Result) *float64
	// at returns the field of a report that holds the figure, nil if the report lacks that part.
	at func(*Type) **float64
	// judged: the figure comes from a judge. compared: pairs of systems are tested for it. size: it is no
	// percentage. plain: the best of a column is not marked. ranked: it describes the ranked chunks. optional:
	// a table omits it if no system has it. sources: it is undefined for systems that read no source text.
	judged, compared, size, plain, ranked, optional, sources bool
	// in has, for each table with this figure, the place of its column, from 1.
	in map[tableKey]int
}

// tableKey names a table of a report, or a group of columns.
type tableKey string

// The tables whose columns the list of figures decides. The paper fixes the columns of the other tables.
const (
	ofDomain   tableKey = "domain"     // evidence of each domain
	ofRanked   tableKey = "ranking"    // retrieved chunks, over all domains
	ofPrompt   tableKey = "prompt"     // final prompt, over all domains
	ofFinds    tableKey = "found"      // figures of retrieval, in report.html
	ofVerdicts tableKey = "verdicts"   // figures of verdicts, in report.html
	ofTwoRuns  tableKey = "comparison" // comparison of finished runs
)

// keysIn returns the keys of the figures in a table, in the order of its columns.
func keysIn(t tableKey) []string {
	of := slices.DeleteFunc(slices.Clone(allFigures), func(f figure) bool { return f.in[t] == 0 })
	slices.SortFunc(of, func(a, b figure) int { return a.in[t] - b.in[t] })
	var keys []string
	for _, f := range of {
		keys = append(keys, f.key)
	}
	return keys
}

// columns returns the keys of the figures in a table, without optional figures that no system has.
func (r *Report) columns(t tableKey) []string {
	return slices.DeleteFunc(keysIn(t), func(key string) bool {
		f, _ := figureOf(key)
		return f.optional && !r.has(benchmark.All, key)
	})
}

// Compared returns the keys of the figures in a comparison of finished runs, in the order of the columns.
func Compared() []string { return keysIn(ofTwoRuns) }

// ofRanking describes the figures for recall of the ranking at 2, 5 and 10 chunks.
const ofRanking = "Share of the gold pages among the pages of the first chunks of the ranking. Five chunks of one page are one page."

// allFigures are the figures of a [Type], except the share without a score, in the order of the CSV file.
var allFigures = []figure{
	rankedFigure("evidence_recall_at_2", "R@2", ofRanking, func(e *benchmark.Evidence) **float64 { return &e.RecallAt2 }),
	rankedFigure("evidence_recall_at_5", "R@5", ofRanking, func(e *benchmark.Evidence) **float64 { return &e.RecallAt5 }).within(map[tableKey]int{ofDomain: 1, ofFinds: 1, ofTwoRuns: 2}).headline(),
	rankedFigure("evidence_recall_at_10", "R@10", ofRanking, func(e *benchmark.Evidence) **float64 { return &e.RecallAt10 }).within(map[tableKey]int{ofDomain: 2, ofRanked: 2, ofFinds: 2, ofTwoRuns: 3}),
	rankedFigure("hit_at_5", "Hit@5", "Share of questions with any gold page among the first five chunks.",
		func(e *benchmark.Evidence) **float64 { return &e.HitAt5 }).within(map[tableKey]int{ofRanked: 3}),
	rankedFigure("all_at_5", "All@5", "Share of questions with all gold pages among the first five chunks.",
		func(e *benchmark.Evidence) **float64 { return &e.AllAt5 }).within(map[tableKey]int{ofRanked: 4}),
	rankedFigure("ndcg_at_10", "nDCG@10", "", func(e *benchmark.Evidence) **float64 { return &e.NDCGAt10 }).within(map[tableKey]int{ofDomain: 3, ofRanked: 1}).headline().unlessAbsent(),
	rankedFigure("mrr", "MRR", "Mean reciprocal rank: 1 over the rank of the first chunk of a gold page, 0 without one.",
		func(e *benchmark.Evidence) **float64 { return &e.MRR }).within(map[tableKey]int{ofRanked: 5, ofFinds: 3}),
	evidenceFigure("evidence_recall", "Evidence recall", "Share of the gold pages met by the source text in the final prompt.",
		func(e *benchmark.Evidence) **float64 { return &e.PromptRecall }).within(map[tableKey]int{ofPrompt: 2, ofFinds: 4, ofTwoRuns: 1}),
	evidenceFigure("provenance_recall", "Provenance recall", "The same, with the pages behind facts and summaries in the prompt: what they were made from, not what was found.",
		func(e *benchmark.Evidence) **float64 { return &e.ProvenanceRecall }).within(map[tableKey]int{ofPrompt: 3}).unmarked(),
	evidenceFigure("statement_coverage", "Coverage", "Share of the gold statements of which one chunk of the evidence, of a gold page, contains half of the content words, weighted by idf.",
		func(e *benchmark.Evidence) **float64 { return &e.Found }).within(map[tableKey]int{ofPrompt: 4, ofFinds: 5}).bySources(),
	{
		key: "context_tokens", title: "Context tokens", help: "Mean length of the evidence in the final prompt, in cl100k tokens.", size: true, plain: true, in: map[tableKey]int{ofPrompt: 1},
		of: func(r benchmark.Result) *float64 {
			if r.Answer.Uncounted || r.Answer.Foreign || r.Skipped || r.Answer.Error != "" {
				return nil
			}
			return ref(float64(r.Answer.ContextTokens()))
		},
		at: func(t *Type) **float64 { return &t.ContextTokens },
	},
	verdictFigure("accuracy", "Accuracy", "Share of the fact questions whose answer the judge finds right.",
		factVerdict, func(j *Judged) **float64 { return &j.Accuracy }).within(map[tableKey]int{ofVerdicts: 1, ofTwoRuns: 4}).headline(),
	verdictFigure("recall", "Recall", "Mean share of the gold statements that the answer states.",
		statementVerdict(func(j judge.SummaryJudgment) judge.Verdict { return j.Recall }), func(j *Judged) **float64 { return &j.Recall }).within(map[tableKey]int{ofVerdicts: 3, ofTwoRuns: 5}),
	verdictFigure("precision", "Precision", "Mean share of the answer's statements that the gold supports.",
		statementVerdict(func(j judge.SummaryJudgment) judge.Verdict { return j.Precision }), func(j *Judged) **float64 { return &j.Precision }).within(map[tableKey]int{ofVerdicts: 4, ofTwoRuns: 6}),
	verdictFigure("f1_mean_of_questions", "Mean F1", "Mean over the questions of the harmonic mean of recall and precision of statements.",
		statementVerdict(judge.SummaryJudgment.F1), func(j *Judged) **float64 { return &j.F1MeanOfQuestions }).within(map[tableKey]int{ofVerdicts: 2, ofTwoRuns: 7}).headline(),
	verdictFigure("f1_of_means", "F1 of means", "Harmonic mean of the mean recall and the mean precision.",
		nil, func(j *Judged) **float64 { return &j.F1OfMeans }),
	verdictFigure("precision_ceiling", "Ceiling", "Precision of an answer that meets every gold statement with one statement and says nothing else.",
		statementVerdict(func(j judge.SummaryJudgment) judge.Verdict { return j.Ceiling }), func(j *Judged) **float64 { return &j.PrecisionCeiling }).unmarked(),
	verdictFigure("grounded", "Grounded", "Share of answers whose every claim is supported by the evidence that the system was given.",
		groundedVerdict, func(j *Judged) **float64 { return &j.Grounded }).within(map[tableKey]int{ofVerdicts: 5}),
}

// helps returns the descriptions of all figures by their lower-cased titles.
func helps() map[string]string {
	out := make(map[string]string)
	for _, f := range allFigures {
		if f.help != "" {
			out[strings.ToLower(f.title)] = f.help
		}
	}
	return out
}

func evidenceFigure(key, title, help string, in func(*benchmark.Evidence) **float64) figure {
	return figure{
		key: key, title: title, help: help,
		of: func(r benchmark.Result) *float64 { return *in(&r.Evidence) },
		at: func(t *Type) **float64 { return in(&t.Evidence) },
	}
}

func rankedFigure(key, title, help string, in func(*benchmark.Evidence) **float64) figure {
	f := evidenceFigure(key, title, help, in)
	f.ranked = true
	return f
}

func verdictFigure(key, title, help string, of func(benchmark.Result) *float64, in func(*Judged) **float64) figure {
	return figure{key: key, title: title, help: help, judged: true, of: of, at: func(t *Type) **float64 {
		if j := t.Verdicts(); j != nil {
			return in(j)
		}
		return nil
	}}
}

func (f figure) headline() figure                  { f.compared = true; return f }
func (f figure) unmarked() figure                  { f.plain = true; return f }
func (f figure) unlessAbsent() figure              { f.optional = true; return f }
func (f figure) bySources() figure                 { f.sources = true; return f }
func (f figure) within(in map[tableKey]int) figure { f.in = in; return f }

// factVerdict returns the score of an answer that is right or wrong, nil if it has none.
func factVerdict(r benchmark.Result) *float64 {
	if j := r.Judgment.Fact; j != nil && j.State == judge.Scored {
		return ref(j.Value)
	}
	return nil
}

// groundedVerdict returns the score for grounding of an answer of any type, nil if it has none.
func groundedVerdict(r benchmark.Result) *float64 {
	if j := r.Judgment.Fact; j != nil && j.Grounded.State == judge.Scored {
		return ref(j.Grounded.Value)
	}
	return statementVerdict(func(j judge.SummaryJudgment) judge.Verdict { return j.Grounded })(r)
}

// statementVerdict returns a function for one of the scores of an answer that is judged by statements.
func statementVerdict(of func(judge.SummaryJudgment) judge.Verdict) func(benchmark.Result) *float64 {
	return func(r benchmark.Result) *float64 {
		if r.Judgment.Summary == nil {
			return nil
		}
		if v := of(*r.Judgment.Summary); v.State == judge.Scored {
			return ref(v.Value)
		}
		return nil
	}
}

// figureOf returns the figure with a key. It is false for the key of a named score of a judge.
func figureOf(key string) (figure, bool) {
	for _, f := range allFigures {
		if f.key == key {
			return f, true
		}
	}
	return figure{}, false
}

// interval returns the interval of a figure or of a named score; nil if it has none.
func (t Type) interval(key string) *Interval {
	i, ok := t.Intervals[key]
	if v := t.Verdicts(); v != nil && !ok {
		i, ok = v.Intervals[key]
	}
	if !ok {
		return nil
	}
	return &i
}

// estimate returns a figure, or a named score, with its interval.
func (t Type) estimate(key string) estimate {
	f, known := figureOf(key)
	m := estimate{interval: t.interval(key), size: f.size, unmarked: f.plain, ranked: f.ranked}
	if known {
		if at := f.at(&t); at != nil {
			m.value = *at
		}
	} else if v := t.Verdicts(); v != nil {
		if score, ok := v.Scores[key]; ok {
			m.value = &score
		}
	}
	return m
}

// unscoredKey is the key of the share of questions without a score.
const unscoredKey = "unscored"

// Keys returns the keys of the figures of a [Type], in the order of the CSV file.
func Keys() []string {
	var keys []string
	for _, f := range allFigures {
		keys = append(keys, f.key)
	}
	return append(keys, unscoredKey)
}

// Figure returns a figure by its key, and false if it is not defined.
func (t Type) Figure(key string) (float64, bool) {
	if v := t.Verdicts(); key == unscoredKey && v != nil {
		return v.Unscored, true
	}
	value := t.estimate(key).value
	return deref(value), value != nil
}

// OfQuestion returns the figure of a question by its key, and false if it has none. For f1_of_means it is the
// F1.
func OfQuestion(key string, r benchmark.Result) (float64, bool) {
	f, _ := figureOf(strings.Replace(key, "f1_of_means", "f1_mean_of_questions", 1))
	if f.of == nil || r.Skipped || r.Pending {
		return 0, false
	}
	value := f.of(r)
	return deref(value), value != nil
}

// Words returns the name of a figure, by its key, for use in a sentence.
func Words(key string) string {
	if name, ok := figureNames[key]; ok {
		return name
	}
	return strings.ReplaceAll(key, "_", " ")
}

// figureNames are the names of figures whose keys are not readable as names.
var figureNames = map[string]string{
	"hit_at_5": "any gold page in the first 5", "all_at_5": "all gold pages in the first 5", "ndcg_at_10": "nDCG at 10", "mrr": "mean reciprocal rank",
	"recall": "recall of statements", "precision": "precision of statements", "f1_mean_of_questions": "mean F1 of statements", "f1_of_means": "F1 of mean recall and precision",
	"statement_coverage": "coverage of gold statements", "precision_ceiling": "ceiling of precision", "grounded": "grounded answers", unscoredKey: "share without a score",
}

// offlineKit is the name of the kit in which rules extract the answers from the texts.
const offlineKit = "offline"

// Values of the column "answers" in the CSV file: who made the answers.
const (
	byRules   = "extracted"
	byModel   = "model"
	elsewhere = "elsewhere"
)

// label says, in the forms that parts of a report need, who made the answers and the verdicts. Its texts are
// empty if nothing is answered.
type label struct {
	answers, judge string // values of the columns "answers" and "judge"
	words          bool   // the judge compares words
	found          bool   // retrieval figures say more than the verdicts
	prefix         string // prefix of the name of a judged figure
	title          string // suffix of the title of a table of judged figures
	strong         string // who answered and judged, for the top of the page
	note           string // who answered and judged, in sentences
	// published is true if published figures can be compared: a model answered, and a model judged by the
	// procedure of the paper.
	published bool
}

// judgeKind has the words that a report uses for a kind of judges.
type judgeKind struct{ kind, prefix, short, note string }

// judges are the words for each kind of judges.
var judges = map[judge.Kind]judgeKind{
	judge.KindWords:      {"lexical", "Lexical ", "lexical judge", "Verdicts compare words, to which right answers in other words are mostly wrong."},
	judge.KindExact:      {"lexical", "Lexical ", "lexical judge", "Verdicts compare words."},
	judge.KindEntailment: {"entailment", "Entailed ", "judged by entailment", "Verdicts are those of a small model that tells whether one text follows from another."},
	judge.KindModel:      {byModel, "Model-judged ", "judged by a model", "Verdicts are a language model's."},
	judge.KindOther:      {"other", "", "other judge", "Verdicts are by a judge from outside of the library."},
}

// labelOf makes the label of a run from the name of its kit and the description of its judge. A name such as
// "model+offline" ends with the kind of the parts that answer.
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

// allElsewhere says that no answer is by the kit of this run.
const allElsewhere = "answers made elsewhere"

// answered sets the value of the column "answers", and says in a few words and in sentences who answered.
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

// by returns who made the answers of a system.
func (l label) by(s System) string {
	if s.foreign {
		return elsewhere
	}
	return l.answers
}

// hasAnswers reports whether questions of any type are answered, and not only searched for.
func hasAnswers(types []benchmark.Type) bool {
	return len(types) == 0 || slices.ContainsFunc(types, func(t benchmark.Type) bool { return !t.Search })
}
