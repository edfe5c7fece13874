// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/examples/ask/session"
	"github.com/wildgraph/wildgraph/examples/ask/session/sessiontest"
	api "github.com/wildgraph/wildgraph/graphrag/serve"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// start serves a session. It returns the address of its page, and a function that waits for the end.
func start(t *testing.T, system string, args ...string) (url string, end func() error) {
	t.Helper()
	d := sessiontest.Open(t, system, args...)
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- session.Serve(ctx, d, "127.0.0.1:0", nil, func(url string) { ready <- url }) }()
	select {
	case url = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	end = func() error { cancel(); return <-ended }
	t.Cleanup(cancel)
	return url, end
}

func handler(t *testing.T, d *session.Session, address string) http.Handler {
	t.Helper()
	return check.Of(session.Handler(d, address, nil)).OK(t)
}

// send makes a request, with headers as "Name: value".
func send(t *testing.T, method, url, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	r := check.Of(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))).OK(t)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	reply := check.Of(http.DefaultClient.Do(r)).OK(t)
	defer reply.Body.Close()
	data := check.Of(io.ReadAll(reply.Body)).OK(t)
	return reply.StatusCode, reply.Header, string(data)
}

const (
	asJSON = "Content-Type: application/json"
	asForm = "Content-Type: application/x-www-form-urlencoded"
)

func TestAsk(t *testing.T) {
	url, end := start(t, "wild")
	status, _, body := send(t, "POST", url+"api/ask", `{"question":"What does the red light mean?","before":[]}`, asJSON, "Origin: "+strings.TrimSuffix(url, "/"))
	var last session.Reply
	for lines := bufio.NewScanner(strings.NewReader(body)); lines.Scan(); {
		last = session.Reply{}
		err := json.Unmarshal(lines.Bytes(), &last)
		check.OK(t, err, "%v %v", err, body)
	}
	check.True(t, status == 200 && len(last.Sources) == 1 && last.Sources[0].Place == "2" &&
		strings.Contains(last.Answer, "no internet") && last.System == "wild", "%d %+v", status, last)
	check.OK(t, end(), "the end")
}

// The page gets the beginning of an answer while the model is still writing.
func TestAnswerComesWhileItIsWritten(t *testing.T) {
	shown := make(chan struct{})
	sessiontest.SlowModel(t, shown)
	url, _ := start(t, "wild", "-model", "fake")
	send(t, "POST", url+"api/ask", `{"question":"Who hears mice?"}`, asJSON)
	reply, err := http.Post(url+"api/ask", "application/json", strings.NewReader(`{"question":"What does the barn owl hear?"}`))
	check.OK(t, err)
	defer reply.Body.Close()
	lines := json.NewDecoder(reply.Body)
	var first, last session.Reply
	err = lines.Decode(&first)
	check.True(t, err == nil && first.Answer == strings.TrimSpace(sessiontest.Beginning), "%v: %+v", err, first)
	close(shown)
	for lines.More() {
		last = session.Reply{}
		check.OK(t, lines.Decode(&last))
	}
	check.True(t, last.Answer == sessiontest.Beginning+"below the snow." && len(last.Sources) == 1, "%+v", last)
}

func TestPage(t *testing.T) {
	url, _ := start(t, "hipporag2")
	status, header, body := send(t, "GET", url, "")
	if csp := header.Get("Content-Security-Policy"); status != 200 || !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || strings.Contains(body, "http://") || strings.Contains(body, "https://") {
		t.Errorf("%d %v", status, header)
	}
	for _, name := range []string{"page.js", "markdown.js", "page.css"} {
		status, _, body := send(t, "GET", url+name, "")
		if status != 200 || strings.Contains(body, "innerHTML") || strings.Contains(strings.ReplaceAll(body, "http://www.w3.org/2000/svg", ""), "http") {
			t.Errorf("%s: %d", name, status)
		}
	}
	status, _, body = send(t, "GET", url+"api/about", "")
	check.True(t, status == 200 && strings.Contains(body, `"files":3`) && strings.Contains(body, `"graph":true`), "about: %d %s", status, body)
	status, _, body = send(t, "POST", url+"graph", "q=Who+was+Ada+Lovelace", asForm)
	check.True(t, status == 200 && strings.Contains(body, "Content-Security-Policy"), "the picture: %d, %d bytes", status, len(body))
	status, _, body = send(t, "GET", url+"api/graph?q=Who+was+Ada+Lovelace", "")
	check.True(t, status == 200 && strings.Contains(body, `"head":"Ada Lovelace"`), "graph: %d %s", status, body)
}

// No GET request calls a model, whatever it asks for; the form that draws a graph sends a POST.
func TestGetsAreFree(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(llm.Request) llm.Reply { return llm.Reply{Text: "With Charles Babbage [1]."} }})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "none")
	d := sessiontest.Open(t, "hipporag2", "-model", "m", "-index-kit", "offline", "-cache", filepath.Join(t.TempDir(), "replies"))
	h := handler(t, d, "127.0.0.1:81")
	calls := func(method, path, body string) int {
		before := len(server.Requests())
		r := httptest.NewRequest(method, "http://127.0.0.1:81"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		h.ServeHTTP(httptest.NewRecorder(), r)
		return len(server.Requests()) - before
	}
	const question = "q=Who+worked+with+Ada+Lovelace"
	for _, path := range []string{"/", "/page.js", "/api/about", "/api/graph?" + question, "/api/graph?" + question + "&where=kind+%3D+%22md%22", "/?" + question, "/api/suggestions", "/api/about?where=kind+%3D+%22md%22", "/api/source?file=ada.md&start=0", "/graph?" + question, "/api/ask?" + question} {
		n := calls("GET", path, "")
		check.True(t, n <= 0, "GET %s calls the model %d times", path, n)
	}
	check.True(t, calls("POST", "/graph", question) != 0, "the answer that is drawn is not the model's")
}

func TestRefused(t *testing.T) {
	url, _ := start(t, "wild")
	question := `{"question":"What?"}`
	for _, row := range append(check.Rows(t, "testdata/refused.txt"), // name, method, path, body, status, headers
		[]string{"a form of 1MB", "POST", "graph", "q=" + strings.Repeat("x", 1<<20), "400", asForm},
		[]string{"too much", "POST", "api/ask", `{"question":"` + strings.Repeat("x", 1<<17) + `"}`, "400", asJSON},
		[]string{"a long before", "POST", "api/ask", `{"question":"What?","before":[` + strings.Repeat(`"x",`, 99) + `"x"]}`, "400", asJSON},
		[]string{"a second value", "POST", "api/ask", question + question, "400", asJSON},
		[]string{"deep nesting", "POST", "api/ask", strings.Repeat("[", 60_000), "400", asJSON},
		[]string{"a condition bomb", "GET", "api/source?file=owl.md&start=0&where=" + strings.Repeat("(", 20_000), "", "400"},
		[]string{"a bomb asked", "POST", "api/ask", `{"question":"What?","where":"` + strings.Repeat("not ", 10_000) + `all"}`, "400", asJSON},
		[]string{"a link of 1MB", "GET", "?q=" + strings.Repeat("x", 1<<20), "", "431"},
		[]string{"a question of 1MB", "GET", "api/graph?q=" + strings.Repeat("x", 10_000), "", "413"},
	) {
		got, _, body := send(t, row[1], url+row[2], row[3], row[5:]...)
		check.Equal(t, strconv.Itoa(got), row[4], "%s: %s", row[0], body)
	}
}

// Browsers omit port 80, media types may have parameters and capitals, and typed addresses and links of the
// page itself come from no other site.
func TestLetThrough(t *testing.T) {
	d := sessiontest.Open(t, "wild")
	for name, tt := range map[string]struct{ address, host, header, value string }{
		"port 80":       {"127.0.0.1:80", "127.0.0.1", "Sec-Fetch-Site", "none"},
		"localhost":     {"127.0.0.1:80", "localhost", "Sec-Fetch-Site", "same-origin"},
		"an older link": {"127.0.0.1:81", "localhost:81", "Referer", "http://localhost:81/"},
		"parameters":    {"127.0.0.1:81", "127.0.0.1:81", "Content-Type", "Application/JSON; charset=utf-8"},
	} {
		r := httptest.NewRequest("POST", "http://"+tt.host+"/api/ask", strings.NewReader(`{"question":"What?"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(tt.header, tt.value)
		w := httptest.NewRecorder()
		handler(t, d, tt.address).ServeHTTP(w, r)
		check.Equal(t, w.Code, 200, "%s: %d %s", name, w.Code, w.Body)
	}
}

// A silent client does not delay the server's end.
func TestSilentClient(t *testing.T) {
	url, end := start(t, "wild")
	c, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(url, "http://"), "/"))
	check.OK(t, err)
	defer c.Close()
	check.OK(t, check.Err(io.WriteString(c, "POST /api/ask HTTP/1.1\r\n")))
	before := time.Now()
	err = end()
	check.True(t, err == nil && time.Since(before) <= 20*time.Second, "%v after %v", err, time.Since(before))
}

// slow is a request body that sends nothing until it is released.
type slow struct{ read, done chan struct{} }

func (s slow) Read([]byte) (int, error) {
	s.read <- struct{}{}
	<-s.done
	return 0, io.EOF
}

// Requests whose bodies do not arrive do not block questions.
func TestSlowBodies(t *testing.T) {
	const address = "127.0.0.1:8080"
	h := handler(t, sessiontest.Open(t, "wild"), address)
	post := func(body io.Reader) int {
		r := httptest.NewRequest("POST", "http://"+address+"/api/ask", body)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	s := slow{make(chan struct{}), make(chan struct{})}
	var all sync.WaitGroup
	for range 8 {
		refused := make(chan struct{})
		all.Go(func() { post(s); close(refused) })
		select {
		case <-s.read:
		case <-refused:
		}
	}
	check.Equal(t, post(strings.NewReader(`{"question": "What does the red light mean?"}`)), 200, "beside eight slow bodies")
	close(s.done)
	all.Wait()
}

// A condition comes with the question. A condition that cannot be read, or names a field that no file has, is
// an error.
func TestServedWhere(t *testing.T) {
	url, _ := start(t, "hipporag2")
	for where, want := range map[string]string{
		`kind = \"csv\"`: `"refused":true`, `kind = \"md\"`: "hears a mouse", `kind =`: "byte 6", `knid = \"md\"`: "no document has the field",
	} {
		_, _, body := send(t, "POST", url+"api/ask", `{"question":"What does the barn owl hear?","where":"`+where+`"}`, asJSON)
		check.Contains(t, body, want, "%s", where)
	}
	for path, want := range map[string]int{"api/graph?q=Ada+Lovelace&where=kind+%3D+%22md%22": 200, "api/graph?q=Ada&where=kind": 400} {
		status, _, body := send(t, "GET", url+path, "")
		check.Equal(t, status, want, "%s: %d %s", path, status, body)
	}
	status, _, body := send(t, "POST", url+"graph", "q=Ada&where=kind+%3D", asForm)
	check.True(t, status == 400 && strings.Contains(body, "condition"), "%d %s", status, body)
}

// Chat programs on this machine ask the folder as they ask a model, and get the places below the answer. With
// tokens the page is not served, and each token has its scope. Changed files are noticed.
func TestAPI(t *testing.T) {
	question := func(q string) string {
		return `{"model": "wild", "messages": [{"role": "user", "content": "` + q + `"}]}`
	}
	url, _ := start(t, "wild")
	if status, _, body := send(t, "POST", url+"v1/chat/completions", question("What does the barn owl hear?"), asJSON); status != 200 || !strings.Contains(body, "hears a mouse under the snow.\\n\\n[1] ") || !strings.Contains(body, "owl.md:5") {
		t.Errorf("%d %s", status, body)
	}
	for name, headers := range map[string][]string{"another site": {"Origin: https://evil.example"}, "a page of one": {"Sec-Fetch-Site: cross-site"}, "another name": {"Host: evil.example"}} {
		status, _, body := send(t, "POST", url+"v1/chat/completions", question("What?"), append(headers, asJSON)...)
		check.Equal(t, status, 403, "%s: %d %s", name, status, body)
	}
	status, _, body := send(t, "DELETE", url+"v1/documents/owl.md", "")
	check.True(t, status == 403 && strings.Contains(body, "reads only"), "%d %s", status, body)
	tokens := check.Of(api.ReadTokens(strings.NewReader(`{"token-of-tables-0123": {"scope": "kind = \"csv\"", "write": true}}`))).OK(t)
	h := check.Of(session.Handler(sessiontest.Open(t, "wild"), "", tokens)).OK(t)
	server := httptest.NewServer(h)
	defer server.Close()
	const bearer = "Authorization: Bearer token-of-tables-0123"
	for _, tt := range []struct {
		method, path, body string
		headers            []string
		status             int
		want               string
	}{
		{"GET", "/", "", []string{bearer}, 404, ""},
		{"GET", "/api/about", "", []string{bearer}, 404, ""},
		{"GET", "/v1/documents", "", nil, 401, "no such token"},
		{"GET", "/v1/documents", "", []string{bearer}, 200, `{"documents":[{"id":"lights.csv"`},
		{"POST", "/v1/chat/completions", question("What does the barn owl hear?"), []string{bearer, asJSON}, 200, "does not contain the answer"},
		{"POST", "/v1/chat/completions", question("What does the red light mean?"), []string{bearer, asJSON}, 200, "no internet"},
		{"PUT", "/v1/documents", `{"documents": [{"id": "x", "fields": {"kind": "csv"}}]}`, []string{bearer, asJSON}, 403, "reads only"},
	} {
		status, _, body := send(t, tt.method, server.URL+tt.path, tt.body, tt.headers...)
		check.True(t, status == tt.status && strings.Contains(body, tt.want), "%s %s: %d %s, want %d %s", tt.method, tt.path, status, body, tt.status, tt.want)
	}
}

// The requests that the page makes before a question, and for the file around a quote.
func TestAround(t *testing.T) {
	url, _ := start(t, "wild")
	for path, want := range map[string]string{
		"api/about":                              `"files":3,"graph":false,"kinds":{"csv":1,"md":2}`,
		"api/about?where=kind+%3D+%22md%22":      `"files":2,`,
		"api/about?where=knid+%3D+%22md%22":      `no file has the field \"knid\"; the fields are folder, kind`,
		"api/about?where=kind+%3D":               `byte 6`,
		"api/suggestions":                        `{"questions":["Who designed the Analytical Engine?"`,
		"api/source?file=owl.md&start=20&end=62": `"quote":"","start":0,"end":0,"before":"# Owls`,
	} {
		status, _, body := send(t, "GET", url+path, "")
		check.True(t, status == 200 && strings.Contains(body, want), "%s: %d %s, want %s", path, status, body, want)
	}
}

// A PDF of the index is opened at its page, for callers whose scope includes it; no other file of the folder is
// served.
func TestPDF(t *testing.T) {
	pdf := "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n" +
		"4 0 obj<</Length 62>>stream\nBT /F1 12 Tf 20 200 Td (The barn owl hears a mouse.) Tj ET     \nendstream endobj\n" +
		"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n"
	d := sessiontest.OpenFiles(t, map[string]string{"owl.pdf": pdf, "notes.md": "The light is red."}, "bm25")
	h := check.Of(session.Handler(d, "127.0.0.1:80", nil)).OK(t)
	get := func(query, site string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "http://127.0.0.1/api/pdf?"+query, nil)
		r.Header.Set("Sec-Fetch-Site", site)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	w := get("file=owl.pdf&where="+url.QueryEscape(`kind = "pdf"`), "same-origin")
	if w.Code != 200 || w.Body.String() != pdf || w.Header().Get("Content-Type") != "application/pdf" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	for query, status := range map[string]int{
		"file=notes.md": 404, "file=none.pdf": 404, "file=../owl.pdf": 404, "file=": 404, "file=owl.pdf&where=" + url.QueryEscape(`kind = "md"`): 404, "file=owl.pdf&where=kind": 400,
	} {
		w := get(query, "same-origin")
		check.True(t, w.Code == status && !strings.Contains(w.Body.String(), "%PDF"), "%s: %d", query, w.Code)
	}
	w = get("file=owl.pdf", "cross-site")
	check.Equal(t, w.Code, 403, "from elsewhere")
}
