// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// service is a paid model server that answers after a while and bills every call that it
// was sent, also those whose caller has died meanwhile. It knows callers by their keys.
type service struct {
	URL   string
	delay atomic.Int64
	model *llmtest.Server

	mu      sync.Mutex
	flights map[string]int // calls under way, by caller
	most    int            // calls under way at a time
}

func newService(t *testing.T) *service {
	s := &service{model: llmtest.NewServer(llmtest.ServerOptions{Handler: says, InMemory: true}), flights: make(map[string]int)}
	front := httptest.NewServer(s)
	s.URL = front.URL + "/v1"
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
		s.model.Close()
	})
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it never came, and costs nothing
	}
	caller := r.Header.Get("Authorization")
	s.count(caller, 1)
	defer s.count(caller, -1)
	time.Sleep(time.Duration(s.delay.Load()))
	own, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, s.model.URL+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	reply, err := s.model.Transport().RoundTrip(own)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer reply.Body.Close()
	maps.Copy(w.Header(), reply.Header)
	w.WriteHeader(reply.StatusCode)
	_, _ = io.Copy(w, reply.Body)
}

func (s *service) count(caller string, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flights[caller] += by
	all := 0
	for _, n := range s.flights {
		all += n
	}
	s.most = max(s.most, all)
}

func (s *service) underway(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flights["Bearer "+key]
}

// paid is how often each call was billed, by what was asked.
func (s *service) paid() map[string]int {
	n := make(map[string]int)
	for _, r := range s.model.Requests() {
		sum := sha256.Sum256(append([]byte(r.Path), r.Body...))
		n[hex.EncodeToString(sum[:])]++
	}
	return n
}

// says answers the prompts of records and of reports.
func says(req llm.Request) llm.Reply {
	last := req.Messages[len(req.Messages)-1].Text
	if req.JSON || len(req.Schema) > 0 {
		return llm.Reply{Text: fmt.Sprintf(`{"title":"Ships of %d letters","summary":"They sail.","rating":5,"rating_explanation":"many","findings":[{"summary":"They sail.","explanation":"So the logs say."}]}`, len(last))}
	}
	at := strings.LastIndex(last, "Captain")
	if at < 0 { // a call that asks whether the server answers, or gleaning
		return llm.Reply{Text: "<|COMPLETE|>"}
	}
	words := strings.Fields(last[at:])
	if len(words) < 8 {
		return llm.Reply{Text: "<|COMPLETE|>"}
	}
	return llm.Reply{Text: fmt.Sprintf(`("entity"<|>%[1]s<|>person<|>A captain.)##("entity"<|>%[2]s<|>ship<|>The ship of %[1]s.)##("entity"<|>%[3]s<|>place<|>A port.)##("relationship"<|>%[1]s<|>%[2]s<|>%[1]s sailed her.<|>5)##("relationship"<|>%[2]s<|>%[3]s<|>She lay there.<|>2)<|COMPLETE|>`, words[1], words[5], words[7])}
}
