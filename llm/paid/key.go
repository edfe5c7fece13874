// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/wildgraph/wildgraph/llm"
)

// keyVersion changes when the meaning of a key changes, so that old records
// are not mistaken for answers to new questions.
const keyVersion = "wildgraph-llm-v1"

type key [sha256.Size]byte

// canonicalRequest is a request with its fields in the order of their names.
type canonicalRequest struct {
	JSON        bool            `json:"json,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Messages    []llm.Message   `json:"messages"`
	Model       string          `json:"model"`
	Sample      int             `json:"sample,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	SchemaName  string          `json:"schema_name,omitempty"`
	Seed        *int64          `json:"seed,omitempty"`
	Stop        []string        `json:"stop,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
	Version     string          `json:"version"`
}

// canonical is the request as it is hashed and stored: JSON with sorted keys,
// where an absent field and a zero one differ. It covers the model's name and
// everything the model sees, and Sample; see [llm.Request] for what is left out.
func canonical(model string, req llm.Request) ([]byte, error) {
	c := canonicalRequest{
		JSON: req.JSON, MaxTokens: req.MaxTokens, Messages: req.Messages, Model: model, Sample: req.Sample, SchemaName: req.SchemaName,
		Seed: req.Seed, Stop: req.Stop, Temperature: req.Temperature, TopP: req.TopP, Version: keyVersion,
	}
	if len(req.Schema) > 0 {
		var err error
		if c.Schema, err = sorted(req.Schema); err != nil {
			return nil, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("the request's schema is no JSON: %w", err)}
		}
	}
	return json.Marshal(c)
}

// sorted is the same JSON with sorted keys and without blanks; numbers keep
// their digits.
func sorted(raw json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("something follows the value")
	}
	return json.Marshal(v)
}

// keyOf is the key of a canonical request.
func keyOf(canonical []byte) key { return sha256.Sum256(canonical) }

// embeddingKey covers what decides a vector: the embedder's name, which holds
// endpoint, model and dimension, the side (queries may get a prefix of their
// own), and the text.
func embeddingKey(name string, query bool, text string) key {
	b, err := json.Marshal([]any{keyVersion + "/embedding", name, query, []byte(text)})
	if err != nil { // strings, bytes and bools always marshal
		b = []byte(name + "\x00" + text)
	}
	return sha256.Sum256(b)
}
