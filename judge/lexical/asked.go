// SPDX-License-Identifier: Apache-2.0

package lexical

// kinds are what a question asks for in so many words: a number, a time, a name.
type kinds uint8

const (
	askedNumber kinds = 1 << iota
	askedTime
	askedName
)

// asks reads which kinds a question asks for; none where its wording leaves it
// open ("what happened …").
func (s *scan) asks() kinds {
	var k kinds
	for i := range s.tokens {
		w, next := s.word(i), s.word(i+1)
		switch {
		case w == "how" && howMuch[next]:
			k |= askedNumber
		case w == "when" && (i == 0 || auxiliaries[next]):
			k |= askedTime
		case w == "who" || w == "whom" || w == "whose":
			if i == 0 || clauseMark(s.gap(i)) || s.word(i-1) == "and" {
				k |= askedName
			}
		case w == "what" || w == "which":
			k |= s.kindOfNoun(i + 1)
		}
	}
	return k
}

// kindOfNoun looks for a noun that a number or a time answers, in the words behind
// "what" or "which" up to the end of the noun phrase: "what was the total number of".
func (s *scan) kindOfNoun(i int) kinds {
	for k := i; k < min(len(s.tokens), i+nounReach) && !(k > i && clauseMark(s.gap(k))); k++ {
		switch w := s.word(k); {
		case numberNouns[w]:
			return askedNumber
		case timeNouns[w]:
			return askedTime
		case phraseEnds[w]:
			return 0
		}
	}
	return 0
}

// nounReach is how many words there may be from "what" to its noun: "was the
// approximate total".
const nounReach = 6

var (
	howMuch     = wordSet("many much long far old tall high large big often deep wide fast")
	numberNouns = wordSet("number percentage proportion amount total tally sum size score scoreline price cost value fraction percent population rate height length distance age")
	timeNouns   = wordSet("year date day month decade century time")
	phraseEnds  = wordSet("of in on at by for from with to that which who did do does between among")
)
