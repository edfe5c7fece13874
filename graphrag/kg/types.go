// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Entity is a person, place, thing or idea, by whatever names it is called.
type Entity struct {
	// Key is the folded name, Name the spelling used most.
	Key, Name string
	// Names are all spellings and Types all types it was given, most frequent
	// first; Type is the first of them, "" when there is none.
	Type  string
	Names []Count
	Types []Count
	// Mentions is the number of times it was named.
	Mentions   int
	Attributes []Property
}

// Count is a text and how often it was given.
type Count struct {
	Text string
	N    int
}

// Description is a text about something, with the passages that it came from. Equal texts are one.
type Description struct {
	Text     string
	Passages []int32
}

// Property is an attribute of an entity and the passages that say so.
type Property struct {
	Key, Value string
	Passages   []int32
}

// Relation merges all facts of equal head, label and tail.
type Relation struct {
	Head, Tail int32
	// Label is the spelling used most, Key the folded one.
	Label, Key string
	// Count is the number of facts, Weight the sum of their strengths.
	Count  int
	Weight float64
	// Keywords are sorted, without repetition.
	Keywords []string
}

// Passage is a chunk as a node of the graph.
type Passage struct {
	Chunk, Doc string
}

// Posting says how often something occurs somewhere.
type Posting struct {
	ID, Count int32
}

// Extraction contains the knowledge found in one chunk: the unit that is added to a
// graph and, when its document is deleted, removed again.
type Extraction struct {
	// Chunk is the ID of the chunk, Doc the ID of its document.
	Chunk string `json:"chunk"`
	Doc   string `json:"doc"`

	Mentions   []Mention   `json:"mentions,omitempty"`
	Facts      []Fact      `json:"facts,omitempty"`
	Attributes []Attribute `json:"attributes,omitempty"`

	// Problems lists unusable input of the extractor, from a malformed record of a
	// model to the whole chunk. [Graph.Rejected] contains them.
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is something that is not in a graph though it was in a source or a reply, and why.
type Problem struct {
	// Chunk is the ID of the chunk it is in, in [Graph.Rejected]; an extraction has its own.
	Chunk string `json:"chunk,omitempty"`
	// Kind is ProblemChunk, ProblemRefused, "record", "schema", "mention", "fact" or "attribute".
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

// Span is a range of bytes of the chunk's text. The zero Span means that the place is not known.
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
	// Weight is the strength that a model stated; 0 means 1.
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

// Folding is the rule by which the spellings of a name meet in one entity.
type Folding string

const (
	// FoldUnicode is [text.FoldName], the default: letters, digits and symbols
	// of every script count. A name of nothing but punctuation keeps it.
	FoldUnicode Folding = "unicode"
	// FoldASCII is HippoRAG's rule (OSU-NLP-Group/HippoRAG, both versions): lower case, and a blank for every
	// character that is not an ASCII letter or digit, none at the ends. Runs of blanks stay: "a. b" and "a b" are
	// two. A name without a Latin letter or digit is lost. It is here to compare with published figures.
	FoldASCII Folding = "ascii"
)

// Key is the folded name; folded again it stays the same. It is "" for a name without a letter or digit.
func (f Folding) Key(name string) string {
	if f == FoldASCII {
		return foldASCII(name)
	}
	if key := text.FoldName(name); key != "" {
		return key
	}
	return strings.ToLower(oneLine(name))
}

func foldASCII(name string) string {
	blank := func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + ('a' - 'A')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return ' '
	}
	// The reference lowers first, which takes the Kelvin sign to a k and the dotted
	// capital I to an i with a mark.
	return strings.Trim(strings.Map(blank, strings.ToLower(strings.ReplaceAll(strings.ToValidUTF8(name, ""), "İ", "i\u0307"))), " ")
}

// oneLine is a text with single blanks and no bytes that are not UTF-8.
func oneLine(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ") }
