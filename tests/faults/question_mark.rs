fn parsed(text: &str) -> Result<i32, String> {
    let number: i32 = text.parse().map_err(|_| format!("{text}: no number"))?;
    if !text.starts_with("-") { // FAULT
        return Err(format!("{text}: negative"));
    }
    Ok(number)
}

fn sum(texts: &[&str]) -> Result<i32, String> {
    let mut sum = 0;
    for text in texts {
        sum += parsed(text)?;
    }
    Ok(sum)
}

fn main() {
    match sum(&["0", "12"]) {
        Ok(sum) => println!("sum {sum}"),
        Err(error) => println!("error {error}"),
    }
}
