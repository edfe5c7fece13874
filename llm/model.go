// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

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

// The roles of a [Message] name its author.
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

// Request is a request to a model. An optional field with the zero value is not sent: some models refuse a
// temperature or a token limit.
type Request struct {
	Messages []Message `json:"messages"`
	// Schema, when set, is the JSON schema the reply must follow; SchemaName names it to the provider.
	Schema     json.RawMessage `json:"schema,omitempty"`
	SchemaName string          `json:"schema_name,omitempty"`
	// JSON asks for a JSON object without a schema.
	JSON bool `json:"json,omitempty"`
	// Tools are offered to the models of llm/langchain, as native tool calls. Such a call becomes the text
	// {"calls": [{"tool": NAME, …}]} of the reply, with the arguments beside the name. Other models, also
	// in llm/transport, ignore Tools and learn of them from the messages.
	Tools []Tool `json:"tools,omitempty"`
	// MaxTokens limits the reply, in tokens; 0 means the server's own limit.
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *int64   `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	// Sample numbers the replies that are drawn for the same request, so that a cache keeps each of them.
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
	// Parameters is the JSON schema of the tool's arguments.
	Parameters json.RawMessage `json:"parameters"`
}

// Prompt returns a Request with one user message.
func Prompt(text string) Request {
	return Request{Messages: []Message{{Role: User, Text: text}}}
}

// The reasons why a model stopped. Only FinishStop is a success; for the others [Finish] returns an [*Error].
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
	// Finish is the reason why the model stopped.
	Finish string `json:"finish"`
	// Model is the name reported by the server; it may differ from the requested one.
	Model string `json:"model,omitempty"`
	// Fingerprint is the version of the model's backend, if the server reports it.
	Fingerprint string `json:"fingerprint,omitempty"`
	Usage       Usage  `json:"usage"`
}

// UsageFor returns the usage that a reply to req reports, or an estimate if it reports none.
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

// EstimateTokens estimates the tokens of a text without a vocabulary: its bytes divided by four, rounded up,
// the average of English text in cl100k.
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
	// Stream does what Generate does, and calls piece with each part of the text as it arrives. The parts
	// together are the text of the reply. An error of piece ends the call and is returned.
	Stream(ctx context.Context, req Request, piece func(text string) error) (Reply, error)
}

// Stream asks m and calls piece with the parts of the reply, or with the whole text if m is no [Streamer]. If
// piece is nil it calls m.Generate.
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

// Kind is the class of an [Error]; errors.Is(err, llm.ErrTruncated) reports whether err has that class.
type Kind string

func (k Kind) Error() string { return "llm: " + string(k) }

// The kinds of errors.
const (
	// ErrRateLimited: slow down; Error.RetryAfter says how long, if known.
	ErrRateLimited Kind = "rate limited"
	// ErrQuotaExhausted: the account has no credit; waiting does not help.
	ErrQuotaExhausted Kind = "quota exhausted"
	// ErrTransient: the network or the server failed in a way that may pass.
	ErrTransient Kind = "transient failure"
	// ErrTimeout: no complete reply in time.
	ErrTimeout Kind = "timeout"
	// ErrBadRequest: the server will never accept this request.
	ErrBadRequest Kind = "bad request"
	// ErrContextLength: the prompt is longer than the model can read.
	ErrContextLength Kind = "context length exceeded"
	// ErrAuth: the key is missing, wrong or not allowed to do this.
	ErrAuth Kind = "not authorized"
	// ErrFiltered: the provider's content filter stopped the reply.
	ErrFiltered Kind = "content filtered"
	// ErrRefused: the model declined.
	ErrRefused Kind = "refused"
	// ErrTruncated: the reply was cut at the token limit.
	ErrTruncated Kind = "reply truncated"
	// ErrUnfinished: the server gave a stop reason that is not known to be the end of a reply.
	ErrUnfinished Kind = "reply unfinished"
	// ErrEmpty: a reply without text.
	ErrEmpty Kind = "empty reply"
	// ErrInvalidOutput: a reply that does not hold what was asked for.
	ErrInvalidOutput Kind = "invalid output"
	// ErrBudgetExceeded: the call was not made because it could exceed a limit of llm/paid.
	ErrBudgetExceeded Kind = "budget exceeded"
	// ErrCanceled: the context was cancelled.
	ErrCanceled Kind = "canceled"
)

// Billed says whether a failed call cost money.
type Billed string

// BilledUnknown is the zero value: after a timeout or a lost connection a call may have been billed.
const (
	BilledUnknown Billed = ""
	BilledNo      Billed = "no"
	BilledYes     Billed = "yes"
)

// Error is the error type of a [Model] and of the transport below it.
type Error struct {
	Kind Kind
	// Endpoint is the URL without credentials and query; may be empty.
	Endpoint string
	// Status is the HTTP status, 0 if there was none.
	Status int
	// RetryAfter is the wait that the server asked for, 0 if it asked for none.
	RetryAfter time.Duration
	// Body is the server's error message, or the start of its reply, without secrets.
	Body string
	// Billed says whether the last attempt cost money; Usage is the known usage of all attempts together.
	Billed Billed
	Usage  Usage
	// Partial is the text, without reasoning, of a reply that was cut, filtered or interrupted. It may end
	// inside a word.
	Partial string
	// Err is the cause, if any.
	Err error
}

// ErrorType returns the kind, as the error type in a trace: no text of the reply.
func (e *Error) ErrorType() string { return string(e.Kind) }

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Kind.Error())
	if e.Endpoint != "" {
		b.WriteString(": " + e.Endpoint)
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, ": HTTP %d", e.Status)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, ", retry after %s", e.RetryAfter)
	}
	if e.Body != "" {
		fmt.Fprintf(&b, ": %q", e.Body)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	if r := e.remedy(); r != "" {
		b.WriteString(": " + r)
	}
	return b.String()
}

// remedies say what a user can do about an error of a kind.
var remedies = map[Kind]string{
	ErrAuth:           "check the API key",
	ErrQuotaExhausted: "add credit, then start again: paid replies are kept",
	ErrContextLength:  "send less text or use a model with a larger context",
	ErrTruncated:      "raise the token limit of the reply",
	ErrUnfinished:     "ask again; if it happens again, look for the reason in the server's log",
}

func (e *Error) remedy() string {
	switch {
	case e.Kind == ErrTransient && e.Status == 0:
		return "check that the server runs and that the base URL is right"
	case e.Kind == ErrBadRequest && e.Status == 404:
		return "check the base URL and the model name"
	}
	return remedies[e.Kind]
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's [Kind].
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	return slices.Contains([]Kind{ErrRateLimited, ErrTransient, ErrTimeout, ErrEmpty}, e.Kind)
}

// OfOneReply reports whether an error concerns one reply alone: it was filtered, refused, cut, unfinished,
// empty or unusable, or its prompt was too long. A job can continue without this reply.
func OfOneReply(err error) bool {
	return slices.ContainsFunc([]Kind{ErrFiltered, ErrRefused, ErrTruncated, ErrUnfinished, ErrEmpty, ErrInvalidOutput, ErrContextLength},
		func(k Kind) bool { return errors.Is(err, k) })
}

// Fatal returns nil for an error of one reply ([OfOneReply]), after which a job can continue, and otherwise
// err.
func Fatal(err error) error {
	if OfOneReply(err) {
		return nil
	}
	return err
}

// Canceled returns the error of a call whose context ended. It wraps the context's error, so errors.Is finds
// context.Canceled or context.DeadlineExceeded.
func Canceled(ctx context.Context, billed Billed) *Error {
	err := cmp.Or(ctx.Err(), context.Canceled)
	kind := ErrCanceled
	if errors.Is(err, context.DeadlineExceeded) {
		kind = ErrTimeout
	}
	return &Error{Kind: kind, Billed: billed, Err: err}
}

// stops lists the stop reasons of servers by the kind of their error, in lower-case letters; "" is a regular
// end. Sources: OpenAI, Anthropic, Google, Bedrock, Mistral, Cohere, DeepSeek, Z.ai, watsonx, Ollama, vLLM,
// SGLang, TGI, llama.cpp and LM Studio.
var stops = map[Kind]string{
	"":           "stop endturn stopsequence eos eostoken eosfound endoftext stopstringfound word complete completed finish finished done toolcall toolcalls tooluse functioncall null",
	ErrTruncated: "length maxtokens maxoutputtokens maxnewtokens maxlength modellength modelcontextwindowexceeded contextlengthreached maxpredictedtokensreached limit errorlimit tokenlimit",
	ErrFiltered:  "contentfilter contentfiltered safety imagesafety recitation blocklist prohibitedcontent spii guardrailintervened sensitive errortoxic",
	ErrRefused:   "refusal",
	ErrTransient: "error abort aborted load unload modelunloaded insufficientsystemresource networkerror servererror timeout timelimit failed cancelled canceled usercancel userstopped notfinished",
}

// meaning returns the kind of a stop reason, "" for a regular end.
func meaning(stop string) Kind {
	word := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, stop)
	word = strings.TrimPrefix(word, "finishreason") // Google's clients write FINISH_REASON_STOP
	for kind, words := range stops {
		if word == "" && kind == "" || word != "" && strings.Contains(" "+words+" ", " "+word+" ") {
			return kind
		}
	}
	return ErrUnfinished
}

// Finish makes a [Reply] from the raw text of a model and its stop reason: it splits off the reasoning, and
// returns an error with the partial text for a reply that is empty, whose reasoning is not closed, or whose stop
// reason is not a known end. An empty stop reason is a regular end. Models of your own must call it.
func Finish(reply Reply, raw, stop string) (Reply, error) {
	text, thinking, open := SplitThinking(raw)
	reply.Text, reply.Reasoning = text, strings.Trim(reply.Reasoning+"\n"+thinking, "\n")
	kind, why, billed := meaning(stop), fmt.Sprintf("stop reason %q after %d bytes", stop, len(raw)), BilledYes
	blank := strings.TrimSpace(text) == ""
	switch {
	case kind != "":
	case open:
		kind, why = ErrTruncated, "the reasoning block is not closed"
	case blank:
		kind, why = ErrEmpty, "no text in the reply"
		if reply.Usage.PromptTokens+reply.Usage.CompletionTokens == 0 || reply.Usage.Estimated {
			billed = BilledUnknown
		}
	default:
		reply.Finish = FinishStop
		return reply, nil
	}
	reply.Finish = map[Kind]string{ErrTruncated: FinishLength, ErrFiltered: FinishFilter, ErrRefused: FinishFilter}[kind]
	return reply, &Error{Kind: kind, Billed: billed, Partial: text, Err: errors.New(why)}
}

// thoughtMarks are the pairs of marks that models write around their reasoning.
var thoughtMarks = [][2]string{
	{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"<reasoning>", "</reasoning>"}, {"<thought>", "</thought>"},
	{"<THINK>", "</THINK>"}, {"<analysis>", "</analysis>"}, {"<reflection>", "</reflection>"}, {"<scratchpad>", "</scratchpad>"},
	{"<seed:think>", "</seed:think>"}, // Seed-OSS
	{"[THINK]", "[/THINK]"},           // Magistral
	{"◁think▷", "◁/think▷"},           // Kimi
	{"<|channel>thought", "<channel|>"},
	{"<|START_THINKING|>", "<|END_THINKING|>"},     // Command A
	{"<|begin_of_thought|>", "<|end_of_thought|>"}, // OpenThinker
}

// edgeMarks matches marks of chat templates at the beginning or the end of a reply.
var edgeMarks = regexp.MustCompile(`(?i)^(?:\s*<\|(?:start|begin)_(?:of_)?(?:response|solution)\|>)+\s*|(?:\s*(?:<\|(?:return|end|call|eot_id|eom_id|im_end|endoftext|end_of_text|end_of_turn|end_(?:of_)?(?:response|solution))\|>|</s>|<end_of_turn>|<eos>))+\s*$`)

// SplitThinking separates the reasoning at the start of a reply from the answer, by the marks of the usual chat
// templates (<think>, [THINK], the channels of Harmony and others). open is true if the closing mark is missing:
// the reply was cut. Text before a closing mark without an opening one is reasoning: the prompt had the opening mark.
func SplitThinking(text string) (answer, thinking string, open bool) {
	var thought []string
	rest := strings.TrimLeft(text, " \t\r\n")
	if strings.HasPrefix(rest, "<|channel|>") || strings.HasPrefix(rest, "<|start|>") {
		return splitChannels(rest)
	}
	if inner, after, ok := strings.Cut(rest, "assistantfinal"); ok && strings.HasPrefix(inner, "analysis") {
		return after, inner[len("analysis"):], false // the server removed the marks of the channels
	}
	for at := 0; at >= 0; rest = strings.TrimLeft(text, " \t\r\n") {
		if at = slices.IndexFunc(thoughtMarks, func(t [2]string) bool { return strings.HasPrefix(rest, t[0]) }); at < 0 {
			break
		}
		inner, after, closed := strings.Cut(rest[len(thoughtMarks[at][0]):], thoughtMarks[at][1])
		thought = append(thought, strings.TrimSpace(inner))
		if !closed {
			return "", strings.Join(thought, "\n"), true
		}
		text = after
	}
	for _, t := range thoughtMarks {
		if inner, after, ok := strings.Cut(text, t[1]); ok && thought == nil && !strings.Contains(inner, t[0]) {
			thought, text = []string{strings.TrimSpace(inner)}, after
		}
	}
	if thought != nil {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	return edgeMarks.ReplaceAllString(text, ""), strings.Join(thought, "\n"), false
}

// splitChannels separates reasoning from the answer in a reply with the channels of Harmony. The answer is the
// message of the channel "final", or the arguments of a tool call.
func splitChannels(text string) (answer, thinking string, open bool) {
	var thought []string
	for _, part := range strings.Split(text, "<|channel|>")[1:] {
		channel, said, _ := strings.Cut(part, "<|message|>")
		said, _, _ = strings.Cut(said, "<|start|>")
		said = strings.TrimSpace(edgeMarks.ReplaceAllString(said, ""))
		if open = strings.HasPrefix(channel, "analysis"); open {
			thought = append(thought, said)
		} else {
			answer = said
		}
	}
	return answer, strings.Join(thought, "\n"), open || answer == ""
}
