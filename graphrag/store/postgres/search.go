// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"fmt"
	"strings"
)

// windowBits is the number of records in a window, as a power of two. A block of a term
// that all of them have, with ten bytes for each, fits a page.
const windowBits = 9

// sql puts the names of an index of words into a statement.
func (w words) sql(statement string) string {
	return strings.NewReplacer("{words}", w.table, "{rows}", w.rows, "{sizes}", w.sizes, "{search}", w.search, "{name}", w.name,
		"{k1}", fmt.Sprint(w.k1), "{b}", fmt.Sprint(w.b), "{bits}", fmt.Sprint(windowBits)).Replace(statement)
}

// createWords makes the tables and the search of an index of words.
//
// The search is BM25 as package bm25 has it, in the same order and with the same
// precision, so that it has the same scores: sums of float32, those terms first that can
// add most. The number of records and their mean length are those of the last flush.
//
// It goes from term to term (MaxScore: Turtle and Flood, "Query evaluation: strategies and
// optimizations", 1995). As long as a record that was not met yet can be among the best, a
// term is swept: all of its blocks are read. Afterwards the records that were met are
// candidates, and become fewer: a term is looked up in the blocks of those that can reach
// the threshold with the bounds of their blocks (Ding and Suel, "Faster top-k document
// retrieval using block-max indexes", SIGIR 2011), or swept if that is less. A condition
// is a list of candidates to begin with.
//
// Its statements are planned once a connection, and not compiled: both take longer than
// most of them run.
//
// Bounds are for the mean length of the first records, the reference: for another mean a
// saturation of at most s is at most s/(s+r(1-s)) with r = min(1, reference/mean), as in
// package bm25.
const createWords = `
	CREATE TABLE {words} (term text COLLATE "C" NOT NULL, win int NOT NULL, df int NOT NULL, most real NOT NULL,
		docs int[] NOT NULL, tfs int[] NOT NULL, lens int[] NOT NULL, PRIMARY KEY (term, win)) WITH (toast_tuple_target = 8160);
	CREATE FUNCTION {search}(asked text[], times float8[], k int, among int[]) RETURNS TABLE (doc int, score real) LANGUAGE plpgsql STABLE
		SET jit = off SET plan_cache_mode = force_generic_plan AS $function$
	#variable_conflict use_column
	DECLARE
		met int[]; sums real[]; size record; t record; shrink real; slack real; threshold real := 0; cutoff real := 0;
	BEGIN
		IF k <= 0 THEN RETURN; END IF;
		IF among IS NOT NULL THEN
			met := among;
			sums := array_fill(0::real, ARRAY[cardinality(among)]);
		END IF;
		SELECT s.n, greatest(s.total / greatest(s.n, 1), 1e-9) AS mean, s.reference INTO size FROM {sizes} s WHERE s.name = '{name}';
		IF NOT FOUND OR size.n = 0 THEN RETURN; END IF;
		shrink := least(1, size.reference / size.mean);
		slack := least((cardinality(asked) + 8) * 2.0 ^ -22, 1);
		FOR t IN
			SELECT q.term, q.weight, q.df, sum(q.most * q.weight) OVER (ORDER BY q.weight DESC, q.term ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS upper,
				coalesce(sum(q.most * q.weight) OVER (ORDER BY q.weight DESC, q.term ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), 0) AS rest
			FROM (
				SELECT a.term COLLATE "C" AS term, x.df, x.most / (x.most + shrink * (1 - x.most)) AS most,
					(a.times * ln(1 + (greatest(size.n - x.df, 0) + .5) / (x.df + .5)) * ({k1} + 1))::real AS weight
				FROM unnest(asked, times) AS a (term, times), LATERAL (SELECT sum(w.df)::float8 AS df, max(w.most) AS most FROM {words} w WHERE w.term = a.term COLLATE "C") x
				WHERE x.df > 0) q
			ORDER BY q.weight DESC, q.term
		LOOP
			IF among IS NULL AND t.upper >= cutoff OR t.df < 8 * cardinality(met) THEN
				SELECT array_agg(coalesce(c.doc, p.doc)), array_agg(coalesce(c.sum, 0::real) + coalesce(p.sum, 0::real)) INTO met, sums
				FROM unnest(met, sums) AS c (doc, sum)
				FULL JOIN (
					SELECT x.doc, t.weight * (x.tf::real / (x.tf::real + greatest({k1} * (1 - {b} + {b} * x.len / size.mean), 1e-30)::real)) AS sum
					FROM {words} w, unnest(w.docs, w.tfs, w.lens) AS x (doc, tf, len) WHERE w.term = t.term) p ON p.doc = c.doc
				WHERE c.doc IS NOT NULL OR among IS NULL AND t.upper >= cutoff;
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
