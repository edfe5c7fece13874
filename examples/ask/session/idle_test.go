// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Between questions the passages are encoded that no question has asked for, and kept; without Encode
// they are not.
func TestIdleTimeEncodes(t *testing.T) {
	const pages, vector = 70, 64 * 4 // of bytes
	dir, model := t.TempDir(), t.TempDir()
	check.OK(t, embedtest.WriteBERT(model))
	for i := range pages {
		page := fmt.Sprintf("# Owl %d\n\nThe barn owl number %d hears a mouse.\n", i, i)
		check.OK(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", i)), []byte(page), 0o600))
	}
	asked := int64(0) // what is kept of what a question needs
	for _, encode := range []bool{false, true} {
		cache := t.TempDir()
		kept := func() int64 {
			files, _ := filepath.Glob(filepath.Join(cache, "*.vectors"))
			check.Must(t, len(files) == 1, "%v", files)
			info := check.Of(os.Stat(files[0])).OK(t)
			return info.Size()
		}
		s, flags := setup.Settings{}, flag.NewFlagSet("session", flag.ContinueOnError)
		s.Declare(flags, io.Discard, "", s.Flags(func(string) string { return "" }, ""))
		check.OK(t, flags.Parse([]string{"-mode", "reject", "-cache", filepath.Join(cache, "replies.journal"), "-embed-model", "file:" + model}))
		problems := s.Complete(flags, all.Names())
		check.Must(t, len(problems) == 0, "%v", problems)
		wild, _ := all.Find("wild")
		sys := check.Of(wild.With("pages.among", "3")).OK(t)
		d, err := session.Open(t.Context(), session.Options{
			Docs: dir, Index: filepath.Join(t.TempDir(), "index"), System: sys, Settings: s, K: 5, Log: cli.NewLogger(t.Output()), Encode: encode,
		})
		check.OK(t, err)
		ask := func() session.Reply {
			r := check.Of(d.Ask(t.Context(), session.Query{Question: "What does barn owl number 17 hear?"})).OK(t)
			return r
		}
		first := ask()
		end := time.Now().Add(20 * time.Second)
		for encode && kept() < asked+pages/2*vector && time.Now().Before(end) {
			time.Sleep(5 * time.Millisecond)
		}
		if again := ask(); again.Answer != first.Answer || again.Confidence != first.Confidence {
			t.Errorf("encoded: %q (%v), before: %q (%v)", again.Answer, again.Confidence, first.Answer, first.Confidence)
		}
		err = d.Close()
		check.True(t, err == nil, "%v", err)
		if encode && kept() < asked+pages/2*vector {
			t.Errorf("%d bytes are kept, %d without idle time: want %d vectors of %d bytes more, or near", kept(), asked, pages, vector)
		}
		asked = kept()
	}
}
