// SPDX-License-Identifier: Apache-2.0

package llmtest

import (
	"encoding/json"
	"errors"

	"github.com/wildgraph/wildgraph/llm"
)

type ollamaChatRequest struct {
	chatFields
	Format  json.RawMessage `json:"format"`
	Options struct {
		samplingFields
		NumPredict int `json:"num_predict"`
	} `json:"options"`
}

func (r ollamaChatRequest) request() (llm.Request, error) {
	req, err := r.chatFields.request(r.Options.samplingFields, r.Options.NumPredict)
	if err != nil {
		return req, err
	}
	var format string
	switch {
	case len(r.Format) == 0 || string(r.Format) == "null":
	case json.Unmarshal(r.Format, &format) == nil:
		req.JSON = format == "json"
		if format != "" && !req.JSON {
			return req, errors.New(`invalid format: expected "json" or a JSON schema`)
		}
	default:
		req.Schema = r.Format
	}
	return req, nil
}

func (s *Server) ollamaChat(r Received, f Fault) (map[string]any, llm.Usage, error) {
	var wire ollamaChatRequest
	reply, err := s.reply(r, f, &wire)
	if err != nil {
		return nil, llm.Usage{}, err
	}
	message := map[string]any{"role": "assistant", "content": reply.Text}
	if reply.Reasoning != "" {
		message["thinking"] = reply.Reasoning
	}
	last := map[string]any{
		"model": wire.Model, "created_at": "2025-01-01T00:00:00Z",
		"message": message, "done": true, "done_reason": string(reply.Finish),
	}
	if !f.NoUsage {
		last["prompt_eval_count"], last["eval_count"] = reply.Usage.PromptTokens, reply.Usage.CompletionTokens
	}
	if f.EmptyChoices {
		message["content"] = ""
	}
	return last, reply.Usage, nil
}

func (s *Server) ollamaEmbed(r Received, f Fault) (map[string]any, llm.Usage, error) {
	model, vectors, usage, err := s.vectors(r, f)
	if err != nil {
		return nil, usage, err
	}
	out := map[string]any{"model": model, "embeddings": vectors}
	if !f.NoUsage {
		out["prompt_eval_count"] = usage.EmbeddedTokens
	}
	return out, usage, nil
}
