// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Model is a chat model.
//
// Generate returns a reply that is complete and usable, or an error that [errors.As] turns into an [*Error];
// a cancelled call satisfies errors.Is(err, context.Canceled). A reply that was cut short, filtered or empty
// is an error, never a success. Generate is safe for concurrent use.
type Model interface {
	// Name identifies the model for reports and cache keys: provider, endpoint without credentials, and
	// model, e.g. "openai:https://api.openai.com/v1:gpt-5-mini".
	Name() string
	Generate(ctx context.Context, req Request) (Reply, error)
}

// ByFunc makes a model from a function with the contract of [Model.Generate]. Its replies go through
// [Finish]; missing usage is estimated.
func ByFunc(name string, generate func(ctx context.Context, req Request) (Reply, error)) Model {
	return byFunc{name, generate}
}

type byFunc struct {
	name     string
	generate func(ctx context.Context, req Request) (Reply, error)
}

func (m byFunc) Name() string { return m.name }

func (m byFunc) Generate(ctx context.Context, req Request) (Reply, error) {
	reply, err := m.generate(ctx, req)
	if err != nil {
		return reply, err
	}
	reply.Usage = reply.UsageFor(req)
	reply, err = Finish(reply, reply.Text, reply.Finish)
	if failed := (*Error)(nil); errors.As(err, &failed) {
		failed.Usage = reply.Usage
	}
	return reply, err
}

// The roles of a [Message]: who speaks.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Request is a request to a model. The zero value of an optional field means "do not send it": some models
// refuse a temperature or a token limit.
type Request struct {
	Messages []Message `json:"messages"`
	// Schema, when set, is the JSON schema the reply must follow; SchemaName names it to the provider.
	Schema     json.RawMessage `json:"schema,omitempty"`
	SchemaName string          `json:"schema_name,omitempty"`
	// JSON asks for a JSON object without a schema.
	JSON bool `json:"json,omitempty"`
	// Tools are offered to models with native tool calls. Such a call becomes the text {"calls": [{"tool":
	// NAME, …}]} of the reply, with the arguments beside the name. Other models ignore Tools and learn of
	// them from the messages.
	Tools []Tool `json:"tools,omitempty"`
	// MaxTokens limits the reply; 0 leaves it to the server.
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	// Sample distinguishes repeated draws of the same request.
	Sample int `json:"sample,omitempty"`
	// Stage and Question label the call in accounts and logs. The model does not see them; they are not in
	// the cache key.
	Stage    string `json:"-"`
	Question string `json:"-"`
}

// Tool describes a tool to a model.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Parameters is the JSON schema of its arguments.
	Parameters json.RawMessage `json:"parameters"`
}

// Prompt is a Request of one user message.
func Prompt(text string) Request {
	return Request{Messages: []Message{{Role: User, Text: text}}}
}

// The reasons why a model stopped. Only FinishStop is a success; the others come inside an [*Error].
const (
	FinishStop   = "stop"
	FinishLength = "length"
	FinishFilter = "content_filter"
)

// Reply is the reply of a model.
type Reply struct {
	// Text is the answer without reasoning blocks.
	Text string `json:"text"`
	// Reasoning is the visible reasoning of the model, if the server returns it.
	Reasoning string `json:"reasoning,omitempty"`
	// Finish is why the model stopped.
	Finish string `json:"finish"`
	// Model is the name reported by the server; it may differ from the requested one.
	Model string `json:"model,omitempty"`
	// Fingerprint is the version of the model's backend, if the server reports it.
	Fingerprint string `json:"fingerprint,omitempty"`
	Usage       Usage  `json:"usage"`
}

// UsageFor returns the usage of a reply to req: the reply's own, or an estimate if it has none.
func (r Reply) UsageFor(req Request) Usage {
	if r.Usage != (Usage{}) {
		return r.Usage
	}
	u := Usage{Calls: 1, Estimated: true, CompletionTokens: EstimateTokens(r.Text)}
	for _, m := range req.Messages {
		u.PromptTokens += EstimateTokens(m.Text)
	}
	return u
}

// Usage is [graphrag.Usage]: the one shape in which the whole library counts calls and tokens.
type Usage = graphrag.Usage

// EstimateTokens estimates the tokens of a text without a vocabulary: one for every four bytes or part of it,
// as English text has in cl100k.
func EstimateTokens(text string) int { return (len(text) + 3) / 4 }

// Embedder turns texts into vectors. It has the shape of langchaingo's embeddings.Embedder and of the
// embedder of graphrag/embed, so one value serves all three.
type Embedder interface {
	// EmbedDocuments returns one vector per text, in order, all of one dimension.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// NamedEmbedder is an embedder with a name that covers everything its vectors depend on: provider, endpoint
// without credentials, model, dimension and prefixes. Caches and prices use the name.
type NamedEmbedder interface {
	Embedder
	Name() string
}

// Streamer is a [Model] that can pass on a reply while it is written.
type Streamer interface {
	Model
	// Stream is Generate, but calls piece with each part of the text as it arrives. The parts together are
	// the text of the reply. An error of piece ends the call and is returned.
	Stream(ctx context.Context, req Request, piece func(text string) error) (Reply, error)
}

// Stream asks m and calls piece with the parts of the reply, or with the whole
// of it if m is no [Streamer]; without piece it is m.Generate.
func Stream(ctx context.Context, m Model, req Request, piece func(text string) error) (Reply, error) {
	if s, ok := m.(Streamer); ok && piece != nil {
		return s.Stream(ctx, req, piece)
	}
	reply, err := m.Generate(ctx, req)
	if err == nil && piece != nil {
		err = piece(reply.Text)
	}
	return reply, err
}
