// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/bits"
	"strings"
	"sync"
)

// rng is splitmix64 (Steele, Lea and Flood, OOPSLA 2014): a generator that is as good
// wherever it starts, so that passage 3,000,000 needs none of those before it.
type rng uint64

// seeded begins at a place that is known by its numbers.
func seeded(seed uint64, numbers ...uint64) rng {
	r := rng(seed)
	for _, n := range numbers {
		r = rng(r.next() ^ n*0x9e3779b97f4a7c15)
	}
	return r
}

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is one of 0 to n-1.
func (r *rng) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// zipf draws ranks from 1 on whose frequency is one over the rank to a power, in steps:
// ranks of one octave are equally frequent.
type zipf []uint64 // where the share of each octave ends

func newZipf(octaves int, power float64) zipf {
	z, sum := make(zipf, octaves), 0.0
	shares := make([]float64, octaves)
	for o := range shares {
		sum += math.Exp2(float64(o) * (1 - power))
		shares[o] = sum
	}
	for o := range z {
		z[o] = uint64(shares[o] / sum * (1 << 62))
	}
	z[octaves-1] = 1 << 62
	return z
}

func (z zipf) draw(r *rng) int {
	x, octave := r.next()>>2, 0
	for x >= z[octave] {
		octave++
	}
	return 1<<octave + r.below(1<<octave)
}

// The vocabulary: 2^18 words, of which the most frequent have no content. With a power
// of 1 they are 39 % of a text, about as many as in English.
const (
	wordOctaves = 18
	vocabulary  = 1 << wordOctaves
	firstWord   = 1 << 7 // the rank of the first word with content
	short       = 1 << 12
)

// functionWords are those of ranks 1 to 127, in about the order of English.
var functionWords = strings.Fields(`
	the of and to a in is that for it as was with be by on not he i this are or his from at which but have an had they you
	were there one all we can her has been if more when will would who so no she other its may these what them than some him
	into only do their could our then about my over such any between should each just those also how where most after your being
	very through both during before must same too because while under again here own until above against below few up out down
	off further once whom why am himself itself themselves whose did does having might shall us me nor ours
	hers ought mine yourself`)

// words are the vocabulary by rank, from 1. Those with content are made of syllables,
// frequent ones of two and others of three, and end in consonants that are no ending
// of an English word which a stemmer would take away.
var words = sync.OnceValue(func() []string {
	onsets := strings.Fields("b d f g k l m n p r s t v br st kr")
	vowels, ends := "aeou", "kmpbgxfz"
	out := make([]string, vocabulary)
	copy(out[1:firstWord], functionWords)
	var b strings.Builder
	for rank := firstWord; rank < vocabulary; rank++ {
		syllables, size := 3, vocabulary
		if rank < short {
			syllables, size = 2, short
		}
		b.Reset()
		n := rank * 0x9e3b5 & (size - 1) // odd, so that no two words are one
		for range syllables {
			b.WriteString(onsets[n&15])
			b.WriteByte(vowels[n>>4&3])
			n >>= 6
		}
		b.WriteByte(ends[rank%len(ends)])
		out[rank] = b.String()
	}
	return out
})

// Topics prefer a part of the vocabulary: of 64 words of about the same frequency, one.
const (
	topics       = 4096
	bandBits     = 6
	topicalShare = 60 // of the words with content, in percent
)

// topical is the word that a topic has in the place of another, about as frequent.
func topical(topic, rank int) int {
	r := seeded(uint64(topic), uint64(rank>>bandBits))
	return rank&^(1<<bandBits-1) | int(r.next()>>(64-bandBits))
}
