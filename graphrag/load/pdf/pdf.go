// SPDX-License-Identifier: Apache-2.0

package pdf

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// The defaults of [Options].
const (
	DefaultMaxPages = 5000
	DefaultTimeout  = 2 * time.Minute
)

// Options are the options of [New]. A zero field means its default.
type Options struct {
	// MaxPages limits the pages of a file, Timeout the time to read it; 0 means the default. A file beyond a
	// limit is an error.
	MaxPages int
	Timeout  time.Duration
	// Cache is a folder for the compiled parser: compiling takes some seconds, and with "" each process that
	// reads a PDF does it.
	Cache string
	// Slow interprets the parser: it starts in a tenth of the time, and runs several times slower.
	Slow bool
}

// maxMemory limits the memory of the parser, apart from the file, in pages of 64 KiB: 40 MiB in all. The
// process needs 200 MB more.
const maxMemory = 40 << 20 >> 16

// Reader reads PDF files, one at a time. It is safe for concurrent use.
type Reader struct {
	o     Options
	mu    sync.Mutex
	pool  pdfium.Pool // nil until the first file is read
	cache wazero.CompilationCache
}

// New returns a reader. It starts the parser when it reads the first file.
func New(o Options) *Reader {
	o.MaxPages, o.Timeout = cmp.Or(o.MaxPages, DefaultMaxPages), cmp.Or(o.Timeout, DefaultTimeout)
	return &Reader{o: o}
}

// Read implements [load.Format].
func (r *Reader) Read(name string, data []byte) (*load.File, error) {
	f, err := r.read(name, data)
	if err != nil {
		return nil, fmt.Errorf("pdf: %s: %w", name, err)
	}
	return f, nil
}

func (r *Reader) read(name string, data []byte) (*load.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.start(); err != nil {
		return nil, err
	}
	parser, err := r.pool.GetInstance(r.o.Timeout)
	if err != nil {
		return nil, err
	}
	late := make(chan struct{})
	timer := time.AfterFunc(r.o.Timeout, func() {
		close(late)
		_ = parser.Kill() // makes the current call of the parser fail
	})
	title, pages, err := r.pages(parser, data)
	if !timer.Stop() {
		<-late
		return nil, fmt.Errorf("reading takes longer than %v: left out", r.o.Timeout)
	}
	if err = errors.Join(err, parser.Close()); err != nil {
		if strings.Contains(err.Error(), "wasm") { // the error contains a long stack trace
			return nil, fmt.Errorf("the parser failed: the file is damaged, or needs more than %d MiB of memory", maxMemory>>4)
		}
		return nil, err
	}
	if strings.TrimSpace(strings.Join(pages, "")) == "" {
		return nil, fmt.Errorf("the %d pages have no text: a scan needs text recognition", len(pages))
	}
	return load.Paged(name, title, pages), nil
}

// start starts the parser in a sandbox: it sees no folder, and its output is discarded.
func (r *Reader) start() (err error) {
	if r.pool != nil {
		return nil
	}
	config := wazero.NewRuntimeConfig()
	if r.o.Slow {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	config = config.WithMemoryLimitPages(maxMemory).WithCloseOnContextDone(true)
	if r.o.Cache != "" {
		if r.cache, err = wazero.NewCompilationCacheWithDir(r.o.Cache); err != nil {
			return err
		}
		config = config.WithCompilationCache(r.cache)
	}
	r.pool, err = webassembly.Init(webassembly.Config{
		MaxIdle: 1, MaxTotal: 1, RuntimeConfig: config, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
	})
	return err
}

// pages returns the title and the text of each page. A panic of the parser becomes an error.
func (r *Reader) pages(parser pdfium.Pdfium, data []byte) (title string, pages []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	open, err := parser.OpenDocument(&requests.OpenDocument{FileReader: bytes.NewReader(data), FileReaderSize: int64(len(data))})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return "", nil, errors.New("the file is encrypted: save it without a password")
	case err != nil:
		return "", nil, err
	}
	count, err := parser.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: open.Document})
	if err != nil {
		return "", nil, err
	}
	if count.PageCount > r.o.MaxPages {
		return "", nil, fmt.Errorf("the file has %d pages, want at most %d: raise Options.MaxPages", count.PageCount, r.o.MaxPages)
	}
	if meta, err := parser.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: open.Document, Tag: "Title"}); err == nil {
		title = printable(meta.Value, nil)
	}
	written := make(map[string]bool)
	for i := range count.PageCount {
		text, err := pageText(parser, requests.Page{ByIndex: &requests.PageByIndex{Document: open.Document, Index: i}})
		if err != nil {
			return "", nil, fmt.Errorf("page %d: %w", i+1, err)
		}
		pages = append(pages, text)
		for _, word := range letters.FindAllString(text, -1) {
			written[strings.ToLower(word)] = true
		}
	}
	for i := range pages {
		pages[i] = printable(pages[i], written)
	}
	return title, pages, nil
}

// hyphens replaces the characters that PDFium writes for a hyphen at the end of a line by \x02.
var hyphens = strings.NewReplacer("\x02\r\n", "\x02", "\ufffe\r\n", "\x02", "\ufffe", "\x02", "\r\n", "\n")

// hyphenated matches a word with a hyphen at the end of a line.
var hyphenated = regexp.MustCompile(`[^\s\x02]*\x02[^\s\x02]*(\x02[^\s\x02]*)*`)

// letters matches a word within a line, perhaps with a hyphen.
var letters = regexp.MustCompile(`\pL+(-\pL+)?`)

// joined joins the parts of a word that hyphens at the end of lines divide. A hyphen stays if the word has
// another one ("state-of-the-art"), before a capital or a digit ("Jean-Paul"), and if the word occurs within a
// line only with it ("co-operative").
func joined(word string, written map[string]bool) string {
	parts, hyphen := strings.Split(word, "\x02"), strings.Contains(word, "-")
	for i, part := range parts[1:] {
		r, _ := utf8.DecodeRuneInString(part)
		word := strings.ToLower(letters.FindString(parts[i] + "-" + part))
		kept := written[word] && !written[strings.Replace(word, "-", "", 1)]
		if parts[i] != "" && part != "" && (hyphen || kept || unicode.IsUpper(r) || unicode.IsDigit(r)) {
			parts[i+1] = "-" + part
		}
	}
	return strings.Join(parts, "")
}

// printable returns the text of a page without control characters and without hyphens at the end of lines.
func printable(s string, written map[string]bool) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, hyphenated.ReplaceAllStringFunc(hyphens.Replace(strings.ToValidUTF8(s, "")), func(word string) string { return joined(word, written) }))
}

// Close stops the parser.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pool == nil {
		return nil
	}
	err := r.pool.Close()
	r.pool = nil
	return err
}
