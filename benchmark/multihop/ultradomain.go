// SPDX-License-Identifier: Apache-2.0

package multihop

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// UltraDomain is the name of the corpora of that name (arXiv 2409.05591): texts of
// twenty fields. Their questions have no short answers, so they are only indexed.
const UltraDomain = "ultradomain"

// ultraDomains are the fields, each a file of JSON lines.
var ultraDomains = []string{
	"agriculture", "art", "biography", "biology", "cooking", "cs", "fiction", "fin", "health", "history",
	"legal", "literature", "mathematics", "mix", "music", "philosophy", "physics", "politics", "psychology", "technology",
}

func ultraFiles() []string {
	var out []string
	for _, name := range ultraDomains {
		out = append(out, "?"+name+".jsonl")
	}
	return out
}

// ultraText is a line: a question with the whole text that it is about. Many lines
// have the same text.
type ultraText struct {
	Context *string `json:"context"`
	Meta    struct {
		Title string `json:"title"`
	} `json:"meta"`
}

// loadUltraDomain makes a domain of each file, of its texts, each once.
func loadUltraDomain(fsys fs.FS, set, file string) (part, error) {
	var p part
	for _, name := range ultraDomains {
		file := beside(file, name+".jsonl")
		if _, err := fs.Stat(fsys, file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		all := newPassages()
		err := records(fsys, file, func(_ int, t ultraText) error {
			if t.Context == nil {
				return errors.New(`a line without "context"`)
			}
			all.add(strings.TrimSpace(t.Meta.Title), *t.Context)
			return nil
		})
		if err != nil {
			return part{}, err
		}
		if len(all.docs) == 0 {
			return part{}, fmt.Errorf("%s holds no text", file)
		}
		p.domains = append(p.domains, all.domain(path.Join(set, name), nil))
	}
	return p, nil
}
