// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// keyVersion changes when the meaning of a key changes, so that old records
// are not mistaken for answers to new questions.
const keyVersion = "wildgraph-llm-v1"

type key [sha256.Size]byte

// canonical is the request as it is hashed and stored: JSON with sorted keys,
// where an absent field and a zero one differ. It covers the model's name and
// everything the model sees, and Sample; see [Request] for what is left out.
func canonical(model string, req Request) ([]byte, error) {
	fields := map[string]any{
		"version":  keyVersion,
		"model":    model,
		"messages": req.Messages,
	}
	if len(req.Schema) > 0 {
		schema, err := sorted(req.Schema)
		if err != nil {
			return nil, fmt.Errorf("llm: the request's schema is no JSON: %w", err)
		}
		fields["schema"] = schema
	}
	optional := func(name string, set bool, v any) {
		if set {
			fields[name] = v
		}
	}
	optional("schema_name", req.SchemaName != "", req.SchemaName)
	optional("json", req.JSON, req.JSON)
	optional("max_tokens", req.MaxTokens != 0, req.MaxTokens)
	optional("temperature", req.Temperature != nil, req.Temperature)
	optional("top_p", req.TopP != nil, req.TopP)
	optional("seed", req.Seed != nil, req.Seed)
	optional("stop", len(req.Stop) > 0, req.Stop)
	optional("sample", req.Sample != 0, req.Sample)
	return json.Marshal(fields)
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
