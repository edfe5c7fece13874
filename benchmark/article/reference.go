// SPDX-License-Identifier: Apache-2.0

package article

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Reference is a source that an article cites.
type Reference struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Archive string `json:"archive_url"` // "" if the article names none
}

var (
	entryNumber = regexp.MustCompile(`^\s*[0-9]+[.)]`)
	entryStart  = regexp.MustCompile(`^\s*(?:\[[0-9]+\]|[0-9]+[.)]|[-*])\s`)
)

// References returns the sources of an article, each record once, in the order in
// which they stand from its reference list on: the numbered items, the bibliography,
// further reading and links.
func (a *Article) References() []Reference {
	var out []Reference
	seen := make(map[Reference]bool)
	for _, e := range entries(a.sourceLines()) {
		if r, ok := a.readEntry(e); ok && !seen[r] {
			seen[r] = true
			out = append(out, r)
		}
	}
	return out
}

// sourceLines are the lines from the reference list to the end of the article.
func (a *Article) sourceLines() []string {
	var out []string
	on := false
	for _, h := range a.headings {
		title := strings.ToLower(h.text)
		if on = isReferences(title) || title == "bibliography" || on && slices.Contains(sourceTitles, title); on {
			out = append(out, a.lines[h.from:h.to]...)
		}
	}
	return out
}

// sourceTitles are the headings below which further sources may stand.
var sourceTitles = []string{"citations", "further reading"}

// entries groups lines: one begins at a number or a bullet, and ends at an empty line.
func entries(lines []string) []string {
	var out []string
	from := -1
	end := func(to int) {
		if from >= 0 {
			out = append(out, strings.Join(lines[from:to], " "))
		}
		from = -1
	}
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
			end(i)
		case from < 0 || entryStart.MatchString(line):
			end(i)
			from = i
		}
	}
	end(len(lines))
	return out
}

// link is a Markdown link that leads out of the page.
type link struct{ text, url string }

var (
	linkEnd  = regexp.MustCompile(`\]\((https?://(?:[^\s()]|\([^\s()]*\))+)(?:\s+"[^"]*")?\)`)
	flatLink = regexp.MustCompile(`\[([^\]]+)\]\((https?://[^)]+)\)`)
)

// links returns the links of an entry; flat as the released tools read them, whose
// addresses end at the first closing parenthesis.
func links(entry string, flat bool) (out []link) {
	add := func(text, address string) {
		if !strings.Contains(address, "#cite_") {
			out = append(out, link{text, address})
		}
	}
	if flat {
		for _, m := range flatLink.FindAllStringSubmatch(entry, -1) {
			add(m[1], m[2])
		}
		return out
	}
	for _, m := range linkEnd.FindAllStringSubmatchIndex(entry, -1) {
		from := opening(entry, m[0])
		if picture := from > 0 && entry[from-1] == '!'; from >= 0 && !picture {
			add(entry[from+1:m[0]], entry[m[2]:m[3]])
		}
	}
	return out
}

// opening is the place of the bracket that the one at end closes, or -1. No title is
// longer than maxTitle.
func opening(s string, end int) int {
	depth := 0
	for i := end; i >= max(0, end-maxTitle); i-- {
		switch s[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

const maxTitle = 4 << 10

// readEntry reads the source that an entry names: by the first link to it in quotation
// marks, as the titles of articles are, or by the first one. An entry whose only link
// is to an archive is that link.
func (a *Article) readEntry(entry string) (r Reference, ok bool) {
	var title, archive *link
	for _, l := range links(entry, a.released) {
		switch {
		case strings.EqualFold(plainTitle(l.text), "archived"):
			archive = first(archive, l)
		case isWiki(l.url) || !a.released && isChrome(l):
		case title == nil || !quoted(title.text) && quoted(l.text):
			title = &l
		}
	}
	if archive != nil {
		r.Archive = archive.url
		title = first(title, *archive)
	}
	if title == nil {
		return r, false
	}
	r.Title, r.URL = plainTitle(title.text), title.url
	if !a.released {
		r.Title = text.OneLine(cmp.Or(readable(r.Title), readable(entryNumber.ReplaceAllString(entry, "")), host(r.URL)))
	}
	return r, r.Title != ""
}

func first(l *link, next link) *link {
	if l != nil {
		return l
	}
	return &next
}

func quoted(text string) bool { return strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "“") }

// plainTitle is a title without quotation marks and emphasis.
func plainTitle(text string) string {
	return strings.Trim(strings.Trim(text, "\"“”"), "_* ")
}

var referencesTitles = []string{"references", "参考文献", "參考文獻", "参考资料", "參考資料"}

func isReferences(title string) bool {
	return slices.Contains(referencesTitles, strings.ToLower(title))
}

// readable is a title without markup, or "" if no letter is left.
func readable(title string) string {
	plain, _ := text.StripLinks(title)
	plain = strings.Trim(text.OneLine(plain), "^*_\"“” ")
	if strings.IndexFunc(plain, unicode.IsLetter) < 0 {
		return ""
	}
	return text.Head(plain, maxName)
}

// maxName is how long a title is that was not marked as one, in bytes.
const maxName = 200

// isWiki tells addresses of the encyclopedia, which is no source of its own.
func isWiki(address string) bool { return within(host(address), "wikipedia.org") }

// isChrome tells links that belong to the page and not to the article: to the sisters of
// the encyclopedia, and to what makes its pages.
func isChrome(l link) bool {
	h := host(l.url)
	return slices.ContainsFunc(chromeHosts, func(domain string) bool { return within(h, domain) })
}

var chromeHosts = []string{"wikimedia.org", "wikidata.org", "wiktionary.org", "wikisource.org", "wikivoyage.org",
	"wikimediafoundation.org", "mediawiki.org", "toolforge.org"}

func within(host, domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) }

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
