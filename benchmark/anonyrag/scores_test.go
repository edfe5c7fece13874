// SPDX-License-Identifier: Apache-2.0

package anonyrag_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
)

// A gold of seven pairs, an answer of six of which five are right: precision 5/6,
// recall 5/7, F1 10/13.
func TestWorkedExample(t *testing.T) {
	gold := anonyrag.GoldOf("PERSON#532——鲁智深\nPERSON#277——史进\nPERSON#4——周通\nPERSON#503——李忠\nLOCATION#526——五台山\nLOCATION#110——桃花村\nLOCATION#535——桃花山")
	c := anonyrag.Compare(gold, anonyrag.ParseReversion("[PERSON#532]: 鲁智深\n[PERSON#277]：史进\nPERSON#4 = 李忠\nPERSON#503 -> 李忠\nLOCATION#526 - 五台山\nLOCATION#110 — 桃花村"))
	if want := (anonyrag.Counts{Gold: 7, Predicted: 6, Right: 5}); c != want {
		t.Fatalf("%+v, want %+v", c, want)
	}
	for name, v := range map[string][2]float64{"P": {c.Precision(), .833333}, "R": {c.Recall(), .714286}, "F1": {c.F1(), .769231}} {
		if math.Abs(v[0]-v[1]) > 5e-7 {
			t.Errorf("%s %.6f, want %.6f", name, v[0], v[1])
		}
	}
	if c.Exact() {
		t.Error("exact")
	}
}

func TestParseReversion(t *testing.T) {
	for answer, want := range map[string][]anonyrag.Pair{
		"PERSON#1——鲁智深": {{"PERSON#1", "鲁智深"}},
		"［ＰＥＲＳＯＮ＃１］：鲁智深；【LOCATION#2】——五台山。": {{"PERSON#1", "鲁智深"}, {"LOCATION#2", "五台山"}},
		"- **[PERSON#1]**: Jim Hawkins":                   {{"PERSON#1", "Jim Hawkins"}},
		"1. `[PERSON#1]` → “Jim Hawkins”":                 {{"PERSON#1", "Jim Hawkins"}},
		`{"PERSON#1": "Jim", "PERSON#2": "Ben"}`:          {{"PERSON#1", "Jim"}, {"PERSON#2", "Ben"}},
		"| [PERSON#1] | Jim |\n| [PERSON#2] | Ben |":      {{"PERSON#1", "Jim"}, {"PERSON#2", "Ben"}},
		"[PERSON#1] => Jean-Luc":                          {{"PERSON#1", "Jean-Luc"}},
		"PERSON#1——\nPERSON#2——Ben":                       {{"PERSON#2", "Ben"}},
		"PERSON#1：鲁智深、PERSON#2：史进":                        {{"PERSON#1", "鲁智深"}, {"PERSON#2", "史进"}},
		"A: [PERSON#532]在[LOCATION#110]附近与[PERSON#277]重逢": nil,
		"[PERSON#1]'s ship: Fram":                         nil,
		"PERSON: Jim\n#1: Ben":                            nil,
	} {
		if diff := cmp.Diff(want, anonyrag.ParseReversion(answer)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", answer, diff)
		}
	}
}

func TestParseChoice(t *testing.T) {
	for want, answers := range map[string]string{
		"A": "A|(A)|（A）|答案：A|Answer: A|The answer is A.|A. Straight hair|a|a)|**A**|选A|答案是A。|A、稻香村|I choose A because of the ring.|\\boxed{A}|(A) A girl",
		"B": "B. A red rose|B: Plan of the house|It must be B, says the map.|A girl was seen, so B|b.|Option B|选项B|answer: b|是B吧|B. Curly hair and square faces",
		"":  "A, B|A and B|(A) or (B)|A、C|选项A和选项B| |none|a red rose|Abe|E|ABCD|A girl|VITAMIN-ABC|PERSON#1|[A#1]",
	} {
		for answer := range strings.SplitSeq(answers, "|") {
			if got, ok := anonyrag.ParseChoice(answer); got != want || ok != (want != "") {
				t.Errorf("%q: %q, want %q", answer, got, want)
			}
		}
	}
}

// Whatever a model writes, the counts hold together and no name is blank.
func FuzzParsers(f *testing.F) {
	for _, s := range []string{"PERSON#1——鲁智深\n[LOCATION#2]: x; A#1=b", "{\"PERSON#1\": \"Jim\"}", "答案：A", "(A) (B)", "B. A rose", "\xff#1:\x00", "ﬀ#1：½"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		pairs := anonyrag.ParseReversion(s)
		for _, p := range pairs {
			if strings.TrimSpace(p.Name) == "" || !strings.Contains(p.Placeholder, "#") || p.Placeholder != strings.ToUpper(p.Placeholder) {
				t.Fatalf("%+v", p)
			}
		}
		gold := anonyrag.GoldOf("PERSON#1——鲁智深\nPERSON#2——史进")
		c := anonyrag.Compare(gold, pairs)
		if c.Right > min(c.Gold, c.Predicted) || c.Predicted > len(pairs) || c.F1() > 1 {
			t.Fatalf("%+v", c)
		}
		own := anonyrag.GoldOf(s)
		if c := anonyrag.Compare(own, pairs); c.Gold > 0 && c.Right != c.Gold {
			t.Fatalf("an answer is not its own gold: %+v of %q", c, s)
		}
		if letter, ok := anonyrag.ParseChoice(s); ok != (letter != "") || ok && !strings.Contains("ABCD", letter) {
			t.Fatalf("%q, %v", letter, ok)
		}
	})
}
