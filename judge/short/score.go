// SPDX-License-Identifier: Apache-2.0

package short

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrGolds is wrapped by errors about gold answers that do not fit the script: none, or more than it reads.
var ErrGolds = errors.New("wrong number of gold answers")

// Score is the fit of one answer, or a mean of fits. All values are in 0..1.
type Score struct {
	EM        float64 `json:"em"`
	F1        float64 `json:"f1"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
}

// Score compares a prediction with the gold answers of a question.
//
// EM is 1 if some gold answer is equal after normalization. F1, precision and recall count common words, each
// as often as both sides have it. With several gold answers EM and F1 are the best; precision and recall
// belong to the first gold answer with the best F1, under TwoWiki they are the best too.
//
// The error wraps [ErrGolds] if there is no gold answer (under SQuAD2 that is a question without an answer)
// or HotpotQA is given several.
func (p Script) Score(prediction string, golds []string) (Score, error) {
	if !p.valid() {
		return Score{}, fmt.Errorf("short: score: %v: no such script", p)
	}
	r := &byScript[p]
	switch {
	case len(golds) == 0 && !r.emptyGoldsDropped:
		return Score{}, fmt.Errorf("short: score: %w: none, %v needs one at least", ErrGolds, p)
	case len(golds) > 1 && r.oneGold:
		return Score{}, fmt.Errorf("short: score: %w: %d, %v reads one: use 2wiki or mrqa", ErrGolds, len(golds), p)
	}
	pred := newSide(prediction)
	var best Score
	compared := 0
	compare := func(gold side) {
		s := r.compare(pred, gold)
		em := max(best.EM, s.EM)
		switch {
		case r.apart:
			best.F1 = max(best.F1, s.F1)
			best.Precision = max(best.Precision, s.Precision)
			best.Recall = max(best.Recall, s.Recall)
		case compared == 0 || s.F1 > best.F1:
			best = s
		}
		best.EM = em
		compared++
	}
	for _, g := range golds {
		if gold := newSide(g); !r.emptyGoldsDropped || gold.text != "" {
			compare(gold)
		}
	}
	if compared == 0 {
		compare(side{})
	}
	return best, nil
}

// side is one of two answers being compared.
type side struct {
	text  string // normalized
	words []string
}

func newSide(s string) side {
	text := Normalize(s)
	return side{text, strings.Fields(text)}
}

func (s side) yesNo() bool { return s.text == "yes" || s.text == "no" || s.text == "noanswer" }

func (r *scriptRules) compare(pred, gold side) Score {
	equal := pred.text == gold.text
	var s Score
	if equal {
		s.EM = 1
	}
	switch {
	case len(pred.words) == 0 || len(gold.words) == 0:
		if equal && r.emptyAgrees {
			s.F1, s.Precision, s.Recall = 1, 1, 1
		}
		return s
	case r.strictYesNo && !equal && (pred.yesNo() || gold.yesNo()):
		return s
	}
	same := shared(pred.words, gold.words)
	if same == 0 {
		return s
	}
	s.Precision = float64(same) / float64(len(pred.words))
	s.Recall = float64(same) / float64(len(gold.words))
	s.F1 = 2 * s.Precision * s.Recall / (s.Precision + s.Recall)
	return s
}

// shared returns the size of the intersection of two bags of words.
func shared(a, b []string) (n int) {
	left := make(map[string]int)
	for _, w := range a {
		left[w]++
	}
	for _, w := range b {
		if left[w]--; left[w] >= 0 {
			n++
		}
	}
	return n
}

// Script is the evaluation script of a data set; the table in the package comment compares them.
type Script uint8

// The scripts.
const (
	SQuAD1   Script = iota // evaluate-v1.1.py of SQuAD 1.1
	SQuAD2                 // evaluate-v2.0.py of SQuAD 2.0, without no-answer probabilities
	HotpotQA               // hotpot_evaluate_v1.py, the answer part
	TwoWiki                // 2wikimultihop_evaluate_v1.1.py, the answer part
	MuSiQue                // evaluate_v1.0.py of MuSiQue, the answer part
	MRQA                   // mrqa_official_eval.py; also HippoRAG's qa_eval.py
)

// scriptRules are the differences between scripts.
type scriptRules struct {
	name string
	// emptyAgrees: two empty sides have F1 1.
	emptyAgrees bool
	// emptyGoldsDropped: empty gold answers are ignored if there are others, and without any gold answer the
	// right answer is empty.
	emptyGoldsDropped bool
	// strictYesNo: if one side is yes, no or noanswer and the other side differs, F1 is 0.
	strictYesNo bool
	// oneGold: the script reads a single gold answer.
	oneGold bool
	// apart: the best precision and recall may come from another gold answer than the best F1.
	apart bool
}

// byScript is indexed by Script and constant.
var byScript = [...]scriptRules{
	SQuAD1:   {name: "squad1"},
	SQuAD2:   {name: "squad2", emptyAgrees: true, emptyGoldsDropped: true},
	HotpotQA: {name: "hotpot", strictYesNo: true, oneGold: true},
	TwoWiki:  {name: "2wiki", strictYesNo: true, apart: true},
	MuSiQue:  {name: "musique", emptyAgrees: true},
	MRQA:     {name: "mrqa"},
}

// String returns the name of the script, as in "f1/hotpot".
func (p Script) String() string {
	if !p.valid() {
		return "script(" + strconv.Itoa(int(p)) + ")"
	}
	return byScript[p].name
}

func (p Script) valid() bool { return int(p) < len(byScript) }
