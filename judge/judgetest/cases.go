// SPDX-License-Identifier: Apache-2.0

package judgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/wildgraph/wildgraph/llm/jsonl"
)

// ReadCases reads cases from JSON lines, with the keys of the files of questions in docs/own-data.md:
//
//	{"id": "7", "question": "How do barn owls hunt?", "answer": "By ear.", "gold": ["owls.md"]}
//	{"question": "How do otters sleep?", "statements": ["They hold hands.", "They float."], "share": 0.5}
//	{"question": "What does the owner earn?", "unanswerable": true}
//	{"question": "When was it built?", "answer": "In 1890.", "never": ["It was built in 1891."], "grounded": true}
//
// They become [States], [Cites], [Covers] (all statements without a share), [Refuses], [Never] and
// [Grounded]. name is the name of the file in errors, which name the line and its fault.
func ReadCases(r io.Reader, name string) ([]Case, error) {
	type line struct {
		ID, Question, Answer             string
		Aliases, Statements, Gold, Never []string
		Share                            *float64
		Unanswerable, Grounded           bool
		Type                             any // keys of other readers of the file
		Where                            any
	}
	var out []Case
	for l, err := range jsonl.Read[json.RawMessage](r, jsonl.Options{Name: name}) {
		if err != nil {
			return nil, fmt.Errorf("judgetest: %w", err)
		}
		var v line
		keys := json.NewDecoder(bytes.NewReader(l.Value))
		keys.DisallowUnknownFields()
		if err := keys.Decode(&v); err != nil {
			return nil, fmt.Errorf("judgetest: %s, line %d: %w", name, l.Number, err)
		}
		c := Case{Name: v.ID, Question: v.Question}
		if v.Answer != "" {
			c.Checks = append(c.Checks, States(v.Answer, v.Aliases...))
		}
		if v.Statements != nil {
			share := 1.0
			if v.Share != nil {
				share = *v.Share
			}
			c.Checks = append(c.Checks, Covers(share, v.Statements...))
		}
		if v.Unanswerable {
			c.Checks = append(c.Checks, Refuses())
		}
		if v.Gold != nil {
			c.Checks = append(c.Checks, Cites(v.Gold...))
		}
		if v.Never != nil {
			c.Checks = append(c.Checks, Never(v.Never...))
		}
		if v.Grounded {
			c.Checks = append(c.Checks, Grounded())
		}
		if len(c.Checks) == 0 {
			return nil, fmt.Errorf("judgetest: %s, line %d: nothing to check: want an answer, statements, gold, never, grounded or unanswerable", name, l.Number)
		}
		out = append(out, c)
	}
	return out, nil
}
