// SPDX-License-Identifier: Apache-2.0

package office

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// ebook reads an EPUB file (W3C EPUB 3): its pages in the order of the spine, without the contents
// page. A place is the heading of a page and the paragraph under it.
func ebook(p *pack) {
	root, locked := "", false
	p.each("META-INF/container.xml", handlers{"rootfile": func(e *element) { root = cmp.Or(root, e.attr("full-path")) }})
	p.optional("META-INF/encryption.xml", handlers{"EncryptionMethod": func(e *element) {
		by := e.attr("Algorithm") // pages can be read if fonts alone are encrypted
		locked = locked || !strings.HasPrefix(by, "http://www.idpf.org/2008/embedding") && !strings.HasPrefix(by, "http://ns.adobe.com/pdf/enc")
	}})
	if locked {
		p.fail(errEncrypted)
	}
	p.properties(root, map[string]string{"subject": "keywords"})
	pages := make(map[string]string)
	var spine []string
	p.each(root, handlers{
		"item": func(e *element) {
			href, err := url.PathUnescape(strings.SplitN(e.attr("href"), "#", 2)[0])
			if err == nil && !strings.Contains(" "+e.attr("properties")+" ", " nav ") {
				pages[e.attr("id")] = path.Join("/", path.Dir(root), href)[1:]
			}
		},
		"itemref": func(e *element) { spine = append(spine, pages[e.attr("idref")]) },
	})
	for _, name := range spine {
		if p.parts[name] != nil && p.err == nil {
			p.page(name)
		}
	}
	if p.Empty() {
		p.fail(errors.New("no page of its spine has text"))
	}
}

// page adds a page of a book.
func (p *pack) page(name string) {
	text, under, n := p.read(name, "page.html"), load.Single(path.Base(name)), 0
	p.Markdown(text, func(at int) string {
		n++
		first, _, _ := strings.Cut(text[at:], "\n")
		if title := strings.TrimLeft(first, "#"); len(title) < len(first) && strings.HasPrefix(title, " ") {
			under = load.Single(load.Plain(strings.Trim(title, "# ")))
		}
		return fmt.Sprintf("%.*s ¶%d", maxPlace, under, n)
	})
	p.fail(p.Err())
}
