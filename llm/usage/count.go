// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"math"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
)

// maxCount is more than any one reply takes: the largest contexts have ten million
// tokens. Sums of such counts stay in range.
const maxCount = 100_000_000

// Count is a number of tokens as servers write it: 12, 12.0 and "12" are twelve.
// Anything else, a negative number, or one that no reply has, is -1. Reading it
// never fails, since a strange figure must not cost a reply that was paid for.
type Count int

// UnmarshalJSON implements json.Unmarshaler.
func (c *Count) UnmarshalJSON(b []byte) error {
	text := strings.TrimSpace(strings.Trim(string(b), `"`))
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "null" || text == "":
		*c = 0
	case err != nil || !(f >= 0 && f <= maxCount):
		*c = -1
	default:
		*c = Count(math.Ceil(f))
	}
	return nil
}

// Of is the usage of a chat by the figures of its reply. It is marked as estimated,
// and the tokens are left to be counted, if a figure is missing or strange.
func Of(prompt, completion Count) llm.Usage {
	if prompt <= 0 || completion < 0 {
		return llm.Usage{Calls: 1, Estimated: true}
	}
	return llm.Usage{Calls: 1, PromptTokens: int(prompt), CompletionTokens: int(completion)}
}

// Embedded is the usage of texts that were embedded, in the same way.
func Embedded(prompt, total Count) llm.Usage {
	n := max(prompt, total)
	if n <= 0 {
		return llm.Usage{Estimated: true}
	}
	return llm.Usage{EmbeddedTokens: int(n)}
}
