// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"hash/fnv"
	"math"
	"strings"
)

// HashVector is a deterministic unit vector of a text in which shared words
// make texts similar: every word adds ±1 to one component. A text without
// words gets the first axis.
func HashVector(text string, dimensions int) []float32 {
	v := make([]float32, dimensions)
	if dimensions == 0 {
		return v
	}
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New64a()
		_, _ = h.Write([]byte(word))
		sum := h.Sum64()
		sign := float32(1)
		if sum>>63 == 1 {
			sign = -1
		}
		v[sum%uint64(dimensions)] += sign
	}
	norm := 0.0
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	if norm == 0 {
		v[0] = 1
		return v
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(norm))
	}
	return v
}
