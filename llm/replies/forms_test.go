// SPDX-License-Identifier: Apache-2.0

package replies_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/replies"
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
	facts   struct{ Triples []replies.Triple }
	numbers struct{ Keep []int }
	names   struct{ Names []string }
	state   struct {
		Status string   `llm:"alone,enum=enough|not enough"`
		Kinds  []string `json:"kinds,omitempty" llm:"enum=a|b"`
	}
)

// readAs is how a reply is read as a T: the value, or the fault that the model is told.
func readAs[T any](reply string) string {
	value, err := replies.Read[T](reply)
	if f, ok := any(&value).(*facts); ok {
		for i := range f.Triples {
			f.Triples[i].Raw = ""
		}
	}
	if err != nil {
		return errors.Unwrap(err).Error()
	}
	return fmt.Sprint(value)
}

// Replies as models were seen to write them, and worse: what has one meaning is read, all
// else is a fault in the words of the form, and nothing passes for an empty answer.
func TestForms(t *testing.T) {
	of := map[string]func(string) string{"truth": readAs[truth], "plan": readAs[plan], "report": readAs[report], "facts": readAs[facts],
		"numbers": readAs[numbers], "names": readAs[names], "form": readAs[form], "state": readAs[state]}
	table(t, "forms.jsonl", func(c struct{ Form, Reply, Want string }) {
		got := of[c.Form](c.Reply)
		check.Equal(t, got, c.Want, "%s:\n%s", c.Reply, got)
	})
	const want = `{"type":"object","additionalProperties":false,"properties":{"status":{"type":"string","enum":["enough","not enough"]},"kinds":{"type":"array","items":{"type":"string","enum":["a","b"]}}},"required":["status"]}`
	check.Equal(t, string(replies.Schema[state]()), want)
}
