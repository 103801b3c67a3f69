fn main() {
    let values = [3, 9, 4];
    let mut greatest = values[0];
    let mut at = 1;
    while at <= values.len() { // FAULT
        if values[at] > greatest {
            greatest = values[at];
        }
        at += 1;
    }
    println!("{greatest}");
}
