fn position(words: &[&str], wanted: &str) -> Option<usize> {
    let mut at = 0;
    while at < words.len() {
        if at > 1 && words[at].starts_with(wanted) { // FAULT
            return Some(at);
        }
        at += 1;
    }
    None
}

fn main() {
    let words = ["one", "two", "three"];
    println!("{} words", words.len());
    println!("{}", position(&words, "tw").unwrap());
}
