// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/ask/session/sessiontest"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Tests run in the folder of the command, which has its testdata.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// ask runs the program with the given input.
func ask(t *testing.T, typed string, args ...string) (out, errs string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	err = run(t.Context(), args, func(string) string { return "" }, streams{strings.NewReader(typed), &o, &e}, Stores{})
	return o.String(), e.String(), err
}

// notes returns a folder of some files, and the folder of the indexes.
func notes(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	write(t, dir, "notes/owl.md", "# Owls\n\nSome text.\n\nThe barn owl hears\na mouse under the snow.\n")
	write(t, dir, "lights.csv", "Light,Meaning\nred,no internet\nblue,all is well\n")
	write(t, dir, "broken.txt", "\x81\xef\x81")
	write(t, dir, ".git/config.txt", "not read")
	write(t, dir, "picture.png", "not text")
	return dir
}

func write(t *testing.T, dir, name, data string) {
	t.Helper()
	name = filepath.Join(dir, name)
	check.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
	check.OK(t, os.WriteFile(name, []byte(data), 0o644))
}

func TestOneQuestion(t *testing.T) {
	dir := notes(t)
	t.Chdir(dir)
	out, errs, err := ask(t, "", "-docs", ".", "What does the barn owl hear?")
	check.True(t, err == nil && strings.Contains(out, "   notes/owl.md:5  “The barn owl hears a mouse under the snow.”\n"), "%v, output:\n%s", err, out)
	for _, want := range []string{"skipped: 1 file: unsupported kind of file (.png); broken.txt: the encoding is unknown", "2 files; index in "} {
		check.Contains(t, errs, want)
	}
	out, errs, err = ask(t, "", "-docs", ".", "-json", "What does the red light mean?")
	var r session.Reply
	check.OK(t, errors.Join(err, json.Unmarshal([]byte(out), &r)))
	check.Must(t, len(r.Sources) == 1 && r.Passages == nil, "%+v", r)
	check.Equal(t, []string{r.Sources[0].At(), r.System}, []string{"lights.csv:2", "wild"})
	check.True(t, !strings.Contains(errs, "Changed"), "nothing changed: %s", errs)
	write(t, dir, "lights.csv", "Light,Meaning\n\nred,no power\n")
	out, errs, err = ask(t, "", "-docs", ".", "-v", "What does the red light mean?")
	check.OK(t, err, "after a change")
	check.Contains(t, errs, "0 new, 1 changed, 0 gone")
	for _, want := range []string{"no power", "lights.csv:3", "Found:\n"} {
		check.Contains(t, out, want)
	}
	out, _, err = ask(t, "", "-docs", ".", "Who is the mayor of Reykjavik and what does she hear?")
	if !errors.Is(err, cli.ErrNoAnswer) || cli.Fail(io.Discard, "ask", err) != 2 || !strings.HasPrefix(out, "The files do not say.\nThe closest passage:\n") || !strings.Contains(out, "notes/owl.md:5") || strings.Contains(out, "\x1b") {
		t.Errorf("%v: %s", err, out)
	}
}

// A single file is read as a folder, also through a link: its neighbours are not read, and its place is shown
// as a path that can be opened. A file that cannot be read is named.
func TestOneFile(t *testing.T) {
	dir := notes(t)
	t.Chdir(dir)
	if err := os.Symlink(filepath.Join("notes", "owl.md"), "link.md"); err != nil {
		t.Skip(err)
	}
	write(t, dir, ".owl.md", "\n\n\n\nThe barn owl hears a mouse.")
	for _, name := range []string{"notes/owl.md", "link.md", ".owl.md", filepath.Join(dir, "notes", "owl.md")} {
		out, errs, err := ask(t, "", "-docs", name, "What does the barn owl hear?")
		if err != nil || !strings.Contains(out, "\n   "+shownAs(name, dir)+":5  “") || !strings.Contains(errs, "1 file; index in ") || strings.Contains(errs, "skipped") {
			t.Errorf("%s: %v\n%s%s", name, err, out, errs)
		}
	}
	for name, want := range map[string]string{"broken.txt": "broken.txt: the encoding is unknown", "picture.png": "unsupported kind of file (.png)"} {
		_, _, err := ask(t, "", "-docs", name, "What?")
		check.Fails(t, err, want, "%s", name)
	}
}

// -trace writes the stages of the index and the steps of the question, without any of their words.
func TestTrace(t *testing.T) {
	dir, file := notes(t), filepath.Join(t.TempDir(), "trace.json")
	_, _, err := ask(t, "", "-docs", dir, "-system", "youtu", "-trace", file, "Who hears a mouse?")
	check.OK(t, err)
	data := check.Of(os.ReadFile(file)).OK(t)
	for _, want := range []string{"cut", "extract", "graph", "build", "answer", "retrieve", "decompose", "search", "read"} {
		check.True(t, bytes.Contains(data, []byte(`"name": "`+want+`"`)), "no span %s", want)
	}
	check.True(t, json.Valid(data) && !bytes.Contains(data, []byte("mouse")) && !bytes.Contains(data, []byte("owl")), "%s", data)
	for _, bad := range [][]string{{"-trace", filepath.Join(dir, "none", "x"), "Who?"}, {"-trace", file, "-serve", ":0"}} {
		_, _, err := ask(t, "", append([]string{"-docs", dir}, bad...)...)
		check.Fails(t, err, "-trace", "%v", bad)
	}
}

func shownAs(name, dir string) string { return strings.TrimPrefix(name, dir+"/") }

// The answer is replaced by the sentences of at most three passages, each with a word of the question, which is
// highlighted.
func TestClosest(t *testing.T) {
	d := sessiontest.OpenFiles(t, map[string]string{
		"a.md": "Barn owls hunt at night.", "b.md": "The owl, a barn OWL, sleeps by day.", "c.md": "Owls are kept in the barn of Ludwig.",
		"d.md": "The barn was sold; an owl stayed.", "e.md": "Tides rise and fall.",
	}, "wild")
	r, err := d.Ask(t.Context(), session.Query{Question: "Who painted the barn owl of Reykjavik in 1804?"})
	check.Must(t, err == nil && r.Refused && len(r.Closest) == 3, "%v: %+v", err, r)
	places := map[string]bool{}
	for _, s := range r.Closest {
		places[s.File] = true
		if s.File == "b.md" && (s.Marked("<", ">") != "The <owl>, a <barn> <OWL>, sleeps by day." || !slices.Equal(s.Lit, []string{"owl", "barn", "OWL"})) || len(s.Lit) == 0 {
			t.Errorf("lit %q: %s", s.Lit, s.Marked("<", ">"))
		}
	}
	german := sessiontest.OpenFiles(t, map[string]string{"h.md": "Das Haus am Hafen ist alt.", "b.md": "Der Bäcker und die Mühle sind neu."}, "wild")
	r, err = german.Ask(t.Context(), session.Query{Question: "Wer strich die Häuser von Reykjavik im Jahr 1804?"})
	check.True(t, err == nil && r.Refused && len(r.Closest) == 1 && slices.Equal(r.Closest[0].Lit, []string{"Haus"}), "%v: %+v", err, r)
	check.True(t, len(places) == 3 && !places["e.md"] && places["b.md"], "of %v", places)
}

func TestQuestions(t *testing.T) {
	dir := notes(t)
	file := filepath.Join(t.TempDir(), "q")
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "{\"id\":\"%d\",\"question\":\"What does the barn owl hear?\"}\nWhat does the red light mean?\n\n", i)
	}
	check.OK(t, os.WriteFile(file, []byte(lines.String()), 0o600))
	out, _, err := ask(t, "", "-docs", dir, "-questions", file)
	got := strings.Split(strings.TrimSpace(out), "\n")
	check.Must(t, err == nil && len(got) == 200, "%d lines, %v", len(got), err)
	for i, line := range got {
		var r session.Reply
		if err := json.Unmarshal([]byte(line), &r); err != nil || len(r.Sources) != 1 || i%2 == 0 && r.ID != fmt.Sprint(i/2) || i%2 == 1 && r.ID != "" {
			t.Fatalf("line %d: %v %s", i, err, line)
		}
	}
	for _, typed := range []string{"\nfine?\n{\"question\":\n", "\n\n{\"id\":\"x\"}\n", "\n\n" + strings.Repeat("x", 1<<17), "\n\n{\"question\":12}", "a\n\n{\"question\":null}", "a\n\n\xff\xfe?"} {
		_, _, err := ask(t, typed, "-docs", dir, "-questions", "-")
		check.True(t, err != nil && strings.Contains(err.Error(), "line 3 ") && !strings.Contains(err.Error(), "%!"), "%.20q: %v", typed, err)
	}
}

func TestDialogue(t *testing.T) {
	dir := notes(t)
	out, errs, err := ask(t, "/sources\nWhat does the barn owl hear?\nwhere does it hear the mouse?\n/history\n/nonsense\n/sources\n/new\n/history\n/help\n/quit\nnot asked\n", "-docs", dir)
	check.OK(t, err)
	for _, want := range []string{"Nothing was asked yet.", "notes/owl.md:5", "(asked as: where does it hear the mouse? (barn owl hear))", "  1  What does", "  2  where does", "There is no /nonsense", "Found:", "forget what was asked"} {
		check.Contains(t, out, want, "the dialogue")
	}
	check.True(t, !strings.Contains(out, "not asked") && strings.HasSuffix(errs, "> "), "after /quit:\n%s%s", out, errs)
	_, _, err = ask(t, "What does the barn owl hear?", "-docs", dir)
	check.True(t, err == nil, "the end of the input: %v", err)
}

//go:embed testdata/usage.tsv
var usageTable string

func TestUsage(t *testing.T) {
	dir := notes(t)
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST"} {
		t.Setenv(name, "")
	}
	file := filepath.Join(dir, "lights.csv")
	vars := map[string]string{"DIR": dir, "FILE": file}
	for _, row := range strings.Split(strings.TrimSpace(usageTable), "\n")[1:] {
		row, want, _ := strings.Cut(row, "\t")
		args := strings.Split(os.Expand(row, func(name string) string { return vars[name] }), "|")
		_, _, err := ask(t, "", args...)
		check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), want), "%v: %v, want %q", args, err, want)
	}
	// No message contains characters that control a terminal, whatever the name of the folder is.
	odd := filepath.Join(dir, "e\x1b[31m\u202e")
	write(t, odd, "b\x1b]0;x\a.md", "The red light means that there is no internet.\n")
	out, errs, err := ask(t, "", "-docs", odd, "-v", "What does the red light mean?")
	check.True(t, err == nil && !strings.ContainsAny(out+errs, "\x1b\a\u202e") && strings.Contains(out, "b ]0;x .md:1"), "%q, %q, %v", out, errs, err)
	_, errs, err = ask(t, "", "-help")
	check.True(t, err != nil && strings.Contains(errs, "-system NAME") && strings.Contains(errs, "a dialogue"), "%v: %s", err, errs)
	_, _, err = ask(t, "", "-docs", t.TempDir(), "x")
	check.True(t, err != nil && !errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), "no file that can be read"), "an empty folder: %v", err)
	inside := filepath.Join(dir, "index")
	_, _, err = ask(t, "", "-docs", dir, "-index", inside, "x")
	check.Fails(t, err, "is among the files", "an index among the files")
}

func TestCorpus(t *testing.T) {
	for question, want := range map[string]string{
		"Why are there two high tides a day?":                    "testdata/corpus/tides.txt:3",
		"When did SOS become the international distress signal?": "testdata/corpus/signals.html:11",
	} {
		out, _, err := ask(t, "", "-docs", "testdata/corpus", "-index", filepath.Join(t.TempDir(), "i"), question)
		check.True(t, err == nil && strings.Contains(out, filepath.FromSlash(want)), "%s %v: %s", question, err, out)
	}
}

// Systems with a graph answer too, and show neighbours.
func TestGraph(t *testing.T) {
	out, _, err := ask(t, "", "-docs", "testdata/corpus", "-index", t.TempDir(), "-system", "HippoRAG2", "-mode", "open", "Who lit the first tower on the Eddystone Rocks, and when?")
	check.True(t, err == nil && strings.Contains(out, "Henry Winstanley lit the first tower there in 1698") &&
		strings.Contains(out, filepath.FromSlash("testdata/corpus/lighthouses.md:14")), "%v: %s", err, out)
}

// An index that the model could not build is refused at every start, and with -incomplete reported: an empty
// graph is not taken for a good one.
func TestUnusableReplies(t *testing.T) {
	dir := notes(t)
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(llm.Request) llm.Reply {
		return llm.Reply{Text: "I am glad to help with that."}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "none")
	args := []string{"-docs", dir, "-model", "fake", "-system", "hipporag2"}
	for range 2 {
		if out, _, err := ask(t, "", append(args, "What does the barn owl hear?")...); err == nil || !strings.Contains(err.Error(), "extract failed for 2 of 2") || !strings.Contains(err.Error(), "-incomplete") {
			t.Fatalf("%q, %v", out, err)
		}
	}
	_, errs, err := ask(t, "", append(args, "-incomplete", "What does the barn owl hear?")...)
	check.True(t, err == nil && strings.Contains(errs, "The index is not complete: extract failed for 2 of 2,"), "%s, %v", errs, err)
	out, _, err := ask(t, "", "-docs", dir, "-model", "fake", "-system", "youtu", "-incomplete", "-v", "What does the barn owl hear?")
	check.True(t, err == nil && strings.Contains(out, "   (2 of the model's replies, or parts of them, could not be read)\nFound:"), "%s, %v", out, err)
}

// A few lost replies are reported with their number, without a warning.
func TestFewUnusableReplies(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.md", i)), fmt.Appendf(nil, "# Owl %d\n\nOwl number %d hears mice below the snow.\n", i, i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(r llm.Request) llm.Reply {
		if llmtest.Contains("number 7")(r) {
			return llm.Reply{Text: "I am glad to help with that."}
		}
		return llm.Reply{Text: `{"named_entities": ["Owl"], "triples": [["Owl", "hears", "mice"]]}`}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "none")
	_, errs, err := ask(t, "", "-docs", dir, "-model", "fake", "-system", "hipporag2", "What does the owl hear?")
	check.True(t, strings.Contains(errs, "extract failed for 1 of 12, since") && !strings.Contains(errs, "not complete"), "%s, %v", errs, err)
}

// A server's encoder is also used for an index that no model builds; if the system has no use for it, that is
// reported.
func TestServersEncoder(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(llm.Request) llm.Reply { return llm.Reply{Text: "It hears mice [1]."} }})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "none")
	for _, tt := range []struct {
		system, kit string
		used        bool
	}{{"naiverag", "model", true}, {"naiverag", "offline", true}, {"wild", "offline", true}, {"bm25", "model", false}} {
		before := len(server.Requests())
		_, errs, err := ask(t, "", "-docs", notes(t), "-system", tt.system, "-model", "m", "-index-kit", tt.kit, "-embed-model", "e", "What does the barn owl hear?")
		embeds := slices.ContainsFunc(server.Requests()[before:], func(r llmtest.Received) bool { return strings.HasSuffix(r.Path, "/embeddings") })
		if err != nil || embeds != tt.used || strings.Contains(errs, "-embed-model e is not used: "+tt.system) == tt.used {
			t.Errorf("%+v: embeds %v, %v: %s", tt, embeds, err, errs)
		}
	}
}

// A model answers with citations, each of which leads to a sentence.
func TestModel(t *testing.T) {
	dir, said := notes(t), "It hears mice below the snow [1]."
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(llm.Request) llm.Reply {
		return llm.Reply{Text: said}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "none")
	if _, _, err := ask(t, "", "-docs", dir, "Who?"); !errors.Is(err, cli.ErrNoAnswer) {
		t.Fatal(err)
	}
	out, errs, err := ask(t, "What does the barn owl hear?\n", "-docs", dir, "-model", "fake")
	check.True(t, !strings.Contains(errs, "rebuilt"), "a model that only answers costs the index: %s", errs)
	if err != nil || !strings.HasPrefix(out, "It hears mice below the snow.\n") || !strings.Contains(out, "notes/owl.md:5  “The barn owl hears a mouse under the snow.”") {
		t.Errorf("%v: %s%s", err, out, errs)
	}
	said = "It hears mice below the snow."
	for _, tt := range []struct{ flag, want string }{
		{"-mode=reject", "It hears mice below the snow.\nNo passage is cited for this.\nThe closest passage"},
		{"-json", `"uncited":true`},
		{"-mode=cited", session.Refusal + "\nThe closest passage"},
	} {
		out, _, err := ask(t, "", "-docs", dir, "-model", "fake", tt.flag, "What does the owl hear?")
		check.True(t, strings.Contains(out, tt.want) && (err != nil) == (tt.flag == "-mode=cited"), "%s: %v: %s", tt.flag, err, out)
	}
}

// The beginning of an answer is shown while the model is still writing, if the model has answered without
// reasoning before.
func TestAnswerComesWhileItIsWritten(t *testing.T) {
	shown := make(chan struct{})
	sessiontest.SlowModel(t, shown)
	out := &screen{awaited: strings.TrimSpace(sessiontest.Beginning), seen: shown}
	var errs bytes.Buffer
	err := run(t.Context(), []string{"-docs", notes(t), "-model", "fake"}, func(string) string { return "" }, streams{strings.NewReader("Who hears mice?\nWhat does the barn owl hear?\n"), out, &errs}, Stores{})
	check.True(t, err == nil && strings.Contains(out.String(), sessiontest.Beginning+"below the snow.\n"), "%v: %s%s", err, out, &errs)
}

// screen closes a channel when a text is shown.
type screen struct {
	bytes.Buffer
	awaited string
	seen    chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	before := strings.Contains(s.String(), s.awaited)
	n, err := s.Buffer.Write(p)
	if !before && strings.Contains(s.String(), s.awaited) {
		close(s.seen)
	}
	return n, err
}

// Rows are indexed in a store, and asked about without their file, also by their fields and by another process.
func TestStore(t *testing.T) {
	dir, place := notes(t), t.TempDir()
	write(t, dir, "rows.jsonl", `{"id": "owl", "text": "The barn owl hears a mouse under the snow.", "team": "a", "year": 2024}
{"_id": 7, "title": "Tides", "text": "The moon draws the water.", "team": "b"}
{"light": "red", "meaning": "no internet"}
`)
	write(t, dir, "rows.csv", "id,text,year\nx,\"The tide falls twice a day, and rises.\",2023\ny,The harp has strings.,none\n")
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"-docs", filepath.Join(dir, "rows.jsonl")}, ""},
		{[]string{"What does the barn owl hear?"}, "The barn owl hears a mouse under the snow.\n   owl  “"},
		{[]string{"What draws the water?"}, "The moon draws the water.\n   7  “"},
		{[]string{"-where", `team = "b"`, "What draws the water?"}, "   7  “"},
		{[]string{"What does the red light mean?"}, "   rows.jsonl/3  “"},
		{[]string{"-docs", filepath.Join(dir, "rows.csv"), "-where", "year > 2000", "How often does the tide fall?"}, "   x  “"},
		{[]string{"-system", "hipporag2", "-docs", filepath.Join(dir, "rows.jsonl")}, ""}, // the index is built from the store
		{[]string{"-system", "hipporag2", "What does the barn owl hear?"}, "The barn owl hears a mouse under the snow.\n   owl  “"},
	} {
		out, errs, err := ask(t, "", append([]string{"-store", place, "-system", "bm25"}, x.args...)...)
		check.True(t, err == nil && strings.Contains(out, x.want), "%q: %q, %q, %v", x.args, out, errs, err)
	}
	write(t, dir, "owl.zip", "PK")
	_, errs, err := ask(t, "", "-store", t.TempDir(), "-system", "bm25", "-docs", dir)
	check.True(t, err == nil && strings.Contains(errs, "1 file: unsupported kind of file (.zip)"), "a skipped file: %q, %v", errs, err)
	for want, args := range map[string][]string{
		"has no documents":      {"-system", "wild", "What?"},
		"-store can be used":    {"-system", "bm25"},
		"unknown field":         {"-system", "bm25", "-where", "nothing = 1", "What?"},
		"there is no store yet": {"-system", "bm25", "-store", filepath.Join(dir, "none"), "What?"},
	} {
		out, errs, err := ask(t, "", append([]string{"-store", place}, args...)...)
		check.True(t, err != nil && strings.Contains(err.Error()+errs, want), "%q: %q, %v; want %s", args, out, err, want)
	}
}
