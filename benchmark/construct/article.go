// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/display"
)

// Article is an encyclopedia article in the Markdown of a reader service: headings, links, and citation marks
// such as [[12]](…#cite_note-x-14).
type Article struct {
	// Title is the first heading of level one, or else the name given to [Parse].
	Title string

	released bool
	lines    []string
	headings []heading
}

// Options of [Parse].
type Options struct {
	// Released reproduces three accidents of the tools behind the released data set, byte for byte: a link's
	// text ends at its first closing bracket, pictures of formulas are sources, and the last item of the
	// reference list extends to the end of the article.
	Released bool
}

// heading is a heading and the lines below it up to the next one.
type heading struct {
	text     string
	level    int
	from, to int // lines from (inclusive) to to (exclusive)
}

// Parse reads an article. The name replaces a missing title.
func Parse(markdown, name string, o Options) *Article {
	a := &Article{Title: name, released: o.Released, lines: strings.Split(normal(markdown), "\n")}
	a.findHeadings()
	for _, h := range a.headings {
		if h.level == 1 && !strings.HasSuffix(h.text, siteSuffix) {
			a.Title = h.text
			break
		}
	}
	return a
}

// siteSuffix ends the title of the HTML page, which stands above the article's own title.
const siteSuffix = " - Wikipedia"

func (a *Article) findHeadings() {
	for i := 0; i < len(a.lines); i++ {
		text, level, n := headingAt(a.lines, i)
		if level == 0 {
			continue
		}
		if last := len(a.headings) - 1; last >= 0 {
			a.headings[last].to = i
		}
		a.headings = append(a.headings, heading{text: text, level: level, from: i + n, to: len(a.lines)})
		i += n - 1
	}
}

// headingAt reads the heading that begins on a line: underlined by at least three = or -, or marked by #. n
// is the number of its lines.
func headingAt(lines []string, i int) (text string, level, n int) {
	line := lines[i]
	if line == "" || unicode.IsSpace(rune(line[0])) {
		return "", 0, 0
	}
	if i+1 < len(lines) {
		switch {
		case underlines(lines[i+1], '='):
			return strings.TrimSpace(line), 1, 2
		case underlines(lines[i+1], '-'):
			return strings.TrimSpace(line), 2, 2
		}
	}
	rest := strings.TrimLeft(line, "#")
	if level = len(line) - len(rest); level == 0 || level > 6 || rest == "" || rest[0] != ' ' {
		return "", 0, 0
	}
	return strings.TrimSpace(strings.TrimRight(rest, "# ")), level, 1
}

func underlines(line string, mark byte) bool {
	line = strings.TrimSpace(line)
	return len(line) >= 3 && strings.Trim(line, string(mark)) == ""
}

// Section is a heading of an article with the text between it and the next heading of any level. The text
// before the first sub-heading of a section is thus a section.
type Section struct {
	// Path are the titles of the article, of the enclosing sections and of the section itself.
	Path []string
	// Body is the Markdown of the section, never blank.
	Body string
}

// nonProse are the headings of texts that are not prose of the article.
var nonProse = []string{"see also", "references", "cited sources", "external links", "further reading", "notes", "contents"}

// Sections returns the sections that have a text, in the order of the article.
func (a *Article) Sections() []Section {
	var out []Section
	var path []string
	var levels []int
	for _, h := range a.headings {
		for len(levels) > 0 && levels[len(levels)-1] >= h.level {
			levels, path = levels[:len(levels)-1], path[:len(path)-1]
		}
		if h.level > 1 {
			levels, path = append(levels, h.level), append(path, h.text)
		}
		body := strings.TrimSpace(strings.Join(a.lines[h.from:h.to], "\n"))
		if body == "" || strings.HasSuffix(h.text, siteSuffix) || slices.Contains(nonProse, strings.ToLower(h.text)) {
			continue
		}
		out = append(out, Section{Path: slices.Concat([]string{a.Title}, path), Body: body})
	}
	return out
}

// FromHTML converts the HTML page of an article to Markdown, with headings, links and citation marks. Relative
// links are resolved against the page's address.
func FromHTML(page, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("construct: the address of the article: %w", err)
	}
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin()))
	md, err := c.ConvertString(page, converter.WithDomain(u.Scheme+"://"+u.Host))
	if err != nil {
		return "", fmt.Errorf("construct: converting %s to Markdown: %w", address, err)
	}
	return md, nil
}

var (
	escapedMark = regexp.MustCompile(`\[\\\[([0-9]+)\\?\]\]`)
	footnote    = regexp.MustCompile(`\[\^([^\]\s]+)\]`)
	definition  = regexp.MustCompile(`(?m)^\[\^([^\]\s]+)\]:[ \t]*(.*)$`)
)

// normal unifies citation marks: the escaped brackets of converters, and Markdown's footnotes, whose
// definitions become a reference list.
func normal(markdown string) string {
	markdown = strings.ReplaceAll(markdown, "\r\n", "\n")
	markdown = escapedMark.ReplaceAllString(markdown, "[[$1]]")
	defined := definition.FindAllStringSubmatch(markdown, -1)
	if len(defined) == 0 {
		return markdown
	}
	number := make(map[string]int)
	var list strings.Builder
	for _, d := range defined {
		if number[d[1]] == 0 {
			number[d[1]] = len(number) + 1
			fmt.Fprintf(&list, "%d. [^](#cite_ref-%s) %s\n", len(number), d[1], bareLink.ReplaceAllString(d[2], "$1[$2]($2)"))
		}
	}
	text := definition.ReplaceAllString(markdown, "")
	text = footnote.ReplaceAllStringFunc(text, func(mark string) string {
		name := mark[2 : len(mark)-1]
		if n := number[name]; n > 0 {
			return fmt.Sprintf("[[%d]](#cite_note-%s)", n, name)
		}
		return mark
	})
	return text + "\n\n## References\n\n" + list.String()
}

// bareLink matches an address outside of a link.
var bareLink = regexp.MustCompile(`(^|[\s<])((?:https?://|file:)[^\s<>()]+)`)

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

// References returns the sources of an article, each once, in the order of the text: from the reference list and
// the bibliography, and from the citations and further reading that follow one of them.
func (a *Article) References() []Reference {
	var out []Reference
	seen := make(map[Reference]bool)
	for _, e := range listEntries(a.sourceLines()) {
		if r, ok := a.readEntry(e); ok && !seen[r] {
			seen[r] = true
			out = append(out, r)
		}
	}
	return out
}

// sourceLines returns the lines of the reference list and later lists of sources.
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

// sourceTitles are headings of lists of sources other than the reference list.
var sourceTitles = []string{"citations", "further reading"}

// listEntries groups lines: an entry begins at a number or a bullet, and ends at an empty line.
func listEntries(lines []string) []string {
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

// link is a Markdown link to a web page or a file.
type link struct{ text, url string }

var (
	linkEnd  = regexp.MustCompile(`\]\(((?:https?://|file:)(?:[^\s()]|\([^\s()]*\))+)(?:\s+"[^"]*")?\)`)
	flatLink = regexp.MustCompile(`\[([^\]]+)\]\((https?://[^)]+)\)`)
)

// links returns the links of an entry. With flat an address ends at its first closing parenthesis.
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

// opening returns the offset of the bracket that the one at end closes, or -1, within maxTitle bytes before it.
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

// readEntry reads the source of an entry of a list: its first link in quotation marks, which mark titles of
// articles, or else its first link. If its only link is to an archive, that is the source.
func (a *Article) readEntry(entry string) (r Reference, ok bool) {
	var title, archive *link
	for _, l := range links(entry, a.released) {
		switch {
		case strings.EqualFold(plainTitle(l.text), "archived"):
			archive = cmp.Or(archive, &l)
		case isWiki(l.url) || !a.released && slices.ContainsFunc(chromeHosts, func(domain string) bool { return within(hostOf(l.url), domain) }):
		case title == nil || !quoted(title.text) && quoted(l.text):
			title = &l
		}
	}
	if archive != nil {
		r.Archive = archive.url
		title = cmp.Or(title, archive)
	}
	if title == nil {
		return r, false
	}
	r.Title, r.URL = plainTitle(title.text), title.url
	if bare := "[" + title.url + "](" + title.url + ")"; !a.released {
		if title.text == title.url { // a link whose text is its address has no title
			r.Title = ""
		}
		r.Title = display.OneLine(cmp.Or(readable(r.Title), readable(strings.ReplaceAll(entryNumber.ReplaceAllString(entry, ""), bare, "")), hostOf(r.URL), title.url))
	}
	return r, r.Title != ""
}

func quoted(text string) bool { return strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "“") }

// plainTitle removes quotation marks and emphasis around a title.
func plainTitle(text string) string {
	return strings.Trim(strings.Trim(text, "\"“”"), "_* ")
}

var referencesTitles = []string{"references", "参考文献", "參考文獻", "参考资料", "參考資料"}

func isReferences(title string) bool {
	return slices.Contains(referencesTitles, strings.ToLower(title))
}

// readable removes markup, and returns "" if no letter is left.
func readable(title string) string {
	plain, _ := text.StripLinks(title)
	plain = strings.Trim(display.OneLine(plain), "^*_\"“”, ")
	if strings.IndexFunc(plain, unicode.IsLetter) < 0 {
		return ""
	}
	return display.Head(plain, maxName)
}

// maxName is the largest length, in bytes, of a title without quotation marks or emphasis.
const maxName = 200

// isWiki reports whether an address belongs to the encyclopedia. The encyclopedia cannot be its own source.
func isWiki(address string) bool { return within(hostOf(address), "wikipedia.org") }

// chromeHosts are the hosts of links that are not the article's: sister projects and page tools.
var chromeHosts = []string{"wikimedia.org", "wikidata.org", "wiktionary.org", "wikisource.org", "wikivoyage.org",
	"wikimediafoundation.org", "mediawiki.org", "toolforge.org"}

func within(host, domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) }

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Mark is a citation mark of a sentence: [[12]](…#cite_note-smith-14).
type Mark struct {
	// Number is the visible number, in digits.
	Number string
	// Note is the name of the item in the reference list; empty if the mark has no link to an item.
	Note string
}

var markPattern = regexp.MustCompile(`\[\[([0-9]+)\]\](?:\(((?:[^()]|\([^()]*\))*)\))?`)

// Marks returns the citation marks of a text, each once, in order. Marks with letters are skipped: they lead to
// footnotes and not to sources.
func Marks(text string) []Mark {
	var out []Mark
	for _, m := range markPattern.FindAllStringSubmatch(text, -1) {
		mark := Mark{Number: m[1]}
		if _, note, found := strings.Cut(m[2], "#cite_note-"); found {
			if end := strings.IndexAny(note, "& "); end >= 0 {
				note = note[:end]
			}
			mark.Note = note
		}
		if !slices.Contains(out, mark) {
			out = append(out, mark)
		}
	}
	return out
}

// Unmark replaces citation marks by as many blanks, so that offsets stay and sentences remain separated.
func Unmark(text string) string {
	return markPattern.ReplaceAllStringFunc(text, func(mark string) string { return strings.Repeat(" ", len(mark)) })
}

// Citations are the numbered items of an article's reference list.
type Citations struct {
	address  *regexp.Regexp
	numbered map[string]string // number of a mark → text of the item
	noted    map[string]string // note of a mark → text of the item
}

var (
	itemStart  = regexp.MustCompile(`^([0-9]+)\. `)
	anchorLink = regexp.MustCompile(`#cite_ref-([^)\s"]+)`)
	anchorUse  = regexp.MustCompile(`^(?:(.*)_)?([0-9]+)(?:-[0-9]+)?$`)
	// An address may contain pairs of parentheses; with flatAddress it ends at its first closing parenthesis.
	addressPattern = regexp.MustCompile(`(?:https?://|file:)(?:[^\s()\[\]"<>]|\([^\s()]*\))+`)
	flatAddress    = regexp.MustCompile(`https?://[^\s)\]">]+`)
)

// Citations reads the items of the article's reference list.
func (a *Article) Citations() *Citations {
	c := &Citations{address: addressPattern, numbered: make(map[string]string), noted: make(map[string]string)}
	if a.released {
		c.address = flatAddress
	}
	number, item := "", []string(nil)
	for _, line := range append(a.referenceList(), "0. ") {
		if m := itemStart.FindStringSubmatch(line); m != nil {
			if number != "" {
				c.add(number, strings.Join(item, "\n"))
			}
			number, item = m[1], nil
		}
		item = append(item, line)
	}
	return c
}

// referenceList returns the lines below the heading of the references, including sub-headings.
func (a *Article) referenceList() []string {
	i := slices.IndexFunc(a.headings, func(h heading) bool { return isReferences(h.text) })
	if i < 0 {
		return nil
	}
	end := i + 1
	for end < len(a.headings) && a.headings[end].level > a.headings[i].level {
		end++
	}
	to := a.headings[end-1].to
	if a.released {
		to = len(a.lines)
	}
	return slices.Clone(a.lines[a.headings[i].from:to])
}

func (c *Citations) add(number, item string) {
	c.numbered[number] = item
	for _, m := range anchorLink.FindAllStringSubmatch(item, -1) {
		// Links of marks repeat the note with a number for each use: smith_14-0, smith_14-1. A note with one
		// use and no name is only a number.
		if use := anchorUse.FindStringSubmatch(m[1]); use != nil {
			c.noted[strings.TrimPrefix(use[1]+"-"+use[2], "-")] = item
		}
	}
}

// URLs returns the addresses of a mark's item outside of the encyclopedia, each once, without fragments. The
// item is found by the note, which is exact, or else by the number.
func (c *Citations) URLs(m Mark) []string {
	var out []string
	item, known := c.noted[m.Note]
	if !known {
		item = c.numbered[m.Number]
	}
	for _, u := range c.address.FindAllString(item, -1) {
		u, _, _ = strings.Cut(u, "#")
		if !isWiki(u) && !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}
