// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// testsuites holds the verdicts of a run as JUnit XML for CI servers.
type testsuites struct {
	Suites []testsuite `xml:"testsuite"`
}

// testsuite holds the questions of one system by one judge.
type testsuite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Cases    []testcase `xml:"testcase"`
}

// testcase is a question: it passed, or it has one outcome with the reason.
type testcase struct {
	Domain  string   `xml:"classname,attr"`
	ID      string   `xml:"name,attr"`
	Failure *outcome `xml:"failure"`
	Error   *outcome `xml:"error"`
	Skipped *outcome `xml:"skipped"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// add appends a suite for each system; profile names a further judge, empty for the first.
func (s *testsuites) add(records *benchmark.Run, profile string, minima []minimum) {
	for _, of := range records.Systems {
		out := testsuite{Name: strings.TrimSpace(of.Name + " " + profile)}
		for _, d := range of.Domains {
			for _, r := range d.Results {
				out.add(r, of.NotApplicable, minima)
			}
		}
		s.Suites = append(s.Suites, out)
	}
}

// add appends a question. A question for a fact fails if it is wrong, a question for statements if no
// statement is right, and any question if one of its figures is below a minimum.
func (s *testsuite) add(r benchmark.Result, notApplicable string, minima []minimum) {
	v := verdict(r)
	failed := v.State == judge.Scored && (v.Value == 0 || v.Value < 1 && r.Judgment.Fact != nil)
	o := &outcome{v.Reason, fmt.Sprintf("question: %s\nanswer: %s\nreference: %s\njudge: %s\n",
		r.Item.Question.Text, r.Answer.Text, strings.Join(r.Item.GoldStatements(), "\n\t"), v.Reason)}
	for _, m := range minima {
		if got, ok := report.OfQuestion(m.key, r); ok && got < m.value && !failed {
			failed, o.Message = true, fmt.Sprintf("%s is %.4g, below %g", m.key, got, m.value)
		}
	}
	c := testcase{Domain: r.Domain, ID: r.Item.Question.ID}
	switch {
	case r.Skipped || r.Pending || notApplicable != "":
		o.Message = cmp.Or(notApplicable, "was not asked")
		c.Skipped, s.Skipped = o, s.Skipped+1
	case v.State == judge.Unscored:
		c.Error, s.Errors = o, s.Errors+1
	case failed:
		c.Failure, s.Failures = o, s.Failures+1
	case v.State == judge.NotApplicable:
		c.Skipped, s.Skipped = o, s.Skipped+1
	}
	s.Tests, s.Cases = s.Tests+1, append(s.Cases, c)
}

// verdict returns the verdict on an answer with its reason: right or wrong, or F1 over statements.
func verdict(r benchmark.Result) judge.Verdict {
	switch j := r.Judgment; {
	case r.Answer.Error != "":
		return judge.NoScore(r.Answer.Error)
	case j.Fact != nil:
		return j.Fact.Verdict
	case j.Summary != nil:
		v, recall, precision := j.Summary.F1(), j.Summary.Recall, j.Summary.Precision
		if v.State == judge.Scored {
			v.Reason = strings.TrimRight(fmt.Sprintf("recall %.4g, precision %.4g; %s", recall.Value, precision.Value, recall.Reason), "; ")
		}
		return v
	}
	return judge.Verdict{State: judge.NotApplicable, Reason: "has no verdict"}
}

// write writes the file, with U+FFFD for characters that XML cannot hold.
func (s *testsuites) write(file string) error {
	return journal.WriteFile(file, func(w io.Writer) error {
		_, err := io.WriteString(w, xml.Header)
		return cmp.Or(err, xml.NewEncoder(w).Encode(s))
	})
}
