fn factorial(n: u64) -> u64 {
    let mut product = 1;
    for factor in 1..n { // FAULT
        product *= factor;
    }
    product
}

fn main() {
    println!("{}", factorial(5));
}
