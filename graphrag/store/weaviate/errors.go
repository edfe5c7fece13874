// SPDX-License-Identifier: Apache-2.0

package weaviate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

var (
	errExists = errors.New("it exists")
	errNoType = errors.New("no such class")
)

// name names an error by Weaviate's words for it; nil leaves it to the status.
func name(status int, answer []byte) error {
	var e struct {
		Error []message `json:"error"`
	}
	if status == http.StatusUnprocessableEntity && json.Unmarshal(answer, &e) == nil && len(e.Error) > 0 {
		return e.Error[0].error(store.ErrInvalid)
	}
	if status >= 500 && json.Unmarshal(answer, &e) == nil && len(e.Error) > 0 {
		return e.Error[0].error(store.ErrUnavailable)
	}
	return nil
}

// message is what Weaviate says of an error: only words, which have to be known.
type message struct {
	Message string `json:"message"`
}

func (m message) error(otherwise error) error {
	kind := otherwise
	for _, known := range []struct {
		words string
		kind  error
	}{
		{"already exists", errExists},
		{"Cannot query field", errNoType},
		{"no graphql provider", errNoType},  // it has no schema at all
		{"read-only", store.ErrUnavailable}, // the disk is full
		{"no space left", store.ErrUnavailable},
		{"vector lengths don't match", store.ErrMismatch},
		{"forbidden", store.ErrDenied},
		{"could not find class", store.ErrNotFound},
		{"class not found", store.ErrNotFound},
		{"Syntax Error", store.ErrInvalid},
		{"Unknown argument", store.ErrInvalid},
		{"leader not found", store.ErrUnavailable},
		{"connection refused", store.ErrUnavailable},
	} {
		if strings.Contains(m.Message, known.words) {
			kind = known.kind
			break
		}
	}
	return fmt.Errorf("%w: %.300s", kind, m.Message)
}
