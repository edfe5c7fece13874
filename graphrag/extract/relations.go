// SPDX-License-Identifier: Apache-2.0

package extract

// fact is a triple of the sentence that is being read; head and tail are
// entities of it.
type fact struct {
	head, tail int
	relation   string
	hedged     bool
}

// alias is an attribute of an entity of the sentence.
type alias struct {
	entity     int
	key, value string
}

func (x *reader) relate() { x.facts, x.aliases = x.facts[:0], x.aliases[:0] }
