// SPDX-License-Identifier: Apache-2.0

package reader

// lexicon numbers the terms of one answer from 0 in the order in which they are met,
// those of the question first, whatever was read before.
type lexicon struct {
	known  *library
	number []int32 // of each known term, its number here + 1; 0 of those not met
	met    []int32 // of each number here, that of the known term
	arena  []int32 // terms
}

// begin begins another answer.
func (l *lexicon) begin(known *library) {
	if l.known != known {
		l.known, l.number = known, nil
	}
}

// of is the number of a word's term, -1 of a stop word.
func (l *lexicon) of(word []byte) int32 {
	if id := l.known.number(word); id >= 0 {
		return l.place(id)
	}
	return -1
}

// place is the number of a known term.
func (l *lexicon) place(id int32) int32 {
	if n := int(id) + 1 - len(l.number); n > 0 {
		l.number = append(l.number, make([]int32, n)...)
	}
	if l.number[id] == 0 {
		l.met = append(l.met, id)
		l.number[id] = int32(len(l.met))
	}
	return l.number[id] - 1
}

// term is the term with a number.
func (l *lexicon) term(number int) string { return l.known.term(l.met[number]) }

// local are the numbers of known terms; they stay until forget.
func (l *lexicon) local(known []int32) []int32 {
	start := len(l.arena)
	for _, id := range known {
		l.arena = append(l.arena, l.place(id))
	}
	return l.arena[start:len(l.arena):len(l.arena)]
}

// forget takes back the terms that were numbered last.
func (l *lexicon) forget(terms []int32) { l.arena = l.arena[:len(l.arena)-len(terms)] }

// reset ends an answer.
func (l *lexicon) reset() {
	for _, id := range l.met {
		l.number[id] = 0
	}
	l.met, l.arena = l.met[:0], l.arena[:0]
}
