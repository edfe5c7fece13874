// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/llm"
)

// Chaos lets a [Server] fail by chance. The same seed gives the same faults to the
// same requests, in whatever order they come: how a request fares depends on what it
// asks and how often it was asked before.
type Chaos struct {
	Seed uint64
	// Share is how many of the requests fail, from 0 to 1.
	Share float64
	// Kinds are the ways to fail, of [Troubles]; nil is all.
	Kinds []string
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

// Troubles are all ways to fail.
var Troubles = []string{rateLimit, serverError, hang, dropped, emptyReply, cutReply, refusal, garbage, echo,
	wrongDimension, newDimension, zeroVector, nullVector, strangeUsage, noUsage, keyInHeader, keyInReply}

// strange are figures of usage that servers were seen to send, and worse.
var strange = []string{`"12"`, `12.0`, `-3`, `4611686018427387904`, `1e300`, `null`, `"many"`, `[]`, `{}`}

// fault draws what befalls a request that comes for the n-th time.
func (c Chaos) fault(r Received, n int) Fault {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%d\n%s", r.Path, n, r.Body)
	rng := rand.New(rand.NewPCG(c.Seed, h.Sum64()))
	kinds := c.Kinds
	if kinds == nil {
		kinds = Troubles
	}
	if rng.Float64() >= c.Share {
		return Fault{}
	}
	say := func(text, finish string) Fault {
		return Fault{Answer: func(llm.Request) llm.Reply { return llm.Reply{Text: text, Finish: finish} }}
	}
	vector := func(f func(v []float32) any) Fault { return Fault{Vector: f} }
	_, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch kinds[rng.IntN(len(kinds))] {
	case rateLimit:
		return Fault{Status: 429}
	case serverError:
		return Fault{Status: 500}
	case hang:
		return Fault{Delay: 50 * time.Millisecond, Lost: true}
	case dropped:
		return Fault{Lost: true}
	case emptyReply:
		return say("", "")
	case cutReply:
		return say("half of", llm.FinishLength)
	case refusal:
		return say("I cannot help with that.", "refusal")
	case garbage:
		return say(`{"a": [1, "b"}}} {{ ,,`, "")
	case echo:
		return Fault{Answer: func(req llm.Request) llm.Reply { return llm.Reply{Text: allText(req)} }}
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
		return Fault{Usage: json.RawMessage(figure)}
	case noUsage:
		return Fault{NoUsage: true}
	case keyInHeader:
		return Fault{Lost: true, Raw: "HTTP/1.1 200 OK\r\nAuthorization Bearer " + key + "\r\n\r\n"}
	case keyInReply:
		return Fault{Answer: func(req llm.Request) llm.Reply { return llm.Reply{Text: key + " " + allText(req)} }}
	}
	return Fault{}
}

// usage is the figures that are sent in place of the right ones.
func (f Fault) usage(right map[string]any) any {
	if f.Usage == nil {
		return right
	}
	for name := range right {
		right[name] = f.Usage
	}
	return right
}

// vector is what is sent in place of a vector.
func (f Fault) vector(v []float32) any {
	if f.Vector == nil {
		return v
	}
	return f.Vector(v)
}
