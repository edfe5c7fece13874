// SPDX-License-Identifier: Apache-2.0

package judge

// scoreMatches computes recall and precision from the matrix of matches:
// WildGraphBench, equations 2 and 3. Several predictions may match one gold
// statement and the other way round.
func (s *SummaryJudgment) scoreMatches(gold int) {
	metGold, metPredicted := make([]bool, gold), make([]bool, len(s.Predicted))
	for _, m := range s.Matches {
		metGold[m.Gold], metPredicted[m.Predicted] = true, true
	}
	s.setRecall(count(metGold), gold)
	s.setPrecision(count(metPredicted))
}

func count(met []bool) int {
	n := 0
	for _, m := range met {
		if m {
			n++
		}
	}
	return n
}

func (s *SummaryJudgment) setRecall(met, gold int) {
	s.Counts.Gold, s.Counts.GoldMet = gold, met
	s.Recall = Score(float64(met)/float64(gold), "")
}

func (s *SummaryJudgment) setPrecision(met int) {
	s.Counts.Predicted, s.Counts.PredictedMet = len(s.Predicted), met
	s.Precision = Score(float64(met)/float64(len(s.Predicted)), "")
}

func (s *SummaryJudgment) unsetPrecision() { s.Counts.Predicted, s.Counts.PredictedMet = 0, 0 }

// noStatement scores an answer that says nothing.
func (s *SummaryJudgment) noStatement(c Case) {
	none := Score(0, "no statement in the answer")
	s.Recall, s.Precision = none, none
	s.Counts.Gold = len(c.Statements)
}

// withoutPrecision reports whether there is nothing to hold the statements
// against, and says so in the verdict.
func (s *SummaryJudgment) withoutPrecision(ref PrecisionRef, c Case) bool {
	switch {
	case ref == RefNone:
		s.Precision = Verdict{State: NotApplicable, Reason: "no precision reference"}
	case ref == RefSection && blank(c.Section):
		s.Precision = NoScore("the section text is not known")
	default:
		return false
	}
	s.unsetPrecision()
	return true
}
