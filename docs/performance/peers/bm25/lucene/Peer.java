// SPDX-License-Identifier: Apache-2.0

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.Tokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.util.CharTokenizer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;

/** Lucene's side of the comparison; ../README.md says what it is asked. */
public final class Peer {
    /** Lower-cased runs of letters and digits. */
    static final class Words extends Analyzer {
        @Override protected TokenStreamComponents createComponents(String field) {
            Tokenizer t = CharTokenizer.fromTokenCharPredicate(Character::isLetterOrDigit);
            return new TokenStreamComponents(t, new LowerCaseFilter(t));
        }
    }

    static final Analyzer WORDS = new Words();
    static final BM25Similarity BM25 = new BM25Similarity(1.2f, 0.75f);

    static List<String> read(String file) throws IOException {
        List<String> out = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(Files.newInputStream(Path.of(file)), 1 << 20))) {
            while (true) {
                int n;
                try { n = in.readInt(); } catch (EOFException e) { return out; }
                byte[] b = new byte[n];
                in.readFully(b);
                out.add(new String(b, StandardCharsets.UTF_8));
            }
        }
    }

    static void build(String pieces, Path folder) throws IOException {
        IndexWriterConfig config = new IndexWriterConfig(WORDS).setSimilarity(BM25).setRAMBufferSizeMB(512)
            .setUseCompoundFile(false).setMergeScheduler(new SerialMergeScheduler());
        FieldType type = new FieldType();
        type.setIndexOptions(IndexOptions.DOCS_AND_FREQS);
        type.setTokenized(true);
        type.freeze();
        try (Directory dir = new MMapDirectory(folder); IndexWriter writer = new IndexWriter(dir, config)) {
            for (String p : read(pieces)) {
                Document d = new Document();
                d.add(new Field("text", p, type));
                writer.addDocument(d);
            }
            writer.forceMerge(1);
        }
        long ns = ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
        System.out.println(ns);
    }

    static Query query(String question) throws IOException {
        Set<String> words = new LinkedHashSet<>();
        try (TokenStream ts = WORDS.tokenStream("text", question)) {
            CharTermAttribute term = ts.addAttribute(CharTermAttribute.class);
            ts.reset();
            while (ts.incrementToken()) words.add(term.toString());
            ts.end();
        }
        BooleanQuery.Builder b = new BooleanQuery.Builder();
        for (String w : words) b.add(new TermQuery(new Term("text", w)), BooleanClause.Occur.SHOULD);
        return b.build();
    }

    static void search(Path folder) throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(new MMapDirectory(folder)));
        searcher.setSimilarity(BM25);
        searcher.setQueryCache(null);
        // The threshold lets the search leave out what cannot be among the ten.
        TopScoreDocCollectorManager ten = new TopScoreDocCollectorManager(10, 10);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String file; (file = commands.readLine()) != null; ) {
            StringBuilder line = new StringBuilder();
            int found = 0;
            for (String question : read(file)) {
                long start = threads.getCurrentThreadCpuTime();
                TopDocs top = searcher.search(query(question), ten);
                line.append(threads.getCurrentThreadCpuTime() - start).append(' ');
                found += top.scoreDocs.length;
            }
            System.out.println(line.append(found));
            System.out.flush();
        }
    }

    public static void main(String[] args) throws IOException {
        IndexSearcher.setMaxClauseCount(1 << 16);
        if (args[0].equals("build")) build(args[1], Path.of(args[2]));
        else search(Path.of(args[1]));
    }
}
