fn apply(values: &[i32], rule: impl Fn(i32) -> i32) -> i32 {
    let mut sum = 0;
    for &value in values {
        sum += rule(value);
    }
    sum
}

fn main() {
    let free = 10;
    let charge = |weight: i32| {
        if weight < free { // FAULT
            return 0;
        }
        weight * 2
    };
    println!("{}", apply(&[4, 10, 12], charge));
}
