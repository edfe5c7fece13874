// SPDX-License-Identifier: Apache-2.0

package short

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

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

// splitmix is the generator of golden.py.
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

// All code points that the Python's Unicode version knows, each in six places:
// 1.7 million strings.
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
