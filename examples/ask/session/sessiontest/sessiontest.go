// SPDX-License-Identifier: Apache-2.0

// Package sessiontest opens sessions over a few files for tests, and serves a model that answers slowly.
package sessiontest

import (
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Open opens a session of a system over three files, with flags of package setup.
func Open(t testing.TB, system string, args ...string) *session.Session {
	t.Helper()
	return OpenFiles(t, map[string]string{
		"owl.md":     "# Owls\n\nSome text.\n\nThe barn owl hears a mouse under the snow.\n",
		"lights.csv": "Light,Meaning\nred,<script>alert(1)</script> no internet\n",
		"ada.md":     "Ada Lovelace worked with Charles Babbage in London. Charles Babbage designed the Analytical Engine. Ada Lovelace wrote about the Analytical Engine.\n",
	}, system, args...)
}

// OpenFiles opens a session of a system over the given files.
func OpenFiles(t testing.TB, files map[string]string, system string, args ...string) *session.Session {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	return OpenDir(t, dir, system, args...)
}

// OpenDir opens a session of a system over a folder.
func OpenDir(t testing.TB, dir, system string, args ...string) *session.Session {
	t.Helper()
	sys, ok := all.Find(system)
	if !ok {
		t.Fatal("no system ", system)
	}
	var s setup.Settings
	flags := flag.NewFlagSet("session", flag.ContinueOnError)
	s.Declare(flags, io.Discard, "", s.Flags(func(string) string { return "" }, ""))
	if err := flags.Parse(append([]string{"-mode", "reject", "-cache", filepath.Join(t.TempDir(), "replies.journal")}, args...)); err != nil {
		t.Fatal(err)
	}
	if problems := s.Complete(flags, all.Names()); len(problems) > 0 {
		t.Fatal(problems)
	}
	d, err := session.Open(t.Context(), session.Options{Docs: dir, Index: filepath.Join(t.TempDir(), "index"), System: sys, Settings: s, K: 5, Log: cli.NewLogger(t.Output())})
	check.OK(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Beginning and End are the parts of [SlowModel]'s answer. Beginning suffices for a progress notification.
const (
	Beginning = "The barn owl of the northern valley hunts by ear. It hears mice "
	End       = "below the snow [1]."
)

// SlowModel starts a server and makes OpenAI's environment variables name it. It writes the beginning of an
// answer to "What does the barn owl hear?", and the end when shown is closed.
func SlowModel(t testing.TB, shown <-chan struct{}) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), "barn owl hear?") {
			io.WriteString(w, `{"choices":[{"message":{"content":"An owl [1]."},"finish_reason":"stop"}]}`)
			return
		}
		io.WriteString(w, `data: {"choices":[{"delta":{"content":"`+Beginning+`"}}]}`+"\n\n")
		http.NewResponseController(w).Flush()
		select {
		case <-shown:
		case <-r.Context().Done():
		}
		io.WriteString(w, `data: {"choices":[{"delta":{"content":"`+End+`"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	t.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	t.Setenv("OPENAI_API_KEY", "none")
}
