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
	// Kinds are the ways to fail, nil for all there are.
	Kinds []Trouble
}

// Trouble is one way in which a server fails.
type Trouble string

// The ways to fail. Those of vectors befall embeddings, and those of replies chats.
const (
	RateLimit      Trouble = "429"
	ServerError    Trouble = "500"
	Hang           Trouble = "hang" // for a while, billed, then the connection drops
	Drop           Trouble = "drop" // the connection, billed
	EmptyReply     Trouble = "empty reply"
	CutReply       Trouble = "cut reply"
	Refusal        Trouble = "refusal"
	Garbage        Trouble = "garbage"
	Echo           Trouble = "echo" // of the prompt
	WrongDimension Trouble = "wrong dimension"
	NewDimension   Trouble = "another dimension each time"
	ZeroVector     Trouble = "zero vector"
	NullVector     Trouble = "null vector"
	StrangeUsage   Trouble = "strange usage"
	NoUsage        Trouble = "no usage"
	KeyInHeader    Trouble = "key in a header" // a broken one, billed
	KeyInReply     Trouble = "key in the reply"
)

// Troubles are all ways to fail.
var Troubles = []Trouble{RateLimit, ServerError, Hang, Drop, EmptyReply, CutReply, Refusal, Garbage, Echo,
	WrongDimension, NewDimension, ZeroVector, NullVector, StrangeUsage, NoUsage, KeyInHeader, KeyInReply}

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
	case RateLimit:
		return Fault{Status: 429}
	case ServerError:
		return Fault{Status: 500}
	case Hang:
		return Fault{Delay: 50 * time.Millisecond, Lost: true}
	case Drop:
		return Fault{Lost: true}
	case EmptyReply:
		return say("", "")
	case CutReply:
		return say("half of", llm.FinishLength)
	case Refusal:
		return say("I cannot help with that.", "refusal")
	case Garbage:
		return say(`{"a": [1, "b"}}} {{ ,,`, "")
	case Echo:
		return Fault{Answer: func(req llm.Request) llm.Reply { return llm.Reply{Text: allText(req)} }}
	case WrongDimension:
		return vector(func(v []float32) any { return v[:len(v)-1] })
	case NewDimension:
		keep := 1 + rng.IntN(7)
		return vector(func(v []float32) any { return v[:max(1, len(v)-keep)] })
	case ZeroVector:
		return vector(func(v []float32) any { return make([]float32, len(v)) })
	case NullVector:
		return vector(func(v []float32) any { return make([]*float32, len(v)) })
	case StrangeUsage:
		figure := strange[rng.IntN(len(strange))]
		return Fault{Usage: json.RawMessage(figure)}
	case NoUsage:
		return Fault{NoUsage: true}
	case KeyInHeader:
		return Fault{Lost: true, Raw: "HTTP/1.1 200 OK\r\nAuthorization Bearer " + key + "\r\n\r\n"}
	case KeyInReply:
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
