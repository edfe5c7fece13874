// SPDX-License-Identifier: Apache-2.0

package llm_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
)

// The forms of replies that packages ask for, in small.
type (
	truth struct {
		Verdict bool
		Reason  string
	}
	plan struct {
		SubQueries []struct {
			ID   string
			Text string `llm:"alone"`
		} `json:"sub_queries"`
	}
	report struct {
		Title    string
		Rating   float64
		Findings []struct {
			Summary     string
			Explanation string `llm:"alone"`
		}
	}
	facts   struct{ Triples []llm.Triple }
	numbers struct{ Keep []int }
	names   struct{ Names []string }
)

// reads checks how replies are read as a T: the value, or the fault that the model is told.
func reads[T any](t *testing.T, replies map[string]string) {
	for reply, want := range replies {
		value, err := llm.Read[T](reply)
		if f, ok := any(&value).(*facts); ok {
			for i := range f.Triples {
				f.Triples[i].Raw = ""
			}
		}
		got := fmt.Sprint(value)
		if err != nil {
			got = errors.Unwrap(err).Error()
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant %s", reply, got, want)
		}
	}
}

// Replies as models were seen to write them, and worse: what has one meaning is read, all
// else is a fault in the words of the form, and nothing passes for an empty answer.
func TestForms(t *testing.T) {
	reads[truth](t, map[string]string{
		`[{"verdict": true, "reason": "x"}]`:                   "{true x}",
		`{"verdict": [true]}`:                                  "{true }",
		`{"verdict": "True"}`:                                  "{true }",
		`{"verdict": "Yes, it does."}`:                         "verdict holds a text where true or false was expected",
		`{"verdict": "correct"}`:                               "verdict holds a text where true or false was expected",
		`{"verdict": null, "reason": "x"}`:                     "{false x}",
		`{"Verdict": "✓"}`:                                     "verdict holds a text where true or false was expected",
		`{"results": [{"verdict": true}]}`:                     "{true }",
		`{"results": [{"verdict": true}, {"verdict": false}]}`: "the object has results, not \"verdict\", \"reason\"",
		`[true]`:                               "the reply holds a list where an object was expected",
		`true`:                                 "no JSON object",
		`yes`:                                  "no JSON object",
		`"yes"`:                                "the reply holds a text where an object was expected",
		`**yes**`:                              "no JSON object",
		`{"verdict": "yes"} {"verdict": "no"}`: "several different JSON objects",
		`{"verdict": {"value": true}}`:         "verdict holds an object where true or false was expected",
		`{"verdict": "1.0"}`:                   "{true }",
		`{"verdict": 1.0}`:                     "{true }",
		`{"verdict": 2}`:                       "verdict holds a number where true or false was expected",
		"```json\n[{\"verdict\": true}]\n```":  "{true }",
		`Here: [{"verdict": true}]`:            "{true }",
		`{"output": {"result": {"verdict": true}}}`: "{true }",
		`{"verdict": "N"}`:                          "verdict holds a text where true or false was expected",
		`{"verdict": "y"}`:                          "verdict holds a text where true or false was expected",
		`{"verdict": "not true"}`:                   "verdict holds a text where true or false was expected",
		`{"verdict" : "t"}`:                         "verdict holds a text where true or false was expected",
		`"{\"verdict\": true}"`:                     "{true }",
		`{"verdict - ": true}`:                      "the object has verdict - , not \"verdict\", \"reason\"",
		`{"_verdict": true}`:                        "the object has _verdict, not \"verdict\", \"reason\"",
		`{"ver dict": true}`:                        "the object has ver dict, not \"verdict\", \"reason\"",
		`{“verdict”: true}`:                         "no JSON object",
		`{verdict: true}`:                           "byte 1 of the reply: a key in quotes is missing",
		`verdict: true`:                             "no JSON object",
		`<reasoning>hm {"verdict": false}</reasoning>{"verdict": true}`: "{true }",
	})
	reads[plan](t, map[string]string{
		`{"sub_queries": ["a", "b"]}`:                            "{[{ a} { b}]}",
		`["a","b"]`:                                              "{[{ a} { b}]}",
		`[{"id":1,"text":"a"}]`:                                  "{[{1 a}]}",
		`{"subQueries": [{"id":"q1","text":"a"}]}`:               "{[{q1 a}]}",
		`{"sub-queries": [{"id":"q1","text":"a"}]}`:              "{[{q1 a}]}",
		`{"sub_queries": {"q1": "a", "q2": "b"}}`:                "{[{ a} { b}]}",
		`{"sub_queries": {"id":"q1","text":"a"}}`:                "{[{q1 a}]}",
		`{"sub_queries": "a"}`:                                   "{[{ a}]}",
		`{"q1": "a", "q2": "b"}`:                                 "the object has q1, q2, not \"sub_queries\"",
		`{"sub_queries": [["q1", "a"]]}`:                         "sub_queries, element 1, holds a list where an object was expected",
		`{"sub_queries": [null, {"id":"q1","text":"a"}]}`:        "{[{q1 a}]}",
		`{"sub_queries": []}`:                                    "{[]}",
		`{"sub_queries": null}`:                                  "the object has nothing under \"sub_queries\"",
		`{"sub_queries": [{"query": "a"}]}`:                      "{[{ a}]}",
		`{"id":"q1","text":"a"}`:                                 "{[{q1 a}]}",
		`{"sub_queries": "[{\"id\": \"q1\", \"text\": \"a\"}]"}`: "{[{q1 a}]}",
	})
	reads[report](t, map[string]string{
		`{"title":"t","rating":"7/10","findings":["a"]}`:                                                                    "{t 7 [{ a}]}",
		`{"title":"t","rating":"7 / 10","findings":"a"}`:                                                                    "{t 7 [{ a}]}",
		`{"title":"t","rating":"7,5","findings":[]}`:                                                                        "{t 7.5 []}",
		`{"title":["t"],"rating":[7],"findings":[]}`:                                                                        "{t 7 []}",
		`{"title":"t","rating":"high","findings":[]}`:                                                                       "rating holds a text where a number was expected",
		`{"title":"t","rating":{"score":7},"findings":[]}`:                                                                  "{t 7 []}",
		`{"report":{"title":"t","rating":7,"findings":[]}}`:                                                                 "{t 7 []}",
		`[{"title":"t","rating":7,"findings":[]}]`:                                                                          "{t 7 []}",
		`{"title":"t","rating":"7 (high)","findings":[{"finding":"a"}]}`:                                                    "{t 7 [{ a}]}",
		`{"title":"t","rating":"7-8","findings":[]}`:                                                                        "rating holds a text where a number was expected",
		`{"title":"t","rating":"seven","findings":[]}`:                                                                      "rating holds a text where a number was expected",
		`{"title":null,"rating":null,"findings":null}`:                                                                      "the object has nothing under \"title\", \"rating\", \"findings\"",
		`{"title":"t","rating":"1,000","findings":[]}`:                                                                      "rating holds a text where a number was expected",
		`{"title":"t","rating":"70%","findings":[]}`:                                                                        "{t 70 []}",
		`{"title":"t","rating":"","findings":[]}`:                                                                           "rating holds a text where a number was expected",
		`{"title":"t","rating":"N/A","findings":[]}`:                                                                        "rating holds a text where a number was expected",
		`{"title":"t","rating":true,"findings":[]}`:                                                                         "rating holds true or false where a number was expected",
		`{"title":"t","rating":"**Rating:** 7","findings":[{"summary":"s","explanation":["a","b"]}]}`:                       "{t 7 [{s a b}]}",
		`{"title":"t","rating":7,"findings":{"summary":"s","explanation":"e"}}`:                                             "{t 7 [{s e}]}",
		`{"title":"t","rating":7,"findings":{"1":{"summary":"s","explanation":"e"},"2":{"summary":"s","explanation":"e"}}}`: "{t 7 [{s e} {s e}]}",
	})
	reads[facts](t, map[string]string{
		`{"triples": [["a","b","c"]]}`:             "{[{a b c  }]}",
		`[["a","b","c"]]`:                          "{[{a b c  }]}",
		`["a","b","c"]`:                            "{[{a b c  }]}",
		`{"triples": ["a","b","c"]}`:               "{[{a b c  }]}",
		`{"triples": ["(a, b, c)"]}`:               "{[{a, b, c   a list of 1, not of subject, relation and object }]}",
		`{"triples": ["a | b | c"]}`:               "{[{a b c  }]}",
		`{"triples": [{"h":"a","r":"b","t":"c"}]}`: "{[{   neither a list nor an object of subject, relation and object }]}",
		`{"triples": [{"subject":{"name":"a"},"predicate":"b","object":"c"}]}`: "{[{a b c  }]}",
		`{"triples": [{"entity1":"a","relation":"b","entity2":"c"}]}`:          "{[{   neither a list nor an object of subject, relation and object }]}",
		`{"triples": [["a","b",["c"]]]}`:                                       "{[{a b  the subject or the object is empty }]}",
		`{"triples": [["a","b",null]]}`:                                        "{[{a b  the subject or the object is empty }]}",
		`{"triples": [{"from":"a","type":"b","to":"c"}]}`:                      "{[{   neither a list nor an object of subject, relation and object }]}",
		`{"triples": [{"triple":["a","b","c"]}]}`:                              "{[{a b c  }]}",
		`{"head":"a","relation":"b","tail":"c"}`:                               "{[{a b c  }]}",
		`{"triples": {"head":"a","relation":"b","tail":"c"}}`:                  "{[{a b c  }]}",
		`{"triples": [["a","b","c"],["d"]]}`:                                   "{[{a b c  } {d   a list of 1, not of subject, relation and object }]}",
		`{"facts": [{"Subject":"a","Relationship":"b","Object":"c"}]}`:         "{[{a b c  }]}",
		`{"triples":[["a","b",1.50]]}`:                                         "{[{a b 1.50  }]}",
		`{"triples":[{"source":"a","relationship":"b","target":"c"}]}`:         "{[{a b c  }]}",
		`{"triples":[{"head_entity":"a","relation":"b","tail_entity":"c"}]}`:   "{[{a b c  }]}",
	})
	reads[numbers](t, map[string]string{
		`{"keep": "1, 2"}`:                       "{[1 2]}",
		`{"keep": "1,2 and 3"}`:                  "keep, element 2, holds a text where a number was expected",
		`{"keep": "[1, 2]"}`:                     "{[1 2]}",
		`{"keep": "none"}`:                       "{[]}",
		`{"keep": [[1,2]]}`:                      "keep, element 1, holds a list where a number was expected",
		`{"keep": ["[1]","[2]"]}`:                "{[1 2]}",
		`{"keep": "all"}`:                        "keep holds a text where a list was expected",
		`{"keep": {"1": true, "2": false}}`:      "keep holds an object where a list was expected",
		`{"keep": [{"id":1},{"id":2}]}`:          "{[1 2]}",
		`{"keep": [{"passage":1,"reason":"x"}]}`: "keep, element 1, holds an object where a number was expected",
		`[1,2]`:                                  "{[1 2]}",
		`1, 2`:                                   "no JSON object",
		`{"keep": ["passage_1"]}`:                "{[1]}",
		`{"keep": ["P1","P2"]}`:                  "{[1 2]}",
		`{"keep": [true,false]}`:                 "keep, element 1, holds true or false where a number was expected",
		`{"keep": ["1.", "2)"]}`:                 "{[1 2]}",
		`{"keep": 12}`:                           "{[12]}",
		`{"keep": [1.0, "2.0"]}`:                 "{[1 2]}",
		`{"keep": ["-"]}`:                        "keep, element 1, holds a text where a number was expected",
		`{"keep": [99999999999999999999]}`:       "keep, element 1, holds a number where a whole number was expected",
	})
	reads[names](t, map[string]string{
		`{"names": "a, b"}`:                         "{[a, b]}",
		`{"names": ["a, b"]}`:                       "{[a, b]}",
		`{"names": [["a"],["b"]]}`:                  "{[a b]}",
		`{"names": {"a": "person", "b": "place"}}`:  "names holds an object where a list was expected",
		`{"names": [{"name":"a","type":"p"}]}`:      "{[a]}",
		`{"names": [{"entity":"a"}]}`:               "{[a]}",
		`{"names": [{"text":"a","label":"p"}]}`:     "names, element 1, holds an object where a text was expected",
		`{"names": [{"a":"person"}]}`:               "{[person]}",
		`a, b`:                                      "no JSON object",
		`- a\n- b`:                                  "no JSON object",
		`["a","b"]`:                                 "{[a b]}",
		`{"entities": ["a"]}`:                       "{[a]}",
		`{"named_entities": ["a"], "other": ["b"]}`: "the object has named_entities, other, not \"names\"",
		`{"names": [" a ", ""]}`:                    "{[ a  ]}",
		`{"names": [null]}`:                         "{[]}",
		`{"names": "none"}`:                         "{[none]}",
		`{"names": "[\"a\", \"b\"]"}`:               "{[a b]}",
	})
	reads[form](t, map[string]string{
		`{"answer": 1, "score": "4.0"}`:                    "{true 4 [] [] [] [] map[]}",
		`{"answer": "**Yes.**", "score": "8 out of 10"}`:   "{true 8 [] [] [] [] map[]}",
		`{"keep": ["1", 2, "passage 3", "4.0", null]}`:     "{false 0 [1 2 3 4] [] [] [] map[]}",
		`{"names": [1911, true, {"name": "Fram"}]}`:        "{false 0 [] [1911 true Fram] [] [] map[]}",
		`{"NAMES": ["Fram"], "more": 1}`:                   "{false 0 [] [Fram] [] [] map[]}",
		`{"names": ""}`:                                    "{false 0 [] [] [] [] map[]}",
		`{"details": {"head": "Fram", "text": "it sank"}}`: "{false 0 [] [] [] [{Fram it sank}] map[]}",
		`{"of": {"Fram": {"built": 1892}, "Gjøa": "a"}}`:   "{false 0 [] [] [] [] map[Fram:[built: 1892] Gjøa:[a]]}",
		`{"keep": [1.5]}`:                                  "keep, element 1, holds a number where a whole number was expected",
		`{"keep": ["1 or 2"]}`:                             "keep, element 1, holds a text where a number was expected",
		`{"score": "NaN"}`:                                 "score holds a text where a number was expected",
		`{"answer": "perhaps"}`:                            "answer holds a text where true or false was expected",
		`{"names": 3, "of": ["a"]}`:                        "of holds a list where an object was expected",
		`{"details": [["a", "b"]]}`:                        "details, element 1, holds a list where an object was expected",
		`{}`:                                               `the object is empty, without "answer", "score", "keep", "names", "facts", "details", "of"`,
		`{"a": {"names": ["x"]}, "b": {"names": ["y"]}}`:   `the object has a, b, not "answer", "score", "keep", "names", "facts", "details", "of"`,
	})
	reads[facts](t, map[string]string{
		"<think>hm</think>```json\n[{\"head\": \"a\", \"relation\": \"b\", \"tail\": 1928},]\n```": "{[{a b 1928  }]}",
		`[1] It is so.`:    "no JSON object",
		`[["a", "b", "c"]`: "no JSON object",
	})
}
