// SPDX-License-Identifier: Apache-2.0

//! tantivy's side of the comparison; ../../README.md says what it is asked.

use std::collections::BTreeSet;
use std::io::BufRead;

use tantivy::collector::TopDocs;
use tantivy::directory::MmapDirectory;
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer, TokenStream};
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument, Term};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Lower-cased runs of letters and digits.
fn words() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build()
}

/// Reads records of a big-endian length and UTF-8.
fn read(path: &str) -> Result<Vec<String>> {
    let bytes = std::fs::read(path)?;
    let (mut out, mut rest) = (Vec::new(), &bytes[..]);
    while rest.len() >= 4 {
        let n = u32::from_be_bytes(rest[..4].try_into()?) as usize;
        out.push(String::from_utf8(rest[4..4 + n].to_vec())?);
        rest = &rest[4 + n..];
    }
    Ok(out)
}

/// CPU time in nanoseconds of the process or the thread.
fn cpu(clock: libc::clockid_t) -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

fn build(pieces: &str, folder: &str) -> Result<()> {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("words")
        .set_index_option(IndexRecordOption::WithFreqs);
    let mut schema = Schema::builder();
    let text = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    std::fs::create_dir_all(folder)?;
    let index = Index::create(MmapDirectory::open(folder)?, schema.build(), IndexSettings::default())?;
    index.tokenizers().register("words", words());
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 1 << 30)?;
    writer.set_merge_policy(Box::new(NoMergePolicy));
    for piece in read(pieces)? {
        let mut document = TantivyDocument::default();
        document.add_text(text, piece);
        writer.add_document(document)?;
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    println!("{}", cpu(libc::CLOCK_PROCESS_CPUTIME_ID));
    Ok(())
}

fn query(question: &str, text: Field, words: &mut TextAnalyzer) -> BooleanQuery {
    let mut distinct = BTreeSet::new();
    let mut stream = words.token_stream(question);
    while stream.advance() {
        distinct.insert(stream.token().text.clone());
    }
    let term = |w: String| -> (Occur, Box<dyn Query>) {
        (Occur::Should, Box::new(TermQuery::new(Term::from_field_text(text, &w), IndexRecordOption::WithFreqs)))
    };
    BooleanQuery::new(distinct.into_iter().map(term).collect())
}

fn search(folder: &str) -> Result<()> {
    let index = Index::open_in_dir(folder)?;
    let text = index.schema().get_field("text")?;
    let searcher = index.reader()?.searcher();
    let mut words = words();
    for file in std::io::stdin().lock().lines() {
        let (mut line, mut found) = (String::new(), 0);
        for question in read(&file?)? {
            let start = cpu(libc::CLOCK_THREAD_CPUTIME_ID);
            let top = searcher.search(&query(&question, text, &mut words), &TopDocs::with_limit(10).order_by_score())?;
            line.push_str(&format!("{} ", cpu(libc::CLOCK_THREAD_CPUTIME_ID) - start));
            found += top.len();
        }
        println!("{line}{found}");
    }
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "build" => build(&args[2], &args[3]),
        _ => search(&args[2]),
    }
}
