// SPDX-License-Identifier: Apache-2.0

package short

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/internal/check"
)

// golden is testdata/golden.json, written by testdata/golden.py under CPython.
type golden struct {
	Python     string
	Unicode    string
	Assigned   []string
	CodePoints map[string]string `json:"code_points"`
	Tokens     []string
	Random     []string
	Samples    [][2]string
	Words      []string
	Pairs      []string
}

const perBatch = 1000

func readGolden(t *testing.T) golden {
	t.Helper()
	data := check.Of(os.ReadFile("testdata/golden.json")).OK(t)
	var g golden
	check.OK(t, json.Unmarshal(data, &g))
	return g
}

// splitmix is the random generator of golden.py.
type splitmix uint64

func (s *splitmix) below(n int) int {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return int((z ^ z>>31) >> 33 % uint64(n))
}

func digest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil))[:8] }

func writeLine(h hash.Hash, s string) {
	h.Write([]byte(s))
	h.Write([]byte("\n"))
}

// All code points that the Python's Unicode version has, each in six positions: 1.7 million strings.
func TestNormalizeEveryCodePointAsPython(t *testing.T) {
	g := readGolden(t)
	hashes := make(map[string]hash.Hash)
	for i := 0; i < len(g.Assigned); i += 2 {
		for cp := parseHex(t, g.Assigned[i]); cp <= parseHex(t, g.Assigned[i+1]); cp++ {
			block := strconv.FormatInt(int64(cp>>10), 16)
			h := hashes[block]
			if h == nil {
				h = sha256.New()
				hashes[block] = h
			}
			c := string(cp)
			for _, s := range []string{c, "a" + c + "the", "x" + c + " an" + c, "ΑΣ" + c, "ΑΣ" + c + "Β", c + "Σ"} {
				writeLine(h, Normalize(s))
			}
		}
	}
	check.Must(t, len(hashes) == len(g.CodePoints), "%d blocks, want %d", len(hashes), len(g.CodePoints))
	for block, h := range hashes {
		if got := digest(h); got != g.CodePoints[block] {
			t.Errorf("code points from U+%s000 (in steps of 0x400): digest %s, Python %s says %s", block, got, g.Python, g.CodePoints[block])
		}
	}
}

func parseHex(t *testing.T, s string) rune {
	t.Helper()
	v := check.Of(strconv.ParseInt(s, 16, 32)).OK(t)
	return rune(v)
}

func hostile(rand *splitmix, tokens []string) string {
	var b strings.Builder
	for range rand.below(12) {
		b.WriteString(tokens[rand.below(len(tokens))])
	}
	return b.String()
}

func TestNormalizeHostileStringsAsPython(t *testing.T) {
	g := readGolden(t)
	for _, s := range g.Samples {
		if got := Normalize(s[0]); got != s[1] {
			t.Errorf("Normalize(%q) = %q, Python %s says %q", s[0], got, g.Python, s[1])
		}
	}
	rand := splitmix(1)
	for batch, want := range g.Random {
		h := sha256.New()
		for range perBatch {
			writeLine(h, Normalize(hostile(&rand, g.Tokens)))
		}
		check.Equal(t, digest(h), want, "batch %d of %d random strings: digest", batch, perBatch)
	}
}

// Scores equal those of the scripts' formulas to the last bit.
func TestScoresAsPython(t *testing.T) {
	g := readGolden(t)
	rand := splitmix(3)
	words := func() string {
		parts := make([]string, rand.below(5))
		for i := range parts {
			parts[i] = g.Words[rand.below(len(g.Words))]
		}
		return strings.Join(parts, " ")
	}
	for batch, want := range g.Pairs {
		h := sha256.New()
		for range perBatch {
			prediction := words()
			golds := make([]string, 1+rand.below(3))
			for i := range golds {
				golds[i] = words()
			}
			var row []byte
			for p := range Script(len(byScript)) {
				golds := golds
				if p == HotpotQA {
					golds = golds[:1]
				}
				s := check.Of(p.Score(prediction, golds)).OK(t)
				for _, v := range []float64{s.EM, s.F1, s.Precision, s.Recall} {
					row = binary.LittleEndian.AppendUint64(row, math.Float64bits(v))
				}
			}
			writeLine(h, string(row))
		}
		check.Equal(t, digest(h), want, "batch %d of %d pairs: digest", batch, perBatch)
	}
}

// A long answer is read a constant number of times, even if the final sigma requires looking far ahead.
func TestNormalizeLong(t *testing.T) {
	for _, unit := range []string{"the Σ' ", "Σ", "A.'’", "\xff", "αΣ" + strings.Repeat("'", 1000)} {
		check.True(t, utf8.ValidString(Normalize(strings.Repeat(unit, 2<<20/len(unit)))), "Normalize of 2 MB of %q is not valid UTF-8", unit)
	}
}

func TestScoreErrors(t *testing.T) {
	for p := range Script(len(byScript)) {
		_, err := p.Score("x", nil)
		wantErr := p != SQuAD2
		check.True(t, errors.Is(err, ErrGolds) == wantErr, "%v without gold answers: %v", p, err)
	}
	check.Is(t, check.Err(HotpotQA.Score("x", []string{"x", "y"})), ErrGolds, "hotpot with two gold answers")
	check.True(t, check.Err(Script(99).Score("x", []string{"x"})) != nil, "profile 99 scored")
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"", "The Eiffel-Tower", "ΟΔΥΣΣΕΥΣ", "İ the\u0301", "a\x1fb", "\xff\x00", "’Σ’"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Normalize(s)
		check.Must(t, utf8.ValidString(got), "%q is not valid UTF-8", got)
		check.Must(t, strings.IndexFunc(got, func(r rune) bool { return isPunct(r) || r >= 'A' && r <= 'Z' }) < 0, "%q holds punctuation or capitals", got)
		for i, w := range strings.Split(got, " ") {
			check.Must(t, w != "a" && w != "an" && w != "the" && (w != "" || i <= 0 && got == "") &&
				strings.IndexFunc(w, unicode.IsSpace) < 0, "%q holds an article or a stray space", got)
		}
		for p := range Script(len(byScript)) {
			sc, err := p.Score(s, []string{s})
			check.Must(t, err == nil && sc.EM == 1 && (sc.F1 == 1 || got == ""),
				"%v of an answer against itself: %+v, %v", p, sc, err)
		}
	})
}

// The ends and the middle of the scales, as the challenge defines them, and values between.
func TestScales(t *testing.T) {
	for _, x := range []struct{ coverage, relevance, want float64 }{
		{1, 1, 2}, {1, 0, 1}, {0, 0, -1}, {0, 1, -1}, {.5, 1, .5}, {.5, 0, 0}, {1, .5, 1.5},
	} {
		check.Equal(t, correctness(x.coverage, x.relevance), x.want, "coverage %g, relevance %g", x.coverage, x.relevance)
	}
	for value, want := range map[float64]float64{0: -1, 1: 2, 1. / 3: 0} {
		got := CorrectnessPoints(value)
		check.True(t, math.Abs(got-want) <= 1e-12, "a value of %g is %g points", value, got)
	}
	for supported, want := range map[float64]float64{0: -1, .5: 0, 1: 1} {
		check.Equal(t, FaithfulnessPoints(supported), want, "%g supported", supported)
	}
}

// The released evaluation's F-score from true and false positives, and its weights.
func TestFactualityAndCorrectness(t *testing.T) {
	for _, tt := range []struct {
		tp, fp, fn int
		cos, f, c  float64
	}{
		{1, 1, 5, 0, 0.25, 0.3125}, // the precision is 1/2, the recall 1/6
		{1, 0, 1, 1, 2. / 3, 0.75},
		{0, 2, 3, -1, 0, 0},
		{0, 0, 0, 1, 1, 1},
	} {
		f := countedF1(tt.tp, tt.fp, tt.fn)
		c := weighted(f, tt.cos)
		check.True(t, math.Abs(f-tt.f) <= 1e-12 && math.Abs(c-tt.c) <= 1e-12, "%+v: %v, %v", tt, f, c)
	}
}
