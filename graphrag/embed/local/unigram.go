// SPDX-License-Identifier: Apache-2.0

package local

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// unigram cuts a text into the most probable sequence of pieces of a vocabulary in which each piece has a
// probability (Kudo 2018, arXiv 1804.10959, section 3.2). SentencePiece does so, and the library tokenizers
// from a tokenizer.json. XLM-R and multilingual E5 have such vocabularies.
type unigram struct {
	pieces    map[string]int32
	scores    []float64
	longest   int     // length of the longest piece in bytes
	unknown   int32   // number of the token for unknown characters
	least     float64 // score of a character that no piece contains
	bytes     []int32 // numbers of the 256 pieces for single bytes, which spell unknown characters; nil if the model has none
	normalize []func(string) string
	apart     bool // words end at any white space, not only at blanks
	added     []addedToken
	starts    [256]bool // whether an added token begins with this byte

	begin, end int32
	lower      bool
}

// addedToken is a token that a text contains by name; it is found before the text is normalized.
type addedToken struct {
	ID      int32
	Content string
	Left    bool `json:"lstrip"` // white space before the token belongs to it
	Right   bool `json:"rstrip"`
	Word    bool `json:"single_word"`
	Special bool
}

// metaspace marks the beginning of a word.
const metaspace = "▁"

// maxPiece is the longest piece allowed, in bytes, far above XLM-R's longest, 48.
const maxPiece = 256

// unknownPenalty is subtracted from the score of the least probable piece: the score of an unknown character.
const unknownPenalty = 10

// step is a part of a tokenizer.json: a normalizer or a pre-tokenizer.
type step struct {
	Type          string
	Normalizers   []step
	Pretokenizers []step
	Map           []byte `json:"precompiled_charsmap"`
	Pattern       struct{ Regex, String *string }
	Content       string
	Left          bool `json:"strip_left"`
	Right         bool `json:"strip_right"`
	Replacement   string
	Prefix        *bool  `json:"add_prefix_space"`
	Scheme        string `json:"prepend_scheme"`
	Split         *bool
}

// parseUnigram reads a tokenizer.json whose model is Unigram. Token numbers must be below vocab.
func parseUnigram(b []byte, vocab int) (*unigram, error) {
	var f struct {
		Added         []addedToken `json:"added_tokens"`
		Normalizer    *step
		PreTokenizer  *step `json:"pre_tokenizer"`
		PostProcessor struct {
			Type   string
			Single []struct{ SpecialToken *struct{ ID string } }
			Tokens map[string]struct{ IDs []int32 } `json:"special_tokens"`
		} `json:"post_processor"`
		Model struct {
			Unknown *int32 `json:"unk_id"`
			Bytes   bool   `json:"byte_fallback"`
			Vocab   []scored
		}
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	u := &unigram{unknown: -1, added: f.Added}
	if err := u.take(f.Model.Vocab, f.Model.Unknown, f.Model.Bytes, vocab); err != nil {
		return nil, err
	}
	if err := errors.Join(u.normalizer(f.Normalizer), u.preTokenizer(f.PreTokenizer), u.addedTokens(vocab)); err != nil {
		return nil, err
	}
	around := f.PostProcessor.Single
	if f.PostProcessor.Type != "TemplateProcessing" || len(around) != 3 || around[0].SpecialToken == nil || around[1].SpecialToken != nil || around[2].SpecialToken == nil {
		return nil, errors.New("post_processor is not a TemplateProcessing with one token before and one after a text")
	}
	for i, to := range map[int]*int32{0: &u.begin, 2: &u.end} {
		ids := f.PostProcessor.Tokens[around[i].SpecialToken.ID].IDs
		if len(ids) != 1 || ids[0] < 0 || int(ids[0]) >= vocab {
			return nil, fmt.Errorf("post_processor gives %.40q the numbers %.60v, want one below the vocab_size %d of %s", around[i].SpecialToken.ID, ids, vocab, configFile)
		}
		*to = ids[0]
	}
	return u, nil
}

// scored is a piece with the logarithm of its probability.
type scored struct {
	piece string
	score float64
}

// UnmarshalJSON reads a list such as ["piece", -1.5].
func (s *scored) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&s.piece, &s.score})
}

// take checks the pieces of the vocabulary and stores them.
func (u *unigram) take(pieces []scored, unknown *int32, inBytes bool, vocab int) error {
	if len(pieces) == 0 || len(pieces) > vocab {
		return fmt.Errorf("the vocabulary has %d pieces, vocab_size in %s is %d", len(pieces), configFile, vocab)
	}
	u.pieces, u.scores = make(map[string]int32, len(pieces)), make([]float64, len(pieces))
	for i, p := range pieces {
		u.pieces[p.piece], u.scores[i] = int32(i), p.score
		if len(p.piece) > maxPiece {
			return fmt.Errorf("piece %d has %d bytes, want at most %d", i, len(p.piece), maxPiece)
		}
		u.longest, u.least = max(u.longest, len(p.piece)), min(u.least, p.score)
	}
	u.least -= unknownPenalty
	if unknown != nil {
		if u.unknown = *unknown; u.unknown < 0 || int(u.unknown) >= len(pieces) {
			return fmt.Errorf("unk_id is %d, want one of the %d pieces", u.unknown, len(pieces))
		}
	}
	for c := 0; inBytes && c < 256; c++ {
		id, ok := u.pieces[fmt.Sprintf("<0x%02X>", c)]
		if !ok {
			return fmt.Errorf("byte_fallback is true, and there is no piece <0x%02X>", c)
		}
		u.bytes = append(u.bytes, id)
	}
	if u.unknown < 0 {
		return errors.New("unk_id is missing")
	}
	return nil
}

// addedTokens checks the added tokens.
func (u *unigram) addedTokens(vocab int) error {
	for _, t := range u.added {
		if t.Content == "" || t.ID < 0 || int(t.ID) >= vocab || !t.Special || t.Right || t.Word {
			return fmt.Errorf("added token %.40q, number %d, must be special, have a number below the vocab_size %d of %s, and have neither rstrip nor single_word", t.Content, t.ID, vocab, configFile)
		}
		u.starts[t.Content[0]] = true
	}
	return nil
}

// normalizer reads the steps that normalize a text.
func (u *unigram) normalizer(s *step) error {
	if s == nil {
		return nil
	}
	switch {
	case s.Type == "Sequence":
		for i := range s.Normalizers {
			if err := u.normalizer(&s.Normalizers[i]); err != nil {
				return err
			}
		}
	case s.Type == "Precompiled":
		m, err := newCharsMap(s.Map)
		if err != nil {
			return err
		}
		u.normalize = append(u.normalize, m.normalize)
	case s.Type == "NFKC":
		u.normalize = append(u.normalize, norm.NFKC.String)
	case s.Type == "Strip":
		u.normalize = append(u.normalize, func(text string) string {
			if s.Left {
				text = strings.TrimLeftFunc(text, unicode.IsSpace)
			}
			if s.Right {
				text = strings.TrimRightFunc(text, unicode.IsSpace)
			}
			return text
		})
	case s.Type == "Replace" && s.Pattern.Regex != nil && *s.Pattern.Regex == blanks.String():
		u.normalize = append(u.normalize, func(text string) string { return blanks.ReplaceAllLiteralString(text, s.Content) })
	default:
		return fmt.Errorf("normalizer has %.40q, want Precompiled, NFKC, Strip or a Replace of \" {2,}\"", s.Type)
	}
	return nil
}

var blanks = regexp.MustCompile(" {2,}")

// preTokenizer reads the steps that cut a text into words.
func (u *unigram) preTokenizer(s *step) error {
	steps := []step{}
	if s != nil {
		steps = append(steps, *s)
		if s.Type == "Sequence" {
			steps = s.Pretokenizers
		}
	}
	if len(steps) == 2 && steps[0].Type == "WhitespaceSplit" {
		u.apart, steps = true, steps[1:]
	}
	if len(steps) != 1 || steps[0].Type != "Metaspace" || steps[0].Replacement != metaspace || steps[0].Split != nil && !*steps[0].Split ||
		steps[0].Scheme != "always" && (steps[0].Scheme != "" || steps[0].Prefix == nil || !*steps[0].Prefix) {
		return errors.New("pre_tokenizer is not a Metaspace of " + metaspace + " before every word, optionally after a WhitespaceSplit")
	}
	return nil
}

// bytesOfToken is the most bytes of text per token, except in texts that are mostly blanks.
const bytesOfToken = 256

// tokens appends the tokens of a text to dst, at most limit including the begin and end tokens. It ignores the
// rest of the text.
func (u *unigram) tokens(dst []int32, text string, limit int, _ *letterReader) []int32 {
	stop := len(dst) + limit - 1
	dst = append(dst, u.begin)
	text = strings.ToValidUTF8(text[:min(len(text), limit*bytesOfToken)], "\uFFFD")
	if u.lower {
		text = strings.ToLower(text)
	}
	from := 0
	for i := 0; i < len(text) && len(dst) < stop; {
		t := u.addedAt(text[i:])
		if t == nil {
			i++
			continue
		}
		before := text[from:i]
		if t.Left {
			before = strings.TrimRightFunc(before, unicode.IsSpace)
		}
		dst = append(u.words(dst, before, stop), t.ID)
		i += len(t.Content)
		from = i
	}
	dst = u.words(dst, text[from:], stop)
	return append(dst[:min(len(dst), stop)], u.end)
}

// addedAt returns the longest added token at the start of a text, nil if there is none.
func (u *unigram) addedAt(text string) (found *addedToken) {
	if !u.starts[text[0]] {
		return nil
	}
	for i := range u.added {
		if t := &u.added[i]; strings.HasPrefix(text, t.Content) && (found == nil || len(t.Content) > len(found.Content)) {
			found = t
		}
	}
	return found
}

// words appends the tokens of the words of a text, until dst has the length stop.
func (u *unigram) words(dst []int32, text string, stop int) []int32 {
	for _, f := range u.normalize {
		text = f(text)
	}
	parts := []string{text}
	if u.apart {
		parts = strings.Fields(text)
	}
	for _, part := range parts {
		part = strings.ReplaceAll(part, " ", metaspace)
		if part != "" && !strings.HasPrefix(part, metaspace) {
			part = metaspace + part
		}
		for part != "" && len(dst) < stop {
			next := cmp.Or(strings.Index(part[1:], metaspace)+1, len(part))
			dst = u.best(dst, part[:next])
			part = part[next:]
		}
	}
	return dst
}

// node is the best sequence of pieces that ends at a byte offset of a word.
type node struct {
	score float64
	from  int32 // offset at which the last piece begins; -1 if no sequence ends here
	id    int32
}

// best appends the most probable pieces of a word (Viterbi). Successive unknown characters become one token.
func (u *unigram) best(dst []int32, word string) []int32 {
	ends := make([]node, len(word)+1)
	for i := range ends[1:] {
		ends[i+1].from = -1
	}
	for i, r := range word {
		here, size, single := ends[i].score, utf8.RuneLen(r), false
		reach := func(n int, id int32, score float64) {
			if to := &ends[i+n]; to.from < 0 || here+score > to.score {
				*to = node{here + score, int32(i), id}
			}
		}
		for n := 1; n <= u.longest && i+n <= len(word); n++ {
			if id, ok := u.pieces[word[i:i+n]]; ok {
				reach(n, id, u.scores[id])
				single = single || n == size
			}
		}
		if !single {
			reach(size, u.unknown, u.least)
		}
	}
	from := len(dst)
	for i := len(word); i > 0; {
		n, end := ends[i], i
		for i = int(n.from); n.id == u.unknown && i > 0 && ends[i].id == u.unknown; {
			i = int(ends[i].from)
		}
		if n.id == u.unknown && u.bytes != nil {
			for j := end - 1; j >= i; j-- {
				dst = append(dst, u.bytes[word[j]])
			}
			continue
		}
		dst = append(dst, n.id)
	}
	slices.Reverse(dst[from:])
	return dst
}

// charsMap is SentencePiece's table for normalizing text: a double-array trie of the replaced strings (Aoe
// 1989, in the layout of darts-clone), and the replacements, each ended by a zero byte.
type charsMap struct {
	trie []uint32
	by   string
}

func newCharsMap(b []byte) (*charsMap, error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) || binary.LittleEndian.Uint32(b)%4 != 0 {
		return nil, errors.New("the precompiled_charsmap of the normalizer is damaged")
	}
	size := binary.LittleEndian.Uint32(b)
	m := &charsMap{by: string(b[4+size:])}
	for at := b[4 : 4+size]; len(at) > 0; at = at[4:] {
		m.trie = append(m.trie, binary.LittleEndian.Uint32(at))
	}
	return m, nil
}

// normalize replaces the strings of the table. As in the library tokenizers, a whole grapheme of less than six
// bytes is looked up first, else its characters one by one; a match of its prefix replaces the whole grapheme.
func (m *charsMap) normalize(text string) string {
	const short = 6
	var b strings.Builder
	for state := -1; text != ""; {
		var g string
		g, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		if len(g) < short {
			if by, ok := m.find(g); ok {
				b.WriteString(by)
				continue
			}
		}
		for i, r := range g {
			part := g[i : i+utf8.RuneLen(r)]
			if by, ok := m.find(part); ok {
				part = by
			}
			b.WriteString(part)
		}
	}
	return b.String()
}

// find returns the replacement of the shortest prefix of s that is in the table.
func (m *charsMap) find(s string) (by string, ok bool) {
	at := uint32(0)
	unit := func(label uint32) uint32 { // returns 0 for an index outside of the trie
		if at ^= label; uint64(at) < uint64(len(m.trie)) {
			return m.trie[at]
		}
		return 0
	}
	next := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	here := unit(0)
	for i := 0; i < len(s) && s[i] != 0; i++ {
		if here = unit(next(here) ^ uint32(s[i])); here&(1<<31|0xFF) != uint32(s[i]) {
			return "", false
		}
		if here>>8&1 == 0 {
			continue
		}
		value := unit(next(here)) &^ (1 << 31)
		if uint64(value) > uint64(len(m.by)) {
			return "", false
		}
		by, _, _ = strings.Cut(m.by[value:], "\x00")
		return by, len(by) <= maxPiece
	}
	return "", false
}
