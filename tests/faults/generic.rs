fn largest<T: PartialOrd + Copy>(values: &[T]) -> T {
    let mut largest = values[0];
    for &value in values {
        if value < largest { // FAULT
            largest = value;
        }
    }
    largest
}

fn main() {
    println!("{}", largest(&[1, 5]));
    println!("{}", largest(&[1.5]));
}
