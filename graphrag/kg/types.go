// SPDX-License-Identifier: Apache-2.0

package kg

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

// Description is a text about something, with the passages that it came from.
// Equal texts are one.
type Description struct {
	Text     string
	Passages []int32
}

// Property is an attribute of an entity and the passages that say so.
type Property struct {
	Key, Value string
	Passages   []int32
}

// Relation is what all facts of equal head, label and tail say.
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

// Rejection is a problem and the chunk it is in.
type Rejection struct {
	Chunk string
	Problem
}
