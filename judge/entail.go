// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/embed/local"
)

// Entailer decides whether a text entails others. [local.Entailment] is one.
type Entailer interface {
	Name() string
	Entail(ctx context.Context, premise string, hypotheses []string) ([]local.Entailed, error)
}

// ByEntailment returns a judge by which an answer states a gold statement if question and answer together
// entail it with a probability above one half.
func ByEntailment(e Entailer) Judge {
	return ByFunc("entailment/"+e.Name(), func(ctx context.Context, c Case, gold string) (Verdict, error) {
		p, err := e.Entail(ctx, c.Question+"\n"+c.Answer, []string{gold})
		if err != nil {
			return Verdict{}, fmt.Errorf("judge: %w", err)
		}
		value := 0.
		if p[0].Entails > .5 {
			value = 1
		}
		return Score(value, fmt.Sprintf("entailed with %.2f, contradicted with %.2f", p[0].Entails, p[0].Contradicts)), nil
	})
}
