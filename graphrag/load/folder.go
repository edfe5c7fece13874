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

// MaxFile is the largest file that Folder reads, in bytes.
const MaxFile = 32 << 20

// Folder reads the files of a folder and those below it that have a known extension,
// in the order of their names; names that begin with a dot are passed over. What
// cannot be read is left out and reported in skipped, files of other kinds once for
// each extension. It fails if nothing could be read, and with the error of ctx.
func Folder(ctx context.Context, fsys fs.FS) (files []*File, skipped []error, err error) {
	others := make(map[string]int)
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			skipped = append(skipped, err)
			return nil
		case strings.HasPrefix(d.Name(), ".") && name != ".":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		ext := strings.ToLower(path.Ext(name))
		if !d.Type().IsRegular() || formats[ext] == nil {
			others[cmp.Or(ext, "no extension")]++
			return nil
		}
		f, err := readFile(fsys, name)
		if err != nil {
			skipped = append(skipped, err)
			return nil
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return nil, skipped, fmt.Errorf("load: %w", err)
	}
	for _, ext := range slices.Sorted(maps.Keys(others)) {
		skipped = append(skipped, fmt.Errorf("load: %d files: %w (%s)", others[ext], ErrFormat, ext))
	}
	if len(files) == 0 {
		problems := append(slices.Clone(skipped), fmt.Errorf("load: no file that can be read (%s)", strings.Join(kinds(), " ")))
		return nil, skipped, errors.Join(problems...)
	}
	return files, skipped, nil
}

func readFile(fsys fs.FS, name string) (*File, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("load: %s: %w", name, err)
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("load: %s: larger than %d MiB", name, MaxFile>>20)
	}
	return Read(name, data)
}
