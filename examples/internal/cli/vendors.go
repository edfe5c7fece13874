// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// Vendors open models of vendors with wire formats of their own, by the beginning of their
// names: "anthropic" is that of anthropic:NAME. Requests go by the transport. It is set before a program runs, and empty but in examples/vendors.
var Vendors = map[string]func(model string, by *transport.Transport) (llm.Model, error){}

// OfVendors tells whether all these models, but for empty names, are of Vendors.
func OfVendors(names ...string) bool {
	for _, name := range names {
		if vendor, _, _ := strings.Cut(name, ":"); name != "" && Vendors[vendor] == nil {
			return false
		}
	}
	return true
}

// Model opens a model of Vendors, or one of the server that the environment names.
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
