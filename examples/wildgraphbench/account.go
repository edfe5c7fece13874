// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// LedgerName is the file in the report folder that says what was really paid:
// by stage, question and model, with the calls whose cost is not known. It
// counts what interruptions made the run pay twice, so it is no part of the
// report.
const LedgerName = "ledger.json"

// account writes the ledger and prints its sum.
func (p *parts) account(s settings, w io.Writer) error {
	if p.client == nil {
		return nil
	}
	a := p.client.Account()
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.out, LedgerName), append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the ledger: %w", err)
	}
	u := a.Total.Usage
	fmt.Fprintf(w, "Paid in this folder: %d calls, %d tokens; cost %s %s; %d calls of unknown cost. See %s.\n",
		u.Calls, u.PromptTokens+u.CompletionTokens+u.EmbeddedTokens, a.Total.Cost, a.Currency, len(a.Unknown), filepath.Join(s.out, LedgerName))
	return nil
}
