// SPDX-License-Identifier: Apache-2.0

// Command tenants serves one index to two teams: the token decides which documents are visible, and no
// question can change that.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/serve"
)

func main() {
	parts, err := kit.Offline(kit.OfflineOptions{Seed: 1, Mode: "reject"})
	if err != nil {
		log.Fatal(err)
	}
	system, err := hipporag2.New(parts, hipporag2.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := system.Index(context.Background(), graphrag.Documents(
		graphrag.Document{ID: "pay", Text: "Ada Lovelace earns 90,000 crowns a year.", Fields: graphrag.Fields{"team": "hr"}},
		graphrag.Document{ID: "mill", Text: "Ada Lovelace wrote programs for the mill.", Fields: graphrag.Fields{"team": "ops"}})); err != nil {
		log.Fatal(err)
	}
	hr, ops := graphrag.Equal("team", "hr"), graphrag.Equal("team", "ops")
	handler, err := serve.New(system, serve.Options{Tokens: map[string]serve.Token{"key-of-hr-4Zr1xq": {Scope: &hr}, "key-of-ops-9Lm3ed": {Scope: &ops}}})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(handler) // http.ListenAndServe in a service
	defer server.Close()
	for _, key := range []string{"key-of-hr-4Zr1xq", "key-of-ops-9Lm3ed", "guessed"} {
		fmt.Printf("%s: %s\n", key, ask(server.URL, key, `{"question": "How much does Ada Lovelace earn?", "where": "all"}`))
	}
}

func ask(server, key, question string) string {
	r, err := http.NewRequest("POST", server+"/v1/answer", strings.NewReader(question))
	if err != nil {
		log.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var reply struct {
		Text  string
		Error struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		log.Fatal(err)
	}
	return reply.Text + reply.Error.Message
}
