// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Options of a store. The zero value is one shard without replicas.
type Options struct {
	// Analyzer makes the words of texts and queries; nil means text.Default.
	Analyzer text.Analyzer
	// Prefix begins the names of indexes ("wildgraph"). Stores with different ones share only the cluster.
	Prefix string
	// Shards is the number of parts of an index (1), Replicas the number of additional copies of each part (0).
	Shards, Replicas int
	// EfSearch is the number of candidates of a vector search in each shard (100); a search for more than
	// EfSearch records uses K candidates.
	EfSearch int
	// HTTP sends requests; nil is a client with a timeout of ten minutes. Header is added to all requests, for
	// Authorization.
	HTTP   *http.Client
	Header http.Header
	// Wait limits the total time that a call waits for nodes that are overloaded or do not answer; 0 is ten
	// seconds, a negative Wait is no waiting.
	Wait time.Duration
}

// version is the version of the layout of the indexes and of the catalog.
const version = 2

// Open opens the store of a cluster, given by the base URLs of some of its nodes, or creates one.
func Open(ctx context.Context, nodes []string, o Options) (store.Store, error) {
	o.Prefix, o.Shards, o.EfSearch = cmp.Or(o.Prefix, "wildgraph"), cmp.Or(o.Shards, 1), cmp.Or(o.EfSearch, 100)
	c := &cluster{o: o, client: &client{nodes: nodes, o: o}, maxK: maxK}
	errs := []error{c.client.check(), store.CheckName("prefix", o.Prefix)}
	if min(o.Shards, o.EfSearch) < 1 || o.Replicas < 0 || o.EfSearch > maxK {
		errs = append(errs, fmt.Errorf("%w: Shards %d, Replicas %d or EfSearch %d is negative, or EfSearch is greater than %d", store.ErrInvalid, o.Shards, o.Replicas, o.EfSearch, maxK))
	}
	err := errors.Join(errs...)
	if err == nil {
		err = c.begin(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("opensearch: open: %w", err)
	}
	return newStore(c, o.Analyzer), nil
}

// cluster translates the operations of the store into requests. The index names that it takes consist of a-z
// and 0-9. It returns errors of package store: store.ErrNotFound for an index that does not exist.
type cluster struct {
	o      Options
	client *client
	maxK   int // the constant maxK; tests set less
}

// maxK is OpenSearch's limit for the hits of a search and for the candidates of a vector search.
const maxK = 10_000

// object is a JSON object.
type object map[string]any

// index returns the name for requests, which is an alias, so that a request cannot create a removed index
// again. The name of the index itself has the suffix -1.
func (c *cluster) index(name string) string { return c.o.Prefix + "-" + name }

const catalog = "catalog"

// begin creates the catalog if there is none, and checks its version.
func (c *cluster) begin(ctx context.Context) error {
	err := c.make(ctx, catalog, object{"auto_expand_replicas": "0-all", "number_of_shards": 1},
		object{"dynamic": "strict", "_meta": object{"version": version}, "properties": object{"value": object{"type": "object", "enabled": false}}})
	if err != nil {
		return err
	}
	var answer map[string]struct {
		Mappings struct {
			Meta struct {
				Version int `json:"version"`
			} `json:"_meta"`
		} `json:"mappings"`
	}
	if err := c.client.do(ctx, request{method: http.MethodGet, path: "/" + c.index(catalog) + "/_mapping"}, &answer); err != nil {
		return err
	}
	if v := answer[c.index(catalog)+"-1"].Mappings.Meta.Version; v != version {
		return fmt.Errorf("%w: the indexes with prefix %s have version %d, this release needs %d: open them with the release that wrote them, or set another Options.Prefix", store.ErrMismatch, c.o.Prefix, v, version)
	}
	return nil
}

// make creates an index if there is none of that name.
func (c *cluster) make(ctx context.Context, index string, settings, mappings object) error {
	err := c.client.do(ctx, request{method: http.MethodPut, path: "/" + c.index(index) + "-1", body: object{
		"settings": object{"index": settings}, "mappings": mappings, "aliases": object{c.index(index): object{}}}}, nil)
	if errors.Is(err, errExists) {
		return nil
	}
	return err
}

// load reads a catalog entry and the version that save expects: nil and "" if there is no entry.
func (c *cluster) load(ctx context.Context, name string) ([]byte, string, error) {
	var answer struct {
		Found  bool  `json:"found"`
		SeqNo  int64 `json:"_seq_no"`
		Term   int64 `json:"_primary_term"`
		Source struct {
			Value string `json:"value"`
		} `json:"_source"`
	}
	err := c.client.do(ctx, request{method: http.MethodGet, path: c.entryPath(name)}, &answer)
	if errors.Is(err, errNoDocument) || err == nil && !answer.Found {
		return nil, "", nil
	}
	return []byte(answer.Source.Value), fmt.Sprintf("if_seq_no=%d&if_primary_term=%d", answer.SeqNo, answer.Term), err
}

func (c *cluster) entryPath(name string) string {
	return "/" + c.index(catalog) + "/_doc/" + url.PathEscape(name)
}

// save replaces a catalog entry if its version is still was, "" for no entry; otherwise the error is
// store.ErrConflict. A nil value removes the entry.
func (c *cluster) save(ctx context.Context, name string, value []byte, was string) error {
	r := request{method: http.MethodPut, path: c.entryPath(name) + "?require_alias=true&" + cmp.Or(was, "op_type=create"), body: object{"value": string(value)}, once: true}
	if value == nil {
		r = request{method: http.MethodDelete, path: c.entryPath(name) + "?" + was, once: true}
	}
	return c.client.do(ctx, r, nil)
}

// entries returns the names of the catalog entries.
func (c *cluster) entries(ctx context.Context) (names []string, err error) {
	if err := c.refresh(ctx, catalog); err != nil {
		return nil, err
	}
	var answer foundBody
	err = c.client.do(ctx, request{method: http.MethodPost, path: "/" + c.index(catalog) + "/_search", body: object{"size": maxK, "_source": false}}, &answer)
	for _, h := range answer.Hits.Hits {
		names = append(names, h.DocID)
	}
	return names, err
}

// create creates an index with the mapping of s, unless it exists.
func (c *cluster) create(ctx context.Context, index string, s spec) error {
	settings := object{"number_of_shards": c.o.Shards, "number_of_replicas": c.o.Replicas, "refresh_interval": "-1", "max_result_window": maxK}
	properties := object{"id": object{"type": "keyword"}, "body": object{"type": "object", "enabled": false}}
	if s.Words {
		settings["similarity"] = object{"words": object{"type": "BM25", "k1": s.K1, "b": s.B}}
		properties["words"] = object{"type": "text", "analyzer": "whitespace", "similarity": "words", "index_options": "freqs"}
		properties["length"] = object{"type": "integer", "index": false}
	}
	if s.Dim > 0 {
		settings["knn"] = true
		properties["vector"] = object{"type": "knn_vector", "dimension": s.Dim, "method": object{"name": "hnsw", "engine": "lucene", "space_type": "innerproduct",
			"parameters": object{"m": 16, "ef_construction": 100}}}
	}
	for _, name := range s.Fields {
		properties[name] = object{"type": "keyword"}
	}
	return c.make(ctx, index, settings, object{"dynamic": "strict", "_meta": object{"of": s.Of},
		"_source": object{"includes": []string{"body"}}, "properties": properties})
}

// clone replaces each index in to by a copy of the index in from, which shares its files. Writes to from are
// blocked meanwhile.
func (c *cluster) clone(ctx context.Context, from, to []string) error {
	for i, index := range from {
		block := func(ctx context.Context, blocked any) error {
			return c.client.do(ctx, request{method: http.MethodPut, path: "/" + c.index(index) + "-1/_settings", body: object{"index.blocks.write": blocked}}, nil)
		}
		err := c.drop(ctx, to[i])
		if err == nil {
			err = block(ctx, true)
		}
		if err == nil {
			err = c.client.do(ctx, request{method: http.MethodPut, path: "/" + c.index(index) + "-1/_clone/" + c.index(to[i]) + "-1",
				body: object{"settings": object{"index.blocks.write": false}, "aliases": object{c.index(to[i]): object{}}}}, nil)
			if errors.Is(err, errExists) { // an earlier attempt succeeded, its answer was lost
				err = nil
			}
			err = errors.Join(err, block(context.WithoutCancel(ctx), nil))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drop removes indexes. Missing ones are no error.
func (c *cluster) drop(ctx context.Context, indexes ...string) error {
	for _, index := range indexes {
		err := c.client.do(ctx, request{method: http.MethodDelete, path: "/" + c.index(index) + "-1"}, nil)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Limits of a bulk request; OpenSearch accepts 100 MB.
const (
	maxItems = 1000
	maxBytes = 8 << 20
)

// bulk sends an action for each of n documents with distinct ids. Of returns the id of a document, and the
// document itself unless the action is a deletion.
func (c *cluster) bulk(ctx context.Context, index, action string, n int, of func(i int) (id string, doc object, err error)) error {
	var lines bytes.Buffer
	e := json.NewEncoder(&lines)
	items := 0
	for i := range n {
		id, doc, err := of(i)
		if err == nil {
			err = e.Encode(object{action: object{"_id": hash(id)}})
		}
		if err == nil && doc != nil {
			err = e.Encode(doc)
		}
		if items++; err == nil && (items == maxItems || lines.Len() >= maxBytes || i == n-1) {
			err = c.send(ctx, index, lines.Bytes(), items)
			lines.Reset()
			items = 0
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shardWait is the time that a server waits for a missing shard; OpenSearch's default is a minute.
const shardWait = "10s"

// send sends the lines of a number of actions. If a part of a request is rejected, the whole request is sent
// again: its actions are idempotent.
func (c *cluster) send(ctx context.Context, index string, lines []byte, items int) error {
	message := request{method: http.MethodPost, path: "/" + c.index(index) + "/_bulk?require_alias=true&timeout=" + shardWait, body: lines, contentType: "application/x-ndjson"}
	return c.client.again(ctx, false, func() error {
		var answer struct {
			Errors bool `json:"errors"`
			Items  []map[string]struct {
				Status int    `json:"status"`
				Error  *cause `json:"error"`
			} `json:"items"`
		}
		if err := c.client.once(ctx, message, &answer); err != nil {
			return err
		}
		if len(answer.Items) != items {
			return fmt.Errorf("%w: the server answered %d of %d actions", store.ErrUnavailable, len(answer.Items), items)
		}
		for _, item := range answer.Items {
			for _, reply := range item {
				if err := reply.Error.error(reply.Status); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// deleteWhere deletes the documents whose field has a value, earlier puts included.
func (c *cluster) deleteWhere(ctx context.Context, index, field, value string) error {
	if err := c.refresh(ctx, index); err != nil {
		return err
	}
	var answer struct {
		Failures []struct {
			Status int    `json:"status"`
			Cause  *cause `json:"cause"`
		} `json:"failures"`
	}
	return c.client.again(ctx, false, func() error {
		err := c.client.once(ctx, request{method: http.MethodPost, path: "/" + c.index(index) + "/_delete_by_query?conflicts=proceed",
			body: object{"query": object{"term": object{field: value}}}}, &answer)
		for _, f := range answer.Failures {
			if err == nil {
				err = f.Cause.error(f.Status)
			}
		}
		return err
	})
}

// refresh makes earlier puts and deletions visible to searches.
func (c *cluster) refresh(ctx context.Context, indexes ...string) error {
	names := make([]string, len(indexes))
	for i, index := range indexes {
		names[i] = c.index(index)
	}
	return c.client.again(ctx, false, func() error {
		var answer struct {
			Shards struct {
				Failed int `json:"failed"`
			} `json:"_shards"`
		}
		err := c.client.once(ctx, request{method: http.MethodPost, path: "/" + strings.Join(names, ",") + "/_refresh"}, &answer)
		if err == nil && answer.Shards.Failed > 0 {
			err = fmt.Errorf("%w: %d shards failed to refresh", store.ErrUnavailable, answer.Shards.Failed)
		}
		return err
	})
}
