// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"strconv"
)

// Profile is the set of rules by which the script of a data set scores
// answers; the table in the package comment compares them.
type Profile uint8

// The profiles and the scripts they follow.
const (
	SQuAD1   Profile = iota // evaluate-v1.1.py of SQuAD 1.1
	SQuAD2                  // evaluate-v2.0.py of SQuAD 2.0, without no-answer probabilities
	HotpotQA                // hotpot_evaluate_v1.py, the answer part
	TwoWiki                 // 2wikimultihop_evaluate_v1.1.py, the answer part
	MuSiQue                 // evaluate_v1.0.py of MuSiQue, the answer part
	MRQA                    // mrqa_official_eval.py; also HippoRAG's qa_eval.py
)

// rules are what profiles differ in.
type rules struct {
	name string
	// emptyAgrees: two empty sides have F1 1.
	emptyAgrees bool
	// emptyGoldsDropped: empty gold answers do not count beside others, and
	// no gold answer at all means that the right answer is empty.
	emptyGoldsDropped bool
	// strictYesNo: if one side is yes, no or noanswer and the other side
	// differs, F1 is 0.
	strictYesNo bool
	// oneGold: the script reads a single gold answer.
	oneGold bool
	// apart: the best precision and recall need not come from the gold
	// answer with the best F1.
	apart bool
	// partial: precision and recall are reported too.
	partial  bool
	missing  missing
	scale    float64
	decimals int // of a reported figure; -1 for all
}

// missing says what a question without a prediction counts.
type missing uint8

const (
	missingIsZero missing = iota
	missingSkipped
	missingIsError
)

// byProfile is indexed by Profile and never changed.
var byProfile = [...]rules{
	SQuAD1:   {name: "squad1", scale: 100, decimals: -1},
	SQuAD2:   {name: "squad2", scale: 100, decimals: -1, emptyAgrees: true, emptyGoldsDropped: true, missing: missingSkipped},
	HotpotQA: {name: "hotpot", scale: 1, decimals: -1, strictYesNo: true, oneGold: true, partial: true},
	TwoWiki:  {name: "2wiki", scale: 100, decimals: 2, strictYesNo: true, apart: true, partial: true},
	MuSiQue:  {name: "musique", scale: 1, decimals: 3, emptyAgrees: true, missing: missingIsError},
	MRQA:     {name: "mrqa", scale: 100, decimals: -1},
}

// Profiles are all profiles.
func Profiles() []Profile {
	return []Profile{SQuAD1, SQuAD2, HotpotQA, TwoWiki, MuSiQue, MRQA}
}

// String is the name of the profile, as in "f1/hotpot".
func (p Profile) String() string {
	if !p.valid() {
		return "profile(" + strconv.Itoa(int(p)) + ")"
	}
	return byProfile[p].name
}

func (p Profile) valid() bool { return int(p) < len(byProfile) }

// rules of the profile; those of SQuAD1 for a number that is no profile, which
// check has refused by then.
func (p Profile) rules() *rules {
	if !p.valid() {
		p = SQuAD1
	}
	return &byProfile[p]
}
