// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxTopK is the largest top-k of a sweep; as many chunks fill any prompt.
const maxTopK = 1000

// parseSweep reads -sweep: a range such as 2..12, a number, or several of
// them separated by commas.
func parseSweep(v string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(v, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "..")
		if !isRange {
			last = first
		}
		low, err := strconv.Atoi(first)
		high, err2 := strconv.Atoi(last)
		if errors.Join(err, err2) != nil {
			return nil, errors.New("want a range such as 2..12, or numbers separated by commas")
		}
		if low < 1 || high < low || high > maxTopK {
			return nil, fmt.Errorf("want numbers from 1 to %d in ascending order", maxTopK)
		}
		for k := low; k <= high; k++ {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
