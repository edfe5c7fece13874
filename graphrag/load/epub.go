// SPDX-License-Identifier: Apache-2.0

package load

import (
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
func ebook(p *pack) error {
	root := ""
	if err := p.scan("META-INF/container.xml", elements{open: func(e xml.StartElement) {
		if e.Name.Local == "rootfile" && root == "" {
			root = attr(e, "full-path")
		}
	}}); err != nil {
		return err
	}
	locked := false
	if err := p.optional("META-INF/encryption.xml", elements{open: func(e xml.StartElement) {
		by := attr(e, "Algorithm")
		fonts := strings.HasPrefix(by, "http://www.idpf.org/2008/embedding") || strings.HasPrefix(by, "http://ns.adobe.com/pdf/enc")
		locked = locked || e.Name.Local == "EncryptionMethod" && !fonts
	}}); err != nil {
		return err
	}
	if locked {
		return errEncrypted
	}
	if err := p.properties(root, map[string]string{"subject": "keywords"}); err != nil {
		return err
	}
	pages := make(map[string]string)
	var spine []string
	if err := p.scan(root, elements{open: func(e xml.StartElement) {
		switch e.Name.Local {
		case "item":
			href, err := url.PathUnescape(strings.SplitN(attr(e, "href"), "#", 2)[0])
			if err == nil && !strings.Contains(" "+attr(e, "properties")+" ", " nav ") {
				pages[attr(e, "id")] = path.Join("/", path.Dir(root), href)[1:]
			}
		case "itemref":
			spine = append(spine, pages[attr(e, "idref")])
		}
	}}); err != nil {
		return err
	}
	for _, name := range spine {
		if p.parts[name] == nil {
			continue
		}
		if err := p.page(name); err != nil {
			return err
		}
	}
	if p.out.Len() == 0 {
		return errors.New("no page of its spine has text")
	}
	return nil
}

// page adds a page of a book.
func (p *pack) page(name string) error {
	r, err := p.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	source, err := decode(data)
	if err != nil {
		return fmt.Errorf("%.80q: %w", name, err)
	}
	text := HTML(name, source).Document.Text
	if p.full(len(text)) {
		return errLong
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
	return nil
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
