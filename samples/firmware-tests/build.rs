fn main() {
    println!("cargo::rustc-link-arg=-Tembedded-test.x");
}
