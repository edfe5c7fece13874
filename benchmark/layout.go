// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
)

// ErrUnknownDomain is wrapped by errors about a wanted domain that a data set does not have.
var ErrUnknownDomain = errors.New("unknown domain")

// Layout is the way in which the data sets of a package are stored in a folder. See [Open].
type Layout struct {
	// Files describes the files of such a folder, for messages.
	Files string
	// Domains are the names for LoadOptions.Domains; nil if every folder has its own.
	Domains []string
	// Judges are the procedures that any of the data sets has.
	Judges []judge.Procedure
	// Recognise reports whether a folder has this layout.
	Recognise func(fs.FS, LoadOptions) bool
	// Load reads the data set.
	Load func(fs.FS, LoadOptions) (*Dataset, error)
}

// LoadOptions select a part of a data set, and its published rows.
type LoadOptions struct {
	// Name names the folder, for data sets without a name of their own.
	Name string
	// Domains are the wanted domains; empty means all.
	Domains []string
	// K is the number of chunks in a prompt, 0 is the default. Mode is the mode of the reader. OwnPrompt
	// is true unless the prompt is the one of the publication. Published rows must agree with all three, if
	// they were published with them.
	K         int
	Mode      string
	OwnPrompt bool
}

// Open reads the data set of a folder by the first layout that recognises it.
func Open(fsys fs.FS, o LoadOptions, layouts ...Layout) (*Dataset, error) {
	var files []string
	for _, l := range layouts {
		if l.Recognise(fsys, o) {
			return l.Load(fsys, o)
		}
		files = append(files, l.Files)
	}
	return nil, fmt.Errorf("benchmark: no data set here: point to the folder with %s", strings.Join(files, "; or "))
}
