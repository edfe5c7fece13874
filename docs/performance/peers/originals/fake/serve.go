package fake

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"sync/atomic"
)

// server speaks the interface of OpenAI.
type server struct {
	*Model
	calls, texts, asked, answered atomic.Int64
}

// Handler returns a server of the model in OpenAI's format. /count returns the numbers of calls and of
// embedded texts, and the bytes asked and answered divided by 4; /reset sets them to 0.
func (m *Model) Handler() http.Handler {
	s := &server{Model: m}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/chat/completions", s.chat)
	mux.HandleFunc("/v1/embeddings", s.embed)
	mux.HandleFunc("/count", func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]int64{"calls": s.calls.Load(), "texts": s.texts.Load(), "asked": s.asked.Load() / 4, "answered": s.answered.Load() / 4})
	})
	mux.HandleFunc("/reset", func(http.ResponseWriter, *http.Request) {
		for _, n := range []*atomic.Int64{&s.calls, &s.texts, &s.asked, &s.answered} {
			n.Store(0)
		}
	})
	return mux
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // fails if the client disconnected
}

// content is a text, or the joined texts of its parts.
type content string

func (t *content) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(t)) == nil {
		return nil
	}
	var parts []struct{ Text string }
	err := json.Unmarshal(data, &parts)
	for _, p := range parts {
		*t += content(p.Text)
	}
	return err
}

func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages []struct {
			Role    string
			Content content
		}
		Stream bool
		Model  string
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var messages []Message
	asked := 0
	for _, m := range q.Messages {
		messages = append(messages, Message{m.Role, string(m.Content)})
		asked += len(m.Content)
	}
	out := s.Reply(messages)
	s.calls.Add(1)
	s.asked.Add(int64(asked))
	s.answered.Add(int64(len(out)))
	message := map[string]any{"role": "assistant", "content": out}
	reply := map[string]any{"id": "x", "object": "chat.completion", "created": 1, "model": q.Model,
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": message, "delta": message}},
		"usage":   map[string]int{"prompt_tokens": asked / 4, "completion_tokens": len(out) / 4, "total_tokens": (asked + len(out)) / 4}}
	if !q.Stream {
		write(w, reply)
		return
	}
	reply["object"] = "chat.completion.chunk"
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: ")
	_ = json.NewEncoder(w).Encode(reply)
	fmt.Fprint(w, "\ndata: [DONE]\n\n")
}

// inputs holds one or several texts. A list of tokens is read as a text of their numbers.
type inputs []string

func (in *inputs) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*in = inputs{one}
		return nil
	}
	if json.Unmarshal(data, (*[]string)(in)) == nil {
		return nil
	}
	var tokens [][]int
	err := json.Unmarshal(data, &tokens)
	*in = nil
	for _, t := range tokens {
		*in = append(*in, fmt.Sprint(t))
	}
	return err
}

func (s *server) embed(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Input  inputs
		Format string `json:"encoding_format"`
		Model  string
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.texts.Add(int64(len(q.Input)))
	var data []any
	for i, in := range q.Input {
		var v any = Vector(in)
		if q.Format == "base64" {
			var b []byte
			for _, x := range Vector(in) {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			v = base64.StdEncoding.EncodeToString(b)
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	write(w, map[string]any{"object": "list", "model": q.Model, "data": data, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}})
}
