// SPDX-License-Identifier: Apache-2.0

package fusion

import (
	"cmp"
	"slices"
)

// CombMAX gives each identifier its best score of all lists, on the scale of the
// lists (Fox and Shaw, 1993). It is how HippoRAG puts the steps of an iterative
// retrieval together, whose scores compare (arXiv 2405.14831, section 4). Here
// alone equal scores stay in the order in which they were first seen, the first
// list first. The error names every score that is not finite.
func CombMAX[ID cmp.Ordered](lists ...[]Scored[ID]) ([]Scored[ID], error) {
	if err := checkScores(MinMax, lists); err != nil {
		return nil, err
	}
	at := make(map[ID]int)
	var out []Scored[ID]
	for _, list := range lists {
		for _, s := range list {
			if i, ok := at[s.ID]; !ok {
				at[s.ID] = len(out)
				out = append(out, s)
			} else if s.Score > out[i].Score {
				out[i].Score = s.Score
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Scored[ID]) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}
