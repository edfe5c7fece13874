//! Counts tokens by bpe-openai: peer FILE ROUND prints figures, a line of JSON each.

use std::{env, fs};

fn cpu() -> f64 {
    let mut u: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut u) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(u.ru_utime) + seconds(u.ru_stime)
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let data = fs::read_to_string(&args[1]).expect("the pages");
    let pages: Vec<&str> = data.split('\0').collect();
    let encodings = [("cl100k_base", bpe_openai::cl100k_base()), ("o200k_base", bpe_openai::o200k_base())];
    for (name, encoding) in encodings {
        let mut best = f64::MAX;
        for _ in 0..3 {
            let start = cpu();
            let n: usize = pages.iter().map(|p| encoding.count(*p)).sum();
            best = best.min(cpu() - start);
            assert!(n > 0);
        }
        println!(
            r#"{{"set":"raw pages of a domain","what":"tokens counted, {name}","who":"bpe-openai 0.3.0 (Rust)","round":{},"unit":"MB/s","value":{}}}"#,
            args[2],
            data.len() as f64 / 1e6 / best
        );
    }
}
