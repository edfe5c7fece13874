// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
)

// questionError returns the error for the client after an error of the system.
func questionError(err error) error {
	switch {
	case errors.Is(err, kit.ErrField):
		return bad("where: %v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return problem{http.StatusGatewayTimeout, "timeout", "the answer took too long"}
	}
	return err
}

// models replies to a request for the list of models: the system is the only one.
func (s *server) models(w http.ResponseWriter, _ *http.Request, _ *user) error {
	reply(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": s.system.Name(), "object": "model", "created": 0, "owned_by": "wildgraph"}}})
	return nil
}

// completion is a request in OpenAI's form. Its other parameters, such as temperature, are ignored.
type completion struct {
	Model    string              `json:"model"`
	Messages []message           `json:"messages"`
	Stream   bool                `json:"stream"`
	Where    *graphrag.Condition `json:"where"`
	Options  struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// text returns the content of a message, which is a text or a list of parts.
func (m message) text() string {
	var whole string
	if json.Unmarshal(m.Content, &whole) == nil {
		return whole
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(m.Content, &parts) // other content has no text
	for _, p := range parts {
		if p.Type == "text" {
			whole += p.Text
		}
	}
	return whole
}

// citation is a citation in the form for clients.
type citation struct {
	Start    int             `json:"start"` // bytes of the content from Start to End-1
	End      int             `json:"end"`
	Document string          `json:"document"`
	Title    string          `json:"title,omitempty"`
	Quote    string          `json:"quote"`
	Fields   graphrag.Fields `json:"fields,omitempty"`
}

func (s *server) chat(w http.ResponseWriter, r *http.Request, _ *user) error {
	var in completion
	if err := decode(r, &in); err != nil {
		return err
	}
	if in.Model != s.system.Name() {
		return problem{http.StatusNotFound, "model_not_found", fmt.Sprintf("there is no model %.100q, take %q", in.Model, s.system.Name())}
	}
	q, end, err := s.question(w, asksLast(in.Messages), 0, in.Where)
	if err != nil {
		return err
	}
	defer end()
	out := &eventWriter{s: s, w: w, id: fmt.Sprintf("chatcmpl-%x", time.Now().UnixNano()), created: time.Now().Unix()}
	if in.Stream {
		return out.stream(s.answers(r.Context(), q), in.Options.Usage)
	}
	a, err := s.system.Answer(r.Context(), q)
	if err != nil {
		return questionError(err)
	}
	choice := map[string]any{"index": 0, "finish_reason": "stop", "logprobs": nil, "message": map[string]any{"role": "assistant", "refusal": nil, "content": a.Text + s.cited(a)}}
	whole := out.object("chat.completion", choice)
	whole["usage"], whole["citations"] = usage(a.Usage), citations(a)
	reply(w, whole)
	return nil
}

// maxTurns is the number of earlier questions that can complete a question.
const maxTurns = 20

// asksLast returns the last message of the user, completed so that it can be asked alone.
func asksLast(messages []message) string {
	var asked, answers []string
	for _, m := range messages {
		switch {
		case m.Role == "user":
			asked, answers = append(asked, m.text()), append(answers, "")
		case m.Role == "assistant" && len(answers) > 0:
			answers[len(answers)-1] = m.text()
		}
	}
	n := len(asked) - 1
	if n < 0 {
		return ""
	}
	first := max(0, n-maxTurns)
	return InContext(asked[n], asked[first:n], answers[first:n])
}

// answers yields the answers of a system that streams, or the only answer of another one.
func (s *server) answers(ctx context.Context, q graphrag.Question) iter.Seq2[graphrag.Answer, error] {
	if streamer, ok := s.system.(graphrag.Streamer); ok {
		return streamer.Stream(ctx, q)
	}
	return func(yield func(graphrag.Answer, error) bool) { yield(s.system.Answer(ctx, q)) }
}

// eventWriter writes the events of one streamed answer.
type eventWriter struct {
	s       *server
	w       http.ResponseWriter
	id      string
	created int64
	begun   bool
}

func (c *eventWriter) object(kind string, choices ...any) map[string]any {
	if choices == nil {
		choices = []any{}
	}
	return map[string]any{"id": c.id, "object": kind, "created": c.created, "model": c.s.system.Name(), "choices": choices}
}

// send writes one event and flushes it.
func (c *eventWriter) send(v any) error {
	if !c.begun {
		c.begun = true
		c.w.Header().Set("Content-Type", "text/event-stream")
		c.w.Header().Set("Cache-Control", "no-store")
	}
	data, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(c.w, "data: %s\n\n", data)
	}
	if err == nil {
		err = http.NewResponseController(c.w).Flush()
	}
	return err
}

func (c *eventWriter) delta(text string, finish any) map[string]any {
	return c.object("chat.completion.chunk", map[string]any{"index": 0, "delta": map[string]any{"role": "assistant", "content": text}, "finish_reason": finish})
}

// stream writes the text that each answer adds to the one before. An error after the first event is sent as an
// event; if the client is gone, stream ends.
func (c *eventWriter) stream(answers iter.Seq2[graphrag.Answer, error], withUsage bool) error {
	var last graphrag.Answer
	told := ""
	for a, err := range answers {
		if err != nil {
			if !c.begun {
				return questionError(err)
			}
			_ = c.send(map[string]any{"error": c.s.problem("POST /v1/chat/completions", questionError(err)).body()})
			return nil
		}
		last = a
		more, goesOn := strings.CutPrefix(a.Text, told)
		if !goesOn || more == "" {
			continue
		}
		if told = a.Text; c.send(c.delta(more, nil)) != nil {
			return nil
		}
	}
	list, rest := citations(last), c.s.cited(last)
	if !strings.HasPrefix(last.Text, strings.TrimSpace(told)) { // the answer is another text than what was sent: that was reasoning, or became a refusal
		rest, told = "\n\n"+last.Text+rest, told+"\n\n"
		for i := range list {
			list[i].Start, list[i].End = list[i].Start+len(told), list[i].End+len(told)
		}
	}
	final := c.delta(rest, "stop")
	final["citations"] = list
	err := c.send(final)
	if err == nil && withUsage {
		tail := c.object("chat.completion.chunk")
		tail["usage"] = usage(last.Usage)
		err = c.send(tail)
	}
	if err == nil {
		_, _ = fmt.Fprint(c.w, "data: [DONE]\n\n")
	}
	return nil
}

func usage(u graphrag.Usage) map[string]int {
	return map[string]int{"prompt_tokens": u.PromptTokens, "completion_tokens": u.CompletionTokens, "total_tokens": u.PromptTokens + u.CompletionTokens}
}

// citations returns the citations of passages in the form for clients.
func citations(a graphrag.Answer) []citation {
	out := []citation{}
	for _, c := range a.Citations {
		from, ok := a.Passage(c)
		if !ok {
			continue
		}
		quote := from.Text
		if lo, hi := c.SourceStart-from.Start, c.SourceEnd-from.Start; len(from.Text) == from.End-from.Start && 0 <= lo && lo < hi && hi <= len(from.Text) {
			quote = from.Text[lo:hi]
		}
		out = append(out, citation{c.Start, c.End, from.Doc, from.Title, quote, from.Fields})
	}
	return out
}

// cited returns the lines below an answer: its sources, each once.
func (s *server) cited(a graphrag.Answer) string {
	var lines []string
	seen := map[string]bool{}
	for _, c := range a.Citations {
		from, ok := a.Passage(c)
		if !ok {
			continue
		}
		line := from.Doc
		if from.Title != "" && from.Title != line {
			line = from.Title + " (" + line + ")"
		}
		if s.o.Cite != nil {
			line = s.o.Cite(a, c)
		}
		if !seen[line] {
			seen[line] = true
			lines = append(lines, fmt.Sprintf("[%d] %s", len(lines)+1, line))
		}
	}
	switch {
	case a.Uncited():
		return "\n\nNo passage is cited for this."
	case lines == nil:
		return ""
	}
	return "\n\n" + strings.Join(lines, "\n")
}

// pronouns are words that refer to something mentioned before.
const pronouns = " it its they them their he him his she her that this those these there one ones "

// maxAnswerBytes limits the part of an answer in which names are searched, in bytes.
const maxAnswerBytes = 4096

// personal are the pronouns that refer to persons.
const personal = " they their he him his she her "

var (
	// fullName matches several capitalized words in a row.
	fullName = regexp.MustCompile(`(?:\p{Lu}\. ?)+\p{Lu}[\p{L}’'-]+|\p{Lu}[\p{L}’'-]+(?: (?:\p{Lu}\. |de |van |von )?\p{Lu}[\p{L}’'-]+)+`)
	asksWho  = regexp.MustCompile(`(?i)\b(?:who|whom|whose)\b`)
)

// InContext returns a question completed so that it can be asked alone, in English. A question depends on the
// one before it if it has a pronoun, begins with "and" or "what about", or has at most one word of its own. If
// that question asked who, and a person is meant, the full names in its answer are appended; otherwise its
// names, or its words if it has none. answers are the answers to the questions in before, "" for a refusal.
func InContext(question string, before, answers []string) string {
	if len(before) == 0 {
		return question
	}
	words := strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return strings.ContainsRune(" \t,.?!;:\"()", r) })
	leans, person := len(words) > 0 && (words[0] == "and" || len(words) > 1 && words[1] == "about"), false
	for _, w := range words {
		leans = leans || strings.Contains(pronouns, " "+w+" ")
		person = person || strings.Contains(personal, " "+w+" ")
	}
	own := text.ReadQuestion(question)
	if !leans && (len(strings.Fields(own.Words)) > 1 || own.Names != "") {
		return question
	}
	n := len(before) - 1
	last := InContext(before[n], before[:n], answers[:min(n, len(answers))])
	read, topic := text.ReadQuestion(last), ""
	if n < len(answers) && person && asksWho.MatchString(last) {
		topic = answered(answers[n], strings.ToLower(last))
	}
	if topic == "" {
		topic = cmp.Or(spelled(last, read.Names), read.Words)
	}
	if topic == "" || strings.Contains(strings.ToLower(question), strings.ToLower(topic)) {
		return question
	}
	return strings.TrimSpace(question) + " (" + topic + ")"
}

// answered returns at most three full names in the first paragraph of an answer that are not in the question.
func answered(answer, question string) string {
	answer, _, _ = strings.Cut(display.Head(answer, maxAnswerBytes), "\n\n")
	out := slices.DeleteFunc(fullName.FindAllString(answer, -1), func(n string) bool { return strings.Contains(question, strings.ToLower(n)) })
	return strings.Join(out[:min(3, len(out))], " ")
}

// spelled returns the words of a question that are in a list, in the spelling of the question.
func spelled(question, list string) string {
	var out []string
	for _, w := range strings.Fields(question) {
		w = strings.Trim(w, ".,?!;:\"()")
		if w != "" && strings.Contains(" "+list+" ", " "+strings.ToLower(w)+" ") {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
