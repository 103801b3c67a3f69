trait Fare {
    fn base(&self) -> u32;
    fn total(&self, zones: u32) -> u32 {
        let mut total = self.base();
        if zones < 3 { // FAULT
            total += 5;
        }
        total
    }
}

struct Adult;

impl Fare for Adult {
    fn base(&self) -> u32 {
        20
    }
}

fn main() {
    let fares: Vec<Box<dyn Fare>> = vec![Box::new(Adult)];
    for fare in &fares {
        println!("{}", fare.total(4));
    }
}
