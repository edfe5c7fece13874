// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/wildgraph/wildgraph/benchmark/fetch"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// Getter fetches pages; *fetch.Fetcher is one.
type Getter interface {
	Page(ctx context.Context, url string) (fetch.Page, error)
}

// Collected is the text of a source, or the reason why there is none.
type Collected struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"` // the page's own
	Text  string `json:"text,omitempty"`
	// From is the URL of the text: the source's own or its archive's.
	From   string     `json:"from,omitempty"`
	Kind   fetch.Kind `json:"kind,omitempty"`
	Reason string     `json:"reason,omitempty"`
}

// Pages stores collected pages in a journal, so that no page is fetched twice. Temporary failures are retried
// after the journal is opened again.
type Pages struct {
	j    *journal.Journal
	mu   sync.Mutex
	have map[string]Collected
}

const (
	pagesSchema = "wildgraph-pages/1"
	kindPage    = 1
)

// OpenPages opens or creates the journal of pages at a path.
func OpenPages(path string) (*Pages, error) {
	j, err := journal.Open(path, journal.Header{Schema: pagesSchema}, journal.Options{})
	if err != nil {
		return nil, fmt.Errorf("construct: pages: %w", err)
	}
	p := &Pages{j: j, have: make(map[string]Collected)}
	for r, err := range j.Records() {
		var c Collected
		if err == nil && r.Kind == kindPage {
			err = json.Unmarshal(r.Payload, &c)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("construct: pages: %w", err), j.Close())
		}
		if p.have[c.URL] = c; c.Kind == fetch.Unavailable {
			delete(p.have, c.URL)
		}
	}
	return p, nil
}

// Close closes the journal.
func (p *Pages) Close() error { return p.j.Close() }

// Collect fetches the pages of sources, from many hosts concurrently, and returns them in the order of the
// sources. If a source cannot be fetched, or is Poor, its archive is tried. done, if not nil, is called with
// each page, never concurrently.
func (p *Pages) Collect(ctx context.Context, get Getter, sources []Reference, done func(Collected)) ([]Collected, error) {
	out := make([]Collected, len(sources))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxInWork)
	for i, r := range sources {
		g.Go(func() error {
			c, err := p.collect(ctx, get, r)
			if err != nil {
				return fmt.Errorf("construct: pages: %w", err)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			out[i] = c
			if done != nil {
				done(c)
			}
			return nil
		})
	}
	return out, g.Wait()
}

// maxInWork limits the pages that wait for their hosts.
const maxInWork = 512

func (p *Pages) collect(ctx context.Context, get Getter, r Reference) (Collected, error) {
	p.mu.Lock()
	c, known := p.have[r.URL]
	p.mu.Unlock()
	if known {
		return c, nil
	}
	c = try(ctx, get, r.URL, r.URL)
	if c.Reason != "" && r.Archive != "" && r.Archive != r.URL {
		if a := try(ctx, get, r.URL, r.Archive); a.Reason == "" {
			c = a
		} else {
			c.Reason += "; the archive: " + a.Reason
		}
	}
	if err := ctx.Err(); err != nil {
		return c, err
	}
	record, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	if err := p.j.Append(kindPage, record); err != nil {
		return c, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.have[r.URL] = c
	return c, nil
}

func try(ctx context.Context, get Getter, url, from string) Collected {
	page, err := get.Page(ctx, from)
	var e *fetch.Error
	switch {
	case errors.As(err, &e):
		return Collected{URL: url, Kind: e.Kind, Reason: e.Err.Error()}
	case err != nil:
		return Collected{URL: url, Kind: fetch.Unavailable, Reason: err.Error()}
	}
	if reason := Poor(page.Text); reason != "" {
		return Collected{URL: url, Kind: fetch.NoText, Reason: reason}
	}
	return Collected{URL: url, Title: page.Title, Text: page.Text, From: cmp.Or(page.Final, from)}
}
