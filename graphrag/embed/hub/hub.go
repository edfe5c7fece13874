// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/embed/local"
)

// Options say where models come from and where they are kept. The zero value is the
// Hugging Face Hub and the user's cache.
type Options struct {
	// Dir keeps the models; "" is wildgraph/models in [os.UserCacheDir].
	Dir string
	// Endpoint is a mirror, https://HOST; "" is https://huggingface.co.
	Endpoint string
	// Progress, if set, is called while a file is fetched: its name, how many bytes are
	// there, and how many it will have, 0 if that is not known.
	Progress func(file string, done, total int64)
	// Int8 is passed to [local.Options], for Open.
	Int8 bool

	client http.Client
	stall  time.Duration // how long a server may say nothing
	pause  time.Duration // between two attempts
}

const (
	auto       = "auto"
	none       = "none"
	filePrefix = "file:"
	hubPrefix  = "hf:"
	configFile = "config.json"
)

// preferred are the models that have a name of their own, the fastest first: they find about
// as much (docs/systems.md, wild).
var preferred = []string{"minilm", "bge-small", "e5-small"}

// Find resolves a name, and fetches nothing. "auto" is the name of the best model in the
// cache, "" if it has none; "none" is ""; a folder is file:DIR; other names are themselves. ok
// is false for a name that [Open] does not take, such as the name of a server's model.
func Find(name string, o Options) (found string, ok bool) {
	switch _, known := models[name]; {
	case known, strings.HasPrefix(name, filePrefix), strings.HasPrefix(name, hubPrefix):
		return name, true
	case name == none:
		return "", true
	case name == auto:
		for _, name := range preferred {
			if dir, err := o.folder(models[name]); err == nil && exists(dir) {
				return name, true
			}
		}
		return "", true
	case name != "" && exists(filepath.Join(name, configFile)):
		return filePrefix + name, true
	}
	return name, false
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// Open returns the encoder of a name, and fetches it if it is not there. It returns nil
// where [Find] says "".
func Open(ctx context.Context, name string, o Options) (*local.Encoder, error) {
	name, ok := Find(name, o)
	if !ok {
		return nil, badName(name)
	}
	if name == "" {
		return nil, ctx.Err()
	}
	dir, err := Folder(ctx, name, o)
	if err != nil {
		return nil, err
	}
	return local.Open(dir, local.Options{Int8: o.Int8})
}

// Folder returns the folder of any model that package local opens: DIR of file:DIR, or the folder of a model
// of the Hub, whose files are checked against their sums; it is fetched if it is not cached.
func Folder(ctx context.Context, name string, o Options) (string, error) {
	if dir, ok := strings.CutPrefix(name, filePrefix); ok {
		return dir, nil
	}
	m, ok := models[name]
	if !ok {
		var err error
		if m, err = parse(name); err != nil {
			return "", err
		}
	}
	dir, err := o.folder(m)
	if err != nil {
		return "", fmt.Errorf("hub: %w: name the folder of a model, file:DIR", err)
	}
	if err = m.check(dir); errors.Is(err, fs.ErrNotExist) {
		err = m.fetch(ctx, dir, o)
	}
	return dir, err
}

// folder is where a model is kept.
func (o Options) folder(m model) (string, error) {
	if o.Dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		o.Dir = filepath.Join(cache, "wildgraph", "models")
	}
	return filepath.Join(o.Dir, filepath.FromSlash(m.folder)), nil
}

// hubName has a commit, since a branch may be another model tomorrow, and names that the
// Hub allows, none of which leads out of a folder.
var hubName = regexp.MustCompile(`^hf:([A-Za-z0-9][A-Za-z0-9._-]{0,95})/([A-Za-z0-9][A-Za-z0-9._-]{0,95})@([0-9a-f]{40})$`)

// parse reads hf:ORG/NAME@REVISION.
func parse(name string) (model, error) {
	part := hubName.FindStringSubmatch(name)
	if part == nil {
		return model{}, badName(name)
	}
	repo := part[1] + "/" + part[2]
	return model{repo: repo, revision: part[3], folder: repo + "/" + part[3]}, nil
}

func badName(name string) error {
	return fmt.Errorf("hub: %.200q names no encoder: want %s, hf:ORG/NAME@REVISION (a commit, 40 hexadecimal digits, which the model's page shows under Files), file:DIR, auto or none",
		name, strings.Join(preferred, ", "))
}
