// SPDX-License-Identifier: Apache-2.0

// Command tenants serves one index to two teams: who asks decides what is seen, and no
// question can widen it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// teams are the keys of callers; a real service has them from its login.
var teams = map[string]string{"Bearer key-of-hr": "hr", "Bearer key-of-ops": "ops"}

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
		graphrag.Document{ID: "pay", Text: "Ada Lovelace earns 90,000 crowns a year.", Fields: graphrag.Fields{"team": "hr", "year": 2024.}},
		graphrag.Document{ID: "mill", Text: "Ada Lovelace wrote programs for the mill.", Fields: graphrag.Fields{"team": "ops", "year": 2023.}})); err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(answer(system)) // http.ListenAndServe in a service
	defer server.Close()
	for _, key := range []string{"Bearer key-of-hr", "Bearer key-of-ops", "Bearer guessed"} {
		fmt.Printf("%s: %s", key, ask(server.URL, key, "How much does Ada Lovelace earn?"))
	}
}

// answer is GET /?q=QUESTION&where=CONDITION.
func answer(system graphrag.System) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		team, ok := teams[r.Header.Get("Authorization")]
		if !ok {
			http.Error(w, "no such key", http.StatusUnauthorized)
			return
		}
		q := graphrag.Question{Text: r.FormValue("q"), K: 3}
		if text := r.FormValue("where"); text != "" { // narrows the scope, whatever it says
			q.Where = new(graphrag.Condition)
			if err := q.Where.UnmarshalText([]byte(text)); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		a, err := system.Answer(graphrag.WithScope(r.Context(), graphrag.Equal("team", team)), q)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(a.Text) // a client that left is no error
	})
}

func ask(server, key, question string) (reply string) {
	r, _ := http.NewRequest("GET", server+"?q="+url.QueryEscape(question), nil)
	r.Header.Set("Authorization", key)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		reply = response.Status
	}
	return reply + "\n"
}
