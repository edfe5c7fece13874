// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// Open returns the encoder of a name, and fetches it if it is not there. It returns nil where [Find] says "".
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
	return filepath.Join(o.Dir, filepath.FromSlash(m.Folder)), nil
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
	return model{Repo: repo, Revision: part[3], Folder: repo + "/" + part[3]}, nil
}

func badName(name string) error {
	return fmt.Errorf("hub: %.200q names no encoder: want %s, hf:ORG/NAME@REVISION (a commit, 40 hexadecimal digits, which the model's page shows under Files), file:DIR, auto or none",
		name, strings.Join(preferred, ", "))
}

// model is a commit of a repository of the Hub.
type model struct {
	Repo, Revision string
	Folder         string // below the folder of all models, with slashes
	// Files are the files to fetch, with the sums that they must have. Without any, all
	// files of a sentence encoder are tried, and their sums are recorded.
	Files   []file
	Written map[string]json.RawMessage // files of our own, by name
}

// file is one that is fetched, and an entry of sums.json.
type file struct {
	Name string `json:"name"`
	Size int64  `json:"size"`   // with a sum the size, else the most it may have
	Sum  string `json:"sha256"` // "" is not known yet
	may  bool   // it may be missing
}

// The files of a folder, as sentence-transformers names them.
const (
	weights   = "model.safetensors"
	tokenizer = "tokenizer.json"
	sumsFile  = "sums.json" // the sums of a model of which none are pinned
)

//go:embed models.json
var modelTable []byte

// models have names of their own. Other programs in public repositories pin the same commits and sums. The files
// of our own are of the models' cards: layers, the tokens of a text, whether the first token's vector is the
// text's or the mean is, and prompts.
var models = func() (out map[string]model) {
	if err := json.Unmarshal(modelTable, &out); err != nil {
		panic(err) // it is part of the program
	}
	return out
}()

// Bounds of files whose sums are not known.
const (
	maxText    = 1 << 20
	maxWords   = 64 << 20
	maxWeights = 4 << 30
)

// parts are the files that a sentence encoder can have, the large one last.
var parts = []file{
	{Name: configFile, Size: maxText}, {Name: "modules.json", Size: maxText, may: true},
	{Name: "1_Pooling/config.json", Size: maxText, may: true}, {Name: "sentence_bert_config.json", Size: maxText, may: true},
	{Name: "config_sentence_transformers.json", Size: maxText, may: true}, {Name: "tokenizer_config.json", Size: maxText, may: true},
	{Name: tokenizer, Size: maxWords, may: true}, {Name: "vocab.txt", Size: maxWords, may: true}, {Name: weights, Size: maxWeights},
}

// check compares a folder with the sums, and writes the files of our own where they are missing, as beside
// files that were put there by hand. Its error is fs.ErrNotExist if there is no folder.
func (m model) check(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	files, err := m.Files, error(nil)
	if files == nil {
		files, err = recorded(dir)
	}
	for _, f := range files {
		if err == nil {
			err = f.check(f.in(dir))
		}
	}
	if err == nil {
		err = m.write(dir)
	}
	if err != nil {
		return fmt.Errorf("hub: %s: %v: remove the folder, and the next start fetches it", dir, err) // not fs.ErrNotExist
	}
	return nil
}

func (f file) in(dir string) string { return filepath.Join(dir, filepath.FromSlash(f.Name)) }

// check compares a file with its size and sum.
func (f file) check(full string) error {
	size, sum, err := sumOf(full)
	if err == nil && (size != f.Size || sum != f.Sum) {
		err = fmt.Errorf("%s has %d bytes and the SHA-256 %s, want %d and %s", f.Name, size, sum, f.Size, f.Sum)
	}
	return err
}

// sumOf returns size and SHA-256 of a file.
func sumOf(full string) (size int64, sum string, err error) {
	in, err := os.Open(full)
	if err != nil {
		return 0, "", err
	}
	defer in.Close() // only read
	h := sha256.New()
	size, err = io.Copy(h, in)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// write writes the files of our own that are not there.
func (m model) write(dir string) error {
	for name, content := range m.Written {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if b, err := os.ReadFile(full); err == nil && bytes.Equal(b, content) {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, content, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// recorded reads the sums that were recorded when a model was fetched, of names that a
// model can have and no others.
func recorded(dir string) (files []file, err error) {
	b, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if err != nil {
		return nil, err
	}
	var all []file
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", sumsFile, err)
	}
	for _, f := range parts {
		if i := slices.IndexFunc(all, func(r file) bool { return r.Name == f.Name }); i >= 0 {
			files = append(files, all[i])
		} else if !f.may {
			return nil, fmt.Errorf("%s lacks %s", sumsFile, f.Name)
		}
	}
	return files, nil
}
