// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
)

var (
	errExists     = errors.New("it exists")
	errNoDocument = errors.New("no document")
)

// cause is what OpenSearch says of an error.
type cause struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// busyAfter is when a cluster is asked again that rejected a part of a request; it does
// not say.
const busyAfter = 500 * time.Millisecond

// name names an error by OpenSearch's words for it; nil leaves it to the status.
func name(status int, answer []byte) error {
	var e struct {
		Error json.RawMessage `json:"error"`
		Found *bool           `json:"found"`
	}
	if json.Unmarshal(answer, &e) != nil {
		return nil
	}
	if status == http.StatusNotFound && e.Found != nil {
		return errNoDocument
	}
	var c cause
	if json.Unmarshal(e.Error, &c) != nil {
		return nil
	}
	return c.name(status)
}

func (c cause) name(status int) error {
	kind := map[string]error{
		"index_not_found_exception":         store.ErrNotFound,
		"aliases_not_found_exception":       store.ErrNotFound,
		"resource_already_exists_exception": errExists,
		"invalid_alias_name_exception":      errExists,
		"cluster_block_exception":           store.ErrUnavailable, // the disk is full, or there is no manager
		"search_context_missing_exception":  store.ErrUnavailable, // of an iteration; its node is gone
		"shard_not_found_exception":         store.ErrUnavailable, // it failed, as on a full disk, and is not back yet
	}[c.Type]
	if kind == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %s", kind, c.Type, c.Reason)
}

// error names the error of a part of a request.
func (c *cause) error(status int) error {
	if c == nil {
		return nil
	}
	if err := c.name(status); err != nil {
		return err
	}
	var kind error = store.ErrInvalid
	switch {
	case status == http.StatusTooManyRequests:
		kind = &store.ThrottledError{After: busyAfter}
	case status == http.StatusForbidden || status == http.StatusUnauthorized:
		kind = store.ErrDenied
	case status >= 500:
		kind = store.ErrUnavailable
	}
	return fmt.Errorf("%w: %s: %s", kind, c.Type, c.Reason)
}
