// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"strconv"

	"github.com/wildgraph/wildgraph/examples/ask/desk"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// about serves the overview of the folder, or the error of a condition.
func (s *site) about(w http.ResponseWriter, r *http.Request) {
	q, _, err := query(r.URL.Query().Get)
	about := map[string]any{}
	if err == nil {
		about, err = s.d.About(r.Context(), q.Where)
	}
	if err != nil {
		about = map[string]any{"error": err.Error()}
	}
	write(w, about, 0, nil)
}

// suggestions serves questions that the files answer.
func (s *site) suggestions(w http.ResponseWriter, r *http.Request) {
	questions, err := s.d.Suggestions(r.Context())
	write(w, map[string][]string{"questions": questions}, http.StatusServiceUnavailable, err)
}

// source serves the text of an indexed file around a quote.
func (s *site) source(w http.ResponseWriter, r *http.Request) {
	get := r.URL.Query().Get
	q, status, err := query(get)
	start, err1 := strconv.Atoi(get("start"))
	end, err2 := strconv.Atoi(cmp.Or(get("end"), get("start")))
	if err == nil && (err1 != nil || err2 != nil) {
		err = errors.New("want start, and perhaps end: bytes of the text of the file")
	}
	var e desk.Source
	if err == nil {
		status = http.StatusNotFound
		e, err = s.d.Excerpt(get("file"), start, end, q.Where)
	}
	write(w, e, status, err)
}

// pdf serves a PDF of the index. The policy of the page would block the browser's viewer; a PDF runs no
// script in the page.
func (s *site) pdf(w http.ResponseWriter, r *http.Request) {
	q, status, err := query(r.URL.Query().Get)
	var f *os.File
	if err == nil {
		status = http.StatusNotFound
		f, err = s.d.PDF(r.URL.Query().Get("file"), q.Where)
	}
	var info os.FileInfo
	if err == nil {
		defer f.Close()
		if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
			err = errors.New("it is not a regular file")
		}
	}
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'")
	w.Header().Set("Content-Type", "application/pdf")
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// facts serves the facts around the names in a question. A graph of some files may need a model, which no
// GET request calls.
func (s *site) facts(w http.ResponseWriter, r *http.Request) {
	q, status, err := query(r.URL.Query().Get)
	if err == nil && q.Where != nil && s.d.Paid() {
		status, err = http.StatusForbidden, errors.New("the graph of some files can cost calls of a model: ask for it by POST /graph")
	}
	var n desk.Neighbourhood
	if err == nil {
		status = http.StatusNotFound
		n, err = s.d.Around(r.Context(), q, maxFacts)
	}
	write(w, n, status, err)
}

// write writes a value as JSON, or the error with a status.
func write(w http.ResponseWriter, v any, status int, err error) {
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = text.JSON(w).Encode(v) // fails if the browser disconnected
}
