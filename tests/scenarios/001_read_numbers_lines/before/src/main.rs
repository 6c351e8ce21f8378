fn main() {
	println!("hi");
}
