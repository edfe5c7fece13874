// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
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
	from, to int // lines
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

// siteSuffix ends the title of the page, which precedes the article's own.
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

// Section is a heading of an article with the text below it, up to the next heading of any level: the
// introduction of a section with sub-sections is a section as well.
type Section struct {
	// Path are the titles from the article's down to the section's own.
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

// FromHTML converts the page of an article to Markdown, with headings, links and citation marks. Links are
// made absolute by the page's URL.
func FromHTML(page, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("article: %w", err)
	}
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin()))
	md, err := c.ConvertString(page, converter.WithDomain(u.Scheme+"://"+u.Host))
	if err != nil {
		return "", fmt.Errorf("article: %s: %w", address, err)
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
