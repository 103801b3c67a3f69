fn main() {
    let values = vec![1, 2, 3, 4, 6];
    let even: Vec<i32> = values
        .into_iter()
        .filter(|value| value % 2 == 1) // FAULT
        .collect();
    println!("{even:?}");
}
