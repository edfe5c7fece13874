// SPDX-License-Identifier: Apache-2.0

// Package browser_test holds the tests of benchmark/page, and of the pages of graphrag/view and of
// ask, that run in a real browser, Chromium without a window. It is a module of its own, so that nobody who imports
// the library gets a browser's client.
//
//	go test ./...                # in this folder; skipped where there is no Chromium
//	go test ./... -v -run Speed  # prints how fast a page of 6,000 answers is
//	../../../.ci/pictures        # makes the pictures of docs/img
//	go test ./... -run TestAsk -pictures FOLDER
package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpage "github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/internal/check"
)

// wait limits every wait, for a busy machine. No test asserts a time.
const wait = time.Minute

var (
	browser  context.Context
	chromium string
)

func TestMain(m *testing.M) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	if chromium == "" {
		fmt.Println("no Chromium: nothing is tested (.ci/browser installs it)")
		os.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true), // WebGL without a graphics card
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.WSURLReadTimeout(wait))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	var quit context.CancelFunc
	browser, quit = chromedp.NewContext(allocated)
	defer quit()
	if err := chromedp.Do(browser); err != nil {
		fmt.Println("starting", chromium, "failed:", err)
		return 1
	}
	return m.Run()
}

// tab is an open page.
type tab struct {
	*testing.T
	ctx     context.Context
	address string

	clicks int // number of clicks and choices from lists

	mu      sync.Mutex
	trouble []string
}

type screen struct {
	width, height int
	dark          bool
}

var (
	wide  = screen{width: 1400, height: 1000}
	phone = screen{width: 390, height: 844}
)

// save writes a page into a file.
func save(t *testing.T, p *page.Page) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "report.html")
	f := check.Of(os.Create(name)).OK(t)
	defer f.Close()
	check.OK(t, p.Write(f))
	return name
}

// open opens a file at a state and waits until it is ready. At the end of the test the page must have made no
// error and no request.
func open(t *testing.T, file, state string, s screen) *tab {
	t.Helper()
	out := visit(t, "file://"+file, state, s)
	out.until(`document.documentElement.dataset.ready === "true"`)
	return out
}

// visit opens an address at a state. At the end of the test the page must have made no error, and no request to
// another address.
func visit(t *testing.T, address, state string, s screen) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser)
	out := &tab{T: t, ctx: ctx, address: address}
	t.Cleanup(func() {
		closeTab()
		out.mu.Lock()
		defer out.mu.Unlock()
		for _, what := range out.trouble {
			t.Error(what)
		}
	})
	if err := chromedp.Do(ctx); err != nil { // opens the tab
		t.Fatal(err)
	}
	check.OK(t, chromedp.Listen(ctx, out.listen))
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	call(out, network.Enable, network.EnableParams{})
	call(out, log.Enable, cdp.Empty{})
	call(out, cdpruntime.Enable, cdp.Empty{})
	call(out, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(s.width), Height: int64(s.height), DeviceScaleFactor: 1, Mobile: s.width < 700})
	call(out, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	out.do(chromedp.Navigate(address + state))
	return out
}

// listen records every error, every alert, and every request except for the page.
func (t *tab) listen(event any) {
	note := func(format string, args ...any) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.trouble = append(t.trouble, fmt.Sprintf(format, args...))
	}
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, t.address) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") {
			note("a request for %.200s", u)
		}
	case *cdpruntime.EventExceptionThrown:
		note("an exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *cdpruntime.EventConsoleAPICalled:
		if e.Type == cdpruntime.ConsoleAPICalledTypeError || e.Type == cdpruntime.ConsoleAPICalledTypeWarning {
			note("the console says %.300s", e.Args[0].Value)
		}
	case *log.EventEntryAdded:
		// A browser that draws without a graphics card logs that it waits, which no page can avoid.
		if driver := strings.Contains(e.Entry.Text, "GL Driver Message"); !driver && (e.Entry.Level == "error" || e.Entry.Level == "warning") {
			note("the log says %.300s", e.Entry.Text)
		}
	case *cdpage.EventJavascriptDialogOpening:
		note("a dialog: %.200s", e.Message)
	}
}

func (t *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, wait)
	defer cancel()
	check.OK(t, chromedp.Do(ctx, actions...))
}

// call calls a command of the browser's protocol.
func call[P, R any](t *tab, command cdp.Command[P, R], params P) {
	t.Helper()
	check.OK(t, check.Err(chromedp.Call(t.ctx, command, params)))
}

// downloads is the folder for files that the page saves.
func (t *tab) downloads() string {
	t.Helper()
	dir := t.TempDir()
	if _, err := chromedp.CallBrowser(t.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// eval evaluates an expression, and waits for its promise if it is one.
func eval[T any](t *tab, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, wait)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	check.OK(t, err, "%.200s", expression)
	return out
}

// until waits until an expression is true.
func (t *tab) until(expression string) {
	t.Helper()
	for start := time.Now(); time.Since(start) < wait; time.Sleep(20 * time.Millisecond) {
		if eval[bool](t, "Boolean("+expression+")") {
			return
		}
	}
	picture, _ := chromedp.Run(t.ctx, chromedp.CaptureScreenshot())
	name := filepath.Join(os.TempDir(), strings.ReplaceAll(t.Name(), "/", "-")+".png")
	_ = os.WriteFile(name, picture, 0o644)
	t.Fatalf("never: %s (picture: %s)", expression, name)
}

// click clicks an element as a user does, and scrolls to it first.
func (t *tab) click(selector string) {
	t.Helper()
	t.clicks++
	at := eval[[]float64](t, fmt.Sprintf(`(() => {
		const node = document.querySelector(%q);
		node.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
		const box = node.getBoundingClientRect();
		return [box.left + box.width / 2, box.top + box.height / 2];
	})()`, selector))
	t.do(chromedp.MouseClickXY(at[0], at[1]))
}

// named clicks the button with the given text.
func (t *tab) named(within, text string) {
	t.Helper()
	check.Must(t, eval[bool](t, fmt.Sprintf(`(() => {
		for (const old of document.querySelectorAll("[data-test]")) delete old.dataset.test;
		const b = [...document.querySelectorAll(%q)].find((b) => b.textContent.trim() === %q);
		if (b) b.dataset.test = "here";
		return Boolean(b);
	})()`, within+" button", text)), "%s has no button %q", within, text)
	t.click("[data-test=here]")
}

// choose selects a value of a select element.
func (t *tab) choose(selector, value string) {
	t.Helper()
	t.clicks++
	check.Must(t, eval[bool](t, fmt.Sprintf(`(() => {
		const s = document.querySelector(%q);
		s.value = %q;
		const has = s.value === %[2]q;
		s.dispatchEvent(new Event("change", { bubbles: true }));
		return has;
	})()`, selector, value)), "%s has no %q", selector, value)
}

// shown returns the number of questions that the page says it shows.
func (t *tab) shown() int {
	t.Helper()
	return eval[int](t, `Number(document.querySelector("#count").textContent.split(" ")[0].replaceAll(",", ""))`)
}

func (t *tab) text(selector string) string {
	t.Helper()
	return eval[string](t, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((n) => n.innerText).join("\n")`, selector))
}

func (t *tab) opened() {
	t.Helper()
	t.until(`!document.querySelector("#panel").hidden`)
}
