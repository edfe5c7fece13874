// SPDX-License-Identifier: Apache-2.0

package wildgraph

import (
	"slices"
	"strings"
)

// Reference is one line of references.jsonl.
type Reference struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Slug returns the stem of the file of a page with that title: only ASCII letters, digits, hyphens and single
// blanks, at most 80 of them. A cut may leave a blank at the end, which is part of the name. Titles without
// any such character share the slug "page".
func Slug(title string) string {
	kept := make([]byte, 0, len(title))
	for _, r := range title {
		switch {
		case r == '_' || isSpace(r):
			if n := len(kept); n > 0 && kept[n-1] != ' ' {
				kept = append(kept, ' ')
			}
		case r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z':
			kept = append(kept, byte(r))
		}
	}
	slug := strings.Trim(string(kept), " -")
	if slug == "" {
		return "page"
	}
	if len(slug) > 80 {
		slug = strings.TrimRight(slug[:80], "-")
	}
	return slug
}

// isSpace reports the white space of the tool that named the files (Unicode white space and the four ASCII
// separators).
func isSpace(r rune) bool {
	return r >= 0x1c && r <= 0x1f || strings.ContainsRune(" \t\n\v\f\r\u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000", r) ||
		r >= 0x2000 && r <= 0x200a
}

// urlKey returns the form in which URLs are compared: without the fragment. A trailing slash or another
// scheme makes another reference.
func urlKey(url string) string {
	key, _, _ := strings.Cut(url, "#")
	return key
}

// Join maps reference URLs to page files.
type Join struct {
	pages map[string][]string // urlKey → file names, sorted
	urls  map[string][]string // file name → URLs, in file order
}

// NewJoin joins references to page files by title. A URL with several titles leads to several files, and
// titles with one slug share a file: the relation is many-to-many. Files are found exactly or, failing that,
// without regard to case.
func NewJoin(refs []Reference, files []string) *Join {
	exact := make(map[string]bool, len(files))
	folded := make(map[string]string, len(files))
	for _, f := range files {
		exact[f] = true
		if _, taken := folded[strings.ToLower(f)]; !taken {
			folded[strings.ToLower(f)] = f
		}
	}
	j := &Join{pages: make(map[string][]string), urls: make(map[string][]string)}
	for _, ref := range refs {
		url, title := urlKey(ref.URL), strings.TrimSpace(ref.Title)
		if url == "" || title == "" {
			continue
		}
		file := Slug(title) + ".txt"
		if !exact[file] {
			if file = folded[strings.ToLower(file)]; file == "" {
				continue
			}
		}
		if !slices.Contains(j.pages[url], file) {
			j.pages[url] = append(j.pages[url], file)
			slices.Sort(j.pages[url])
			j.urls[file] = append(j.urls[file], url)
		}
	}
	return j
}

// Pages returns the files that may hold the page of a URL, sorted; none if it was never stored.
func (j *Join) Pages(url string) []string { return j.pages[urlKey(url)] }

// URLs returns the URLs of the pages that share a file, in the order of the references.
func (j *Join) URLs(file string) []string { return j.urls[file] }
