// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"encoding/json"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
)

// The bytes behind a key never change: old journals would be paid for again.
func TestCanonicalBytesAreFixed(t *testing.T) {
	zero, seed := 0.0, int64(-7)
	for _, tc := range []struct {
		req  llm.Request
		want string
	}{
		{llm.Request{}, `{"messages":null,"model":"m","version":"wildgraph-llm-v1"}`},
		{llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "a<b"}, {Role: llm.User, Text: "\u00e9\x00\xff"}}, JSON: true, MaxTokens: 3, Sample: 2, Stop: []string{"x"},
			Schema: json.RawMessage(`{"b": 1.50, "a":[ ]}`), SchemaName: "n", Temperature: &zero, TopP: &zero, Seed: &seed, Stage: "s", Question: "q"},
			`{"json":true,"max_tokens":3,"messages":[{"role":"system","text":"a\u003cb"},{"role":"user","text":"é\u0000\ufffd"}],"model":"m","sample":2,` +
				`"schema":{"a":[],"b":1.50},"schema_name":"n","seed":-7,"stop":["x"],"temperature":0,"top_p":0,"version":"wildgraph-llm-v1"}`},
	} {
		got, err := canonical("m", tc.req)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s\n%s, %v", got, tc.want, err)
		}
	}
}
