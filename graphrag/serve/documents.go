// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
)

// lister is a system that tells its documents, as kit.System does.
type lister interface {
	List(ctx context.Context) ([]string, error)
	Get(ctx context.Context, id string) (chunks []graphrag.Chunk, ok bool, err error)
}

// listed is a document without its text.
type listed struct {
	ID     string          `json:"id"`
	Title  string          `json:"title,omitempty"`
	Fields graphrag.Fields `json:"fields,omitempty"`
}

// sees tells which documents a user sees, by their fields.
func (u *user) sees() func(graphrag.Fields) bool {
	if u.Scope == nil {
		return func(graphrag.Fields) bool { return true }
	}
	return graphrag.NewScope(*u.Scope).Compile()
}

func (s *server) list(w http.ResponseWriter, r *http.Request, u *user) error {
	l, ok := s.system.(lister)
	if !ok {
		return problem{http.StatusNotImplemented, "not_supported", s.system.Name() + " does not list its documents"}
	}
	out, sees := []listed{}, u.sees()
	ids, err := l.List(r.Context())
	for _, id := range ids {
		chunks, _, failed := l.Get(r.Context(), id)
		switch err = cmp.Or(err, failed); {
		case err != nil:
			return questionError(err)
		case len(chunks) > 0 && sees(chunks[0].Fields):
			out = append(out, listed{id, chunks[0].Title, chunks[0].Fields})
		case len(chunks) == 0 && u.Scope == nil:
			out = append(out, listed{ID: id})
		}
	}
	if err != nil {
		return questionError(err)
	}
	reply(w, map[string]any{"documents": out})
	return nil
}

func (s *server) put(w http.ResponseWriter, r *http.Request, u *user) error {
	var in struct{ Documents []graphrag.Document }
	if !u.Write {
		return errReads
	}
	if err := decode(r, &in); err != nil {
		return err
	}
	seen, sees := map[string]bool{}, u.sees()
	for _, d := range in.Documents {
		switch {
		case d.ID == "" || seen[d.ID]:
			return bad("the document %.200q has no id of its own", d.ID)
		case path.Clean("/"+d.ID) != "/"+d.ID: // DELETE could not name it
			return bad("the document %.200q: its id has a part that is empty, . or .., or a slash at an end", d.ID)
		}
		if err := d.Fields.Check(); err != nil {
			return bad("the document %.200q: %v", d.ID, err)
		}
		if !sees(d.Fields) {
			return problem{http.StatusForbidden, "forbidden", fmt.Sprintf("the fields of %.200q are outside of the scope of this token", d.ID)}
		}
		if strings.TrimSpace(d.Text) == "" {
			return bad("the document %.200q has no text: delete it instead", d.ID)
		}
		seen[d.ID] = true
	}
	if len(in.Documents) == 0 {
		return bad(`there is no document: want {"documents": [{"id": "…", "text": "…"}]}`)
	}
	return s.change(w, r, u, slices.Collect(maps.Keys(seen)), func() (graphrag.IndexStats, error) {
		return s.system.Insert(r.Context(), graphrag.Documents(in.Documents...))
	})
}

func (s *server) delete(w http.ResponseWriter, r *http.Request, u *user) error {
	if !u.Write {
		return errReads
	}
	id := r.PathValue("id")
	return s.change(w, r, u, []string{id}, func() (graphrag.IndexStats, error) { return s.system.Delete(r.Context(), id) })
}

var errReads = problem{http.StatusForbidden, "read_only", "this token reads only"}

// change changes documents, unless one of them exists outside the scope of the user. The
// reply contains the size of the index for users who see all of it.
func (s *server) change(w http.ResponseWriter, r *http.Request, u *user, ids []string, do func() (graphrag.IndexStats, error)) error {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-r.Context().Done():
		return questionError(r.Context().Err())
	}
	if u.Scope != nil {
		l, ok := s.system.(lister)
		if !ok {
			return problem{http.StatusNotImplemented, "not_supported", s.system.Name() + " does not tell whose documents are"}
		}
		sees := u.sees()
		for _, id := range ids {
			chunks, ok, err := l.Get(r.Context(), id)
			if err != nil {
				return questionError(err)
			}
			if ok && (len(chunks) == 0 || !sees(chunks[0].Fields)) {
				return problem{http.StatusForbidden, "forbidden", fmt.Sprintf("the document %.200q is not in the scope of this token", id)}
			}
		}
	}
	stats, err := do()
	if err != nil {
		return questionError(err)
	}
	out := map[string]any{"status": "ok"}
	if u.Scope == nil {
		out["documents"], out["chunks"] = stats.Documents, stats.Chunks
	}
	reply(w, out)
	return nil
}
