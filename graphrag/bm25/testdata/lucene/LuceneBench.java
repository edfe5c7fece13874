// SPDX-License-Identifier: Apache-2.0

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

import org.apache.lucene.analysis.*;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.util.CharTokenizer;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.*;

/**
 * Indexes a file of pieces and answers passes over a file of questions on
 * demand. Both files hold records of a 4-byte big-endian length and UTF-8.
 * Commands on standard input: "index" and "pass"; each answers one line of
 * nanoseconds: the total, or one figure per question.
 */
public final class LuceneBench {
    /** Lower-cased runs of letters and digits. */
    static final class Words extends Analyzer {
        @Override protected TokenStreamComponents createComponents(String field) {
            Tokenizer t = CharTokenizer.fromTokenCharPredicate(c -> Character.isLetterOrDigit(c));
            return new TokenStreamComponents(t, new LowerCaseFilter(t));
        }
    }

    static List<String> read(String file) throws IOException {
        List<String> out = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(Paths.get(file)), 1 << 20))) {
            while (true) {
                int n;
                try { n = in.readInt(); } catch (EOFException e) { return out; }
                byte[] b = new byte[n];
                in.readFully(b);
                out.add(new String(b, StandardCharsets.UTF_8));
            }
        }
    }

    static Directory index(List<String> pieces, Analyzer analyzer, BM25Similarity similarity) throws IOException {
        Directory dir = new ByteBuffersDirectory();
        IndexWriterConfig config = new IndexWriterConfig(analyzer).setSimilarity(similarity).setRAMBufferSizeMB(512)
            .setMergeScheduler(new SerialMergeScheduler());
        FieldType type = new FieldType();
        type.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
        type.setTokenized(true);
        type.freeze();
        try (IndexWriter writer = new IndexWriter(dir, config)) {
            for (String p : pieces) {
                Document d = new Document();
                d.add(new Field("text", p, type));
                writer.addDocument(d);
            }
            writer.forceMerge(1);
        }
        return dir;
    }

    static Query query(String question, Analyzer analyzer) throws IOException {
        Set<String> words = new LinkedHashSet<>();
        try (TokenStream ts = analyzer.tokenStream("text", question)) {
            CharTermAttribute term = ts.addAttribute(CharTermAttribute.class);
            ts.reset();
            while (ts.incrementToken()) words.add(term.toString());
            ts.end();
        }
        BooleanQuery.Builder b = new BooleanQuery.Builder();
        for (String w : words) b.add(new TermQuery(new Term("text", w)), BooleanClause.Occur.SHOULD);
        return b.build();
    }

    public static void main(String[] args) throws IOException {
        BooleanQuery.setMaxClauseCount(1 << 16);
        List<String> pieces = read(args[0]), questions = read(args[1]);
        Analyzer analyzer = new Words();
        BM25Similarity similarity = new BM25Similarity(1.2f, 0.75f);
        IndexSearcher searcher = null;
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String command; (command = commands.readLine()) != null; ) {
            if (command.equals("index")) {
                long start = System.nanoTime();
                Directory dir = index(pieces, analyzer, similarity);
                long took = System.nanoTime() - start;
                searcher = new IndexSearcher(DirectoryReader.open(dir));
                searcher.setSimilarity(similarity);
                searcher.setQueryCache(null);
                System.out.println(took);
            } else {
                StringBuilder line = new StringBuilder();
                for (String q : questions) {
                    long start = System.nanoTime();
                    // The threshold of 10 lets the collector skip what cannot be in the top.
                    TopScoreDocCollector top = TopScoreDocCollector.create(10, 10);
                    searcher.search(query(q, analyzer), top);
                    if (top.topDocs().scoreDocs.length == 0) System.err.println("nothing for " + q);
                    line.append(System.nanoTime() - start).append(' ');
                }
                System.out.println(line);
            }
            System.out.flush();
        }
    }
}
