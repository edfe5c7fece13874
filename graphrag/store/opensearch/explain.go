// SPDX-License-Identifier: Apache-2.0

package opensearch

import "strings"

// maxExplained is how many hits are wanted at most for their scores to be explained.
const maxExplained = 100

// explanation is how Lucene says that a score came about. Lucene keeps the length of a text
// in one byte, exact up to 40 terms and to one in eight beyond; with the true length,
// which is kept beside it, the score is that of the embedded index. Twice as many hits as
// are wanted are looked at, and twenty: those that a length of one in eight less
// could bring to the front. Triples are too short for it to matter.
type explanation struct {
	Value       float64       `json:"value"`
	Description string        `json:"description"`
	Details     []explanation `json:"details"`
}

// exact is the score of a text of a length.
func (e explanation) exact(length float64) float64 {
	if !strings.HasPrefix(e.Description, "score(freq=") {
		sum := 0.0
		for _, d := range e.Details {
			sum += d.exact(length)
		}
		return sum
	}
	boost, ok := e.part("boost")
	if !ok {
		boost = 1
	}
	idf, known := e.part("idf,")
	freq, k1, b, mean := 0.0, 0.0, 0.0, 0.0
	for _, d := range e.Details {
		if strings.HasPrefix(d.Description, "tf,") {
			freq, _ = d.part("freq,")
			k1, _ = d.part("k1,")
			b, _ = d.part("b,")
			mean, _ = d.part("avgdl,")
		}
	}
	if !known || freq <= 0 || mean <= 0 { // said otherwise: as Lucene has it
		return e.Value
	}
	return boost * idf * freq / (freq + k1*(1-b+b*length/mean))
}

func (e explanation) part(begins string) (float64, bool) {
	for _, d := range e.Details {
		if strings.HasPrefix(d.Description, begins) {
			return d.Value, true
		}
	}
	return 0, false
}
