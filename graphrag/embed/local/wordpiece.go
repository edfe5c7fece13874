// SPDX-License-Identifier: Apache-2.0

package local

import (
	"encoding/json"
	"fmt"
	"hash"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxLetters is the number of characters above which a word becomes the unknown token.
const maxLetters = 100

// wordPiece cuts texts into tokens as BERT does: it cleans the text, cuts it at spaces, punctuation and Chinese
// characters, makes words lower case without accents, and cuts them into the longest pieces of the vocabulary
// (Devlin and others 2019; Wu and others 2016, section 4.1). As in the library tokenizers, the name of a
// special token in a text becomes that token.
type wordPiece struct {
	first, rest map[string]int32 // numbers of the pieces that begin a word, and of the pieces inside one
	longest     int              // length of the longest piece in bytes
	rules       wordRules

	begin, end, unknown int32
	special             map[string]int32
}

// specialNames are the names of BERT's special tokens.
var specialNames = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}

// wordRules are the switches of BERT's normalizer.
type wordRules struct {
	Clean   bool  `json:"clean_text"`
	Chinese bool  `json:"handle_chinese_chars"`
	Accents *bool `json:"strip_accents"` // nil means the value of Lower
	Lower   bool  `json:"lowercase"`
}

func (r wordRules) strip() bool {
	if r.Accents != nil {
		return *r.Accents
	}
	return r.Lower
}

// lowered returns the rules with Lower set, but with the same treatment of accents.
func (r wordRules) lowered() wordRules {
	strip := r.strip()
	r.Accents, r.Lower = &strip, true
	return r
}

// tokenizer appends the token numbers of a text to dst, at most limit including the begin and end tokens. It
// ignores the rest of the text.
type tokenizer interface {
	tokens(dst []int32, text string, limit int, s *letterReader) []int32
}

// readWords reads tokenizer.json, or vocab.txt if there is none, and hashes the file into sum. Token numbers
// must be below vocab.
func readWords(dir string, vocab int, sum hash.Hash) (tokenizer, error) {
	name := tokenizerFile
	b, err := readText(dir, name, false)
	if err != nil {
		return nil, err
	}
	var f struct{ Model struct{ Type string } }
	w, t := new(wordPiece), tokenizer(nil)
	if b != nil {
		switch err = json.Unmarshal(b, &f); {
		case err != nil:
		case f.Model.Type == "Unigram":
			t, err = parseUnigram(b, vocab)
		case f.Model.Type == "WordPiece":
			t, err = w, w.parseTokenizer(b, vocab)
		default:
			err = fmt.Errorf("model is %q, want \"WordPiece\" or \"Unigram\"", f.Model.Type)
		}
	} else {
		name = vocabFile
		if b, err = readText(dir, name, true); err != nil {
			return nil, err
		}
		if w.rules, err = readRules(dir); err != nil {
			return nil, err
		}
		t, err = w, w.parseVocabulary(b, vocab)
	}
	if err != nil {
		return nil, badFile(dir, name, remedyModel, err)
	}
	_, _ = sum.Write(b) // writing to a hash cannot fail
	return t, nil
}

// readRules reads the rules that belong to a vocab.txt.
func readRules(dir string) (wordRules, error) {
	s := struct {
		Lower   bool  `json:"do_lower_case"`
		Chinese bool  `json:"tokenize_chinese_chars"`
		Accents *bool `json:"strip_accents"`
	}{true, true, nil}
	_, err := readJSON(dir, casingFile, false, &s)
	return wordRules{Clean: true, Chinese: s.Chinese, Accents: s.Accents, Lower: s.Lower}, err
}

// parseVocabulary reads one piece per line; its number is the number of the line.
func (w *wordPiece) parseVocabulary(b []byte, vocab int) error {
	pieces := map[string]int64{}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for i, line := range lines {
		pieces[strings.TrimSuffix(line, "\r")] = int64(i)
	}
	return w.take(pieces, "[UNK]", vocab)
}

// parseTokenizer reads a tokenizer.json of the library tokenizers.
func (w *wordPiece) parseTokenizer(b []byte, vocab int) error {
	type typed struct{ Type string }
	var f struct {
		Normalizer struct {
			typed
			wordRules
		}
		PreTokenizer typed `json:"pre_tokenizer"`
		Model        struct {
			Vocab   map[string]int64
			Unknown string `json:"unk_token"`
			Prefix  string `json:"continuing_subword_prefix"`
			Letters int    `json:"max_input_chars_per_word"`
		}
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	for _, part := range []struct{ of, is, want string }{
		{"normalizer", f.Normalizer.Type, "BertNormalizer"}, {"pre_tokenizer", f.PreTokenizer.Type, "BertPreTokenizer"},
		{"continuing_subword_prefix", f.Model.Prefix, "##"}, {"max_input_chars_per_word", fmt.Sprint(f.Model.Letters), fmt.Sprint(maxLetters)},
	} {
		if part.is != part.want {
			return fmt.Errorf("%s is %q, want %q", part.of, part.is, part.want)
		}
	}
	w.rules = f.Normalizer.wordRules
	return w.take(f.Model.Vocab, f.Model.Unknown, vocab)
}

// take stores the pieces of the vocabulary and finds the special tokens.
func (w *wordPiece) take(pieces map[string]int64, unknown string, vocab int) error {
	w.first, w.rest = make(map[string]int32, len(pieces)), map[string]int32{}
	for piece, id := range pieces {
		if id < 0 || id >= int64(vocab) {
			return fmt.Errorf("piece %.40q has the number %d, but vocab_size in %s is %d", piece, id, configFile, vocab)
		}
		w.longest = max(w.longest, len(piece))
		if going, ok := strings.CutPrefix(piece, "##"); ok && going != "" {
			w.rest[going] = int32(id)
		} else {
			w.first[piece] = int32(id)
		}
	}
	w.special = map[string]int32{}
	for _, name := range specialNames {
		if id, ok := w.first[name]; ok {
			w.special[name] = id
		}
	}
	for _, s := range []struct {
		name string
		to   *int32
	}{{"[CLS]", &w.begin}, {"[SEP]", &w.end}, {unknown, &w.unknown}} {
		id, ok := w.first[s.name]
		if !ok {
			return fmt.Errorf("the vocabulary of %d pieces has no %q", len(pieces), s.name)
		}
		*s.to = id
	}
	return nil
}

// letterReader holds the buffers of a wordPiece.
type letterReader struct {
	word, marked, folded []byte
	parts                norm.Iter
}

// tokens appends the tokens of a text to dst, at most limit including the begin and end tokens. It ignores the
// rest of the text.
func (w *wordPiece) tokens(dst []int32, text string, limit int, s *letterReader) []int32 {
	stop := len(dst) + limit - 1
	dst = append(dst, w.begin)
	w.walk(text, s, func(special string, _, _ int) bool {
		dst = w.word(dst, special, s)
		return len(dst) < stop
	})
	return append(dst[:min(len(dst), stop)], w.end)
}

// walk cuts a text at spaces, punctuation and Chinese characters, and calls take for each word until it returns
// false: with the name of a special token, or with special empty and the word in s.word.
func (w *wordPiece) walk(text string, s *letterReader, take func(special string, start, end int) bool) {
	s.word = s.word[:0]
	start, read, more := 0, 0, true
	word := func(end int) {
		if len(s.word) > 0 && more {
			more = take("", start, end)
		}
		s.word, start = s.word[:0], end
	}
	for i, r := range text {
		if i < read {
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		switch name := w.specialAt(text[i:]); {
		case name != "":
			word(i)
			read = i + len(name)
			more = more && take(name, i, read)
			start = read
		case w.rules.Clean && dropped(r):
		case unicode.IsSpace(r):
			word(i)
			start += size
		case w.rules.Chinese && chinese(r), punctuation(r):
			word(i)
			s.word = utf8.AppendRune(s.word, r)
			word(i + size)
		default:
			s.word = utf8.AppendRune(s.word, r)
		}
		if !more {
			return
		}
	}
	word(len(text))
}

// specialAt returns the name of the special token at the start of a text, "" if there is none.
func (w *wordPiece) specialAt(text string) string {
	if text[0] == '[' {
		for name := range w.special {
			if strings.HasPrefix(text, name) {
				return name
			}
		}
	}
	return ""
}

// dropped reports whether cleaning a text removes the character.
func dropped(r rune) bool {
	return r == utf8.RuneError || r != '\t' && r != '\n' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// chinese reports whether a character is a word by itself: it is in one of the blocks of unified ideographs
// that BERT's tokenizer lists.
func chinese(r rune) bool {
	return r >= 0x3400 && (r <= 0x4DBF || r >= 0x4E00 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2CEAF || r >= 0x2F800 && r <= 0x2FA1F)
}

// word appends the tokens of the special token or of s.word.
func (w *wordPiece) word(dst []int32, special string, s *letterReader) []int32 {
	if special != "" {
		return append(dst, w.special[special])
	}
	s.fold(w.rules)
	from := 0
	for at := 0; at < len(s.folded); {
		r, size := utf8.DecodeRune(s.folded[at:])
		if punctuation(r) {
			dst = w.pieces(dst, s.folded[from:at])
			dst = w.pieces(dst, s.folded[at:at+size])
			from = at + size
		}
		at += size
	}
	return w.pieces(dst, s.folded[from:])
}

// fold copies s.word to s.folded, without accents and in lower case where the rules say so.
func (s *letterReader) fold(rules wordRules) {
	in := s.word
	if rules.strip() {
		s.marked = s.marked[:0]
		for s.parts.Init(norm.NFD, in); !s.parts.Done(); {
			s.marked = append(s.marked, s.parts.Next()...)
		}
		in = s.marked
	}
	s.folded = s.folded[:0]
	for at := 0; at < len(in); {
		r, size := utf8.DecodeRune(in[at:])
		at += size
		switch {
		case rules.strip() && unicode.Is(unicode.Mn, r):
		case rules.Lower && r == 'İ':
			s.folded = append(s.folded, "i\u0307"...)
		case rules.Lower:
			s.folded = utf8.AppendRune(s.folded, unicode.ToLower(r))
		default:
			s.folded = utf8.AppendRune(s.folded, r)
		}
	}
}

func punctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7F && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	return unicode.IsPunct(r)
}

// pieces cuts a word into pieces, the longest possible first; if that is impossible, into the unknown token.
func (w *wordPiece) pieces(dst []int32, word []byte) []int32 {
	if len(word) == 0 {
		return dst
	}
	from := len(dst)
	if len(word) > maxLetters && utf8.RuneCount(word) > maxLetters {
		return append(dst, w.unknown)
	}
	for in := w.first; len(word) > 0; in = w.rest {
		n := min(len(word), w.longest)
		id, ok := in[string(word[:n])]
		for !ok && n > 1 {
			n--
			id, ok = in[string(word[:n])]
		}
		if !ok {
			return append(dst[:from], w.unknown)
		}
		dst, word = append(dst, id), word[n:]
	}
	return dst
}
