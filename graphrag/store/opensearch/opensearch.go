// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/internal/engine"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Options of a store. The zero value is one shard without replicas.
type Options struct {
	// Analyzer makes the words of texts and queries; nil means text.Default.
	Analyzer text.Analyzer
	// Prefix begins the names of indexes ("wildgraph"). Stores with different ones share a
	// cluster and nothing else.
	Prefix string
	// Shards is in how many parts an index is (1), Replicas how often each is kept
	// besides (0).
	Shards, Replicas int
	// M and EfConstruction are those of the graph of vectors (16, 100), EfSearch is
	// how many candidates a search keeps in each shard (100), at least K.
	M, EfConstruction, EfSearch int
	// HTTP sends requests; nil is http.DefaultClient. Header is that of all: for
	// Authorization.
	HTTP   *http.Client
	Header http.Header
	// Wait is how long a call waits, in all, for nodes that are busy or away; 0 is ten
	// seconds, less is not at all.
	Wait time.Duration
}

// version is that of the indexes.
const version = 1

// Open opens the store of a cluster, named by the base URLs of some of its nodes, or begins one.
func Open(ctx context.Context, nodes []string, o Options) (store.Store, error) {
	o.Prefix, o.Shards = cmp.Or(o.Prefix, "wildgraph"), cmp.Or(o.Shards, 1)
	o.M, o.EfConstruction, o.EfSearch = cmp.Or(o.M, 16), cmp.Or(o.EfConstruction, 100), cmp.Or(o.EfSearch, 100)
	c := &cluster{o: o, client: &engine.Client{Nodes: nodes, HTTP: o.HTTP, Header: o.Header, Wait: o.Wait, Name: name}}
	errs := []error{c.client.Check(), store.CheckName("prefix", o.Prefix)}
	if min(o.Shards, o.M, o.EfConstruction, o.EfSearch) < 1 || o.Replicas < 0 || o.EfSearch > maxK {
		errs = append(errs, fmt.Errorf("%w: Shards %d, Replicas %d, M %d, EfConstruction %d or EfSearch %d is negative, or EfSearch is above %d", store.ErrInvalid, o.Shards, o.Replicas, o.M, o.EfConstruction, o.EfSearch, maxK))
	}
	err := errors.Join(errs...)
	if err == nil {
		err = c.begin(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("opensearch: open: %w", err)
	}
	return engine.New("opensearch", c, o.Analyzer), nil
}

// cluster implements [engine.Engine].
type cluster struct {
	o      Options
	client *engine.Client
}

var _ engine.Engine = (*cluster)(nil)

// maxK is OpenSearch's limit of the hits of a search, and of the candidates of one by vectors.
const maxK = 10_000

// Can implements [engine.Engine].
func (c *cluster) Can() store.Capabilities {
	return store.Capabilities{BM25: true, Exact: true, MaxK: maxK}
}

// Close implements [engine.Engine].
func (c *cluster) Close() error { return nil }

// object is JSON.
type object map[string]any

// index is the name under which an index is asked: an alias, so that a request cannot
// make one that was removed anew; the index itself has the name with -1.
func (c *cluster) index(name string) string { return c.o.Prefix + "-" + name }

const catalog = "catalog"

// begin makes the catalog, and checks its version.
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
	if err := c.client.Do(ctx, engine.Request{Method: http.MethodGet, Path: "/" + c.index(catalog) + "/_mapping"}, &answer); err != nil {
		return err
	}
	if v := answer[c.index(catalog)+"-1"].Mappings.Meta.Version; v != version {
		return fmt.Errorf("%w: the indexes of %s are of version %d, and %d is known: open them with the release that wrote them, or name another Prefix", store.ErrMismatch, c.o.Prefix, v, version)
	}
	return nil
}

// make makes an index, if there is none.
func (c *cluster) make(ctx context.Context, index string, settings, mappings object) error {
	err := c.client.Do(ctx, engine.Request{Method: http.MethodPut, Path: "/" + c.index(index) + "-1", Body: object{
		"settings": object{"index": settings}, "mappings": mappings, "aliases": object{c.index(index): object{}}}}, nil)
	if errors.Is(err, errExists) {
		return nil
	}
	return err
}

// Load implements [engine.Engine].
func (c *cluster) Load(ctx context.Context, register string) ([]byte, string, error) {
	var answer struct {
		Found  bool  `json:"found"`
		SeqNo  int64 `json:"_seq_no"`
		Term   int64 `json:"_primary_term"`
		Source struct {
			Value string `json:"value"`
		} `json:"_source"`
	}
	err := c.client.Do(ctx, engine.Request{Method: http.MethodGet, Path: c.register(register)}, &answer)
	if errors.Is(err, errNoDocument) || err == nil && !answer.Found {
		return nil, "", nil
	}
	return []byte(answer.Source.Value), fmt.Sprintf("if_seq_no=%d&if_primary_term=%d", answer.SeqNo, answer.Term), err
}

func (c *cluster) register(name string) string {
	return "/" + c.index(catalog) + "/_doc/" + url.PathEscape(name)
}

// Save implements [engine.Engine].
func (c *cluster) Save(ctx context.Context, register string, value []byte, was string) error {
	r := engine.Request{Method: http.MethodPut, Path: c.register(register) + "?require_alias=true&" + cmp.Or(was, "op_type=create"), Body: object{"value": string(value)}, Once: true}
	if value == nil {
		r = engine.Request{Method: http.MethodDelete, Path: c.register(register) + "?" + was, Once: true}
	}
	return c.client.Do(ctx, r, nil)
}

// Registers implements [engine.Engine].
func (c *cluster) Registers(ctx context.Context) (names []string, err error) {
	if err := c.Refresh(ctx, catalog); err != nil {
		return nil, err
	}
	var answer found
	err = c.client.Do(ctx, engine.Request{Method: http.MethodPost, Path: "/" + c.index(catalog) + "/_search", Body: object{"size": maxK, "_source": false}}, &answer)
	for _, h := range answer.Hits.Hits {
		names = append(names, h.DocID)
	}
	return names, err
}

// Create implements [engine.Engine].
func (c *cluster) Create(ctx context.Context, index string, s engine.Spec) error {
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
			"parameters": object{"m": c.o.M, "ef_construction": c.o.EfConstruction}}}
	}
	for name, kind := range s.Fields {
		properties[name] = object{"type": map[store.Kind]string{store.String: "keyword", store.Number: "double"}[kind]}
	}
	return c.make(ctx, index, settings, object{"dynamic": "strict", "_meta": object{"of": s.Of},
		"_source": object{"includes": []string{"body"}}, "properties": properties})
}

// Drop implements [engine.Engine].
func (c *cluster) Drop(ctx context.Context, indexes ...string) error {
	for _, index := range indexes {
		err := c.client.Do(ctx, engine.Request{Method: http.MethodDelete, Path: "/" + c.index(index) + "-1"}, nil)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Alias implements [engine.Engine].
func (c *cluster) Alias(ctx context.Context, indexes map[string]string) error {
	var actions []object
	for of, index := range indexes {
		alias := c.o.Prefix + "." + of
		actions = append(actions, object{"remove": object{"index": c.o.Prefix + "-*", "alias": alias, "must_exist": false}},
			object{"add": object{"index": c.index(index) + "-1", "alias": alias}})
	}
	return c.client.Do(ctx, engine.Request{Method: http.MethodPost, Path: "/_aliases", Body: object{"actions": actions}}, nil)
}
