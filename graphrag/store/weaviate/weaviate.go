// SPDX-License-Identifier: Apache-2.0

package weaviate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/internal/engine"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Options of a store. The zero value is one shard without replicas.
type Options struct {
	// Analyzer makes the words of texts and queries; nil means text.Default.
	Analyzer text.Analyzer
	// Prefix begins the names of classes, with a capital ("wildgraph"). Stores with
	// different ones share a cluster and nothing else.
	Prefix string
	// Shards is in how many parts a class is (1), Replicas how often each is kept
	// besides (0).
	Shards, Replicas int
	// M and EfConstruction are those of the graph of vectors (32, 128), EfSearch is
	// how many candidates a search keeps (100), at least K.
	M, EfConstruction, EfSearch int
	// HTTP sends requests; nil is http.DefaultClient. Header is that of all: for
	// Authorization.
	HTTP   *http.Client
	Header http.Header
	// Wait is how long a call waits, in all, for nodes that are busy or away; 0 is ten
	// seconds, less is not at all.
	Wait time.Duration
}

// Open opens the store of a cluster, named by the base URLs of some of its nodes, or begins one.
func Open(ctx context.Context, nodes []string, o Options) (store.Store, error) {
	o.Prefix, o.Shards = cmp.Or(o.Prefix, "wildgraph"), cmp.Or(o.Shards, 1)
	o.M, o.EfConstruction, o.EfSearch = cmp.Or(o.M, 32), cmp.Or(o.EfConstruction, 128), cmp.Or(o.EfSearch, 100)
	c := &cluster{o: o, client: &engine.Client{Nodes: nodes, HTTP: o.HTTP, Header: o.Header, Wait: o.Wait, Name: name}}
	errs := []error{c.client.Check(), store.CheckName("prefix", o.Prefix)}
	if min(o.Shards, o.M, o.EfConstruction, o.EfSearch) < 1 || o.Replicas < 0 {
		errs = append(errs, fmt.Errorf("%w: Shards %d, Replicas %d, M %d, EfConstruction %d or EfSearch %d is negative", store.ErrInvalid, o.Shards, o.Replicas, o.M, o.EfConstruction, o.EfSearch))
	}
	err := errors.Join(errs...)
	if err == nil {
		_, err = c.versions(ctx) // is there one that answers?
	}
	if err != nil {
		return nil, fmt.Errorf("weaviate: open: %w", err)
	}
	return engine.New("weaviate", c, o.Analyzer), nil
}

// cluster implements [engine.Engine].
type cluster struct {
	o      Options
	client *engine.Client
	doubts doubts
}

var _ engine.Engine = (*cluster)(nil)

// maxK is what a server gives at most unless QUERY_MAXIMUM_RESULTS says otherwise.
const maxK = 10_000

// Can implements [engine.Engine].
func (c *cluster) Can() store.Capabilities {
	return store.Capabilities{BM25: c.o.Shards == 1, Exact: true, Durable: true, MaxK: maxK}
}

// Close implements [engine.Engine].
func (c *cluster) Close() error { return nil }

// object is JSON.
type object map[string]any

// class is that of an index.
func (c *cluster) class(index string) string { return c.prefix() + "_" + index }

func (c *cluster) prefix() string {
	return strings.ToUpper(c.o.Prefix[:1]) + plain(c.o.Prefix[1:])
}

// plain is a name of letters, digits and underscores, another for each.
func plain(name string) string {
	return strings.NewReplacer("_", "__", "-", "_d").Replace(name)
}

func (c *cluster) rest(ctx context.Context, method, path string, body, into any) error {
	return c.client.Do(ctx, engine.Request{Method: method, Path: "/v1" + path, Body: body}, into)
}

// make makes a class. There is one: errExists.
func (c *cluster) make(ctx context.Context, class string, once bool, with object) error {
	with["class"], with["vectorizer"] = class, "none"
	return c.client.Do(ctx, engine.Request{Method: http.MethodPost, Path: "/v1/schema", Body: with, Once: once}, nil)
}

// Create implements [engine.Engine].
func (c *cluster) Create(ctx context.Context, index string, s engine.Spec) error {
	property := func(name, kind string, with object) object {
		p := object{"name": name, "dataType": []string{kind}, "indexFilterable": false, "indexSearchable": false}
		if kind == "text" {
			p["tokenization"] = "field"
		}
		maps.Copy(p, with)
		return p
	}
	filterable := object{"indexFilterable": true}
	properties := []object{property("oid", "text", filterable), property("body", "text", nil), property("vectors", "int", filterable)}
	if s.Words {
		properties = append(properties, property("words", "text", object{"indexSearchable": true, "tokenization": "whitespace"}))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Fields)) {
		if s.Fields[name] == store.Number {
			properties = append(properties, property(name, "number", object{"indexFilterable": true, "indexRangeFilters": true}))
		} else {
			properties = append(properties, property(name, "text", filterable))
		}
	}
	err := c.make(ctx, c.class(index), false, object{
		"description": s.Of, "properties": properties,
		"vectorIndexType": "hnsw",
		"vectorIndexConfig": object{"skip": s.Dim == 0, "distance": "dot", "maxConnections": c.o.M, "efConstruction": c.o.EfConstruction, "ef": c.o.EfSearch,
			"flatSearchCutoff": 1 << 30}, // what a filter leaves is compared, all of it
		"invertedIndexConfig": object{"bm25": object{"k1": s.K1, "b": s.B}, "stopwords": object{"preset": "none"}},
		"shardingConfig":      object{"desiredCount": c.o.Shards},
		"replicationConfig":   object{"factor": 1 + c.o.Replicas, "asyncEnabled": c.o.Replicas > 0}, // which repairs a node that was killed
	})
	if errors.Is(err, errExists) {
		return nil
	}
	return err
}

// Drop implements [engine.Engine].
func (c *cluster) Drop(ctx context.Context, indexes ...string) error {
	for _, index := range indexes {
		if err := c.rest(ctx, http.MethodDelete, "/schema/"+c.class(index), nil, nil); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Alias implements [engine.Engine].
func (c *cluster) Alias(ctx context.Context, indexes map[string]string) error {
	for _, of := range slices.Sorted(maps.Keys(indexes)) {
		alias, class := c.prefix()+"_A_"+plain(of), c.class(indexes[of])
		err := c.rest(ctx, http.MethodPut, "/aliases/"+alias, object{"class": class}, nil)
		if err != nil {
			err = c.rest(ctx, http.MethodPost, "/aliases", object{"alias": alias, "class": class}, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
