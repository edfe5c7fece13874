// SPDX-License-Identifier: Apache-2.0

package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// byLength likes long passages.
type byLength struct {
	short int
	asked *int
}

func (b byLength) Scores(_ context.Context, question string, passages []string) ([]float64, error) {
	if question == "" {
		return nil, errors.New("nothing was asked")
	}
	scores := []float64{}
	if b.asked != nil {
		*b.asked += len(passages)
	}
	for _, p := range passages[b.short:] {
		scores = append(scores, float64(len(p)))
	}
	return scores, nil
}

func hitsOf(texts ...string) (out []graphrag.Hit) {
	for i, t := range texts {
		out = append(out, graphrag.Hit{Chunk: graphrag.Chunk{ID: fmt.Sprint(i), Text: t}, Score: 1 / float64(i+1)})
	}
	return out
}

func textsOf(hits []graphrag.Hit) string {
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = h.Chunk.Text
	}
	return strings.Join(texts, " ")
}

func TestRerank(t *testing.T) {
	ranked, asked := hitsOf("a", "bbb", "cc", "dd"), 0
	found := graphrag.Found{Ranked: ranked, Evidence: ranked[:2]}
	of := graphrag.RetrieverFunc(func(_ context.Context, q graphrag.Question) (graphrag.Found, error) {
		asked = q.Depth
		return found, nil
	})
	scored := 0
	got, err := retrieve.Rerank(of, byLength{asked: &scored}).Retrieve(t.Context(), graphrag.Question{Text: "which?", K: 3})
	if scored != len(ranked) {
		t.Errorf("%d passages were scored, want each of %d once", scored, len(ranked))
	}
	if err != nil || textsOf(got.Ranked) != "bbb cc dd a" || textsOf(got.Evidence) != "bbb a" || got.Ranked[0].Score != 3 {
		t.Errorf("ranked %s, evidence %s, error %v", textsOf(got.Ranked), textsOf(got.Evidence), err)
	}
	if textsOf(ranked) != "a bbb cc dd" || asked < 3 {
		t.Errorf("the retriever's own list is %s, it was asked for %d", textsOf(ranked), asked)
	}
	for _, tt := range []struct {
		by   byLength
		q    string
		want string
	}{{byLength{}, "", "retrieve: rerank: nothing was asked"}, {byLength{short: 1}, "which?", "3 scores for 4 passages"}} {
		if _, err := retrieve.Rerank(of, tt.by).Retrieve(t.Context(), graphrag.Question{Text: tt.q}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
	found = graphrag.Nothing()
	if got, err := retrieve.Rerank(of, byLength{}).Retrieve(t.Context(), graphrag.Question{}); err != nil || got.Ranked == nil || got.Evidence != nil {
		t.Errorf("of nothing: %+v, error %v", got, err)
	}
}
