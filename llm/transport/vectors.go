// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"
	"math"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
)

// ErrBadVector is the kind of the error of an embedding that cannot be used, see
// [CheckVectors]. It is asked for again, at most twice.
const ErrBadVector llm.Kind = "unusable vector"

// maxNorm is the greatest length of a vector: products of two stay within float32.
const maxNorm = 1e18

// CheckVectors says what is wrong with the vectors of some texts: their number,
// their dimensions, a component that is no number, a length beyond 1e18, or zeros
// alone for a text that says something. Servers send all of these with status 200,
// so whoever keeps vectors asks first.
func CheckVectors(texts []string, vectors [][]float32) error {
	bad := func(format string, args ...any) error {
		return &llm.Error{Kind: ErrBadVector, Billed: llm.BilledYes, Err: fmt.Errorf(
			format+": not kept; check that the server runs this embedding model soundly, or name another", args...)}
	}
	if len(vectors) != len(texts) {
		return bad("%d vectors for %d texts", len(vectors), len(texts))
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return bad("vector %d has %d dimensions, vector 0 has %d", i, len(v), len(vectors[0]))
		}
		switch norm := norm(v); {
		case !(norm <= maxNorm):
			return bad("vector %d holds no number, or has a length of %.3g, beyond %g", i, norm, maxNorm)
		case norm == 0 && strings.TrimSpace(texts[i]) != "":
			return bad("vector %d is nothing but zeros", i)
		}
	}
	return nil
}

// norm is the length of a vector, infinite or NaN if a component is.
func norm(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}
