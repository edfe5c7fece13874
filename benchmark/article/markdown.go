// SPDX-License-Identifier: Apache-2.0

package article

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
)

// FromHTML writes the page of an article as Markdown, with headings, links and citation
// marks. Links are made absolute by the page's URL.
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

// normal writes citation marks in one way: those of converters, which escape brackets,
// and Markdown's footnotes, whose definitions become a reference list.
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

// bareLink is an address that is no link yet.
var bareLink = regexp.MustCompile(`(^|[\s<])(https?://[^\s<>()]+)`)
