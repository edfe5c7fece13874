// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Extraction is what was found in one chunk: the unit in which knowledge comes
// into a graph and, when its document is deleted, leaves it again.
type Extraction struct {
	// Chunk is the ID of the chunk, Doc that of its document.
	Chunk string `json:"chunk"`
	Doc   string `json:"doc"`

	Mentions   []Mention   `json:"mentions,omitempty"`
	Facts      []Fact      `json:"facts,omitempty"`
	Attributes []Attribute `json:"attributes,omitempty"`

	// Problems is what the extractor could not use, from a record that a model
	// wrote badly to the whole chunk. They come to [Graph.Rejected].
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is something that is not in a graph though it was in a source or a
// reply, and why.
type Problem struct {
	// Kind is ProblemChunk, ProblemRefused, "record", "schema", "mention", "fact" or
	// "attribute".
	Kind string `json:"kind"`
	// Text is the beginning of it.
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason"`
}

// The kinds of [Problem] that are of a whole chunk: no usable reply for it, and one
// that the model declined to give or a filter stopped.
const (
	ProblemChunk   = "chunk"
	ProblemRefused = "refused chunk"
)

// Span is a range of bytes of the chunk's text. The zero Span means that the
// place is not known.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Mention is an entity in a chunk, as it is called there.
type Mention struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
	Span        Span   `json:"span,omitzero"`
}

// Fact is a triple a chunk states.
type Fact struct {
	graphrag.Triple
	Description string   `json:"description,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	// Weight is the strength a model gave it; 0 stands for 1.
	Weight float64 `json:"weight,omitempty"`
	// Span is the sentence that says so.
	Span Span `json:"span,omitzero"`
}

// Attribute is a property of an entity whose value is a plain text.
type Attribute struct {
	Entity string `json:"entity"`
	Key    string `json:"key"`
	Value  string `json:"value"`
	Span   Span   `json:"span,omitzero"`
}

// Beginning is at most the first 80 bytes of a text, for [Problem.Text].
func Beginning(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
