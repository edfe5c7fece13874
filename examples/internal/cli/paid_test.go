// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/paid"
)

func TestBill(t *testing.T) {
	line := paid.Line{Usage: llm.Usage{Calls: 1284, PromptTokens: 1_495_140}, Cost: paid.Cost{Amount: paid.MoneyOf(1.5)}}
	lost := line
	lost.Unknown, lost.Most.PromptTokens = 3, 2_000_000
	for _, tt := range []struct {
		a    paid.Account
		want string
	}{
		{paid.Account{Total: line}, "1,284 calls, 1,495,140 tokens; no prices given."},
		{paid.Account{Total: line, Currency: "EUR"}, "1,284 calls, 1,495,140 tokens; cost 1.5000 EUR."},
		{paid.Account{Total: lost}, "1,284 calls, 1,495,140 tokens; no prices given. 3 more attempts may have been billed, with which it is 2,000,000 tokens at the most."},
	} {
		check.Equal(t, Bill(tt.a), tt.want)
	}
}
