// SPDX-License-Identifier: Apache-2.0

package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Folder reads the files of a folder and those below it that have a known extension,
// or none and look like text, in the order of their names; names that begin with a dot
// are passed over, and symbolic links are not followed. What cannot be read is left out
// and reported in skipped, files of other kinds once for each extension. It fails if
// nothing could be read, and with the error of ctx.
func Folder(ctx context.Context, fsys fs.FS) (files []*File, skipped []error, err error) {
	return Options{}.Folder(ctx, fsys)
}

// Folder is [Folder] with options.
func (o Options) Folder(ctx context.Context, fsys fs.FS) (files []*File, skipped []error, err error) {
	skipped, err = o.Walk(ctx, fsys, func(name string, data []byte) error {
		f, err := o.Read(name, data)
		if err == nil {
			files = append(files, f)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = o.Nothing(skipped)
	}
	if err != nil {
		return nil, skipped, err
	}
	return files, skipped, nil
}

// Nothing is the error about a folder of which nothing could be read.
func (o Options) Nothing(skipped []error) error {
	return errors.Join(append(slices.Clone(skipped), fmt.Errorf("load: no file that can be read (%s)", strings.Join(o.Extensions(), " ")))...)
}

// Walk calls read with the content of each file that [Options.Folder] would read, as it
// is at one moment. An error of read is a file that is skipped.
func (o Options) Walk(ctx context.Context, fsys fs.FS, read func(name string, data []byte) error) (skipped []error, err error) {
	w := &walk{limit: cmp.Or(o.MaxFile, MaxFile), others: make(map[string]int)}
	formats, most := make(map[string]bool), cmp.Or(o.MaxFiles, MaxFiles)
	for _, ext := range o.Extensions() {
		formats[ext] = true
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		ext := ""
		if d != nil {
			ext = strings.ToLower(path.Ext(name))
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.skipped = append(w.skipped, err)
		case strings.HasPrefix(d.Name(), ".") && name != ".":
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
		case d.Type()&fs.ModeSymlink != 0:
			w.links++
		case !d.Type().IsRegular() || ext != "" && !formats[ext]:
			w.others[cmp.Or(ext, "no extension")]++
		case w.files == most:
			w.skipped = append(w.skipped, fmt.Errorf("load: more than %d files: those from %s on are left out", most, name))
			return fs.SkipAll
		default:
			w.file(fsys, name, ext, read)
		}
		return nil
	})
	if err != nil {
		return w.skipped, fmt.Errorf("load: %w", err)
	}
	for _, ext := range slices.Sorted(maps.Keys(w.others)) {
		w.skipped = append(w.skipped, fmt.Errorf("load: %d files: %w (%s)", w.others[ext], ErrFormat, ext))
	}
	if w.links > 0 {
		w.skipped = append(w.skipped, fmt.Errorf("load: %d symbolic links are not followed", w.links))
	}
	return w.skipped, nil
}

// walk is a way through a folder.
type walk struct {
	limit        int64
	files, links int
	others       map[string]int
	skipped      []error
}

// file reads one; what grows is read as far as it was, or to the limit.
func (w *walk) file(fsys fs.FS, name, ext string, read func(string, []byte) error) {
	data, err := readFile(fsys, name, w.limit)
	if err == nil && ext == "" && sniff(data) == nil {
		w.others["no extension"]++
		return
	}
	w.files++
	if err == nil {
		err = read(name, data)
	}
	if err != nil {
		w.skipped = append(w.skipped, err)
	}
}

func readFile(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("load: %s: larger than %d MiB", name, limit>>20)
	}
	return data, nil
}
