// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"fmt"
	"regexp"
	"strings"
)

// Wikitext converts wiki markup to the Markdown that [Parse] reads: headings, prose, and references as
// footnotes, with the address, title and archive of citation templates. Tables, pictures and other templates
// are dropped. The time is linear in the length of the page, even with unclosed markup.
func Wikitext(page, title string) string {
	w := &wikiParser{named: make(map[string]int)}
	page = tables.ReplaceAllString(w.lift(comments.ReplaceAllString(page, "")), "\n")
	var out strings.Builder
	out.WriteString("# " + title + "\n\n")
	w.plain(&out, page)
	text := wikiHeading.ReplaceAllStringFunc(out.String(), func(line string) string {
		m := wikiHeading.FindStringSubmatch(line)
		if isReferences(strings.TrimSpace(m[2])) {
			return "" // the footnotes become the list
		}
		return strings.Repeat("#", min(len(m[1]), len(m[3]))) + " " + strings.TrimSpace(m[2])
	})
	text = strings.NewReplacer("'''''", "", "'''", "", "''", "", "&nbsp;", " ").Replace(text)
	out.Reset()
	out.WriteString(text)
	for i, note := range w.notes {
		fmt.Fprintf(&out, "\n\n[^w%d]: %s", i+1, note)
	}
	return out.String() + "\n"
}

var (
	comments    = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)
	tables      = regexp.MustCompile(`(?ms)^\{\|.*?^\|\}`)
	wikiHeading = regexp.MustCompile(`(?m)^(={1,6})([^=\n].*?)(={1,6})[ \t]*$`)
	refOpen     = regexp.MustCompile(`(?i)^<ref\b([^>]{0,300})>`)
	refName     = regexp.MustCompile(`(?i)name\s*=\s*["']?([^"'/>]+)`)
	wikiTag     = regexp.MustCompile(`^</?[a-zA-Z][^<>\n]{0,300}>`)
	external    = regexp.MustCompile(`^\[(https?://[^\s\]]+)(?:[ \t]+([^\]\n]*))?\]`)
	bareURL     = regexp.MustCompile(`https?://[^\s|}\]<>]+`)
	citeField   = regexp.MustCompile(`(?i)\|\s*(url|title|archive-?url)\s*=\s*([^|{}]*)`)
)

// longestRef limits a reference, in bytes.
const longestRef = 8000

// wikiParser holds the footnotes of a page.
type wikiParser struct {
	notes []string       // the footnotes
	named map[string]int // their numbers by the names of references
}

// lift replaces references by footnote marks.
func (w *wikiParser) lift(page string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(page, '<')
		if at < 0 {
			return out.String() + page
		}
		out.WriteString(page[:at])
		page = page[at:]
		m := refOpen.FindStringSubmatch(page)
		if m == nil {
			out.WriteByte('<')
			page = page[1:]
			continue
		}
		page = page[len(m[0]):]
		body, name := "", ""
		if n := refName.FindStringSubmatch(m[1]); n != nil {
			name = strings.TrimSpace(n[1])
		}
		if !strings.HasSuffix(strings.TrimSpace(m[1]), "/") {
			// A reference without a close end is not closed: prose follows.
			if end := strings.Index(page[:min(len(page), longestRef)], "</ref>"); end >= 0 {
				body, page = page[:end], page[end+len("</ref>"):]
			}
		}
		if n := w.note(name, body); n > 0 {
			fmt.Fprintf(&out, "[^w%d]", n)
		}
	}
}

// note returns the number of a reference; 0 is none. A name may be used before its definition.
func (w *wikiParser) note(name, body string) int {
	n := w.named[name]
	if name == "" || n == 0 {
		if name == "" && strings.TrimSpace(body) == "" {
			return 0
		}
		w.notes = append(w.notes, "")
		if n = len(w.notes); name != "" {
			w.named[name] = n
		}
	}
	if w.notes[n-1] == "" {
		w.notes[n-1] = noteOf(body)
	}
	return n
}

// noteOf writes a reference as Markdown.
func noteOf(body string) string {
	fields := make(map[string]string)
	for _, m := range citeField.FindAllStringSubmatch(body, -1) {
		key := strings.ReplaceAll(strings.ToLower(m[1]), "-", "")
		if value := strings.TrimSpace(m[2]); fields[key] == "" {
			fields[key] = value
		}
	}
	url, title := fields["url"], fields["title"]
	if url == "" {
		if at := strings.IndexByte(body, '['); at >= 0 {
			if m := external.FindStringSubmatch(body[at:]); m != nil {
				url, title = m[1], m[2]
			}
		}
	}
	if url == "" {
		url = bareURL.FindString(body)
	}
	if url == "" {
		return strings.Join(strings.Fields(strings.NewReplacer("{", "", "}", "", "|", ", ").Replace(body)), " ")
	}
	title = strings.NewReplacer("[", "(", "]", ")", "\n", " ").Replace(title)
	out := fmt.Sprintf("[%s](%s)", strings.TrimSpace(title), url)
	if archive := fields["archiveurl"]; archive != "" {
		out += fmt.Sprintf(". [Archived](%s)", archive)
	}
	return out
}

// plain writes the prose: the visible text of links, without templates, pictures and tags.
func (w *wikiParser) plain(out *strings.Builder, page string) {
	ends := pairs(page)
	for i := 0; i < len(page); {
		rest := page[i:]
		switch {
		case strings.HasPrefix(rest, "{{"):
			i += 2
			if end := ends[i-2]; end > 0 {
				i = end
			}
		case strings.HasPrefix(rest, "[["):
			end := ends[i]
			if i += 2; end == 0 {
				continue
			}
			if inner := page[i : end-2]; !strings.Contains(inner, "[[") && !strings.HasPrefix(inner, "File:") && !strings.HasPrefix(inner, "Image:") && !strings.HasPrefix(inner, "Category:") {
				out.WriteString(inner[strings.LastIndexByte(inner, '|')+1:])
			}
			i = end
		case rest[0] == '[' && labelled(rest) != nil:
			m := labelled(rest)
			out.WriteString(m[2])
			i += len(m[0])
		case rest[0] == '<' && wikiTag.MatchString(rest[:min(len(rest), 310)]):
			i += len(wikiTag.FindString(rest[:min(len(rest), 310)]))
		default:
			out.WriteByte(rest[0])
			i++
		}
	}
}

// labelled matches external at the beginning of a text, if the bracket is closed within 2,000 bytes.
func labelled(s string) []string {
	end := strings.IndexByte(s[:min(len(s), 2000)], ']')
	if end < 0 {
		return nil
	}
	return external.FindStringSubmatch(s[:end+1])
}

// pairs maps the beginnings of templates and links to their ends, in one pass.
func pairs(page string) map[int]int {
	ends := make(map[int]int)
	var open []int
	for i := 0; i+1 < len(page); i++ {
		switch two := page[i : i+2]; {
		case two == "{{" || two == "[[":
			open = append(open, i)
			i++
		case (two == "}}" || two == "]]") && len(open) > 0:
			if last := open[len(open)-1]; (page[last] == '{') == (two == "}}") {
				ends[last] = i + 2
				open = open[:len(open)-1]
			}
			i++
		}
	}
	return ends
}
