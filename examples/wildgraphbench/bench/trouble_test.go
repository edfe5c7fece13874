// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// trouble lets a server fail by chance. The same seed gives the same faults to the
// same requests, in whatever order they come: how a request fares depends on what it
// asks and how often it was asked before.
type trouble struct {
	seed  uint64
	share float64  // how many of the requests fail, from 0 to 1
	kinds []string // the ways to fail, of [troubles]; nil is all
}

// The ways to fail. Those of vectors befall embeddings, and those of replies chats.
const (
	rateLimit      = "429"
	serverError    = "500"
	hang           = "hang" // for a while, billed, then the connection drops
	dropped        = "drop" // the connection, billed
	emptyReply     = "empty reply"
	cutReply       = "cut reply"
	refusal        = "refusal"
	garbage        = "garbage"
	echo           = "echo" // of the prompt
	wrongDimension = "wrong dimension"
	newDimension   = "another dimension each time"
	zeroVector     = "zero vector"
	nullVector     = "null vector"
	strangeUsage   = "strange usage"
	noUsage        = "no usage"
	keyInHeader    = "key in a header" // a broken one, billed
	keyInReply     = "key in the reply"
)

// troubles are all ways to fail.
var troubles = []string{rateLimit, serverError, hang, dropped, emptyReply, cutReply, refusal, garbage, echo,
	wrongDimension, newDimension, zeroVector, nullVector, strangeUsage, noUsage, keyInHeader, keyInReply}

// strange are figures of usage that servers were seen to send, and worse.
var strange = []string{`"12"`, `12.0`, `-3`, `4611686018427387904`, `1e300`, `null`, `"many"`, `[]`, `{}`}

// fault draws what befalls a request that comes for the n-th time.
func (c trouble) fault(r llmtest.Received, n int) llmtest.Fault {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%d\n%s", r.Path, n, r.Body)
	rng := rand.New(rand.NewPCG(c.seed, h.Sum64()))
	kinds := c.kinds
	if kinds == nil {
		kinds = troubles
	}
	if rng.Float64() >= c.share {
		return llmtest.Fault{}
	}
	say := func(text, finish string) llmtest.Fault {
		return llmtest.Fault{Answer: func(llm.Request) llm.Reply { return llm.Reply{Text: text, Finish: finish} }}
	}
	vector := func(f func(v []float32) any) llmtest.Fault { return llmtest.Fault{Vector: f} }
	_, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch kinds[rng.IntN(len(kinds))] {
	case rateLimit:
		return llmtest.Fault{Status: 429}
	case serverError:
		return llmtest.Fault{Status: 500}
	case hang:
		return llmtest.Fault{Delay: 50 * time.Millisecond, Lost: true}
	case dropped:
		return llmtest.Fault{Lost: true}
	case emptyReply:
		return say("", "")
	case cutReply:
		return say("half of", llm.FinishLength)
	case refusal:
		return say("I cannot help with that.", "refusal")
	case garbage:
		return say(`{"a": [1, "b"}}} {{ ,,`, "")
	case echo:
		return llmtest.Fault{Answer: func(req llm.Request) llm.Reply { return llm.Reply{Text: messages(req)} }}
	case wrongDimension:
		return vector(func(v []float32) any { return v[:len(v)-1] })
	case newDimension:
		keep := 1 + rng.IntN(7)
		return vector(func(v []float32) any { return v[:max(1, len(v)-keep)] })
	case zeroVector:
		return vector(func(v []float32) any { return make([]float32, len(v)) })
	case nullVector:
		return vector(func(v []float32) any { return make([]*float32, len(v)) })
	case strangeUsage:
		figure := strange[rng.IntN(len(strange))]
		return llmtest.Fault{Usage: json.RawMessage(figure)}
	case noUsage:
		return llmtest.Fault{NoUsage: true}
	case keyInHeader:
		return llmtest.Fault{Lost: true, Raw: "HTTP/1.1 200 OK\r\nAuthorization Bearer " + key + "\r\n\r\n"}
	case keyInReply:
		return llmtest.Fault{Answer: func(req llm.Request) llm.Reply { return llm.Reply{Text: key + " " + messages(req)} }}
	}
	return llmtest.Fault{}
}
