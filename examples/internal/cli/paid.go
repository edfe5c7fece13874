// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wildgraph/wildgraph/internal/display"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// LedgerName is the file in the folder of a run with the calls that were paid for, by stage,
// question and model, and the calls of unknown cost. It includes calls that an interruption
// repeated, so it is not part of the report.
const LedgerName = "ledger.json"

// Account writes the ledger of a run into its folder and prints its total.
func Account(c *paid.Client, dir string, w io.Writer) error {
	a := c.Account()
	name := filepath.Join(dir, LedgerName)
	err := journal.WriteFile(name, func(w io.Writer) error {
		enc := display.JSON(w)
		enc.SetIndent("", "  ")
		return enc.Encode(a)
	})
	if err != nil {
		return fmt.Errorf("the ledger: %w", err)
	}
	_, err = fmt.Fprintf(w, "Paid for this folder: %s See %s.\n", display.OneLine(Bill(a)), display.OneLine(name))
	return err
}

// Bill describes the total of an account in one or two sentences.
func Bill(a paid.Account) string {
	price := "no prices given"
	if a.Currency != "" {
		price = fmt.Sprintf("cost %s %s", a.Total.Cost, a.Currency)
	}
	bill := fmt.Sprintf("%s calls, %s tokens; %s.", display.Digits(a.Total.Usage.Calls), display.Digits(a.Total.Usage.Tokens()), price)
	if n := a.Total.Unknown; n > 0 {
		bill += fmt.Sprintf(" %s more attempts may have been billed, with which it is %s tokens at the most.", display.Digits(n), display.Digits(a.Total.Most.Tokens()))
	}
	return bill
}

// Prices reads the file of -prices; nil for "".
func Prices(file string) (*paid.Prices, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("-prices: %w", err)
	}
	defer f.Close() // only read
	p, err := paid.ReadPrices(f)
	if err != nil {
		return nil, fmt.Errorf("-prices %s: %w", file, err)
	}
	return p, nil
}

// OpenModel opens a model of Vendors, or of the server that the environment names, with at most calls in flight. The
// returned client pays for its calls; close it after use.
func OpenModel(name string, calls int, o paid.Options) (*paid.Client, llm.Model, error) {
	by := transport.Options{Concurrency: calls, Logger: o.Logger}
	server, err := transport.ProviderFromEnv(by)
	if err != nil && !OfVendors(name) {
		return nil, nil, Usagef("-model: %w", err)
	}
	if o.Run, err = filepath.Abs(o.Run); err != nil {
		return nil, nil, err
	}
	client, err := paid.Open(o)
	if err != nil {
		return nil, nil, fmt.Errorf("the cache of replies: %w", err)
	}
	m, err := Model(name, server, by)
	if err == nil {
		m, err = client.Model(m)
	}
	if err != nil {
		return nil, nil, errors.Join(Usage(err), client.Close())
	}
	return client, m, nil
}

// Vendors maps the prefix of a model's name ("anthropic" of anthropic:NAME) to the function that opens
// models with that vendor's wire format; requests use the transport. Only examples/vendors sets it, before
// a program runs.
var Vendors = map[string]func(model string, by *transport.Transport) (llm.Model, error){}

// OfVendors reports whether every name that is not empty has a prefix in Vendors.
func OfVendors(names ...string) bool {
	for _, name := range names {
		if vendor, _, _ := strings.Cut(name, ":"); name != "" && Vendors[vendor] == nil {
			return false
		}
	}
	return true
}

// Model opens a model of Vendors, or of the server that the environment names.
func Model(name string, server *transport.Provider, o transport.Options) (llm.Model, error) {
	vendor, model, _ := strings.Cut(name, ":")
	if open := Vendors[vendor]; open != nil {
		by, err := transport.New(o)
		if err != nil {
			return nil, err
		}
		return open(model, by)
	}
	if server == nil {
		return nil, transport.ErrNoProvider
	}
	return server.Model(name)
}
