// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func TestUnreachableServerNamesURLAndRemedy(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{})
	s.Close() // nobody listens there any more
	m, err := OpenAI(Config{Model: "m", BaseURL: s.OpenAIURL(), Transport: quick})
	check.OK(t, err)
	_, err = m.Generate(t.Context(), llm.Prompt("hello"))
	check.True(t, errors.Is(err, llm.ErrTransient) && strings.Contains(err.Error(), s.OpenAIURL()) &&
		strings.Contains(err.Error(), "check that the server runs"), "error %v", err)
}

func TestConfigIsChecked(t *testing.T) {
	for name, c := range map[string]Config{
		"no model":         {},
		"foreign http":     {Model: "m", BaseURL: "http://10.1.2.3/v1"},
		"user in URL":      {Model: "m", BaseURL: "https://me:s3cretpass@host/v1"},
		"bad URL":          {Model: "m", BaseURL: "http://me:s3cretpass@host:port/v1"},
		"no scheme":        {Model: "m", BaseURL: "localhost:8000"},
		"file":             {Model: "m", BaseURL: "file:///etc/passwd"},
		"query":            {Model: "m", BaseURL: "https://host/v1?key=s3cretpass"},
		"negative":         {Model: "m", Batch: -1},
		"key with newline": {Model: "m", Key: "s3cretpass\r\nX: y"},
		"extra":            {Model: "m", Extra: map[string]any{"f": math.NaN()}},
		"transport":        {Model: "m", Transport: Options{Attempts: -1}},
	} {
		_, err1 := OpenAI(c)
		_, err2 := Ollama(c)
		_, err3 := OpenAIEmbedder(c)
		_, err4 := OllamaEmbedder(c)
		for _, err := range []error{err1, err2, err3, err4} {
			if err == nil {
				t.Errorf("%s: accepted", name)
			} else if strings.Contains(err.Error(), "s3cretpass") {
				t.Errorf("%s: the error shows the secret: %v", name, err)
			}
		}
	}
	_, err := OpenAI(Config{BaseURL: "ftp://x", Batch: -1})
	got := strings.Count(err.Error(), "\n")
	check.Equal(t, got, 2, "%d problems reported, want 3: %v", got+1, err)
	for _, ok := range []Config{
		{Model: "m", BaseURL: "http://10.1.2.3/v1", AllowHTTP: true},
		{Model: "m", BaseURL: "http://localhost:1/v1"},
		{Model: "m", BaseURL: "http://[::1]:1/v1/"},
		{Model: "m", BaseURL: "https://host"},
	} {
		_, err := OpenAI(ok)
		check.True(t, err == nil, "%s: %v", ok.BaseURL, err)
	}
}

func TestKeyReachesServerAndNothingElse(t *testing.T) {
	const key = "canary-8f3a1c-key"
	var logged strings.Builder
	o := quick
	o.Logger = debugLogger(&logged)
	for _, kind := range []string{"openai", "ollama"} {
		s := llmtest.NewServer(llmtest.ServerOptions{Key: key})
		p := provider(s, kind, Config{Key: key, Transport: o})
		m := check.Of(p.Model("m")).OK(t)
		e := check.Of(p.Embedder("m")).OK(t)
		check.OK(t, check.Err(m.Generate(t.Context(), llm.Prompt("hello"))))
		check.OK(t, check.Err(e.EmbedQuery(t.Context(), "hello")))
		echo := llmtest.Fault{Status: 401, Body: `{"error":{"message":"bad key ` + key + ` given"}}`}
		s.Fail(llmtest.Fault{Status: 503, Body: key}, echo, echo)
		_, err1 := m.Generate(t.Context(), llm.Prompt("hello"))
		_, err2 := e.EmbedQuery(t.Context(), "hello")
		s.Fail(llmtest.Fault{Status: 200, Body: `{"error":{"message":"bad key ` + key + ` given","code":401}}`})
		_, err3 := m.Generate(t.Context(), llm.Prompt("hello"))
		seen := fmt.Sprintf("%v %+v %#v %v %+v %v %s %s %+v", err1, err1, err1, err2, err2, err3, m.Name(), e.Name(), p)
		check.True(t, errors.Is(err1, llm.ErrAuth) && errors.Is(err2, llm.ErrAuth) && errors.Is(err3, llm.ErrAuth), "errors %v, %v", err1, err2)
		check.True(t, !strings.Contains(seen, key), "the key shows in %s", seen)
		s.Close()
	}
	check.True(t, !strings.Contains(logged.String(), key) && strings.Contains(logged.String(), "trying again"), "log: %s", logged.String())
}

// A server that sends the key back, wherever in its reply, does not get it into an
// error or a reply, and so neither into caches, journals and reports.
func TestKeyThatIsSentBack(t *testing.T) {
	const key = `canary"8f3a1c-key`
	var logged strings.Builder
	o := quick
	o.Logger = debugLogger(&logged)
	quoted := strings.Trim(fmt.Sprintf("%q", key), `"`)
	for _, kind := range []string{"openai", "ollama"} {
		s := llmtest.NewServer(llmtest.ServerOptions{Handler: func(llm.Request) llm.Reply {
			return llm.Reply{Text: "Your key is " + key + ".", Reasoning: key + " is the key"}
		}})
		defer s.Close()
		p := provider(s, kind, Config{Key: key, Transport: o})
		m := check.Of(p.Model("m")).OK(t)
		reply, err := m.Generate(t.Context(), llm.Prompt("hello"))
		check.True(t, err == nil && reply.Text == "Your key is ***." && !strings.Contains(reply.Reasoning, key), "%+v, %v", reply, err)
		for _, f := range []llmtest.Fault{
			{Raw: "HTTP/1.1 200 OK\r\nAuthorization Bearer " + key + "\r\n\r\n{}"},
			{Raw: "HTTP/1.1 Bearer " + key + "\r\n\r\n"},
			{Raw: "Bearer " + key + "\r\n\r\n"},
			{Raw: "HTTP/1.1 200 OK\r\nContent-Length: " + key + "\r\n\r\n"},
			{Raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + key + "\r\n\r\n"},
			{Status: 401, Body: `{"error":{"message":"` + strings.Repeat("x", 480) + key + `"}}`},
			{Status: 200, Body: `{"error":{"message":"` + strings.Repeat("x", 480) + key + `","code":401}}`},
			{Status: 200, Body: `{"choices":"` + key + `","message":"` + key + `"}`},
		} {
			once := o
			once.Attempts = 1
			p := provider(s, kind, Config{Key: key, Transport: once})
			m, err1 := p.Model("m")
			e, err2 := p.Embedder("m")
			check.OK(t, errors.Join(err1, err2))
			s.Fail(f, f)
			_, err := m.Generate(t.Context(), llm.Prompt("hello"))
			_, err2 = e.EmbedQuery(t.Context(), "hello")
			check.True(t, err != nil && err2 != nil, "%+v: no error", f)
			for _, part := range []string{key, quoted, key[:12], "8f3a1c"} {
				seen := fmt.Sprintf("%v %+v %v", err, err, err2)
				check.True(t, !strings.Contains(seen, part), "%q of the key shows in %s", part, seen)
			}
		}
	}
	check.True(t, !strings.Contains(logged.String(), "8f3a1c"), "log: %s", logged.String())
}

func TestNamesTellModelsApart(t *testing.T) {
	names := map[string]bool{}
	for _, c := range []Config{
		{Model: "a"}, {Model: "b"}, {Model: "a", BaseURL: "https://host/v1"},
		{Model: "a", Extra: map[string]any{"x": 1}}, {Model: "a", Extra: map[string]any{"x": 2}},
	} {
		m := check.Of(OpenAI(c)).OK(t)
		names[m.Name()] = true
		o := check.Of(Ollama(Config{Model: c.Model, BaseURL: c.BaseURL, Extra: c.Extra, ContextTokens: 9})).OK(t)
		names[o.Name()] = true
	}
	check.True(t, len(names) == 10 && names["openai:https://api.openai.com/v1:a"], "names %v", names)
	e1, err1 := OpenAIEmbedder(Config{Model: "e"})
	e2, err2 := OpenAIEmbedder(Config{Model: "e", Extra: map[string]any{"dimensions": 3}})
	err := errors.Join(err1, err2)
	check.True(t, err == nil && e1.Name() != e2.Name(), "embedders of different dimension are both %q, error %v", e1.Name(), err)
}

func TestProviderFromEnv(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{Key: "env-key-1"})
	defer s.Close()
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OLLAMA_HOST"} {
		t.Setenv(name, "")
	}
	check.Is(t, check.Err(ProviderFromEnv(Options{})), ErrNoProvider, "empty environment")
	t.Setenv("OLLAMA_HOST", "http://127.0.0.1:1")
	t.Setenv("OPENAI_BASE_URL", s.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "env-key-1")
	p, err := ProviderFromEnv(Options{})
	check.OK(t, err)
	m, err1 := p.Model("m")
	e, err2 := p.Embedder("e")
	check.OK(t, errors.Join(err1, err2))
	_, err = m.Generate(t.Context(), llm.Prompt("x"))
	check.OK(t, err)
	_, err = e.EmbedQuery(t.Context(), "x")
	check.OK(t, err)
	for host, want := range map[string]string{
		"0.0.0.0": "http://127.0.0.1:11434", "localhost": "http://localhost:11434", ":5000": "http://127.0.0.1:5000",
		"127.0.0.1:8080": "http://127.0.0.1:8080", "https://o.example": "https://o.example:443",
		"http://[::1]:9/base/": "http://[::1]:9/base", "[::]:9": "http://127.0.0.1:9",
	} {
		check.Equal(t, ollamaURL(host), want, "ollamaURL(%q)", host)
	}
}
