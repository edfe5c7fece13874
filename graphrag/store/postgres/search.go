// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// windowBits is the base-2 logarithm of the number of records in a window. The block of a term that is in every
// record of a window, at ten bytes a record, fits a page.
const windowBits = 9

// fewShare: if less than one record in fewShare is a candidate, candidates are looked up in the block one by
// one, which takes about fewShare times as long for a record as a scan of the block.
const fewShare = 64

// sql inserts the names of tables and functions, and the parameters of BM25, into a statement.
func (w words) sql(statement string) string {
	return strings.NewReplacer("{words}", w.table, "{rows}", w.rows, "{sizes}", w.sizes, "{search}", w.search, "{name}", w.name,
		"{k1}", fmt.Sprintf("%v::float8", w.k1), "{b}", fmt.Sprintf("%v::float8", w.b), "{bits}", fmt.Sprint(windowBits), "{few}", fmt.Sprint(fewShare)).Replace(statement)
}

// createWords makes the tables and the search function of an index of words.
//
// The search computes BM25 as package bm25 does, in the same order and with the same precision, so that scores
// are equal: sums of float32, beginning with the terms that can add most. The number of records and their mean
// length are from the last flush.
//
// It processes the terms in sequence (MaxScore: Turtle and Flood, "Query evaluation: strategies and
// optimizations", 1995). As long as an unseen record can be among the best, all blocks of a term are read. From
// then on the records seen are the candidates: of each further term only those blocks of candidates are read
// whose bounds reach the threshold (Ding and Suel, "Faster top-k document retrieval using block-max indexes",
// SIGIR 2011), or all blocks if these are fewer. If few records meet a condition, they are the candidates from
// the start; many are a bitmap, with which blocks are compared. If the sum of their lengths is given, words are
// counted only in these records.
//
// Statements are planned once for each connection and not compiled (JIT): planning and compiling take longer
// than most statements run.
//
// Bounds are for the mean length of the first records, the reference: for another mean a
// saturation of at most s is at most s/(s+r(1-s)) with r = min(1, reference/mean), as in
// package bm25.
const createWords = `
	CREATE TABLE {words} (term text COLLATE "C" NOT NULL, win int NOT NULL, df int NOT NULL, most real NOT NULL,
		docs int[] NOT NULL, tfs int[] NOT NULL, lens int[] NOT NULL, PRIMARY KEY (term, win)) WITH (toast_tuple_target = 8160);
	CREATE FUNCTION {search}(asked text[], times float8[], k int, among int[], long float8) RETURNS TABLE (doc int, score real) LANGUAGE plpgsql STABLE ROWS 10
		SET jit = off SET plan_cache_mode = force_generic_plan AS $function$
	#variable_conflict use_column
	DECLARE
		met int[]; sums real[]; masks bigint[]; size record; t record; closed boolean; shrink real; slack real; threshold real := 0; cutoff real := 0;
	BEGIN
		IF k <= 0 OR cardinality(among) = 0 THEN RETURN; END IF;
		SELECT s.n, greatest(s.total / greatest(s.n, 1), 1e-9) AS mean, s.reference INTO size FROM {sizes} s WHERE s.name = '{name}';
		IF NOT FOUND OR size.n = 0 THEN RETURN; END IF;
		closed := coalesce(cardinality(among) * {few} <= size.n, false);
		IF closed THEN
			met := among;
			sums := array_fill(0::real, ARRAY[cardinality(among)]);
		END IF;
		IF long IS NOT NULL THEN
			size.n := cardinality(among);
			size.mean := greatest(long / size.n, 1e-9);
		END IF;
		IF among IS NOT NULL AND (long IS NOT NULL OR NOT closed) THEN
			SELECT array_agg(coalesce(b.mask, 0) ORDER BY g.i) INTO masks FROM generate_series(0, (SELECT max(d) >> 6 FROM unnest(among) d)) g (i)
			LEFT JOIN (SELECT d >> 6 AS i, bit_or(1::bigint << (d & 63)) AS mask FROM unnest(among) d GROUP BY 1) b USING (i);
		END IF;
		shrink := least(1, size.reference / size.mean);
		slack := least((cardinality(asked) + 8) * 2.0 ^ -22, 1);
		FOR t IN
			SELECT q.term, q.weight, q.df, sum(q.most * q.weight) OVER (ORDER BY q.weight DESC, q.term ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS upper,
				coalesce(sum(q.most * q.weight) OVER (ORDER BY q.weight DESC, q.term ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), 0) AS rest
			FROM (
				SELECT a.term COLLATE "C" AS term, x.df, x.most / (x.most + shrink * (1 - x.most)) AS most,
					(a.times * ln(1 + (greatest(size.n - x.df, 0) + .5) / (x.df + .5)) * ({k1} + 1))::real AS weight
				FROM unnest(asked, times) AS a (term, times), LATERAL (
					SELECT sum(CASE WHEN long IS NULL THEN w.df ELSE (SELECT count(*) FROM unnest(w.docs) d WHERE masks[(d >> 6) + 1] >> (d & 63) & 1 = 1) END)::float8 AS df, max(w.most) AS most
					FROM {words} w WHERE w.term = a.term COLLATE "C") x
				WHERE x.df > 0) q
			ORDER BY q.weight DESC, q.term
		LOOP
			IF NOT closed AND t.upper >= cutoff OR t.df < 8 * cardinality(met) THEN
				SELECT array_agg(coalesce(c.doc, p.doc)), array_agg(coalesce(c.sum, 0::real) + coalesce(p.sum, 0::real)) INTO met, sums
				FROM unnest(met, sums) AS c (doc, sum)
				FULL JOIN (
					SELECT x.doc, t.weight * (x.tf::real / (x.tf::real + greatest({k1} * (1 - {b} + {b} * x.len / size.mean), 1e-30)::real)) AS sum
					FROM {words} w, unnest(w.docs, w.tfs, w.lens) AS x (doc, tf, len)
					WHERE w.term = t.term AND (masks IS NULL OR masks[(x.doc >> 6) + 1] >> (x.doc & 63) & 1 = 1)) p ON p.doc = c.doc
				WHERE c.doc IS NOT NULL OR NOT closed AND t.upper >= cutoff;
			ELSE
				SELECT array_agg(c.doc), array_agg(c.sum + coalesce(t.weight * (p.tf::real / (p.tf::real + greatest({k1} * (1 - {b} + {b} * p.len / size.mean), 1e-30)::real)), 0::real)) INTO met, sums
				FROM unnest(met, sums) AS c (doc, sum)
				LEFT JOIN {words} w ON w.term = t.term AND w.win = c.doc >> {bits}
					AND c.sum + t.rest + t.weight * (w.most / (w.most + shrink * (1 - w.most))) >= cutoff
				LEFT JOIN LATERAL (SELECT w.tfs[i] AS tf, w.lens[i] AS len FROM array_position(w.docs, c.doc) i) p ON true;
			END IF;
			IF cardinality(met) >= k THEN
				threshold := greatest(threshold, (SELECT u.sum FROM unnest(sums) AS u (sum) ORDER BY u.sum DESC OFFSET k - 1 LIMIT 1));
				cutoff := threshold * (1 - slack);
				SELECT array_agg(u.doc), array_agg(u.sum) INTO met, sums FROM unnest(met, sums) AS u (doc, sum) WHERE u.sum + t.rest >= cutoff;
			END IF;
		END LOOP;
		RETURN QUERY SELECT u.doc, u.sum FROM unnest(met, sums) AS u (doc, sum) WHERE u.sum > 0 AND u.sum >= threshold;
	END $function$;`

// words is the index of words of a table. A record has a number; a row of the index is a block: the records of
// one window that contain a term, with frequencies and lengths, and an upper bound of what the term adds to the
// score of one of them.
type words struct {
	analyzer    text.Analyzer
	table       string // names in SQL, as the next two lines
	rows, sizes string
	search      string
	name        string
	k1, b       float64
	titleWeight int32
}

func (g *generation) words(name string, t store.TableSchema) words {
	return words{
		analyzer: g.c.store.o.Analyzer, name: name, titleWeight: int32(t.TitleWeight),
		table: g.schema + "." + wordsOf(name), rows: g.schema + "." + rowsOf(name), sizes: g.schema + ".sizes",
		search: g.schema + "." + searchOf(name),
		k1:     cmp.Or(t.K1, bm25.DefaultK1), b: cmp.Or(t.B, bm25.DefaultB),
	}
}

// counted holds the frequencies of the terms of a text, and their sum.
type counted struct {
	terms map[string]int32
	n     int32
}

func (w words) counted(title, body string) counted {
	c := counted{terms: make(map[string]int32)}
	add := func(s string, weight int32) {
		for _, t := range store.Terms(w.analyzer, s) {
			c.terms[t] += weight
			c.n += weight
		}
	}
	if w.titleWeight > 0 {
		add(title, w.titleWeight)
	}
	add(body, 1)
	return c
}

// postings are entries of an index of words as columns, the parameters of a statement.
type postings struct {
	records      int
	terms        []string
	docs, tfs, n []int32
}

func (p *postings) put(doc int32, c counted) {
	p.records++
	for _, term := range slices.Sorted(maps.Keys(c.terms)) {
		p.terms, p.docs = append(p.terms, term), append(p.docs, doc)
		p.tfs, p.n = append(p.tfs, c.terms[term]), append(p.n, c.n)
	}
}

// add inserts postings into their blocks, in the order of the keys, so that two writers cannot deadlock.
func (w words) add(ctx context.Context, tx pgx.Tx, p postings) error {
	if len(p.terms) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, w.sql(`
		INSERT INTO {words} AS w (term, win, df, most, docs, tfs, lens)
		SELECT term COLLATE "C", doc >> {bits}, count(*), max(tf / (tf + {k1} * (1 - {b} + {b} * len / s.mean))), array_agg(doc ORDER BY doc), array_agg(tf ORDER BY doc), array_agg(len ORDER BY doc)
		FROM unnest($1::text[], $2::int[], $3::int[], $4::int[]) AS p (term, doc, tf, len), (SELECT reference AS mean FROM {sizes} WHERE name = '{name}') s
		GROUP BY 1, 2 ORDER BY 1, 2
		ON CONFLICT (term, win) DO UPDATE SET df = w.df + excluded.df, most = greatest(w.most, excluded.most),
			docs = w.docs || excluded.docs, tfs = w.tfs || excluded.tfs, lens = w.lens || excluded.lens`), p.terms, p.docs, p.tfs, p.n)
	return err
}

// refer stores the mean length of the first records, for which the bounds are computed. The comment of
// createWords says how bounds hold for other mean lengths.
func (w words) refer(ctx context.Context, tx pgx.Tx, mean float64) error {
	_, err := tx.Exec(ctx, w.sql(`INSERT INTO {sizes} (name, n, total, analyzed, reference) VALUES ('{name}', 0, 0, 0, $1) ON CONFLICT (name) DO NOTHING`), max(mean, 1))
	return err
}

// replace runs a statement that puts rows, and replaces the postings of their texts.
func (w words) replace(ctx context.Context, tx pgx.Tx, old postings, texts map[string]counted, statement string, values []any) error {
	rows, _ := tx.Query(ctx, statement+" RETURNING id, doc, xmax <> 0", values...) // rows have its error
	var id string
	var doc int32
	var was bool
	var p postings
	there := 0
	_, err := pgx.ForEachRow(rows, []any{&id, &doc, &was}, func() error {
		p.put(doc, texts[id])
		if was {
			there++
		}
		return nil
	})
	if err == nil && there != old.records {
		err = errLost // another writer put one of these records meanwhile
	}
	if err == nil {
		err = w.remove(ctx, tx, old)
	}
	if err == nil {
		err = w.add(ctx, tx, p)
	}
	return err
}

// held returns the postings of stored records; sql selects the number, title and body of each.
func (w words) held(ctx context.Context, tx pgx.Tx, sql string, arg any) (p postings, err error) {
	rows, _ := tx.Query(ctx, sql, arg) // rows have its error
	var doc int32
	var title, body []byte
	_, err = pgx.ForEachRow(rows, []any{&doc, &title, &body}, func() error {
		p.put(doc, w.counted(string(title), string(body)))
		return nil
	})
	return p, err
}

// remove deletes postings from their blocks.
func (w words) remove(ctx context.Context, tx pgx.Tx, p postings) error {
	if len(p.terms) == 0 {
		return nil
	}
	keep := func(column string) string {
		return fmt.Sprintf(`%s = ARRAY(SELECT w.%[1]s[i] FROM generate_subscripts(w.docs, 1) i WHERE w.docs[i] <> ALL (g.docs) ORDER BY i)`, column)
	}
	_, err := tx.Exec(ctx, w.sql(`
		WITH g AS MATERIALIZED (SELECT term COLLATE "C" AS term, doc >> {bits} AS win, array_agg(doc) AS docs FROM unnest($1::text[], $2::int[]) AS p (term, doc) GROUP BY 1, 2 ORDER BY 1, 2),
		held AS MATERIALIZED (SELECT w.term, w.win FROM g JOIN {words} w USING (term, win) ORDER BY 1, 2 FOR UPDATE OF w)
		UPDATE {words} w SET df = w.df - cardinality(g.docs), `+keep("tfs")+`, `+keep("lens")+`, `+keep("docs")+`
		FROM g JOIN held USING (term, win) WHERE w.term = g.term AND w.win = g.win`), p.terms, p.docs)
	if err == nil {
		_, err = tx.Exec(ctx, w.sql(`DELETE FROM {words} w USING (SELECT DISTINCT term COLLATE "C" AS term, doc >> {bits} AS win FROM unnest($1::text[], $2::int[]) AS p (term, doc)) g
			WHERE w.term = g.term AND w.win = g.win AND w.df = 0`), p.terms, p.docs)
	}
	return err
}

// find returns the statement that finds the best records for a text, and its arguments. With own, words are
// counted only in the records that meet the condition.
func (w words) find(query string, k int, where condition, own bool) (string, []any) {
	terms := w.counted("", query).terms
	list := slices.Sorted(maps.Keys(terms))
	times := make([]float64, len(list))
	for i, t := range list {
		times[i] = float64(terms[t])
	}
	some, among, long := "", "NULL", "NULL"
	if where.sql != "" {
		some, among = w.sql(`WITH meets AS MATERIALIZED (SELECT r.doc, r.len FROM {rows} r WHERE `+where.sql+`) `), "ARRAY(SELECT doc FROM meets)"
	}
	if where.sql != "" && own {
		long = "(SELECT sum(len) FROM meets)"
	}
	n := len(where.args)
	return fmt.Sprintf(`%sSELECT r.id, s.score::float8 AS score FROM %s($%d, $%d, $%d, %s, %s) s JOIN %s r ON r.doc = s.doc ORDER BY s.score DESC, r.id LIMIT $%[5]d`,
		some, w.search, n+1, n+2, n+3, among, long, w.rows), append(where.args, list, times, k)
}
