// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/ask/session/sessiontest"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// defining are files with what suggestions are made of, and with what only looks like it.
var defining = map[string]string{
	"a.md": "# Router\n\nA router is a box that joins the network of a house to the line. The box is a grey one on the wall. However it is a thing that breaks. Jane Roe is an editor of manuals.\n\n## How is it reset?\n\nHold the button for ten seconds: that resets it.\n\n## Is it loud?\n",
	"b.md": "Ada Lovelace (1815-1852) was an English mathematician. Charles Babbage designed the Analytical Engine. Charles Babbage built its wheels in the end. Abel was the first to go.\n",
	"c.md": "# Wie lange gilt die Garantie?\n\nDie Garantie gilt zwei Jahre ab dem Tag des Kaufs, so lange die Rechnung da ist.\n\nEin Kabel ist ein Leiter mit einer Hülle.\n",
}

func TestSuggestions(t *testing.T) {
	want := []string{"What is a router?", "Who was Ada Lovelace?", "How is it reset?", "Who designed the Analytical Engine?", "Wie lange gilt die Garantie?"}
	d := sessiontest.OpenFiles(t, defining, "wild")
	got, err := d.Suggestions(t.Context())
	check.Must(t, err == nil && len(got) == 4, "%q, %v", got, err)
	for _, q := range got {
		r, err := d.Ask(t.Context(), session.Query{Question: q})
		check.True(t, err == nil && !r.Refused && len(r.Sources) != 0 && slices.Contains(want, q), "%s: %+v, %v", q, r, err)
	}
	again, err := sessiontest.OpenFiles(t, defining, "wild").Suggestions(t.Context())
	check.True(t, err == nil && slices.Equal(got, again), "%q, then %q, %v", got, again, err)
	german := sessiontest.OpenFiles(t, map[string]string{"c.md": defining["c.md"]}, "wild")
	got, err = german.Suggestions(t.Context())
	check.True(t, err == nil && slices.Equal(got, want[4:]), "German: %q, %v", got, err)
}

// Who leaves makes nobody wait, and the next one gets the suggestions.
func TestSuggestionsCancelled(t *testing.T) {
	d := sessiontest.OpenFiles(t, defining, "wild")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := d.Suggestions(ctx)
	check.Is(t, err, context.Canceled, "%q", got)
	got, err = d.Suggestions(t.Context())
	check.True(t, err == nil && len(got) != 0, "%q, %v", got, err)
}

// With a model, suggestions are made and checked without it.
func TestSuggestionsFree(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(llm.Request) llm.Reply { return llm.Reply{Text: "Yes."} }})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "none")
	for _, system := range []string{"wild", "hipporag2"} {
		d := sessiontest.OpenFiles(t, defining, system, "-model", "m", "-index-kit", "offline")
		before := len(server.Requests())
		got, err := d.Suggestions(t.Context())
		calls := len(server.Requests()) - before
		check.True(t, err == nil && slices.Contains(got, "What is a router?") && calls <= 0, "%s: %q with %d calls, %v", system, got, calls, err)
	}
}

func TestAbout(t *testing.T) {
	d := sessiontest.OpenFiles(t, map[string]string{
		"a.md":  "---\nteam: ops\nyear: 2024\ntags: [x, y]\nlong: " + strings.Repeat("z", 99) + "\n---\nThe owl hears a mouse.\n",
		"b.md":  "---\nteam: law\n---\nThe tower was lit.\n",
		"c.txt": "The tide is high.\n",
	}, "wild")
	about, err := d.About(t.Context(), nil)
	fields := maps.Clone(about["fields"].(map[string]string))
	check.True(t, strings.HasPrefix(fields["modified"], "modified >= 20"), "the time of a file: %q", fields["modified"])
	delete(fields, "modified")
	got, _ := json.Marshal(map[string]any{"files": about["files"], "kinds": about["kinds"], "fields": fields})
	want := `{"fields":{"folder":"folder = \".\"","kind":"kind = \"md\"","long":"","tags":"tags has \"x\"","team":"team = \"ops\"","year":"year \u003e= 2024"},"files":3,"kinds":{"md":2,"txt":1}}`
	check.True(t, err == nil && string(got) == want, "%s, %v", got, err)
	for name, condition := range about["fields"].(map[string]string) {
		if condition == "" {
			continue
		}
		c, err := graphrag.ParseCondition(condition)
		check.True(t, err == nil, "%v %v", name, err)
		some, err := d.About(t.Context(), &c)
		check.True(t, err == nil && some["files"].(int) != 0, "%s: %v, %v", condition, some, err)
	}
	c := graphrag.Equal("taem", "ops")
	check.Fails(t, check.Err(d.About(t.Context(), &c)), `no file has the field "taem"; the fields are folder, kind, long, modified, tags, team, year`,
		"an unknown field")
}

func TestExcerpt(t *testing.T) {
	line := "The tower of the ä-island was lit again.\n"
	long := strings.Repeat(line, 1000)
	d := sessiontest.OpenFiles(t, map[string]string{"long.txt": long, "owl.md": "The barn owl hears a mouse under the snow.\n"}, "wild")
	from := 500 * len(line)
	s, err := d.Excerpt("long.txt", from, from+len(line)-1, nil)
	if err != nil || s.Place != "501" || s.Raw != line[:len(line)-1] || len(s.Before)+len(s.After) > 9000 || len(s.Before) < 3000 ||
		!strings.HasPrefix(s.Before, "…\n"+line) || !strings.HasSuffix(s.After, line+"…") && !strings.HasSuffix(s.After, "\n…") {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = d.Excerpt("long.txt", 0, len(long), nil)
	check.True(t, err == nil && len(s.Raw) <= 4<<10, "%d bytes, %v", len(s.Raw), err)
	if r, err := d.Ask(t.Context(), session.Query{Question: "What does the barn owl hear?"}); err != nil || len(r.Sources) != 1 {
		t.Errorf("%+v, %v", r, err)
	} else if s, err := d.Excerpt(r.Sources[0].File, r.Sources[0].From, r.Sources[0].To, nil); err != nil || strings.TrimSpace(s.Raw) != r.Sources[0].Quote {
		t.Errorf("%+v, %v", s, err)
	}
	tables := graphrag.Equal("kind", "csv")
	for name, err := range map[string]error{
		"above":       second(d.Excerpt("../../etc/passwd", 0, 0, nil)),
		"absolute":    second(d.Excerpt("/etc/passwd", 0, 0, nil)),
		"roundabout":  second(d.Excerpt("./owl.md", 0, 0, nil)),
		"nothing":     second(d.Excerpt("", 0, 0, nil)),
		"a condition": second(d.Excerpt("owl.md", 0, 0, &tables)),
	} {
		check.Contains(t, err.Error(), "not in the index", "%s: %v", name, err)
	}
	for _, at := range [][2]int{{-1, 0}, {2, 1}, {0, 1 << 40}} {
		check.Fails(t, check.Err(d.Excerpt("owl.md", at[0], at[1], nil)), "43 bytes of text", "%d", at)
	}
}

func second(s session.Source, err error) error {
	if err == nil {
		return fmt.Errorf("there is %+v", s)
	}
	return err
}

// Between questions the passages are encoded that no question has asked for, and kept; without Encode
// they are not.
func TestIdleTimeEncodes(t *testing.T) {
	const pages, vector = 70, 64 * 4 // of bytes
	dir, model := t.TempDir(), t.TempDir()
	check.OK(t, graphragtest.WriteBERT(model))
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
		check.OK(t, err)
		if encode && kept() < asked+pages/2*vector {
			t.Errorf("%d bytes are kept, %d without idle time: want %d vectors of %d bytes more, or near", kept(), asked, pages, vector)
		}
		asked = kept()
	}
}

func TestReply(t *testing.T) {
	d := sessiontest.Open(t, "wild")
	r, err := d.Ask(t.Context(), session.Query{Question: "What does the barn owl hear?"})
	check.Must(t, err == nil && !r.Refused && len(r.Sources) == 1, "%+v, %v", r, err)
	check.Equal(t, r.Sources[0].Place, "5")
	check.True(t, strings.HasSuffix(r.Sources[0].Before, "Some text.\n\n"), "before it stands %q", r.Sources[0].Before)
	check.True(t, r.Confidence >= .5 && len(r.Passages) > 0, "%+v", r)
	_, err = d.Neighbours(t.Context(), "Ada Lovelace", 5, nil)
	check.True(t, errors.Is(err, session.ErrNoGraph) && strings.Contains(err.Error(), "-system"), "without a graph: %v", err)
	found, err := d.Search(t.Context(), "mouse snow", 1, nil)
	check.True(t, err == nil && len(found) == 1 && strings.HasSuffix(found[0].Path, "owl.md"), "%+v, %v", found, err)
}

func TestNeighbours(t *testing.T) {
	d := sessiontest.Open(t, "hipporag2")
	n, err := d.Neighbours(t.Context(), "ada lovelace", 1, nil)
	check.Must(t, err == nil && len(n.Facts) == 1 && n.More > 0, "%+v, %v", n, err)
	check.Equal(t, n.Names, []string{"Ada Lovelace"})
	check.True(t, n.Facts[0].Place == "1" && strings.HasSuffix(n.Facts[0].Path, "ada.md"), "%+v", n.Facts[0])
	_, err = d.Neighbours(t.Context(), "lovel", 5, nil)
	check.True(t, errors.Is(err, session.ErrUnknown) && strings.Contains(err.Error(), "there are Ada Lovelace"), "part of a name: %v", err)
	n, err = d.Around(t.Context(), session.Query{Question: "What did Charles Babbage design, and who is Nobody Known?"}, 9)
	check.True(t, err == nil && len(n.Names) != 0 && n.Names[0] == "Charles Babbage" && len(n.Facts) != 0, "%+v, %v", n, err)
}

// A question, a search, facts and a graph are limited to the files that meet a condition, and
// the session's own is within each.
func TestWhere(t *testing.T) {
	d := sessiontest.Open(t, "wild")
	c := check.Of(graphrag.ParseCondition(`kind = "csv"`)).OK(t)
	r, err := d.Ask(t.Context(), session.Query{Question: "What does the barn owl hear in the light?", Where: &c})
	check.True(t, err == nil && r.Refused && len(r.Passages) != 0 && !strings.Contains(fmt.Sprint(r), "owl.md"), "%+v, %v", r, err)
	found, err := d.Search(t.Context(), "owl light", 5, &c)
	check.True(t, err == nil && len(found) != 0 && !strings.Contains(fmt.Sprint(found), "owl.md"), "%+v, %v", found, err)
	d = sessiontest.Open(t, "hipporag2")
	check.Is(t, check.Err(d.Neighbours(t.Context(), "Ada Lovelace", 5, &c)), session.ErrUnknown, "a name of another file")
	n, err := d.Around(t.Context(), session.Query{Question: "Ada Lovelace", Where: &c}, 9)
	check.True(t, err == nil && len(n.Facts) == 0, "%+v, %v", n, err)
	var page strings.Builder
	err = d.WriteGraph(t.Context(), &page, session.Query{Question: "What does the red light mean?", Where: &c})
	check.True(t, err == nil && !strings.Contains(page.String(), "Lovelace"), "a page with names of other files: %v", err)
}
