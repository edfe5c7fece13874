// SPDX-License-Identifier: Apache-2.0

package rules

// finder finds the entities of sentences.
type finder struct {
	mentions
	gazetteer *gazetteer
	titles    []title
	learning  bool // the names of the corpus are not known yet
}

// title is an office found beside a person's name: "FIFA President Gianni Infantino".
// Tokens as in entity; person is the first token of the person, body that of the
// body or -1.
type title struct {
	first, last  int
	person, body int
}

// maxNameTokens bounds the names that are looked up.
const maxNameTokens = 8
