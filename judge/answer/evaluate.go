// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// ErrMissing is wrapped by the error of a profile that wants a prediction for
// every question.
var ErrMissing = errors.New("missing prediction")

// maxErrors bounds how many faults of the input one error lists.
const maxErrors = 20

// Question is a question with its gold answers, the aliases among them.
type Question struct {
	ID    string
	Golds []string
}

// QuestionScore is the score of one question.
type QuestionScore struct {
	ID string `json:"id"`
	Score
	// Missing is true when there was no prediction; the score is 0 then.
	Missing bool `json:"missing,omitempty"`
}

// Result is the evaluation of one set of predictions.
type Result struct {
	Profile Profile `json:"profile"`
	// Questions has one score per question, in the order they were given.
	Questions []QuestionScore `json:"questions"`
	// Mean is over N questions: all of them, or those with a prediction if
	// the profile skips the others. It is zero when N is.
	Mean Score `json:"mean"`
	N    int   `json:"n"`
	// Missing are the questions without a prediction in the order they were
	// given, Extra the predictions without a question, sorted.
	Missing []string `json:"missing,omitempty"`
	Extra   []string `json:"extra,omitempty"`
}

// Evaluate scores predictions, by question id, for a whole data set.
//
// All faults are reported at once (the first 20 of them): an id that occurs
// twice, gold answers that do not fit the profile ([ErrGolds]), and under
// MuSiQue a question without a prediction ([ErrMissing]). A prediction for a
// question that does not exist is no error in any of the scripts: it ends up
// in Result.Extra.
func (p Profile) Evaluate(questions []Question, predictions map[string]string) (Result, error) {
	r := p.rules()
	result := Result{Profile: p, Questions: make([]QuestionScore, 0, len(questions))}
	var errs []error
	known := make(map[string]struct{}, len(questions))
	for _, q := range questions {
		if _, again := known[q.ID]; again {
			errs = append(errs, fmt.Errorf("question %q: id occurs twice", q.ID))
			continue
		}
		known[q.ID] = struct{}{}
		if err := p.check(q.Golds); err != nil {
			errs = append(errs, fmt.Errorf("question %q: %w", q.ID, err))
			continue
		}
		prediction, ok := predictions[q.ID]
		if !ok {
			result.Missing = append(result.Missing, q.ID)
			result.Questions = append(result.Questions, QuestionScore{ID: q.ID, Missing: true})
			if r.missing == missingIsError {
				errs = append(errs, fmt.Errorf("question %q: %w: %v wants all", q.ID, ErrMissing, p))
			}
			continue
		}
		result.Questions = append(result.Questions, QuestionScore{ID: q.ID, Score: p.score(prediction, q.Golds)})
	}
	if len(errs) > 0 {
		if more := len(errs) - maxErrors; more > 0 {
			errs = append(errs[:maxErrors], fmt.Errorf("and %d more", more))
		}
		return Result{}, fmt.Errorf("answer: evaluate: %w", errors.Join(errs...))
	}
	for id := range predictions {
		if _, ok := known[id]; !ok {
			result.Extra = append(result.Extra, id)
		}
	}
	slices.Sort(result.Extra)
	result.N = len(questions)
	if r.missing == missingSkipped {
		result.N -= len(result.Missing)
	}
	result.Mean = mean(result.Questions, result.N)
	return result, nil
}

func mean(questions []QuestionScore, n int) Score {
	var m Score
	if n == 0 {
		return m
	}
	for _, q := range questions {
		m.EM += q.EM
		m.F1 += q.F1
		m.Precision += q.Precision
		m.Recall += q.Recall
	}
	m.EM /= float64(n)
	m.F1 /= float64(n)
	m.Precision /= float64(n)
	m.Recall /= float64(n)
	return m
}

// Figure is a mean under its full name, as the script of the profile prints
// it.
type Figure struct {
	Name  string  `json:"name"` // such as "f1/hotpot"
	Value float64 `json:"value"`
	Scale float64 `json:"scale"` // the highest possible value: 1 or 100
}

// Figures are the means that the script reports, on its scale and rounded as
// it rounds: EM and F1, for HotpotQA and TwoWiki also precision and recall.
func (r Result) Figures() []Figure {
	rules := r.Profile.rules()
	figure := func(name string, fraction float64) Figure {
		value := fraction * rules.scale
		if rules.decimals >= 0 {
			// Correct to the last bit, as Python's round is.
			value, _ = strconv.ParseFloat(strconv.FormatFloat(value, 'f', rules.decimals, 64), 64)
		}
		return Figure{name + "/" + r.Profile.String(), value, rules.scale}
	}
	figures := []Figure{figure("em", r.Mean.EM), figure("f1", r.Mean.F1)}
	if rules.partial {
		figures = append(figures, figure("precision", r.Mean.Precision), figure("recall", r.Mean.Recall))
	}
	return figures
}
