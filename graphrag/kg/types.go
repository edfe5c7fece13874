// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Entity is a person, place, thing or idea, with all names that texts give it.
type Entity struct {
	// Key is the folded name, Name the most frequent spelling.
	Key, Name string
	// Names are all spellings and Types all types that were given, most frequent first. Type is the first type,
	// "" if there is none.
	Type  string
	Names []Count
	Types []Count
	// Mentions is the number of mentions in all chunks.
	Mentions   int
	Attributes []Property
}

// Count is a text and the number of times that it was given.
type Count struct {
	Text string
	N    int
}

// Description is a text about an entity or a relation, with the passages that state it. Equal texts are merged.
type Description struct {
	Text     string
	Passages []int32
}

// Property is an attribute of an entity, with the passages that state it.
type Property struct {
	Key, Value string
	Passages   []int32
}

// Relation merges all facts with the same head, label and tail.
type Relation struct {
	Head, Tail int32
	// Label is the most frequent spelling, Key the folded label.
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

// Posting is an item, by its id, and the number of times that it occurs.
type Posting struct {
	ID, Count int32
}

// Extraction contains the knowledge found in one chunk. It is the unit that is added to a graph, and removed
// when its document is deleted.
type Extraction struct {
	// Chunk is the ID of the chunk, Doc the ID of its document.
	Chunk string `json:"chunk"`
	Doc   string `json:"doc"`

	Mentions   []Mention   `json:"mentions,omitempty"`
	Facts      []Fact      `json:"facts,omitempty"`
	Attributes []Attribute `json:"attributes,omitempty"`

	// Problems lists unusable input of the extractor, from a malformed record of a model to a whole chunk.
	// [Graph.Rejected] contains them.
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is a record of a source or a reply that the graph does not contain, and the reason.
type Problem struct {
	// Chunk is the ID of the chunk in which the problem occurred; it is set in [Graph.Rejected] only.
	Chunk string `json:"chunk,omitempty"`
	// Kind is ProblemChunk, ProblemRefused, "record", "schema", "mention", "fact" or "attribute".
	Kind string `json:"kind"`
	// Text is the beginning of the record.
	Text   string `json:"text,omitempty"`
	Reason string `json:"reason"`
}

// The values of [Problem].Kind for a whole chunk: there was no usable reply for it, or the model refused or a
// filter stopped the reply.
const (
	ProblemChunk   = "chunk"
	ProblemRefused = "refused chunk"
)

// Span is a range of bytes of the chunk's text. The zero Span means that the position is unknown.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Mention is an entity in a chunk, with the name that the chunk gives it.
type Mention struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
	Span        Span   `json:"span,omitzero"`
}

// Fact is a triple that a chunk states.
type Fact struct {
	graphrag.Triple
	Description string   `json:"description,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	// Weight is the strength that a model gave; 0 means 1.
	Weight float64 `json:"weight,omitempty"`
	// Span is the sentence that states the fact.
	Span Span `json:"span,omitzero"`
}

// Attribute is a property of an entity whose value is a plain text.
type Attribute struct {
	Entity string `json:"entity"`
	Key    string `json:"key"`
	Value  string `json:"value"`
	Span   Span   `json:"span,omitzero"`
}

// Folding is the rule that decides which spellings of a name are the same entity.
type Folding string

const (
	// FoldUnicode is [text.FoldName], the default: letters, digits and symbols of every script count. A name
	// that consists of punctuation keeps it.
	FoldUnicode Folding = "unicode"
	// FoldASCII is HippoRAG's rule (OSU-NLP-Group/HippoRAG, both versions), for comparisons with published
	// figures: lower case, and a blank for every character other than an ASCII letter or digit, none at the
	// ends. Runs of blanks stay, so "a. b" and "a b" differ. A name without such letters and digits is
	// rejected.
	FoldASCII Folding = "ascii"
)

// Key returns the folded name: "" for a blank name and, by FoldASCII, for a name without an ASCII letter or
// digit. Folding a key again does not change it.
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
	// The reference program lowers the case first, which turns the Kelvin sign into k and the dotted capital I
	// into i with a mark.
	return strings.Trim(strings.Map(blank, strings.ToLower(strings.ReplaceAll(strings.ToValidUTF8(name, ""), "İ", "i\u0307"))), " ")
}

// oneLine returns a text with single blanks as white space, without bytes that are not UTF-8.
func oneLine(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ") }
