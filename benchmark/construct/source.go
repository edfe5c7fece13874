// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/article"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
)

// Sources makes references fit to be joined to pages: one for each URL, cut at the
// fragment, with titles that lead to different files. Of the references with a title
// that is taken, and be it but for its case or its end, the later ones get a number.
func Sources(refs []article.Reference) []article.Reference {
	var out []article.Reference
	urls, files := make(map[string]bool), make(map[string]bool)
	for _, r := range refs {
		r.URL, _, _ = strings.Cut(r.URL, "#")
		if r.URL == "" || urls[r.URL] {
			continue
		}
		urls[r.URL] = true
		for n, title := 2, r.Title; files[fileKey(r.Title)]; n++ {
			r.Title = numbered(title, n)
		}
		files[fileKey(r.Title)] = true
		out = append(out, r)
	}
	return out
}

func fileKey(title string) string { return strings.ToLower(PageFile(title)) }

// PageFile is the name of the file of the page with that title.
func PageFile(title string) string { return wildgraph.Slug(title) + ".txt" }

// numbered is a title with a number at the end that its file name has as well.
func numbered(title string, n int) string {
	for cut := title; ; cut = cut[:len(cut)-1] {
		numbered := fmt.Sprintf("%s %d", strings.TrimSpace(strings.ToValidUTF8(cut, "")), n)
		if slug := wildgraph.Slug(numbered); cut == "" || strings.HasSuffix(slug, fmt.Sprintf(" %d", n)) || slug == fmt.Sprint(n) {
			return numbered
		}
	}
}

// Page is the text of a source.
type Page struct {
	Title, URL string
	Text       string
}

// String is the page as its file holds it.
func (p Page) String() string { return "# " + p.Title + "\n\n" + strings.TrimSpace(p.Text) + "\n" }

// The seven phrases and two measures by which a page is no source: what servers write in
// place of a page (WildGraphBench's construction tools, fetch_reference_pages).
var excuses = []string{"404 not found", "page not found", "access denied", "permission denied", "bad link", "something went wrong", "403 forbidden", "enable javascript", "verify you are human"}

const (
	fewLines   = 13
	shortLine  = 50   // words
	excuseSize = 4096 // bytes; a longer text may quote an excuse
)

// Poor says why a text is no page to cite, or "": it is empty, an excuse of the server,
// or a few short lines. It is a rule of thumb; see Checker for one that reads.
func Poor(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return "empty"
	}
	if len(text) <= excuseSize {
		lower := strings.ToLower(text)
		for _, e := range excuses {
			if strings.Contains(lower, e) {
				return fmt.Sprintf("it says %q", e)
			}
		}
	}
	lines := 0
	for line := range strings.Lines(text) {
		words := len(strings.Fields(line))
		if words > 0 {
			lines++
		}
		if words >= shortLine || lines >= fewLines {
			return ""
		}
	}
	return fmt.Sprintf("%d short lines", lines)
}
