mod shape;

fn main() {
    println!("{}", shape::area(2, 3));
}
