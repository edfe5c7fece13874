// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// A server that is overloaded once is asked again.
func Example() {
	server := llmtest.NewServer(llmtest.ServerOptions{InMemory: true})
	defer server.Close()
	server.Fail(llmtest.Fault{Status: http.StatusServiceUnavailable})
	t, err := transport.New(transport.Options{Base: server.Transport(), BaseDelay: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := http.Client{Transport: t}
	resp, err := client.Post(server.OpenAIURL()+"/chat/completions", "application/json",
		strings.NewReader(`{"model": "m", "messages": [{"role": "user", "content": "Hello"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, len(server.Requests()), "requests", strings.Contains(string(body), "Hello"), err)
	// Output: 200 OK 2 requests true <nil>
}
