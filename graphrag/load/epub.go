// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
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
	if p.out.Len() == 0 {
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
	source := ""
	if err == nil {
		source, err = decode(data)
	}
	if err != nil {
		p.fail(fmt.Errorf("%.80q: %w", name, err))
	}
	text := HTML(name, source).Document.Text
	if p.full(len(text)) {
		return
	}
	heading := single(path.Base(name))
	p.blank()
	for n, at := range paragraphs(text) {
		if line := firstLine(text, at); headingLevel(line) > 0 {
			heading = single(Plain(strings.Trim(line, "# \n")))
		}
		p.f.lines = append(p.f.lines, p.out.Len()+at)
		p.f.places = append(p.f.places, fmt.Sprintf("%.*s ¶%d", maxPlace, heading, n+1))
	}
	p.add(text, p.out.Len())
}

// paragraphs are the offsets of what stands between empty lines.
func paragraphs(s string) (at []int) {
	empty := true
	for i, line := range lines(s) {
		blank := strings.TrimSpace(line) == ""
		if empty && !blank {
			at = append(at, i)
		}
		empty = blank
	}
	return at
}
