// SPDX-License-Identifier: Apache-2.0

//go:build calibrate

package program

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
)

// watched is a reader that remembers the signs of confidence of its last answer.
type watched struct {
	reader.Reader
	signs *string
}

func (w watched) Read(ctx context.Context, q graphrag.Question, evidence []graphrag.Hit, derived []graphrag.Derived) (a graphrag.Answer, err error) {
	if *w.signs, err = reader.Signs(ctx, w.Reader, q, evidence); err != nil {
		return a, err
	}
	return w.Reader.Read(ctx, q, evidence, derived)
}

// TestRecordCalibration writes the questions that the model of confidence is fitted to, all five
// kinds:
//
//	MEDICAL_DIR=… MUSIQUE_DIR=… WILDGRAPHBENCH_DIR=… go test -tags calibrate -run RecordCalibration ./examples/ask/program
func TestRecordCalibration(t *testing.T) {
	var b strings.Builder
	b.WriteString("kind\tright\talways\tcover\trest\town\tcell\tthird\tname\tshape\truled out\n")
	kinds := make(map[string]bool)
	for _, s := range subjects(t) {
		kinds[s.kind] = true
		signs := ""
		s.each(t, func(r reader.Reader) reader.Reader { return watched{r, &signs} }, func(p probe, a graphrag.Answer) {
			if signs != "" {
				fmt.Fprintf(&b, "%s\t%v\t%s\n", s.kind, p.right(a.Text), signs)
			}
			signs = ""
		})
	}
	if len(kinds) != 5 {
		t.Fatal("data is missing for some of five kinds: ", kinds)
	}
	if err := os.WriteFile("../../graphrag/reader/testdata/calibration.tsv", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
