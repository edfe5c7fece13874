// SPDX-License-Identifier: Apache-2.0

package office

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// ebook reads an EPUB file (W3C EPUB 3): its pages in the order of the spine, without the contents
// page. A place is the heading of a page and the paragraph under it.
func ebook(p *pack) {
	root, locked := "", false
	p.scan("META-INF/container.xml", elements{open: func(e xml.StartElement) {
		if e.Name.Local == "rootfile" {
			root = cmp.Or(root, attr(e, "full-path"))
		}
	}})
	p.optional("META-INF/encryption.xml", elements{open: func(e xml.StartElement) {
		by := attr(e, "Algorithm") // that of fonts keeps no one from reading
		fonts := strings.HasPrefix(by, "http://www.idpf.org/2008/embedding") || strings.HasPrefix(by, "http://ns.adobe.com/pdf/enc")
		locked = locked || e.Name.Local == "EncryptionMethod" && !fonts
	}})
	if locked {
		p.fail(errEncrypted)
	}
	p.properties(root, map[string]string{"subject": "keywords"})
	pages := make(map[string]string)
	var spine []string
	p.scan(root, elements{open: func(e xml.StartElement) {
		switch e.Name.Local {
		case "item":
			href, err := url.PathUnescape(strings.SplitN(attr(e, "href"), "#", 2)[0])
			if err == nil && !strings.Contains(" "+attr(e, "properties")+" ", " nav ") {
				pages[attr(e, "id")] = path.Join("/", path.Dir(root), href)[1:]
			}
		case "itemref":
			spine = append(spine, pages[attr(e, "idref")])
		}
	}})
	for _, name := range spine {
		if p.parts[name] != nil {
			p.page(name)
		}
	}
	if p.Empty() {
		p.fail(errors.New("no page of its spine has text"))
	}
}

// page adds a page of a book.
func (p *pack) page(name string) {
	r := p.open(name)
	if r == nil {
		return
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		p.fail(fmt.Errorf("%.80q: %w", name, err))
		return
	}
	f, err := load.Read("page.html", data)
	if err != nil {
		p.fail(fmt.Errorf("%.80q: %w", name, err))
		return
	}
	text, heading, n := f.Document.Text, load.Single(path.Base(name)), 0
	p.Markdown(text, func(at int) string {
		n++
		line, _, _ := strings.Cut(text[at:], "\n")
		if title := strings.TrimLeft(line, "#"); len(title) < len(line) && strings.HasPrefix(title, " ") {
			heading = load.Single(load.Plain(strings.Trim(title, "# ")))
		}
		return fmt.Sprintf("%.*s ¶%d", maxPlace, heading, n)
	})
	p.fail(p.Err())
}
