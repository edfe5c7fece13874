// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/transport"
)

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
