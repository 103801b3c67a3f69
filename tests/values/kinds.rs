// Values of kinds that Rust has: numbers, characters, tuples, enums with and without data, slices, texts.
#[derive(Clone, Copy)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Clone, Copy)]
struct Pair(i16, u8);

#[derive(Clone, Copy, PartialEq)]
enum Colour {
    Red,
    Blue,
}

enum Shape {
    Nothing,
    Circle(u32),
    Box { wide: u8, high: u8 },
}

static mut TOTAL: u64 = 5;

fn twice(number: i32) -> i32 {
    let result = number * 2;
    result
}

fn raise(target: &mut i32, by: i32) {
    *target += by;
}

fn area(shape: &Shape) -> u32 {
    match shape {
        Shape::Nothing => 0,
        Shape::Circle(radius) => 3 * radius * radius,
        Shape::Box { wide, high } => *wide as u32 * *high as u32,
    }
}

fn main() {
    let letter = 'é';
    let small: i8 = -5;
    let byte: u8 = 200;
    let big: i64 = -9_000_000_000;
    let wide: u128 = 1 << 70;
    let yes = true;
    let ratio = 0.1f32;
    let third = 1.0 / 3.0;
    let mut point = Point { x: 3, y: 4 };
    let pair = Pair(-7, 8);
    let tuple = (1u8, -2i32, true);
    let mut list = [1, 2, 3];
    let colour = Colour::Blue;
    let nothing = Shape::Nothing;
    let circle = Shape::Circle(5);
    let rectangle = Shape::Box { wide: 2, high: 3 };
    let found: Option<i32> = Some(12);
    let missing: Option<i32> = None;
    let word = "text";
    let owned = String::from("owned");
    let numbers = vec![10, 20, 30];
    point.y = point.x + list[1];
    list[2] = twice(point.y);
    raise(&mut point.x, list[2]);
    let areas = area(&nothing) + area(&circle) + area(&rectangle);
    unsafe { TOTAL += areas as u64 };
    println!("{letter} {small} {byte} {big} {wide} {yes} {ratio} {third} {} {}", point.x, point.y);
    println!("{} {} {} {} {} {:?}", pair.0, pair.1, tuple.0, tuple.1, tuple.2, list);
    println!("{} {areas} {found:?} {missing:?} {word} {owned} {numbers:?}", colour == Colour::Red);
    println!("{}", unsafe { *&raw const TOTAL });
}
