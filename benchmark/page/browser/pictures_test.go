// SPDX-License-Identifier: Apache-2.0

package browser_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var pictures = flag.String("pictures", "", "the folder for pictures of a report on the shipped sample")

// The pictures of docs/report.md are of a real run on the shipped sample.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("pictures are made with -pictures FOLDER")
	}
	out := t.TempDir()
	run := exec.Command("go", "run", "./examples/wildgraphbench", "-out", out)
	run.Dir = filepath.Join("..", "..", "..")
	if text, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	const question = "#q=astronomy%2Fastronomy%2F2&a=bm25&b=hipporag2"
	small := screen{width: 420, height: 860, dark: true}
	for name, shot := range map[string]struct {
		state, show string
		screen      screen
	}{
		"report-figures":   {"", "", screen{width: 1200, height: 860}},
		"report-questions": {"#x=1&a=bm25&b=hipporag2", "#questions", screen{width: 1200, height: 860}},
		"report-question":  {question, "", screen{width: 1200, height: 860}},
		"report-phone":     {"", "#questions", small},
	} {
		tab := open(t, filepath.Join(out, "report.html"), shot.state, shot.screen)
		tab.until(`document.querySelector("#dots svg")`)
		if strings.Contains(shot.state, "q=") {
			tab.opened()
		}
		if shot.show != "" {
			eval[chromedp.Void](tab, fmt.Sprintf(`document.querySelector(%q).scrollIntoView({ behavior: "instant" })`, shot.show))
		}
		picture, err := chromedp.Run(tab.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(*pictures, name+".png"), picture, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
